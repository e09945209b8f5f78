import itertools

import numpy as np
import pytest

from t2t_keras import registry
from t2t_keras.data import records
from t2t_keras.models.transformer_problem import symbol_vocab_size
from t2t_keras.problems import algorithmic, algorithmic_arithmetic, cipher

NAMES = [
    name
    for name in registry.list_problems()
    if name.startswith("algorithmic_") and "math" not in name
]


def some_samples(name, max_length, count=300, seed=1):
    np.random.seed(seed)
    problem = registry.problem(name)
    samples = list(problem.generator(problem.num_symbols, max_length, count))
    assert len(samples) == count
    return samples


@pytest.mark.parametrize("num_symbols", [2, 10, 95, 8000])
def test_many_symbols_at_once_are_those_drawn_one_by_one(num_symbols):
    np.random.seed(7)
    at_once = algorithmic.random_symbols(num_symbols, 50)
    following = np.random.randint(1000)
    np.random.seed(7)
    assert [np.random.randint(num_symbols) for _ in range(50)] == at_once
    assert np.random.randint(1000) == following


def test_length_is_drawn_before_the_symbols():
    samples = some_samples("algorithmic_identity_decimal40", 40, count=3, seed=3)
    np.random.seed(3)
    for sample in samples:
        length = np.random.randint(40) + 1
        assert sample["inputs"] == [np.random.randint(10) for _ in range(length)]


def test_operands_are_drawn_in_order():
    sample = some_samples("algorithmic_addition_decimal40", 40, count=1, seed=5)[0]
    np.random.seed(5)
    first_length = np.random.randint(20) + 1
    second_length = np.random.randint(40 - first_length - 1) + 1
    assert sample["inputs"].index(10) == first_length
    assert len(sample["inputs"]) == first_length + 1 + second_length
    assert sample["inputs"][: first_length - 1] == [
        np.random.randint(10) for _ in range(first_length - 1)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_lengths_and_symbols_lie_in_their_ranges(name):
    problem = registry.problem(name)
    is_sentence_like = "nlplike" in name
    largest = 0
    for sample in some_samples(name, 20):
        assert 1 <= len(sample["inputs"]) <= 20 or is_sentence_like
        assert min(sample["inputs"] + sample["targets"]) >= 0
        largest = max(largest, *sample["inputs"], *sample["targets"])
    has_separator = "addition" in name or "multiplication" in name
    assert largest <= problem.num_symbols - 1 + (has_separator or is_sentence_like)
    assert not has_separator or largest == problem.num_symbols


RULES = {
    "algorithmic_identity_binary40": lambda x: x,
    "algorithmic_shift_decimal40": lambda x: [symbol + 10 for symbol in x],
    "algorithmic_reverse_decimal40": lambda x: list(reversed(x)),
    "algorithmic_reverse_nlplike8k": lambda x: list(reversed(x)),
    "algorithmic_sort_problem": sorted,
    "algorithmic_cipher_shift5": lambda x: [(symbol + 1) % 5 for symbol in x],
}


@pytest.mark.parametrize("name", RULES)
def test_targets_follow_the_rule(name):
    for sample in some_samples(name, 15):
        assert sample["targets"] == RULES[name](sample["inputs"])


@pytest.mark.parametrize("base", [2, 10])
@pytest.mark.parametrize("kind", ["addition", "multiplication"])
def test_arithmetic_is_right(base, kind):
    base_name = {2: "binary", 10: "decimal"}[base]
    for sample in some_samples(f"algorithmic_{kind}_{base_name}40", 14):
        where = sample["inputs"].index(base)
        first, second = sample["inputs"][:where], sample["inputs"][where + 1 :]
        for number in (first, second):
            assert len(number) == 1 or number[-1] != 0
        values = [
            sum(digit * base**place for place, digit in enumerate(digits))
            for digits in (first, second, sample["targets"])
        ]
        expected = values[0] + values[1] if kind == "addition" else values[0] * values[1]
        assert values[2] == expected
        assert len(sample["targets"]) == 1 or sample["targets"][-1] != 0


def test_arithmetic_needs_room():
    samples = algorithmic_arithmetic.arithmetic_samples(2, 2, 1, lambda a, b: a + b)
    with pytest.raises(ValueError, match="Received: 2"):
        next(samples)


def test_vigenere_uses_its_key_in_turn():
    assert cipher.encipher([0, 0, 0, 4, 4], (1, 3), 5) == [1, 3, 1, 2, 0]
    for sample in some_samples("algorithmic_cipher_vigenere200", 9):
        assert sample["targets"] == cipher.encipher(sample["inputs"], [1, 3], 200)


def test_zipf_frequencies():
    table = algorithmic.zipf_table(100, 1.3)
    assert table.shape == (101,) and table[0] == 0.0 and table[-1] == 1.0
    ratio = (table[1] - table[0]) / (table[4] - table[3])
    np.testing.assert_allclose(ratio, 4**1.3)
    np.random.seed(0)
    problem = registry.problem("algorithmic_reverse_nlplike8k")
    samples = list(problem.generator(problem.num_symbols, 70, 400))
    symbols = np.array(list(itertools.chain(*(sample["inputs"] for sample in samples))))
    assert symbols.min() == 1
    expected = algorithmic.zipf_table(8000, 1.3)[1]
    assert abs((symbols == 1).mean() - expected) < 0.02
    lengths = [len(sample["inputs"]) for sample in samples]
    assert abs(np.mean(lengths) - 35.5) < 1.5 and abs(np.std(lengths) - 7) < 1


def test_files_hold_shifted_ids_and_eos(tmp_path):
    problem = registry.problem("algorithmic_reverse_binary40_test")
    np.random.seed(2)
    problem.generate_data(str(tmp_path), "")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "algorithmic_reverse_binary40_test-dev-00000-of-00001",
        "algorithmic_reverse_binary40_test-train-00000-of-00001",
        "shard_sizes.json",
    ]
    np.random.seed(2)
    for paths, length, count in (
        (problem.training_filepaths, 10, 1000),
        (problem.dev_filepaths, 10, 100),
    ):
        expected = list(problem.generator(2, length, count))
        found = records.read_records(paths(str(tmp_path), 1, True)[0])
        assert len(found) == count
        for record, sample in zip(found, expected, strict=True):
            assert records.parse_example(record) == {
                feature: [*(symbol + 2 for symbol in symbols), 1]
                for feature, symbols in sample.items()
            }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", ["", "_rev", "_copy"])
