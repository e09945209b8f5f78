"""The endless training batches, whose position is the numbers of some records.

The steps are those of `pipeline.input_dataset`, for problems where a record is an example: records
are shuffled, parsed, filtered by length, collected in buckets of similar length, and full batches
are shuffled. What waits between the steps is known by the numbers of its records, so a position
takes a few hundred kilobytes instead of all the waiting tokens, and a run can go on with another
number of replicas without losing or repeating an example.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from t2t_keras.data import batching, chunking, pipeline, reading, record_stream, shapes
from t2t_keras.data.example_parser import ExampleParser, gives_one_example_a_record
from t2t_keras.data.grouping import Grouping
from t2t_keras.data.length_scan import TrainingSample
from t2t_keras.data.modes import ModeKeys
from t2t_keras.data.problem import Problem
from t2t_keras.data.random_picks import RandomPicks
from t2t_keras.data.rows import Rows, join

__all__ = ["BATCH_HPARAMS", "InputState", "TrainingInput", "is_available"]

# Whatever they are used for, other values make other batches of the same examples.
BATCH_HPARAMS = (
    "batch_size",
    "max_length",
    "min_length",
    "batch_shuffle_size",
    "max_input_seq_length",
    "max_target_seq_length",
    "prepend_mode",
)

# Records parsed together.
_CHUNK = 1024


def is_available(problem: Problem, hparams: Any) -> bool:
    """Whether every record is one example: nothing is packed while reading, or cut into chunks."""
    if getattr(hparams, "pack_dataset", False) or chunking.chunk_length(hparams):
        return False
    return gives_one_example_a_record(problem, ModeKeys.TRAIN, hparams)


@dataclasses.dataclass(frozen=True)
class InputState:
    """Where the input stands.

    Attributes:
        values: JSON values.
        ids: int64, the records that wait: in the shuffle buffer, in batches, in open buckets.
    """

    values: dict[str, Any]
    ids: np.ndarray


class TrainingInput:
    """Iterator over training batches.

    One batch is always prepared ahead, in a thread.

    Args:
        problem: the problem; see `is_available`.
        hparams: model hparams, as for `pipeline.input_dataset`.
        data_dir: directory of the shards.
        num_replicas: every batch has a multiple of so many sentences.
        seed: of all shuffling.
        pad_to_bucket: pad all sequences to the longest length of their bucket.
        max_shapes: at most so many buckets, joined where that costs the least padding; 0: T2T's.
        sample: the first training examples, to be looked at once for all purposes; None: an own
            look, where one is needed.

    Raises:
        FileNotFoundError: if there are no shards.
        ValueError: while reading: a record is damaged, or no example passes the length filter.
            The position is then that before the batch that can't be made.
    """

    def __init__(
        self,
        problem: Problem,
        hparams: Any,
        data_dir: str,
        *,
        num_replicas: int = 1,
        seed: int = 0,
        pad_to_bucket: bool = False,
        max_shapes: int = 0,
        sample: TrainingSample | None = None,
    ) -> None:
        self._data_dir = data_dir
        self._files = reading.shard_files(problem, ModeKeys.TRAIN, data_dir)
        self.scheme = shapes.training_scheme(
            problem, hparams, data_dir, num_replicas, max_shapes if pad_to_bucket else 0, sample
        )
        self._pad_to_bucket = pad_to_bucket
        self._parse = ExampleParser(problem, ModeKeys.TRAIN, hparams)
        seeds = pipeline.Seeds(seed)
        self._stream = record_stream.RecordStream(self._files, seeds.examples)
        self._num_to_skip = pipeline.records_to_skip(problem, seeds, self._files)
        self._grouping = Grouping(self.scheme)
        self._picks = RandomPicks(seeds.batches)
        self._buffer_size = pipeline.batch_buffer_size(
            hparams, self._files, min(self.scheme.batch_sizes)
        )
        self._buffer: list[Rows] = []
        self._has_examples = False
        self._worker = concurrent.futures.ThreadPoolExecutor(1, "training-input")
        self._ahead: concurrent.futures.Future[tuple[batching.Features, np.ndarray]] | None = None
        # Its rows; also those of a batch that couldn't be made of them.
        self._rows_ahead: Rows | None = None
        self._last_ids = np.zeros(0, np.int64)
        self._description = _description(problem, hparams, self, num_replicas)

    def __iter__(self) -> Iterator[batching.Features]:
        return self

    def __next__(self) -> batching.Features:
        """Feature name -> `[batch, length]`."""
        ahead = self._ahead or self._worker.submit(self._make_batch)
        self._ahead = None
        features, ids = ahead.result()
        self._last_ids, self._rows_ahead = ids, None
        self._ahead = self._worker.submit(self._make_batch)
        return features

    def _make_batch(self) -> tuple[batching.Features, np.ndarray]:
        """A batch, and the ids of its records. If it fails, nothing is lost of the position."""
        if self._rows_ahead is None:
            self._rows_ahead = self._next_rows()
        return self._padded(self._rows_ahead), self._rows_ahead.ids

    def _next_rows(self) -> Rows:
        while len(self._buffer) < self._buffer_size:
            self._buffer.append(self._next_group())
        place = self._picks.below(len(self._buffer))
        rows = self._buffer[place]
        self._buffer[place] = self._buffer[-1]
        self._buffer.pop()
        return rows

    def _padded(self, rows: Rows) -> batching.Features:
        length = None
        if self._pad_to_bucket:
            bucket = self.scheme.bucket_of(int(rows.length.max()))
            length = self.scheme.bucket_lengths[bucket]
        return {name: tf.constant(value) for name, value in rows.padded(length).items()}

    def _next_group(self) -> Rows:
        """The next batch in the order of the stream."""
        if self._num_to_skip:
            with self._stream.undone_on_error():
                self._stream.read(self._num_to_skip)
            self._num_to_skip = 0
        while not self._grouping.ready:
            with self._stream.undone_on_error():
                rows = self._parse(*self._stream.read(_CHUNK))
            self._has_examples |= self._grouping.add(rows) > 0
            if not self._has_examples and self._stream.epoch > 1:
                raise batching.no_example_passes(self.scheme, self._data_dir)
        return self._grouping.ready.popleft()

    @property
    def description(self) -> dict[str, dict[str, Any]]:
        """What a position depends on, as JSON values.

        "data": with others, a position is of no use. "batches": with others, the batches of the
        same examples differ.
        """
        return self._description

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Rows and length of all batches there can be; of use if they are padded to buckets."""
        return list(zip(self.scheme.batch_sizes, self.scheme.bucket_lengths, strict=True))

    def record_finder(self) -> Callable[[Sequence[int]], list[str]]:
        """Tells where rows of the batch last returned come from, also when others have followed it.

        Returns:
            From numbers of rows to `<file> record <number>`.
        """
        ids = self._last_ids

        def find(rows: Sequence[int]) -> list[str]:
            places = map(record_stream.file_and_record, ids[list(rows)].tolist())
            return [f"{self._files[file]} record {number}" for file, number in places]

        return find

    def state(self) -> InputState:
        """Where the input stands, after the batch last returned.

        An error of reading ahead is none yet: the next call for a batch raises it.
        """
        if self._ahead is not None:
            concurrent.futures.wait([self._ahead])
        ahead = [] if self._rows_ahead is None else [self._rows_ahead]
        stream, shuffled = self._stream.state()
        parts = [*ahead, *self._buffer, *self._grouping.ready, *self._grouping.open_groups()]
        values = {
            "stream": stream,
            "batch_random": self._picks.state(),
            "num_to_skip": self._num_to_skip,
            "shuffled_records": len(shuffled),
            "rows_ahead": [len(rows) for rows in ahead],
            "rows_buffered": [len(rows) for rows in self._buffer],
            "rows_ready": [len(rows) for rows in self._grouping.ready],
        }
        return InputState(values, np.concatenate([shuffled, *(rows.ids for rows in parts)]))

    def restore(self, state: InputState, same_batches: bool) -> str:
        """Goes on where `state` was taken.

        Args:
            state: of an input with the same data.
            same_batches: whether it made batches in the same way. If not, the examples read but
                not used yet come first, in new batches, and the stream goes on after them.

        Returns:
            What was done, for the log.
        """
        values = state.values
        count = values["shuffled_records"]
        self._ahead = self._rows_ahead = None
        self._num_to_skip = values["num_to_skip"]
        self._stream.restore(values["stream"], state.ids[:count])
        self._picks.restore(values["batch_random"])
        waiting = self._fetch(state.ids[count:])
        self._buffer = []
        self._grouping = Grouping(self.scheme)
        self._has_examples = bool(waiting)
        if waiting and same_batches:
            self._restore_batches(join(waiting), values)
        elif waiting:
            rows = join(waiting)
            self._grouping.add(rows.take(np.argsort(self._picks.many(len(rows)), kind="stable")))
        num_waiting = len(state.ids) - count
        place = (
            f"pass {self._stream.epoch + 1} over the data, of which {self._stream.records_read:,} "
            "records are read"
        )
        if same_batches:
            return f"The input goes on in {place}, with the very next batch"
        return (
            f"The input goes on in {place}; the {num_waiting:,} examples that were read but not "
            "trained on yet come first, in new batches"
        )

    def _restore_batches(self, waiting: Rows, values: dict[str, Any]) -> None:
        kinds = ("rows_ahead", "rows_buffered", "rows_ready")
        counts = [size for kind in kinds for size in values[kind]]
        parts = waiting.split([*counts, len(waiting) - sum(counts)])
        batches = iter(parts[:-1])
        ahead, buffered, ready = (
            [next(batches) for _ in range(len(values[kind]))] for kind in kinds
        )
        if ahead:
            self._rows_ahead = ahead[0]
            self._ahead = self._worker.submit(self._make_batch)
        self._buffer = buffered
        self._grouping.add(parts[-1])
        self._grouping.ready.extend(ready)

    def _fetch(self, ids: np.ndarray) -> list[Rows]:
        """The examples of records, in that order."""
        records = record_stream.fetch(self._files, ids)
        starts = range(0, len(ids), _CHUNK)
        return [self._parse(ids[k : k + _CHUNK], records[k : k + _CHUNK]) for k in starts]

    def close(self) -> None:
        """Ends the thread and closes all files."""
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._stream.close()


def _description(
    problem: Problem, hparams: Any, source: TrainingInput, num_replicas: int
) -> dict[str, dict[str, Any]]:
    return {
        "data": {"problem": problem.name, "files": reading.fingerprint(source._files)},
        "batches": {
            "num_replicas": num_replicas,
            **{name: hparams.get(name) for name in BATCH_HPARAMS},
            "padded_to_bucket": source._pad_to_bucket,
            "boundaries": list(source.scheme.boundaries),
            "batch_sizes": list(source.scheme.batch_sizes),
        },
    }
