"""Steps whose loss or gradients are NaN or infinite: what is told about them, and what is done."""

import json
import math
import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from absl import logging

from t2t_keras.training.step import StepResult
from t2t_keras.training.stored_variables import StoredVariables

__all__ = ["DivergedError", "NonfiniteSteps", "StepRecord", "nonfinite_names"]

# Skipped one after the other, so many steps show that no step will succeed any more.
_MAX_CONSECUTIVE = 100
# Dumps of skipped steps; the first ones tell the most.
_MAX_DUMPS = 10
_MAX_QUOTED_EXAMPLES = 3
_MAX_QUOTED_CHARACTERS = 80
_MAX_LISTED_VARIABLES = 5


class DivergedError(ValueError):
    """The loss, or a weight, is no finite number any more."""


class StepRecord(NamedTuple):
    """A step whose loss hasn't been looked at yet, with what made it.

    Attributes:
        step: number of steps done, this one included.
        result: of the step.
        features: its global batch, `[batch, length]` each.
        records_of: from numbers of rows to the records they come from; None if unknown.
        earlier: features and `records_of` of the micro-batches before that one, where gradients are
            accumulated.
    """

    step: int
    result: StepResult
    features: Mapping[str, Any]
    records_of: Callable[[Sequence[int]], list[str]] | None = None
    earlier: Sequence[tuple[Mapping[str, Any], Any]] = ()

    def of_micro_batch_at_fault(self, num_replicas: int) -> "StepRecord":
        """The record with the first micro-batch whose loss isn't finite, if there is one.

        Args:
            num_replicas: to which the losses of each micro-batch belong.
        """
        losses = np.atleast_1d(np.asarray(self.result.replica_losses))
        bad = np.flatnonzero(~np.isfinite(losses)) // num_replicas
        if not self.earlier or not bad.size or bad[0] >= len(self.earlier):
            return self
        features, records_of = self.earlier[int(bad[0])]
        return self._replace(features=features, records_of=records_of, earlier=())


def nonfinite_names(variables: Sequence[Any]) -> list[str]:
    """Paths of the Keras variables that hold a NaN or an infinity."""
    # A sum is NaN or infinite if an entry is; the entries are looked at only then.
    suspects = [v for v in variables if not math.isfinite(float(np.sum(v.numpy(), dtype="f8")))]
    return [v.path for v in suspects if not np.isfinite(np.asarray(v.numpy(), "f8")).all()]


