"""Training on very few examples."""

import pytest

from t2t_keras.data import pipeline, tfrecord
from t2t_keras.data.modes import ModeKeys
from tests.data.numbers_problem import Numbers, make_hparams, write_shards


def batches(data_dir, **values):
    hparams = make_hparams(**values)
    return iter(pipeline.input_dataset(Numbers(), ModeKeys.TRAIN, hparams, str(data_dir), seed=1))


@pytest.mark.parametrize(("count", "expected"), [(2, 1), (15, 4), (1000, 8)])
def test_the_shuffle_buffer_holds_a_pass_at_most(tmp_path, count, expected):
    write_shards(tmp_path, "train", count=count)
    files = sorted(str(path) for path in tmp_path.glob("*train*-of-*"))
    hparams = make_hparams(batch_shuffle_size=8)
    assert pipeline.batch_buffer_size(hparams, files, smallest_batch=4) == expected


def test_two_examples_in_many_shards_train_at_once(tmp_path):
    write_shards(tmp_path, "train", num_shards=50, count=2)
    # Unless capped, the buffer would take 100,000 passes.
    iterator = batches(tmp_path, batch_size=128, batch_shuffle_size=10_000)
    assert next(iterator)["inputs"].shape[0] > 2


def test_data_without_a_fitting_example_are_refused(tmp_path):
    write_shards(tmp_path, "train", count=4)
    with pytest.raises(ValueError, match="min_length=30"):
        batches(tmp_path, min_length=30)


def test_counts_are_estimated_from_the_largest_file(tmp_path, monkeypatch):
    write_shards(tmp_path, "train", count=400)
    files = sorted(str(path) for path in tmp_path.glob("*train*-of-*"))
    assert tfrecord.estimate_count(files) == 400
    monkeypatch.setattr(tfrecord, "_COUNTED_BYTES", 0)
    assert tfrecord.estimate_count(files) == pytest.approx(400, rel=0.1)
