"""Features that are one number an example, beside the sequences."""

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import hparams_lib, registry
from t2t_keras.training.compilation import CompilationLog
from tests.training import runs, toy


@pytest.fixture(scope="module")
def weighted():
    """Name of a problem whose examples have a weight; a model makes no use of it."""
    name = "toy_weighted"
    if name not in registry.list_problems():

        @registry.register_problem(name)
        class ToyWeighted(type(registry.problem("toy_reverse_words"))):
            def generate_encoded_samples(self, *arguments):
                for sample in super().generate_encoded_samples(*arguments):
                    yield {**sample, "weight": [1.0]}

            def example_reading_spec(self):
                fields, decoders = super().example_reading_spec()
                return {**fields, "weight": tf.io.FixedLenFeature([], tf.float32)}, decoders

    return name


def test_a_run_with_single_numbers_trains_evaluates_and_draws(weighted, tmp_path):
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    registry.problem(weighted).generate_data(str(data_dir), str(data_dir))
    hparams = hparams_lib.create_hparams(
        "transformer_tiny", toy.TINY, data_dir=str(data_dir), problem_name=weighted
    )
    runs.train(
        tmp_path / "run", str(data_dir), hparams=hparams, schedule="train_and_evaluate",
        train_steps=4,
    )  # fmt: skip
    assert runs.curve(tmp_path / "run" / "eval")
    assert runs.curve(tmp_path / "run", "input_stats/targets_length")
    assert not runs.curve(tmp_path / "run", "input_stats/weight_length")


def test_shapes_to_compile_are_those_of_the_sequences(caplog):
    features = {"targets": np.zeros([4, 7], np.int32), "weight": np.zeros([4], np.float32)}
    compiled = []
    with caplog.at_level("INFO", logger="absl"):
        CompilationLog(True, [(4, 7), (2, 15)]).compile_all(
            features, compiled.append, lambda: False
        )
    assert [example["weight"].shape for example in compiled] == [(4,), (2,)]
    assert "4 x 7" in caplog.text and "2 x 15" in caplog.text
