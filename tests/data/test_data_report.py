"""What a run is going to be fed with, in words."""

import numpy as np
import pytest

from t2t_keras.data import batching, length_scan, pipeline, records, shapes
from t2t_keras.data.length_scan import TrainingSample
from t2t_keras.data.modes import ModeKeys
from t2t_keras.data.training_input import TrainingInput
from tests.data.numbers_problem import NUM_EXAMPLES, Numbers, example, make_hparams


def test_description_has_the_share_dropped_per_side(data_dir):
    hparams = make_hparams(max_length=11)
    text = pipeline.describe(Numbers(), hparams, data_dir)
    inputs = np.mean([len(example(n)["inputs"]) > 11 for n in range(NUM_EXAMPLES)])
    targets = np.mean([len(example(n)["targets"]) > 11 for n in range(NUM_EXAMPLES)])
    assert f"inputs longer: {inputs:.2%}" in text
    assert f"targets longer: {targets:.2%}" in text
    assert f"drops {inputs:.2%}" in text
    assert "first 150 training examples" in text


def test_description_counts_preprocessed_examples(data_dir):
    hparams = make_hparams(max_length=11, max_input_seq_length=11)
    assert "inputs longer: 0.00%" in pipeline.describe(Numbers(), hparams, data_dir)


def test_description_gives_the_tokens_of_a_step(data_dir):
    hparams = make_hparams(batch_size=1000, max_length=41, length_bucket_step=100.0)
    hparams.min_length_bucket = 41
    text = pipeline.describe(Numbers(), hparams, data_dir, num_replicas=2)
    scheme = batching.batching_scheme(Numbers(), ModeKeys.TRAIN, hparams, 2)
    assert scheme.boundaries == ()
    tokens = np.mean([len(example(n)["inputs"]) for n in range(NUM_EXAMPLES)])
    assert f"{scheme.batch_sizes[0]:,} sentences" in text
    assert f"{tokens * scheme.batch_sizes[0]:,.0f} inputs" in text


def test_ids_beyond_the_vocabulary_are_an_error(tmp_path):
    paths = Numbers().training_filepaths(str(tmp_path), 1, shuffled=True)
    records.generate_files([{"inputs": [302, 1], "targets": [5, 1]}], paths)
    with pytest.raises(ValueError, match="id 302.*only 302 entries"):
        pipeline.describe(Numbers(), make_hparams(), str(tmp_path))


def test_a_filter_that_drops_everything_is_an_error(data_dir):
    with pytest.raises(ValueError, match="drops all 150 examples.*max_length=1,"):
        pipeline.describe(Numbers(), make_hparams(max_length=1), data_dir)


def test_description_has_shapes_and_padding(data_dir):
    text = pipeline.describe(Numbers(), make_hparams(), data_dir, 2, max_shapes=3)
    arguments = {"pad_to_bucket": True, "max_shapes": 3, "num_replicas": 2}
    shapes = TrainingInput(Numbers(), make_hparams(), data_dir, **arguments).shapes
    assert "3 shapes to compile" in text
    assert ", ".join(f"{rows} × {length}" for rows, length in shapes) in text
    found = [int(n) + 2 for n in range(NUM_EXAMPLES)]
    lengths = [len(example(n - 2)["inputs"]) + len(example(n - 2)["targets"]) for n in found]
    longest = [len(example(n - 2)["inputs"]) for n in found]
    bucket = [min(limit for _, limit in shapes if limit >= length) for length in longest]
    assert f"{1 - sum(lengths) / (2 * sum(bucket)):.1%} of their ids are padding" in text


def test_the_first_examples_are_looked_at_once_for_input_and_description(data_dir, monkeypatch):
    scans, scan = [], length_scan._scan
    monkeypatch.setattr(length_scan, "_scan", lambda *a: scans.append(a) or scan(*a))
    # Those that decide about the shapes are fewer than those described, and of other lengths.
    monkeypatch.setattr(shapes, "_EXAMPLES_LOOKED_AT", 2)
    arguments = {"pad_to_bucket": True, "max_shapes": 3}
    sample = TrainingSample(Numbers(), make_hparams(), data_dir)
    source = TrainingInput(Numbers(), make_hparams(), data_dir, sample=sample, **arguments)
    text = pipeline.describe(Numbers(), make_hparams(), data_dir, max_shapes=3, sample=sample)
    assert len(scans) == 1
    alone = TrainingInput(Numbers(), make_hparams(), data_dir, **arguments)
    assert source.scheme == alone.scheme
    assert text == pipeline.describe(Numbers(), make_hparams(), data_dir, max_shapes=3)
    monkeypatch.setattr(shapes, "_EXAMPLES_LOOKED_AT", NUM_EXAMPLES)
    assert TrainingInput(Numbers(), make_hparams(), data_dir, **arguments).scheme != alone.scheme


def test_without_few_shapes_the_input_looks_at_no_examples(data_dir, monkeypatch):
    monkeypatch.setattr(length_scan, "_scan", lambda *arguments: pytest.fail("looked at"))
    sample = TrainingSample(Numbers(), make_hparams(), data_dir)
    TrainingInput(Numbers(), make_hparams(), data_dir, sample=sample)
