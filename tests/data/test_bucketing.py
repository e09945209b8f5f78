"""Batch sizes by length."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2t_keras.data import bucketing
from tests import reference_data


@pytest.mark.reference
def test_boundaries_equal_t2t():
    recorded = reference_data.load_golden_json("batching_scheme.json.gz")
    for case in recorded["bucket_boundaries"]:
        assert bucketing.bucket_boundaries(*case["args"]) == case["boundaries"], case["args"]


@pytest.mark.reference
def test_schemes_equal_t2t():
    cases = reference_data.load_golden_json("batching_scheme.json.gz")["cases"]
    for case in cases:
        if "raises" in case["result"]:
            with pytest.raises(ValueError, match="Received"):
                bucketing.batching_scheme(**case["args"])
            continue
        scheme = bucketing.batching_scheme(**case["args"])
        ours = {
            "batch_sizes": list(scheme.batch_sizes),
            "boundaries": list(scheme.boundaries),
            "max_length": scheme.max_length,
            "min_length": scheme.min_length,
            "shuffle_queue_size": scheme.shuffle_queue_size,
        }
        assert ours == case["result"], case["args"]


@given(
    batch_size=st.integers(1, 10_000),
    max_length=st.integers(1, 2000),
    step=st.floats(1.01, 2.0),
    replicas=st.integers(1, 8),
    length=st.integers(0, 3000),
)
def test_every_length_has_a_bucket_that_fits(batch_size, max_length, step, replicas, length):
    scheme = bucketing.batching_scheme(batch_size, max_length, 8, step, shard_multiplier=replicas)
    bucket = scheme.bucket_of(length)
    assert 0 <= bucket < len(scheme.batch_sizes) == len(scheme.boundaries) + 1
    if length <= max_length:
        assert length <= scheme.bucket_lengths[bucket]
    for size, bound in zip(scheme.batch_sizes, scheme.bucket_lengths, strict=True):
        assert size % replicas == 0
        assert size // replicas == 1 or size // replicas * bound <= batch_size


def test_impossible_values_are_refused():
    with pytest.raises(ValueError, match="min_length=20"):
        bucketing.batching_scheme(100, 10, 8, 1.1, min_length=20)
    with pytest.raises(ValueError, match="length_bucket_step.*1.0"):
        bucketing.bucket_boundaries(100, 8, 1.0)


def test_description_names_longest_bucket_and_number_of_shapes():
    text = bucketing.batching_scheme(4096, 256, 8, 1.1).describe()
    assert "256 × 15" in text
    assert "42 shapes" in text


def padded_ids(scheme, counts_by_length):
    return sum(
        count * scheme.bucket_lengths[scheme.bucket_of(length)]
        for length, count in counts_by_length.items()
    )


@given(
    counts=st.lists(st.integers(0, 50), min_size=6, max_size=6),
    max_buckets=st.integers(1, 8),
)
def test_joined_buckets_have_the_least_padding_of_all_choices(counts, max_buckets):
    scheme = bucketing.batching_scheme(64, 40, 8, 1.45)
    last = len(scheme.batch_sizes) - 1
    assert last == 5
    joined = scheme.joined(max_buckets, counts)
    lengths = dict(zip(scheme.bucket_lengths, counts, strict=True))
    choices = [
        scheme.with_buckets([*some, last])
        for size in range(max_buckets)
        for some in itertools.combinations(range(last), size)
    ]
    least = min(padded_ids(choice, lengths) for choice in choices)
    assert padded_ids(joined, lengths) == least
    assert len(joined.batch_sizes) <= max_buckets


@given(replicas=st.integers(1, 8), seed=st.integers(0, 9))
def test_joined_buckets_keep_the_tokens_of_a_batch(replicas, seed):
    scheme = bucketing.batching_scheme(4096, 256, 8, 1.1, shard_multiplier=replicas)
    counts = [(k * 7 + seed) % 23 for k in range(len(scheme.batch_sizes))]
    joined = scheme.joined(16, counts)
    assert len(joined.batch_sizes) == len(joined.boundaries) + 1 <= 16
    assert joined.longest == scheme.longest
    tokens = dict(zip(scheme.bucket_lengths, scheme.batch_sizes, strict=True))
    for length, rows in zip(joined.bucket_lengths, joined.batch_sizes, strict=True):
        assert tokens[length] == rows and rows % replicas == 0


def test_a_scheme_of_no_buckets_is_refused():
    with pytest.raises(ValueError, match="at least one.*0"):
        bucketing.batching_scheme(64, 40, 8, 1.45).joined(0, [1] * 6)
