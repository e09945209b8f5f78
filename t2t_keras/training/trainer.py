"""The trainer: T2T's schedules over a training session and an evaluator."""

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import keras
from absl import logging

from t2t_keras import registry
from t2t_keras.data import pipeline
from t2t_keras.data.problem import DatasetSplit, ModeKeys
from t2t_keras.training import checkpoints
from t2t_keras.training.evaluator import Evaluator
from t2t_keras.training.event_files import EventWriter
from t2t_keras.training.interruption import Interruption, catch_signals
from t2t_keras.training.monitor import duration
from t2t_keras.training.run_config import SCHEDULES, RunConfig, check_schedule
from t2t_keras.training.run_lock import lock_directory
from t2t_keras.training.session import TrainingSession

__all__ = ["Trainer"]


class Trainer:
    """Trains and evaluates a registered model.

    Run it again with the same arguments and it goes on from the newest checkpoint in `output_dir`,
    to the same last step and, given the same data, to the same weights.

    ```python
    hparams = hparams_lib.create_hparams("transformer_tiny", data_dir=d, problem_name="my_problem")
    Trainer(hparams, "transformer", RunConfig(output_dir=o, data_dir=d, train_steps=1000)).train()
    ```

    Args:
        hparams: with `problem` and `problem_hparams`, as from `hparams_lib.create_hparams`.
        model_name: a registered model.
        config: settings of the run.
        callbacks: Keras callbacks for the training loop.
        on_ready: called once training is certain to begin: the checkpoint, if there is one, fits
            and has been restored. The place to describe the run in `output_dir`.
    """

    def __init__(
        self,
        hparams: Any,
        model_name: str,
        config: RunConfig,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        on_ready: Callable[[], None] | None = None,
    ) -> None:
        self.hparams = hparams
        self.model_name = model_name
        self.config = config
        self._callbacks = tuple(callbacks)
        self._on_ready = on_ready
        self._evaluators: dict[int, Evaluator] = {}
        # Schedules that decay to the end need to know it.
        declare(hparams, "train_steps", config.train_steps)

    def run(self, schedule: str) -> Any:
        """Runs a schedule by T2T's name; raises `ValueError` for an unknown one."""
        check_schedule(schedule)
        return getattr(self, SCHEDULES[schedule])()

    def train(self) -> Interruption:
        """Trains to `train_steps`; returns whether a signal cut it short."""
        return self._train(evaluate_at_checkpoints=False, validate_every=0)

    def continuous_train_and_eval(self) -> Interruption:
        """Trains, and evaluates at checkpoints (throttled) and at the end."""
        return self._train(evaluate_at_checkpoints=True, validate_every=0)

    def train_and_evaluate(self) -> Interruption:
        """Trains, and evaluates every `local_eval_frequency` steps (0: never)."""
        every = self.config.local_eval_frequency
        return self._train(evaluate_at_checkpoints=False, validate_every=every)

    def test(self) -> dict[str, float]:
        """One training step and one batch of evaluation: does it run at all?"""
        with lock_directory(self.config.output_dir):
            session = TrainingSession(self.hparams, self.model_name, self.config, self._callbacks)
            session.train_until(session.step + 1, Interruption())
            session.close()
        return self._evaluate_model(session.model, session.step, "eval", max_batches=1)

    def _train(self, evaluate_at_checkpoints: bool, validate_every: int) -> Interruption:
        with lock_directory(self.config.output_dir):
            return self._train_alone(evaluate_at_checkpoints, validate_every)

    def _train_alone(self, evaluate_at_checkpoints: bool, validate_every: int) -> Interruption:
        session = TrainingSession(self.hparams, self.model_name, self.config, self._callbacks)
        logging.info("%s", session.describe())
        if self._on_ready is not None:
            self._on_ready()
        started, first_step = time.monotonic(), session.step
        if first_step >= self.config.train_steps > 0:
            logging.info(
                "Nothing to do: the run in %s is already at step %d, --train_steps is %d.",
                self.config.output_dir, first_step, self.config.train_steps,
            )  # fmt: skip
        evaluated_at: dict[str, float] = {"step": -1}

        def evaluate(step: int) -> None:
            self._evaluate_model(session.model, step, "eval")
            evaluated_at.update(step=step, time=time.monotonic())

        def at_checkpoint(step: int) -> None:
            now = time.monotonic()
            waited = now - evaluated_at.get("time", -float("inf"))
            late_enough = now - started >= self.config.eval_start_delay_seconds
            if late_enough and waited >= self.config.eval_throttle_seconds:
                evaluate(step)

        def after_step(step: int) -> None:
            if step % validate_every == 0:
                evaluate(step)

        with catch_signals() as interruption:
            session.train_until(
                self.config.train_steps,
                interruption,
                on_checkpoint=at_checkpoint if evaluate_at_checkpoints else None,
                on_step=after_step if validate_every else None,
            )
            if evaluate_at_checkpoints and not interruption.requested:
                if evaluated_at["step"] != session.step:
                    evaluate(session.step)
        session.close()
        if session.step > first_step:
            ending = "Interrupted" if interruption.requested else "Finished"
            elapsed = duration(time.monotonic() - started)
            logging.info("%s at step %d in %s.", ending, session.step, elapsed)
        return interruption

    def evaluate(self) -> dict[str, float]:
        """Evaluates the newest checkpoint once; results go to `eval_eval/` as well."""
        return self._evaluate_newest("eval_eval")

    def evaluate_on_train_data(self) -> dict[str, float]:
        """Evaluates the newest checkpoint on training data; results go to `eval_eval_train/`."""
        return self._evaluate_newest("eval_eval_train", on_train_data=True)

    def continuous_eval(self) -> dict[str, float]:
        """Waits for checkpoints and evaluates each newest one, until none comes any more."""
        return self._evaluate_continuously("eval_eval")

    def continuous_eval_on_train_data(self) -> dict[str, float]:
        """As `continuous_eval`, on training data."""
        return self._evaluate_continuously("eval_eval_train", on_train_data=True)

    def _evaluate_newest(self, folder: str, on_train_data: bool = False) -> dict[str, float]:
        prefix = checkpoints.resolve(self.config.output_dir)
        model = registry.model(self.model_name).from_hparams(self.hparams)
        step = checkpoints.load_model_variables(model, prefix)
        return self._evaluate_model(model, step, folder, on_train_data=on_train_data)

    def _evaluate_continuously(self, folder: str, on_train_data: bool = False) -> dict[str, float]:
        config = self.config
        timeout = config.eval_timeout_mins * 60.0 if config.eval_timeout_mins >= 0 else float("inf")
        model = registry.model(self.model_name).from_hparams(self.hparams)
        seen: str | None = None
        results: dict[str, float] = {}
        waiting_since = time.monotonic()
        while time.monotonic() - waiting_since <= timeout:
            newest = checkpoints.latest_checkpoint(config.output_dir)
            if newest is None or newest == seen or checkpoints.step_of(newest) == 0:
                time.sleep(min(config.eval_poll_seconds, timeout))
                continue
            seen, waiting_since = newest, time.monotonic()
            step = checkpoints.load_model_variables(model, newest)
            results = self._evaluate_model(model, step, folder, on_train_data=on_train_data)
            if step >= config.train_steps:
                break
            waiting_since = time.monotonic()
        return results

    def _evaluate_model(
        self,
        model: keras.Model,
        step: int,
        folder: str,
        *,
        on_train_data: bool = False,
        max_batches: int | None = None,
    ) -> dict[str, float]:
        """Evaluates a model as it stands, logs the result and adds it to the curves in `folder`."""
        started = time.monotonic()
        if id(model) not in self._evaluators:
            self._evaluators[id(model)] = Evaluator(model, self.hparams, self.hparams.problem)
        results = self._evaluators[id(model)].evaluate(
            self._evaluation_batches(on_train_data), max_batches or self.config.max_eval_batches
        )
        line = ", ".join(f"{name} = {value:.6g}" for name, value in results.items())
        logging.info(
            "Evaluation at step %d (%.1f s): global_step = %d, %s",
            step, time.monotonic() - started, step, line,
        )  # fmt: skip
        writer = EventWriter(os.path.join(self.config.output_dir, folder), step)
        writer.scalars(step, {**results, "global_step": step})
        writer.close()
        return {**results, "global_step": float(step)}

    def _evaluation_batches(self, on_train_data: bool) -> Any:
        split = None
        if on_train_data:
            split = DatasetSplit.TRAIN
        elif self.config.eval_use_test_set:
            split = DatasetSplit.TEST
        return pipeline.input_dataset(
            self.hparams.problem,
            ModeKeys.EVAL,
            self.hparams,
            self.config.data_dir,
            dataset_split=split,
        )


def declare(hparams: Any, name: str, value: Any) -> None:
    """Sets a hyperparameter, declaring it if needed."""
    if name in hparams:
        setattr(hparams, name, value)
    else:
        hparams.add_hparam(name, value)