def test_all_ids_are_in_the_model(name, suffix):
    problem = registry.problem(name + suffix)
    problem_hparams = problem.get_hparams()
    sizes = {s: symbol_vocab_size(problem_hparams, s) for s in ("inputs", "targets")}
    largest = dict.fromkeys(sizes, 0)
    for sample in problem.to_ids(iter(some_samples(name, 20))):
        for side, ids in problem.maybe_reverse_and_copy(sample).items():
            largest[side] = max(largest[side], *ids)
    assert all(largest[side] < sizes[side] for side in sizes)
    # No larger than needed, where the samples show it: arithmetic needs one symbol more than T2T.
    declared = problem_hparams.vocab_size["inputs"]
    assert sizes["inputs"] == declared + problem.num_undeclared_symbols
    if "addition" in name and not suffix:
        assert largest["inputs"] == declared


def test_tiny_algo_is_written_as_it_is(tmp_path):
    problem = registry.problem("tiny_algo")
    problem.generate_data(str(tmp_path), "")
    found = records.read_records(str(tmp_path / "tiny_algo-train-00000-of-00001"))
    assert len(found) == 100
    ids = set(itertools.chain(*(records.parse_example(record)["inputs"] for record in found)))
    assert ids == {0, 1}


def test_a_model_reads_the_separator():
    from t2t_keras import hparams_lib

    hparams = hparams_lib.create_hparams(
        "transformer_tiny",
        "hidden_size=8,filter_size=8,num_heads=2",
        problem_name="algorithmic_addition_binary40",
    )
    model = registry.model("transformer").from_hparams(hparams)
    sample = some_samples("algorithmic_addition_binary40", 20, count=1)[0]
    features = {
        side: np.array([[*(symbol + 2 for symbol in symbols), 1]], np.int32)
        for side, symbols in sample.items()
    }
    assert features["inputs"].max() == hparams.problem_hparams.vocab_size["inputs"]
    logits = model(features)
    assert logits.shape[-1] == features["inputs"].max() + 1
    assert np.isfinite(logits.numpy()).all()
