"""Attributes of the registered problems against those that tensor2tensor recorded."""

import pytest

from t2t_keras import registry
from t2t_keras.data.problem import (
    DatasetSplit,
    ModeKeys,
    SpaceID,
    default_model_hparams,
    default_problem_hparams,
)
from tests import reference_data

pytestmark = pytest.mark.reference

# Attributes that are compared as they are.
PLAIN = (
    "additional_reserved_tokens",
    "already_shuffled",
    "approx_vocab_size",
    "batch_size_means_tokens",
    "datatypes_to_clean",
    "dev_length",
    "dev_size",
    "has_inputs",
    "input_space_id",
    "inputs_prefix",
    "is_generate_per_split",
    "max_samples_for_vocab",
    "max_subtoken_length",
    "multiprocess_generate",
    "name",
    "num_classes",
    "num_dev_shards",
    "num_generate_tasks",
    "num_shards",
    "num_symbols",
    "num_training_examples",
    "oov_token",
    "packed_length",
    "packed_spacing",
    "sequence_length",
    "skip_random_fraction_when_training",
    "source_vocab_name",
    "source_vocab_size",
    "target_space_id",
    "target_vocab_name",
    "targeted_vocab_size",
    "targets_prefix",
    "train_length",
    "train_size",
    "use_small_dataset",
    "vocab_filename",
    "vocab_type",
)
# Attributes that have a test of their own below.
OTHERS = (
    "additional_training_datasets",
    "dataset_filename",
    "dataset_splits",
    "dev_filepaths_2_shards",
    "eval_metrics",
    "example_reading_spec",
    "filepattern",
    "problem_hparams_with_fake_vocabs_100_200",
    "source_data_files",
    "test_filepaths_2_shards",
    "training_filepaths_2_shards",
    "use_vocab_from_other_problem",
    "vocab_data_files",
)
# What T2T's Python says, not what the problem is; and functions, which are not compared by name.
NOT_COMPARED = ("bases", "class", "decode_hooks", "module", "unavailable")
# Recorded problems that do not exist here, by the reason.
MISSING_BASES = {"MultiProblem": "mixtures of several problems are not supported"}
SPLITS = {"train": DatasetSplit.TRAIN, "eval": DatasetSplit.EVAL, "test": DatasetSplit.TEST}


class FakeEncoder:
    def __init__(self, vocab_size):
        self.vocab_size = vocab_size


def as_lists(value):
    """Tuples as lists, as JSON has them."""
    return [as_lists(item) for item in value] if isinstance(value, (list, tuple)) else value


def recorded_problems():
    """(name, recorded attributes) of every recorded problem that exists here."""
    recorded = reference_data.load_golden_json("problems.json.gz")
    ours = [
        (name, attributes)
        for name, attributes in recorded.items()
        if registry.parse_problem_name(name).base in registry.list_problems()
    ]
    assert ours
    return ours


def test_every_recorded_problem_is_here_or_known_to_be_missing(record_property):
    recorded = reference_data.load_golden_json("problems.json.gz")
    here = dict(recorded_problems())
    missing = {
        name: [MISSING_BASES[base] for base in attributes["bases"] if base in MISSING_BASES]
        for name, attributes in recorded.items()
        if name not in here
    }
    for name, reasons in missing.items():
        print(f"not here: {name}: {'; '.join(reasons)}")
        assert reasons, name
    # Each group of attributes is compared in a test of its own, for all these problems.
    print(f"problems compared / recorded: {len(here)} / {len(recorded)}")
    record_property("problems", f"{len(here)}/{len(recorded)}")


def test_every_recorded_attribute_is_compared():
    known = {*PLAIN, *OTHERS, *NOT_COMPARED}
    for name, attributes in recorded_problems():
        assert set(attributes) <= known, name


def test_problems_of_the_last_commit():
    delta = reference_data.load_golden_json("last_commit_delta.json")
    for name, attributes in delta["translate_problems_added"].items():
        problem = registry.problem(name)
        for key, value in attributes.items():
            if key in PLAIN:
                assert as_lists(getattr(problem, key)) == value, (name, key)
        for split, files in attributes["source_data_files"].items():
            assert as_lists(problem.source_data_files(SPLITS[split])) == files, (name, split)
        assert problem.dataset_splits == splits_of(attributes["dataset_splits"]), name


