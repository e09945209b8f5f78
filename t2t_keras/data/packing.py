"""Packing: several short examples in one record, told apart by segment numbers.

Definition: T2T's data_generators.generator_utils.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from t2t_keras.data import example_proto

AUXILIARY_SUFFIXES = ("_segmentation", "_position")

Example = dict[str, Any]


class _Bin:
    """One sequence being packed: ids, segment numbers from 1, positions within the segment."""

    def __init__(self, spacing: int) -> None:
        self._spacing = spacing
        self.ids: list[int] = []
        self.segmentation: list[int] = []
        self.position: list[int] = []
        self._num_segments = 0

    def fits(self, ids: list[int], packed_length: int) -> bool:
        return len(self.ids) + self._spacing + len(ids) <= packed_length

    def add(self, ids: list[int]) -> None:
        if self._num_segments:
            for values in (self.ids, self.segmentation, self.position):
                values.extend([0] * self._spacing)
        self._num_segments += 1
        self.ids.extend(ids)
        self.segmentation.extend([self._num_segments] * len(ids))
        self.position.extend(range(len(ids)))

    def features(self, name: str) -> Example:
        return {
            name: self.ids,
            f"{name}_segmentation": self.segmentation,
            f"{name}_position": self.position,
        }


class _Record:
    """An open record: one bin a side."""

    def __init__(self, sides: tuple[str, ...], spacing: int) -> None:
        self._bins = {side: _Bin(spacing) for side in sides}

    def fits(self, example: Example, packed_length: int) -> bool:
        return all(packed.fits(example[side], packed_length) for side, packed in self._bins.items())

    def add(self, example: Example) -> None:
        for side, packed in self._bins.items():
            packed.add(example[side])

    def to_example(self) -> Example:
        # T2T writes inputs = [0] for targets-only records; they are ignored on reading.
        result: Example = {} if "inputs" in self._bins else {"inputs": [0]}
        for side, packed in self._bins.items():
            result.update(packed.features(side))
        return result


def pack_examples(
    examples: Iterable[Example],
    has_inputs: bool,
    packed_length: int = 256,
    spacing: int = 2,
    queue_size: int = 10,
    chop_long_sequences: bool = False,
) -> Iterator[Example]:
    """Join examples into records of up to `packed_length` ids a side, first fit, oldest first.

    An example goes into the first open record where every side fits with `spacing` zeros before
    it; if there is none, a new record is opened, after emitting the oldest if `queue_size` are
    open. A longer example makes an over-long record of its own. Nothing is padded.

    Args:
        examples: dicts of id lists `targets` and, if `has_inputs`, `inputs`.
        has_inputs: whether examples have inputs.
        packed_length: limit of a side's length, in ids.
        spacing: number of zeros between examples.
        queue_size: number of open records.
        chop_long_sequences: cut longer targets into records of exactly `packed_length`; the rest
            is packed. Only without inputs.

    Yields:
        Dicts of lists: each side's ids, `<side>_segmentation` (1, 2, …; 0 in spacing) and
        `<side>_position` (0, 1, … within each example).

    Raises:
        ValueError: if pairs are to be chopped.
    """
    if chop_long_sequences and has_inputs:
        raise ValueError("Pairs can't be chopped: chop_long_sequences needs has_inputs=False.")
    sides = ("inputs", "targets") if has_inputs else ("targets",)
    open_records: deque[_Record] = deque()
    for example in examples:
        if chop_long_sequences:
            pieces, rest = _chopped(list(example["targets"]), packed_length)
            yield from (_single(sides, spacing, piece) for piece in pieces)
            if not rest:
                continue  # T2T packs the empty rest, which can make a record it can't write.
            example = {"targets": rest}
        record = next((r for r in open_records if r.fits(example, packed_length)), None)
        if record is None:
            if len(open_records) == queue_size:
                yield open_records.popleft().to_example()
            record = _Record(sides, spacing)
            open_records.append(record)
        record.add(example)
    for record in open_records:
        yield record.to_example()


def pack_records(serialized: Iterable[bytes], **options: Any) -> Iterator[bytes]:
    """`pack_examples` on serialised examples.

    Args:
        serialized: the examples.
        **options: arguments of `pack_examples`.

    Yields:
        The packed examples, serialised.
    """
    for example in pack_examples(map(example_proto.parse, serialized), **options):
        yield example_proto.serialize(example)


def _chopped(ids: list[int], length: int) -> tuple[list[list[int]], list[int]]:
    """All pieces of exactly `length` ids, and the rest; nothing is cut from a fitting sequence."""
    if len(ids) <= length:
        return [], ids
    end = len(ids) - len(ids) % length
    return [ids[start : start + length] for start in range(0, end, length)], ids[end:]


def _single(sides: tuple[str, ...], spacing: int, ids: list[int]) -> Example:
    record = _Record(sides, spacing)
    record.add({"targets": ids})
    return record.to_example()