class NonfiniteSteps:
    """Describes and dumps steps that aren't finite, and ends training where that is asked for.

    Args:
        directory: where `nan_step_<step>.json` goes; "" for nowhere.
        variables: the model's trainable Keras variables.
        vocabulary: text encoders by feature, to show examples as text.
        on_nan: "stop" ends training at the first such step; "skip" counts them (the step itself
            must leave the variables as they were) and ends after 100 one after the other.
        total_replicas: of all workers; a batch has an equal part for each.
        first_replica: number of this worker's first replica.
        local_replicas: how many this worker has; None: all.
    """

    def __init__(
        self,
        directory: str,
        variables: Sequence[Any],
        vocabulary: Mapping[str, Any],
        *,
        on_nan: str = "stop",
        total_replicas: int = 1,
        first_replica: int = 0,
        local_replicas: int | None = None,
    ) -> None:
        self._directory = directory
        self._variables = variables
        self._vocabulary = vocabulary
        self._skips = on_nan == "skip"
        self._total_replicas = total_replicas
        self._first_replica = first_replica
        self._local_replicas = local_replicas or total_replicas
        self._consecutive = 0
        self.num_skipped = 0

    def check(self, record: StepRecord, last_checkpoint: str | None) -> float | None:
        """The loss of a step; None if the step was skipped.

        Args:
            record: the step.
            last_checkpoint: from which training can go on.

        Raises:
            DivergedError: the loss isn't finite, and such steps aren't skipped, or too many of them
                have been.
        """
        loss = float(record.result.loss)
        if math.isfinite(loss) and _is_in_order(record.result):
            self._consecutive = 0
            return loss
        record = record.of_micro_batch_at_fault(self._local_replicas)
        if not self._skips:
            raise DivergedError(
                f"{self._description(record, loss)}. Lower the learning rate, lengthen the warm-up "
                "or set clip_grad_norm, or leave such steps out (--on_nan=skip), and go on from "
                "the last checkpoint; nothing later is saved. "
                f"Received: last checkpoint {last_checkpoint or 'none'}. "
                f"{self._dump(record, loss, last_checkpoint)}"
            )
        self._note_skipped(record, loss, last_checkpoint)
        return None

    def check_variables(self, record: StepRecord | None, last_checkpoint: str | None) -> None:
        """Looks whether the weights may be saved: an update can spoil them by a finite loss.

        Args:
            record: the step before.
            last_checkpoint: from which training can go on.

        Raises:
            DivergedError: some aren't finite.
        """
        names = nonfinite_names(self._variables)
        if not names:
            return
        dump = "" if record is None else self._dump(record, float("nan"), last_checkpoint)
        at = "" if record is None else f" after step {record.step}"
        more = f" and {len(names) - _MAX_LISTED_VARIABLES} more"
        raise DivergedError(
            f"Weights aren't finite{at}, though the loss was: "
            f"{', '.join(names[:_MAX_LISTED_VARIABLES])}"
            f"{more if len(names) > _MAX_LISTED_VARIABLES else ''}. Lower the learning rate or set "
            "clip_grad_norm, and go on from the last checkpoint; nothing later is saved. "
            f"Received: last checkpoint {last_checkpoint or 'none'}. {dump}"
        )

    def _note_skipped(self, record: StepRecord, loss: float, last_checkpoint: str | None) -> None:
        self._consecutive += 1
        self.num_skipped += 1
        dump = ""
        if self.num_skipped <= _MAX_DUMPS:
            dump = self._dump(record, loss, last_checkpoint)
        text = self._description(record, loss)
        if self._consecutive >= _MAX_CONSECUTIVE:
            raise DivergedError(
                f"{text}, and so it was in the {_MAX_CONSECUTIVE} steps before it, which were "
                "skipped: no step succeeds any more. Go on from a checkpoint before them with a "
                "lower learning rate, or look at the dumps. "
                f"Received: last checkpoint {last_checkpoint or 'none'}. {dump}"
            )
        logging.warning("%s: skipped (%d so far). %s", text, self.num_skipped, dump)

    def _description(self, record: StepRecord, loss: float) -> str:
        """`The loss is nan at step 5, at replica 1 of 2 (batch …); examples: …`."""
        replicas = self._replicas(record)
        what = f"The loss is {loss}"
        if math.isfinite(loss):
            what = f"Gradients aren't finite (the loss is {loss:.4g})"
        where = f"replica {', '.join(map(str, replicas))} of {self._total_replicas}"
        shapes = ", ".join(f"{n} {list(v.shape)}" for n, v in sorted(record.features.items()))
        rows = [row for row in range(self._num_rows(record)) if self._replica_of(row, record) in
                replicas]  # fmt: skip
        quoted = "; ".join(self._quoted(record, row) for row in rows[:_MAX_QUOTED_EXAMPLES])
        more = len(rows) - _MAX_QUOTED_EXAMPLES
        return (
            f"{what} at step {record.step}, at {where} (batch: {shapes}); examples: {quoted}"
            f"{f' and {more} more' if more > 0 else ''}"
        )

    def _replicas(self, record: StepRecord) -> list[int]:
        """Replicas whose part of the loss isn't finite; all if no part tells."""
        losses = np.atleast_1d(np.asarray(record.result.replica_losses))
        # Of each micro-batch in turn, those of all replicas.
        bad = {int(k) % self._local_replicas for k in np.flatnonzero(~np.isfinite(losses))}
        return [self._first_replica + k for k in sorted(bad)] or list(range(self._total_replicas))

    @staticmethod
    def _num_rows(record: StepRecord) -> int:
        return int(next(iter(record.features.values())).shape[0])

    def _replica_of(self, row: int, record: StepRecord) -> int:
        return row * self._total_replicas // max(self._num_rows(record), 1)

    def _quoted(self, record: StepRecord, row: int) -> str:
        texts = []
        for name in ("inputs", "targets"):
            if name in record.features:
                text = self._text(name, np.asarray(record.features[name][row]))
                cut = len(text) > _MAX_QUOTED_CHARACTERS
                texts.append(repr(text[:_MAX_QUOTED_CHARACTERS] + ("…" if cut else "")))
        source = _records(record, [row])
        return f"row {row}{f' ({source[0]})' if source else ''} {' -> '.join(texts)}"

    def _text(self, name: str, values: np.ndarray) -> str:
        encoder = self._vocabulary.get(name)
        ids = _without_padding(values)
        if encoder is None or not np.issubdtype(values.dtype, np.integer):
            return " ".join(map(str, ids))
        try:
            return str(encoder.decode(ids))
        except Exception:  # Ids out of range may be the very cause.
            return " ".join(map(str, ids))

    def _dump(self, record: StepRecord, loss: float, last_checkpoint: str | None) -> str:
        """Writes all that is known of the step; returns a sentence that says where."""
        if not self._directory:
            return "Worker 0 dumps the batch."
        path = os.path.join(self._directory, f"nan_step_{record.step}.json")
        content = {
            "step": record.step,
            "loss": _number(loss),
            "replica_losses": [
                _number(x) for x in np.atleast_1d(np.asarray(record.result.replica_losses))
            ],
            "last_checkpoint": last_checkpoint,
            "shapes": {name: list(value.shape) for name, value in record.features.items()},
            "examples": self._examples(record),
            "variables": self._norms(last_checkpoint),
        }
        temporary = pathlib.Path(f"{path}.tmp")
        try:
            temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False), "utf-8")
            temporary.replace(path)
        except OSError as error:
            return f"(The batch couldn't be written to {path}: {error.strerror}.)"
        return f"The batch and the norms of all variables: {path}"

    def _examples(self, record: StepRecord) -> list[dict[str, Any]]:
        """Row, replica, record, ids and text of every example."""
        rows = range(self._num_rows(record))
        sources = _records(record, list(rows))
        arrays = {name: np.asarray(value) for name, value in sorted(record.features.items())}
        examples = []
        for row in rows:
            example: dict[str, Any] = {"row": row, "replica": self._replica_of(row, record)}
            if sources:
                example["record"] = sources[row]
            for name, array in arrays.items():
                example[name] = _without_padding(array[row])
                if name in self._vocabulary:
                    example[f"{name}_text"] = self._text(name, array[row])
            examples.append(example)
        return examples

    def _norms(self, last_checkpoint: str | None) -> list[dict[str, Any]]:
        """Norm of every variable, now and in the last checkpoint, and its values that are lost."""
        before = _norms_in_checkpoint(last_checkpoint, [v.path for v in self._variables])
        norms = []
        for variable in self._variables:
            value = np.asarray(variable.numpy(), np.float64)
            norms.append(
                {
                    "name": variable.path,
                    "norm": _number(np.linalg.norm(value)),
                    "nonfinite": int(np.count_nonzero(~np.isfinite(value))),
                    "norm_in_checkpoint": before.get(variable.path),
                }
            )
        return norms