def splits_of(recorded):
    """`dataset_splits` as recorded, with this package's names of splits."""
    return [{"split": SPLITS[split["split"]], "shards": split["shards"]} for split in recorded]


def test_defaults_and_spaces():
    spaces = reference_data.load_golden_json("space_ids.json")
    assert {n: v for n, v in vars(SpaceID).items() if n.isupper()} == spaces
    for file_name, defaults in (
        ("default_problem_hparams.json", default_problem_hparams()),
        ("default_model_hparams.json", default_model_hparams()),
    ):
        assert defaults.values() == reference_data.load_golden_json(file_name)


def test_plain_attributes():
    for name, attributes in recorded_problems():
        problem = registry.problem(name)
        for key in PLAIN:
            # A function shows that T2T's class defined this one as a method.
            if key in attributes and not str(attributes[key]).startswith("<"):
                assert as_lists(getattr(problem, key)) == attributes[key], (name, key)


def test_dataset_splits():
    for name, attributes in recorded_problems():
        if "dataset_splits" in attributes:
            expected = splits_of(attributes["dataset_splits"])
            assert registry.problem(name).dataset_splits == expected, name


def test_corpora():
    for name, attributes in recorded_problems():
        problem = registry.problem(name)
        for split, files in attributes.get("source_data_files", {}).items():
            assert as_lists(problem.source_data_files(SPLITS[split])) == files, (name, split)
        for key in ("vocab_data_files", "additional_training_datasets"):
            if key not in attributes:
                continue
            value = getattr(problem, key)
            value = value() if callable(value) else value
            assert as_lists(value) == attributes[key], (name, key)


def test_borrowed_vocabularies():
    for name, attributes in recorded_problems():
        if "use_vocab_from_other_problem" in attributes:
            other = registry.problem(name).use_vocab_from_other_problem
            expected = attributes["use_vocab_from_other_problem"]
            assert (other.name if other else None) == expected, name


def test_metrics():
    for name, attributes in recorded_problems():
        assert list(registry.problem(name).eval_metrics()) == attributes["eval_metrics"], name


def test_file_names():
    methods = {
        "training": "training_filepaths",
        "dev": "dev_filepaths",
        "test": "test_filepaths",
    }
    for name, attributes in recorded_problems():
        problem = registry.problem(name)
        assert problem.dataset_filename() == attributes["dataset_filename"]
        for mode, pattern in attributes["filepattern"].items():
            assert problem.filepattern("DATA", mode) == pattern, (name, mode)
        for kind, method in methods.items():
            shuffled, unshuffled = attributes[f"{kind}_filepaths_2_shards"]
            assert getattr(problem, method)("DATA", 2, True) == shuffled, name
            assert getattr(problem, method)("DATA", 2, False) == unshuffled, name


def test_problem_hparams(monkeypatch):
    key = "problem_hparams_with_fake_vocabs_100_200"
    for name, attributes in recorded_problems():
        problem = registry.problem(name)
        encoders = {"inputs": FakeEncoder(100), "targets": FakeEncoder(200)}
        monkeypatch.setattr(
            type(problem), "feature_encoders", lambda self, data_dir, e=encoders: dict(e)
        )
        hparams = problem.get_hparams(default_model_hparams())
        for hparam, expected in attributes[key].items():
            assert getattr(hparams, hparam) == expected, (name, hparam)
        monkeypatch.undo()


def test_reading_spec():
    import tensorflow as tf

    for name, attributes in recorded_problems():
        features, decoders = registry.problem(name).example_reading_spec()
        found = {key: [type(spec).__name__, spec.dtype.name] for key, spec in features.items()}
        assert found == attributes["example_reading_spec"], name
        assert decoders is None
        fixed = [s for s in features.values() if isinstance(s, tf.io.FixedLenFeature)]
        assert all(spec.shape == [1] for spec in fixed)


@pytest.mark.parametrize("mode", [ModeKeys.TRAIN, ModeKeys.EVAL])
def test_patterns_match_no_unshuffled_shard(mode, tmp_path):
    import glob

    problem = registry.problem("translate_ende_wmt32k")
    for shuffled in (True, False):
        for paths in (problem.training_filepaths, problem.dev_filepaths):
            for path in paths(str(tmp_path), 2, shuffled):
                open(path, "w").close()
    found = glob.glob(problem.filepattern(str(tmp_path), mode))
    assert len(found) == 2 and not any("unshuffled" in path for path in found)
