"""Watching a training run: progress lines, TensorBoard curves, and a stop when the loss is lost."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from absl import logging

from t2t_keras.training.event_files import EventWriter
from t2t_keras.training.nonfinite import NonfiniteSteps, StepRecord

__all__ = ["TrainingMonitor", "duration"]

# Steps whose batches are kept, should a loss turn out to be NaN, before losses are fetched.
_MAX_PENDING = 100


class _Window:
    """Losses, tokens and time since a report."""

    def __init__(self, step: int) -> None:
        self.first_step = step
        self.seconds = 0.0
        self.losses: list[float] = []
        self.tokens = 0.0

    def rate(self, amount: float) -> float:
        return amount / self.seconds if self.seconds > 0.0 else 0.0


def duration(seconds: float) -> str:
    """`3 h 05 min`, `12 min 30 s` or `8 s`."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"


def _input_stats(features: Mapping[str, Any]) -> dict[str, float]:
    """Size and padding of each sequence feature of a batch."""
    stats = {}
    for name, value in features.items():
        array = np.asarray(value)
        if array.ndim < 2:
            continue  # One number an example.
        nonpadding = float(np.count_nonzero(array))
        stats[f"input_stats/{name}_batch"] = float(array.shape[0])
        stats[f"input_stats/{name}_length"] = float(array.shape[1])
        stats[f"input_stats/{name}_nonpadding_tokens"] = nonpadding
        stats[f"input_stats/{name}_nonpadding_fraction"] = nonpadding / max(array.size, 1)
    return stats


class TrainingMonitor:
    """Told of every step; fetches losses from the device only when it reports.

    Args:
        writer: where curves go.
        learning_rate: the rate as a function of the step before an update.
        nonfinite: what is done about losses that are NaN or infinite.
        first_step: global step at the start.
        last_step: global step at which training ends, for the time left.
        log_every: steps between lines of the log; 0 for none.
        summary_every: steps between points of the curves; 0 for none.
        clock: seconds; replaceable in tests.
    """

    def __init__(
        self,
        writer: EventWriter,
        learning_rate: Callable[[int], Any],
        nonfinite: NonfiniteSteps,
        *,
        first_step: int,
        last_step: int,
        log_every: int = 100,
        summary_every: int = 100,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._writer = writer
        self._learning_rate = learning_rate
        self._last_step = last_step
        self._log_every = log_every
        self._summary_every = summary_every
        self._clock = clock
        self._nonfinite = nonfinite
        self._pending: list[StepRecord] = []
        self._last_record: StepRecord | None = None
        self._log_window = _Window(first_step)
        self._summary_window = _Window(first_step)
        self._resumed_at = clock()
        self._started = False
        self.last_checkpoint: str | None = None

    def after_step(self, record: StepRecord) -> None:
        """Notes a step and reports if it is time.

        Args:
            record: the step.

        Raises:
            DivergedError: a loss is NaN or infinite.
        """
        step = record.step
        self._pending.append(record)
        self._last_record = record
        if not self._started:
            self._leave_out_first_step(step)
        logs = self._log_every > 0 and step % self._log_every == 0
        summarizes = self._summary_every > 0 and step % self._summary_every == 0
        if logs or summarizes or len(self._pending) >= _MAX_PENDING:
            self.fetch()
        if summarizes and self._summary_window.losses:
            self._write_curves(record)
        if logs and self._log_window.losses:
            self._log_progress(step)

    def _leave_out_first_step(self, step: int) -> None:
        """Starts the clock after the first step, which is mostly compilation."""
        self.fetch()
        for window in (self._log_window, self._summary_window):
            window.first_step, window.seconds, window.tokens = step, 0.0, 0.0
        self._started = True

    def fetch(self) -> None:
        """Fetches all losses not fetched yet; raises `DivergedError` if one isn't finite."""
        pending, self._pending = self._pending, []
        losses = [self._nonfinite.check(record, self.last_checkpoint) for record in pending]
        tokens = sum(float(record.result.token_count) for record in pending)
        self._advance_time()
        for window in (self._log_window, self._summary_window):
            # Skipped steps have no loss.
            window.losses += [loss for loss in losses if loss is not None]
            window.tokens += tokens

    def check_before_saving(self) -> None:
        """Makes sure that the losses so far and the present weights are finite.

        Raises:
            DivergedError: they aren't: a checkpoint would be of no use.
        """
        self.fetch()
        self._nonfinite.check_variables(self._last_record, self.last_checkpoint)

    def finish(self, step: int) -> None:
        """Reports the steps since the last line of the log, if there are any.

        Raises:
            DivergedError: a loss is NaN or infinite.
        """
        self.fetch()
        if self._log_every > 0 and self._log_window.losses:
            self._log_progress(step)

    def _advance_time(self) -> None:
        now = self._clock()
        for window in (self._log_window, self._summary_window):
            window.seconds += now - self._resumed_at
        self._resumed_at = now

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """The time spent inside doesn't count as training."""
        self._advance_time()
        try:
            yield
        finally:
            self._resumed_at = self._clock()

    def _write_curves(self, record: StepRecord) -> None:
        step, result = record.step, record.result
        window = self._summary_window
        loss = window.losses[-1]
        values = {
            "learning_rate": float(self._learning_rate(step - 1)),
            "loss": loss,
            "losses/training": loss,
            "losses/extra": 0.0,
            "global_step/sec": window.rate(step - window.first_step),
            "target_tokens/sec": window.rate(window.tokens),
            **_input_stats(record.features),
        }
        if result.gradient_norm is not None:
            values["global_norm"] = float(result.gradient_norm)
        if result.loss_scale is not None:
            values["loss_scale"] = float(result.loss_scale)
        self._writer.scalars(step, values)
        self._writer.flush()
        self._summary_window = _Window(step)

    def _log_progress(self, step: int) -> None:
        window = self._log_window
        steps_per_second = window.rate(step - window.first_step)
        remaining = max(self._last_step - step, 0)
        is_known = steps_per_second or not remaining
        left = duration(remaining / (steps_per_second or 1.0)) if is_known else "unknown time"
        logging.info(
            "step %d of %d (%.1f %%): loss %.4f (mean of last %d: %.4f), "
            "%.0f target tokens/s, %.2f steps/s, %s left",
            step, self._last_step, 100.0 * step / max(self._last_step, 1), window.losses[-1],
            len(window.losses), float(np.mean(window.losses)), window.rate(window.tokens),
            steps_per_second, left,
        )  # fmt: skip
        self._log_window = _Window(step)
