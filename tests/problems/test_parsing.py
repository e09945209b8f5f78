import itertools

import pytest

from t2t_keras import registry
from t2t_keras.data.problem import DatasetSplit
from t2t_keras.problems import parsing
from tests import reference_data

pytestmark = pytest.mark.reference


def rebuild(words: str, tags: str) -> str:
    """The tree that a linearisation came from: each symbol that is never closed is a tag."""
    remaining_words = iter(words.split())
    output: list[str] = []
    symbols = tags.split()
    for position, symbol in enumerate(symbols):
        if symbol.startswith("/"):
            output.append(")")
        elif is_tag(symbols, position):
            output.append(f"({symbol} {next(remaining_words)})")
        else:
            output.append(f"({symbol}")
    assert next(remaining_words, None) is None
    return f"(TOP {' '.join(output)})".replace(" )", ")")


def is_tag(symbols: list[str], position: int) -> bool:
    depth = 0
    for symbol in symbols[position + 1 :]:
        if symbol == f"/{symbols[position]}":
            if depth == 0:
                return False
            depth -= 1
        elif symbol == symbols[position]:
            depth += 1
    return True


def test_linearisation_of_recorded_trees():
    recorded = reference_data.load_golden_json("parsing", "parsing.json.gz")
    for case in recorded["words_and_tags_from_wsj_tree"]:
        expected = (case["words"], case["tags"])
        assert parsing.words_and_tags_from_wsj_tree(case["tree"]) == expected, case["tree"]


@pytest.mark.parametrize(
    "tree",
    [
        "( TOP )",
        "(S (NP (NN a))))",
        "(S (NP (NN a))",
        "word",
        "(S)",
        "",
        "(TOP (S (NP",
        "(A b)) (C d)",
    ],
)
def test_unbalanced_trees_are_refused(tree):
    with pytest.raises(ValueError, match="balanced brackets"):
        parsing.words_and_tags_from_wsj_tree(tree)


def test_linearisation_loses_nothing():
    tree = "(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (PRP it))) (. .)))"
    assert rebuild(*parsing.words_and_tags_from_wsj_tree(tree)) == tree


def recorded_problem(tmp_path):
    """tmp_dir and data_dir with the recorded trees and the recorded vocabulary."""
    trees = reference_data.golden_path("parsing", "wsj.trees").read_text(encoding="utf-8")
    problem = registry.problem("wsj_parsing")
    tmp_dir = tmp_path / "tmp"
    tmp_dir.mkdir()
    for name in (problem.TRAIN_FILES_TREE, problem.EVAL_FILES_TREE):
        (tmp_dir / name).write_text(trees, encoding="utf-8")
    return problem, str(tmp_path), str(tmp_dir)


def test_recorded_samples_and_ids(tmp_path):
    problem, data_dir, tmp_dir = recorded_problem(tmp_path)
    vocabulary = reference_data.golden_path("parsing", problem.vocab_filename).read_bytes()
    (tmp_path / problem.vocab_filename).write_bytes(vocabulary)
    recorded = reference_data.load_golden_json("parsing", "parsing.json.gz")
    count = len(recorded["wsj_samples_eval"])
    samples = problem.generate_samples(data_dir, tmp_dir, DatasetSplit.EVAL)
    assert list(itertools.islice(samples, count)) == recorded["wsj_samples_eval"]
    encoded = problem.generate_encoded_samples(data_dir, tmp_dir, DatasetSplit.EVAL)
    assert list(itertools.islice(encoded, count)) == recorded["wsj_encoded_eval"]


@pytest.mark.parametrize("with_text_files", [False, True])
def test_recorded_vocabulary(tmp_path, with_text_files):
    problem, data_dir, tmp_dir = recorded_problem(tmp_path)
    if with_text_files:
        recorded = reference_data.load_golden_json("parsing", "parsing.json.gz")
        samples = list(problem.generate_samples(data_dir, tmp_dir, DatasetSplit.TRAIN))
        assert len(samples) <= len(recorded["words_and_tags_from_wsj_tree"])
        for name, side in zip(problem.TRAIN_FILES, ("inputs", "targets"), strict=True):
            lines = "".join(sample[side] + "\n" for sample in samples)
            (tmp_path / "tmp" / name).write_text(lines, encoding="utf-8")
        # With the text files, the trees are not read for the vocabulary.
        (tmp_path / "tmp" / problem.TRAIN_FILES_TREE).unlink()
    problem.get_or_create_vocab(data_dir, tmp_dir)
    expected = reference_data.golden_path("parsing", problem.vocab_filename).read_bytes()
    assert (tmp_path / problem.vocab_filename).read_bytes() == expected


def test_vocabulary_text_is_the_first_thousand_pairs(tmp_path):
    problem = registry.problem("wsj_parsing")
    lines = [f"(TOP (S (X w{number})))\n" for number in range(1005)]
    (tmp_path / problem.TRAIN_FILES_TREE).write_text("".join(lines))
    from_trees = list(problem.generate_text_for_vocab("", str(tmp_path)))
    assert from_trees[:2] == ["w0", "S X /S"] and len(from_trees) == 2000
    for name, kind in zip(problem.TRAIN_FILES, "ab", strict=True):
        (tmp_path / name).write_text("".join(f"{kind}{n}\n" for n in range(1005)))
    from_files = list(problem.generate_text_for_vocab("", str(tmp_path)))
    assert from_files[:3] == ["a0", "b0", "a1"] and len(from_files) == 2000


def test_broken_tree_is_named_by_line(tmp_path):
    problem = registry.problem("wsj_parsing")
    (tmp_path / problem.EVAL_FILES_TREE).write_text("(TOP (S (X a)))\n\n(TOP (S (X a))\n")
    samples = problem.generate_samples("", str(tmp_path), DatasetSplit.EVAL)
    assert next(samples) == {"inputs": "a", "targets": "S X /S"}
    with pytest.raises(ValueError, match=r"wsjEval\.trees, line 3"):
        next(samples)


def test_missing_trees_are_named(tmp_path):
    samples = registry.problem("wsj_parsing").generate_samples("", str(tmp_path), "train")
    with pytest.raises(FileNotFoundError, match=r"wsjTrain\.trees"):
        next(samples)
