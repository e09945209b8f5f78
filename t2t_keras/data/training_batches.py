"""The training batches of a run, whatever the problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from t2t_keras.data import batching, pipeline, reading, training_input
from t2t_keras.data.length_scan import TrainingSample
from t2t_keras.data.modes import ModeKeys
from t2t_keras.data.problem import Problem
from t2t_keras.data.training_input import BATCH_HPARAMS, TrainingInput

__all__ = ["DatasetInput", "open_training_batches"]

# What else makes other batches of the same examples here.
_HPARAMS = (
    "min_length_bucket",
    "length_bucket_step",
    "use_fixed_batch_size",
    "pack_dataset",
    "use_custom_ops",
    "split_to_length",
    "split_targets_chunk_length",
    "split_targets_max_chunks",
)


class DatasetInput:
    """Training batches of `pipeline.input_dataset`, where a record is not one example.

    Args: see `TrainingInput`.

    Attributes:
        iterator: over the batches; its whole state is the position.
        make_iterator: another one, from the beginning.
    """

    def __init__(
        self,
        problem: Problem,
        hparams: Any,
        data_dir: str,
        *,
        num_replicas: int,
        seed: int,
        pad_to_bucket: bool,
    ) -> None:
        def make_iterator() -> Any:
            dataset = pipeline.input_dataset(
                problem,
                ModeKeys.TRAIN,
                hparams,
                data_dir,
                num_replicas=num_replicas,
                seed=seed,
                pad_to_bucket=pad_to_bucket,
            )
            return iter(dataset)

        self.make_iterator = make_iterator
        self.iterator = make_iterator()
        files = reading.shard_files(problem, ModeKeys.TRAIN, data_dir)
        self.description = {
            "data": {"problem": problem.name, "files": reading.fingerprint(files), "seed": seed},
            "batches": {
                "num_replicas": num_replicas,
                **{name: hparams.get(name) for name in (*BATCH_HPARAMS, *_HPARAMS)},
                "padded_to_bucket": pad_to_bucket,
            },
        }

    def __iter__(self) -> Iterator[batching.Features]:
        return self

    def __next__(self) -> batching.Features:
        return next(self.iterator)

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Not known before."""
        return []

    def record_finder(self) -> None:
        """Where rows come from is not known."""

    def close(self) -> None:
        """Nothing to close."""


def open_training_batches(
    problem: Problem,
    hparams: Any,
    data_dir: str,
    *,
    num_replicas: int = 1,
    seed: int = 0,
    pad_to_bucket: bool = False,
    max_shapes: int = 0,
    sample: TrainingSample | None = None,
) -> TrainingInput | DatasetInput:
    """An endless iterator over training batches; see `TrainingInput` for the arguments."""
    settings: dict[str, Any] = {
        "num_replicas": num_replicas,
        "seed": seed,
        "pad_to_bucket": pad_to_bucket,
    }
    if training_input.is_available(problem, hparams):
        settings |= {"max_shapes": max_shapes, "sample": sample}
        return TrainingInput(problem, hparams, data_dir, **settings)
    return DatasetInput(problem, hparams, data_dir, **settings)
