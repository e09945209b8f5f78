"""Reading tensor2tensor's own shards gives its examples and evaluation batches."""

import re

import numpy as np
import pytest

from t2t_keras.data import pipeline
from t2t_keras.data.modes import ModeKeys
from tests import reference_data
from tests.data import golden_problems, numbers_problem

pytestmark = pytest.mark.reference

# In every example of tensor2tensor, and of no use.
_ALWAYS_ZERO = "batch_prediction_key"


def make_hparams(data_dir, **values):
    defaults = {"batch_size": 1024, "length_bucket_step": 1.1, "batch_shuffle_size": 512}
    return numbers_problem.make_hparams(**{**defaults, "data_dir": str(data_dir), **values})


@pytest.fixture(scope="module")
def data_dir():
    return reference_data.golden_path("datagen", "files")


def recorded():
    return reference_data.load_golden_json("datagen", "reader_eval.json.gz")


def test_examples(data_dir):
    names = [name for name in recorded() if "|" not in name]
    assert names
    for name in names:
        problem = golden_problems.GOLDEN_PROBLEMS[name]()
        ours = problem.dataset(ModeKeys.EVAL, str(data_dir))
        for expected, features in zip(recorded()[name], ours, strict=False):
            expected = {k: v for k, v in expected.items() if k != _ALWAYS_ZERO}
            assert features.keys() == expected.keys()
            for feature, (dtype, values) in expected.items():
                assert features[feature].dtype == dtype
                np.testing.assert_array_equal(features[feature], values)


def test_evaluation_batches(data_dir):
    keys = [key for key in recorded() if "|eval_batches_batch_size" in key]
    assert keys
    for key in keys:
        name, batch_size = re.fullmatch(r"(.*)\|eval_batches_batch_size(\d+)", key).groups()
        problem = golden_problems.GOLDEN_PROBLEMS[name]()
        hparams = make_hparams(data_dir, batch_size=int(batch_size))
        batches = list(pipeline.input_dataset(problem, ModeKeys.EVAL, hparams, str(data_dir)))
        assert len(batches) == len(recorded()[key]), key
        for batch, expected in zip(batches, recorded()[key], strict=True):
            expected.pop(_ALWAYS_ZERO)
            assert batch.keys() == expected.keys()
            for feature, (shape, values) in expected.items():
                assert batch[feature].dtype == "int32"
                assert list(batch[feature].shape) == shape[:2]
                if values is None:  # Only the shape was recorded.
                    continue
                np.testing.assert_array_equal(
                    batch[feature], np.asarray(values).reshape(shape[:2]), err_msg=key
                )


def test_vocabulary_sizes(data_dir):
    keys = [key for key in recorded() if key.endswith("|vocab_size")]
    assert keys
    for key in keys:
        problem = golden_problems.GOLDEN_PROBLEMS[key.split("|")[0]]()
        problem_hparams = problem.get_hparams(make_hparams(data_dir))
        assert problem_hparams.vocab_size == recorded()[key], key
