import pathlib
import shutil

import pytest

from t2t_keras import registry
from t2t_keras.data import records, text_iterators, vocabularies
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.text2text import text2text_generate_encoded
from t2t_keras.models.transformer_problem import symbol_vocab_size
from t2t_keras.problems import parsing_pairs
from t2t_keras.text import encoders
from tests import reference_data

pytestmark = pytest.mark.reference


def recorded():
    return reference_data.load_golden_json("parsing", "parsing.json.gz")


class RecordedIce(parsing_pairs.ParsingIcelandic16k):
    """The problem with the recorded sizes and file names."""

    name = "recorded_ice"
    num_shards = 2

    def __init__(self):
        super().__init__()
        prefix, source_size, target_size = recorded()["ice_tabbed_parsing_token_generator"]["args"]
        self.source_vocab_size, self.targeted_vocab_size = source_size, target_size
        self.source_vocab_name = f"{prefix}_source.tokens.vocab.{source_size}"
        self.target_vocab_name = f"{prefix}_target.tokens.vocab.{target_size}"


@pytest.fixture
def tmp_dir(tmp_path):
    folder = tmp_path / "tmp"
    folder.mkdir()
    for name in ("parsing_train.pairs", "parsing_dev.pairs"):
        shutil.copy(reference_data.golden_path("parsing", name), folder)
    return str(folder)


def examples(data_dir, pattern):
    found = []
    for path in sorted(pathlib.Path(data_dir).glob(pattern)):
        found += [records.parse_example(record) for record in records.read_records(str(path))]
    return found


def in_any_order(samples):
    return sorted(samples, key=lambda sample: (sample["inputs"], sample["targets"]))


def test_recorded_vocabularies_and_ids(tmp_path, tmp_dir):
    problem = RecordedIce()
    problem.generate_data(str(tmp_path), tmp_dir)
    for name in (problem.source_vocab_name, problem.target_vocab_name):
        assert (tmp_path / name).read_bytes() == reference_data.golden_path(
            "parsing", name
        ).read_bytes()
    expected = recorded()["ice_tabbed_parsing_token_generator"]
    for split in ("train", "dev"):
        found = examples(tmp_path, f"recorded_ice-{split}-*")
        if split in expected:
            assert in_any_order(found) == in_any_order(expected[split])
        assert found
    assert set(expected) & {"train", "dev"}


def test_recorded_characters(tmp_dir):
    expected = recorded()["ice_tabbed_character_generator_dev"]
    samples = RecordedIce().generate_samples(tmp_dir, DatasetSplit.EVAL)
    found = list(text2text_generate_encoded(samples, encoders.ByteTextEncoder()))
    assert found[: len(expected)] == expected


def test_recorded_tokens():
    source, target = (
        encoders.TokenTextEncoder(str(reference_data.golden_path("parsing", f"{side}_vocab.txt")))
        for side in ("source_token", "target_token")
    )
    trees = [case["words"] for case in recorded()["words_and_tags_from_wsj_tree"]]
    tags = [case["tags"] for case in recorded()["words_and_tags_from_wsj_tree"]]
    expected = recorded()["token_generator_eos1"]
    samples = [{"inputs": w, "targets": t} for w, t in zip(trees, tags, strict=True)]
    found = list(text2text_generate_encoded(samples[: len(expected)], source, target))
    assert found == expected


def test_declared_and_real_size_of_the_trees_vocabulary(tmp_path, tmp_dir):
    problem = RecordedIce()
    problem.generate_data(str(tmp_path), tmp_dir)
    real = problem.feature_encoders(str(tmp_path))["targets"].vocab_size
    for declared in (real - 1, real, real + 5):
        problem = RecordedIce()
        problem.targeted_vocab_size = declared
        # The file's name has the size for which it was built.
        problem.get_feature_encoders(str(tmp_path))
        problem_hparams = problem.get_hparams()
        assert problem_hparams.vocab_size["targets"] == declared
        assert symbol_vocab_size(problem_hparams, "targets") == max(declared, real)


@pytest.mark.parametrize("name", ["parsing_english_ptb8k", "parsing_english_ptb16k"])
def test_penn_treebank(name, tmp_path):
    trees = reference_data.golden_path("parsing", "wsj.trees").read_text(encoding="utf-8")
    for file in ("wsjTrain.trees", "wsjEval.trees"):
        (tmp_path / file).write_text(trees, encoding="utf-8")
    problem = registry.problem(name)
    problem.generate_data(str(tmp_path / "data"), str(tmp_path))
    found = examples(tmp_path / "data", f"{name}-train-*")
    coders = problem.get_feature_encoders(str(tmp_path / "data"))
    texts = {
        (coders["inputs"].decode(e["inputs"][:-1]), coders["targets"].decode(e["targets"][:-1]))
        for e in found
    }
    samples = list(problem.generate_samples(str(tmp_path), DatasetSplit.TRAIN))
    assert texts == {(sample["inputs"], sample["targets"]) for sample in samples}
    assert len(list((tmp_path / "data").glob(f"{name}-train-*"))) == 10
    same = coders["inputs"].vocab_size == coders["targets"].vocab_size
    assert same == problem.shares_vocabulary
    for side, coder in coders.items():
        assert symbol_vocab_size(problem.get_hparams(), side) == coder.vocab_size


def test_t2ts_vocabulary_is_used_if_it_is_there(tmp_path):
    (tmp_path / "wsjTrain.trees").write_text("(TOP (S (NP (DT the) (NN cat))))\n")
    (tmp_path / "wsjEval.trees").write_text("(TOP (S (NP (DT the) (NN cat))))\n")
    vocabulary = reference_data.golden_path("vocabs", "vocab.translate_ende_wmt8k.8192.subwords")
    shutil.copy(vocabulary, tmp_path / "vocab.endefr.8192")
    problem = registry.problem("parsing_english_ptb8k")
    problem.generate_data(str(tmp_path), str(tmp_path))
    assert (tmp_path / "vocab.endefr.8192").read_bytes() == vocabulary.read_bytes()
    assert examples(tmp_path, f"{problem.name}-dev-*")


def test_missing_files_are_named(tmp_path):
    for name, files in (
        ("parsing_icelandic16k", r"parsing_train\.pairs"),
        ("parsing_english_ptb16k", r"parsing_english_ptb16k reads wsjTrain\.trees"),
    ):
        problem = registry.problem(name)
        with pytest.raises(FileNotFoundError, match=files):
            problem.generate_data(str(tmp_path), str(tmp_path))
        with pytest.raises(FileNotFoundError, match=f"t2t-datagen --problem={name}"):
            problem.get_feature_encoders(str(tmp_path))


def test_pairs_keep_only_lines_with_a_tab(tmp_path):
    (tmp_path / "p").write_text("a b\tS NP /NP /S\nno tab\n c \t d\te \n", encoding="utf-8")
    assert list(text_iterators.txt_tab_iterator(str(tmp_path / "p"))) == [
        {"inputs": "a b", "targets": "S NP /NP /S"},
        {"inputs": "c", "targets": "d\te"},
    ]


def test_shared_vocabulary_names_an_unknown_problem():
    class Other:
        use_vocab_from_other_problem = vocabularies.vocabulary_of("translate_ende_wmt23k")

    with pytest.raises(KeyError, match="translate_ende_wmt32k"):
        Other().use_vocab_from_other_problem  # noqa: B018
