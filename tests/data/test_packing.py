"""Several examples in one record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2t_keras.data import packing

IDS = st.lists(st.integers(1, 9), min_size=1, max_size=12)
PAIRS = st.lists(st.fixed_dictionaries({"inputs": IDS, "targets": IDS}), max_size=40)


def segments(record, side):
    """The examples' ids of one side of a record, in order."""
    found = {}
    ids, numbers, positions = (record[side + s] for s in ("", "_segmentation", "_position"))
    for token, number, position in zip(ids, numbers, positions, strict=True):
        if number == 0:
            assert token == position == 0
            continue
        assert position == len(found.setdefault(number, []))
        found[number].append(token)
    assert list(found) == list(range(1, len(found) + 1))
    return list(found.values())


@given(pairs=PAIRS, length=st.integers(1, 30), spacing=st.integers(0, 3), queue=st.integers(1, 5))
def test_packing_loses_nothing_and_keeps_pairs_together(pairs, length, spacing, queue):
    packed = list(packing.pack_examples(pairs, True, length, spacing, queue))
    unpacked = []
    for record in packed:
        inputs, targets = segments(record, "inputs"), segments(record, "targets")
        unpacked += zip(inputs, targets, strict=True)
        for side, parts in (("inputs", inputs), ("targets", targets)):
            assert len(record[side]) <= length or len(parts) == 1
    expected = [(pair["inputs"], pair["targets"]) for pair in pairs]
    assert sorted(unpacked) == sorted(expected)


@given(sequences=st.lists(IDS, max_size=30), length=st.integers(1, 8))
def test_chopped_targets_fit_and_lose_nothing(sequences, length):
    examples = [{"targets": ids} for ids in sequences]
    packed = list(packing.pack_examples(examples, False, length, 0, chop_long_sequences=True))
    assert all(0 < len(record["targets"]) <= length for record in packed)
    assert all(record["inputs"] == [0] for record in packed)
    assert sum(len(record["targets"]) for record in packed) == sum(map(len, sequences))


def test_example_of_two_records():
    pairs = [
        {"inputs": [3, 3, 3, 3, 1], "targets": [4, 4, 4, 1]},
        {"inputs": [5, 5, 1], "targets": [6, 6, 6, 6, 6, 1]},
        {"inputs": [7, 1], "targets": [8, 1]},
    ]
    first, second = packing.pack_examples(pairs, True, packed_length=8, spacing=0)
    assert first == {
        "inputs": [3, 3, 3, 3, 1, 7, 1],
        "inputs_segmentation": [1, 1, 1, 1, 1, 2, 2],
        "inputs_position": [0, 1, 2, 3, 4, 0, 1],
        "targets": [4, 4, 4, 1, 8, 1],
        "targets_segmentation": [1, 1, 1, 1, 2, 2],
        "targets_position": [0, 1, 2, 3, 0, 1],
    }
    assert second["inputs"] == [5, 5, 1]


def test_pairs_are_not_chopped():
    with pytest.raises(ValueError, match="can't be chopped"):
        list(packing.pack_examples([], True, chop_long_sequences=True))
