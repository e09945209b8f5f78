"""The order of training batches, which both ways of reading records keep."""

import itertools

import pytest

from t2t_keras.data.training_batches import DatasetInput
from t2t_keras.data.training_input import TrainingInput
from tests.data.numbers_problem import (
    NUM_EXAMPLES,
    NUM_SHARDS,
    Numbers,
    SkipsNothing,
    as_lists,
    make_hparams,
)


@pytest.fixture(params=[TrainingInput, DatasetInput])
def open_input(request, data_dir):
    """Opens the training batches of a problem."""

    def opened(problem=None, hparams=None, seed=5, num_replicas=1):
        return request.param(
            problem or Numbers(),
            hparams or make_hparams(),
            data_dir,
            num_replicas=num_replicas,
            seed=seed,
            pad_to_bucket=False,
        )

    return opened


def take(source, count):
    return as_lists(itertools.islice(source, count))


def numbers_of(batches):
    """Numbers of the examples in batches; their ids begin with the number + 2."""
    return [row[0] - 2 for batch in batches for row in batch["inputs"]]


def test_one_seed_gives_one_order_and_another_another(open_input):
    one, again, other = (take(open_input(seed=seed), 40) for seed in (5, 5, 6))
    assert one == again
    assert one != other


def test_every_pass_has_every_example_once_in_another_order(open_input):
    hparams = make_hparams(batch_size=1, max_length=1000, batch_shuffle_size=0)
    source = open_input(SkipsNothing(was_copy=True), hparams)
    passes = [numbers_of(take(source, NUM_EXAMPLES)) for _ in range(3)]
    assert all(sorted(order) == list(range(NUM_EXAMPLES)) for order in passes)
    assert passes[0] != passes[1] != passes[2] != passes[0]


def test_training_begins_at_a_random_example(open_input):
    hparams = make_hparams(batch_size=1, max_length=1000, batch_shuffle_size=0)
    begun = numbers_of(take(open_input(hparams=hparams), 100))
    whole = numbers_of(take(open_input(SkipsNothing(), hparams), 200))
    start = whole.index(begun[0])
    assert 0 < start <= NUM_EXAMPLES // NUM_SHARDS
    assert whole[start : start + 100] == begun


def test_fixed_batch_size_counts_sentences_of_a_replica(open_input):
    hparams = make_hparams(use_fixed_batch_size=True, batch_size=5)
    source = open_input(hparams=hparams, num_replicas=2)
    assert {batch["inputs"].shape[0] for batch in itertools.islice(source, 10)} == {10}