def _is_in_order(result: StepResult) -> bool:
    """Whether gradients were finite, or infinite only because of a loss scale that falls now."""
    if result.is_finite is None or bool(result.is_finite):
        return True
    return result.loss_scale is not None and float(result.loss_scale) > 1.0


def _norms_in_checkpoint(prefix: str | None, names: Sequence[str]) -> dict[str, float | str]:
    if prefix is None:
        return {}
    try:
        stored = StoredVariables(prefix)
        return {
            name: _number(np.linalg.norm(np.asarray(stored.read(name), np.float64)))
            for name in names
            if name in stored.shapes
        }
    except Exception as error:  # It only adds to another error.
        logging.warning("The norms in %s can't be read: %s", prefix, error)
        return {}


def _number(value: Any) -> float | str:
    """A number as JSON has it: NaN and infinities as strings."""
    return float(value) if math.isfinite(value) else str(float(value))


def _without_padding(values: np.ndarray) -> list[Any]:
    """The values of a row up to the last that isn't 0."""
    values = values.reshape(-1)
    last = np.flatnonzero(values)
    return values[: int(last[-1]) + 1 if last.size else 0].tolist()


def _records(record: StepRecord, rows: Sequence[int]) -> list[str]:
    """Where rows come from; empty if that isn't known."""
    return record.records_of(rows) if record.records_of is not None else []
