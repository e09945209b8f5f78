"""When the model of a training loop is evaluated, and when that ends the loop."""

import time
from typing import Any

from absl import logging

from t2t_keras.training.faults import explain_writing
from t2t_keras.training.run_config import RunConfig
from t2t_keras.training.validation import Validation, ValidationRules, separate_reason_to_stop

__all__ = ["LoopEvaluations"]


class LoopEvaluations:
    """Evaluates at the right moments of a training loop, and ends it when a rule says so.

    Args:
        session: the `TrainingSession` whose loop it is.
        config: settings of the run.
        rules: what evaluations are for.
        validation: evaluates; None: a process of its own does (schedule `continuous_eval`), whose
            results are looked at with every checkpoint.
        every: evaluate every so many steps; 0: at checkpoints, throttled.
    """

    def __init__(
        self,
        session: Any,
        config: RunConfig,
        rules: ValidationRules,
        validation: Validation | None,
        every: int = 0,
    ) -> None:
        self._session = session
        self._config = config
        self._rules = rules
        self._validation = validation
        self._every = every
        self._started = time.monotonic()
        self._last_step = -1
        self._last_time = -float("inf")
        self.reason_to_stop: str | None = None

    def has_ended(self) -> bool:
        """Whether evaluations so far have already ended the run."""
        if self._validation is None:
            reason = separate_reason_to_stop(self._rules, self._config, self._session.step)
            return reason is not None
        return self._validation.reason_to_stop is not None

    def at_start(self) -> None:
        """Makes up for an evaluation cut short; tells if the run had already ended early."""
        step = self._session.step
        if self._rules.early_stopping is not None:
            logging.info(
                "Training ends early if %s%s.",
                self._rules.early_stopping.describe(),
                "" if self._validation else ", by evaluations with --schedule=continuous_eval",
            )
        if self._validation is None:
            self._evaluate(step)
        else:
            self._conclude(self._validation.reason_to_stop)
            if self._validation.is_missing(step) and self._evaluates_at(step):
                # Killed between checkpoint and evaluation, which was not too early or too often.
                self._evaluate(step)
        if self.reason_to_stop is not None:
            logging.info(
                "The run in %s has stopped early, at step %d: %s. To go on, raise "
                "--eval_early_stopping_steps or leave it out.",
                self._config.output_dir, step, self.reason_to_stop,
            )  # fmt: skip

    def at_checkpoint(self, step: int) -> None:
        """Called with the step of a checkpoint that has been written."""
        if self._every:
            # Here rather than in after_step: best/ can then link the checkpoint.
            if step % self._every == 0 and self._last_step != step:
                self._evaluate(step)
            return
        now = time.monotonic()
        is_late_enough = now - self._started >= self._config.eval_start_delay_seconds
        is_due = is_late_enough and now - self._last_time >= self._config.eval_throttle_seconds
        if self._validation is None or is_due:
            self._evaluate(step)

    def after_step(self, step: int) -> None:
        """Called with the number of steps done after each."""
        is_due = self._every and step % self._every == 0 and self._last_step != step
        if is_due and not self._saves_at(step):
            self._evaluate(step)

    def at_end(self) -> None:
        """Called when training has come to its end, and the last checkpoint is written."""
        step = self._session.step
        if self._validation is not None and self.reason_to_stop is None and step != self._last_step:
            self._evaluate(step)

    def _evaluate(self, step: int) -> None:
        if self._validation is None:
            self._conclude(separate_reason_to_stop(self._rules, self._config, step))
            return
        with explain_writing(self._config.output_dir, self._session.last_checkpoint):
            self._validation(self._session.model, step)
        self._last_step, self._last_time = step, time.monotonic()
        self._conclude(self._validation.reason_to_stop)

    def _conclude(self, reason: str | None) -> None:
        self.reason_to_stop = reason
        if reason is not None:
            self._session.model.stop_training = True

    def _evaluates_at(self, step: int) -> bool:
        """Whether a step with a checkpoint is one to be evaluated, as far as steps tell."""
        return step % self._every == 0 if self._every else self._saves_at(step)

    def _saves_at(self, step: int) -> bool:
        """Whether a checkpoint is due at a step, as far as steps tell."""
        config = self._config
        return config.save_checkpoints_secs <= 0 and step % config.save_checkpoints_steps == 0
