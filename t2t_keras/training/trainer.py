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
from t2t_keras.training import checkpoints, run_vocabulary
from t2t_keras.training.evaluator import Evaluator, metric_prefix
from t2t_keras.training.event_files import EventWriter
from t2t_keras.training.interruption import Interruption, catch_signals
from t2t_keras.training.loop_evaluations import LoopEvaluations
from t2t_keras.training.monitor import duration
from t2t_keras.training.run_config import SCHEDULES, RunConfig, check_schedule
from t2t_keras.training.run_lock import lock_directory
from t2t_keras.training.session import TrainingSession
from t2t_keras.training.validation import (
    SEPARATE_FOLDER,
    TRAINING_FOLDER,
    TranslationCheck,
    Validation,
    ValidationRules,
    forget_evaluations,
)

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
            and has been restored, and isn't the last. The place to describe the run in
            `output_dir`.
        translation_check: translates and scores in every `translate_every_evaluations`-th
            evaluation, e.g. a `decoding.validation.TranslationScorer`.

    Raises:
        ValueError: a metric of the configuration is none that evaluations report.
    """

    def __init__(
        self,
        hparams: Any,
        model_name: str,
        config: RunConfig,
        callbacks: Sequence[keras.callbacks.Callback] = (),
        on_ready: Callable[[], None] | None = None,
        translation_check: TranslationCheck | None = None,
    ) -> None:
        self.hparams = hparams
        self.model_name = model_name
        self.config = config
        self._callbacks = tuple(callbacks)
        self._on_ready = on_ready
        self._evaluators: dict[int, Evaluator] = {}
        self._translation_check = translation_check
        problem = hparams.problem
        self._rules = ValidationRules(
            config, problem, metric_prefix(problem, hparams), translation_check
        )
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
        if self._follows:
            self._follow(num_steps=1)
            return {}
        with lock_directory(self.config.output_dir):
            session = TrainingSession(self.hparams, self.model_name, self.config, self._callbacks)
            session.train_until(session.step + 1, Interruption())
            results = self._evaluate_model(session.model, session.step, "eval", max_batches=1)
            session.close()
        return results

    def _train(self, evaluate_at_checkpoints: bool, validate_every: int) -> Interruption:
        if self._follows:
            return self._follow()
        with lock_directory(self.config.output_dir):
            return self._train_alone(evaluate_at_checkpoints, validate_every)

    @property
    def _follows(self) -> bool:
        """Whether another worker writes and evaluates."""
        return self.config.cluster is not None and not self.config.cluster.is_chief

    def _follow(self, num_steps: int | None = None) -> Interruption:
        """Trains along with the chief, to `train_steps` or for so many steps."""
        session = TrainingSession(self.hparams, self.model_name, self.config, self._callbacks)
        logging.info("%s", session.describe())
        end_step = self.config.train_steps if num_steps is None else session.step + num_steps
        with catch_signals() as interruption:
            session.train_until(end_step, interruption)
            logging.info("Step %d: waiting for worker 0 to save and evaluate.", session.step)
            session.close()
        return interruption

    def _train_alone(self, evaluate_at_checkpoints: bool, validate_every: int) -> Interruption:
        is_new_run = checkpoints.latest_checkpoint(self.config.output_dir) is None
        session = TrainingSession(self.hparams, self.model_name, self.config, self._callbacks)
        logging.info("%s", session.describe())
        started, first_step = time.monotonic(), session.step
        is_done = first_step >= self.config.train_steps > 0
        if is_done:
            logging.info(
                "Nothing to do: the run in %s is already at step %d, --train_steps is %d.",
                self.config.output_dir, first_step, self.config.train_steps,
            )  # fmt: skip
        if is_new_run:
            forget_evaluations(self.config.output_dir)
        validation = None
        if evaluate_at_checkpoints or validate_every:
            validation = self._validation(TRAINING_FOLDER, first_step, is_new_run)
        evaluations = LoopEvaluations(
            session, self.config, self._rules, validation, every=validate_every
        )
        if self._on_ready is not None and not is_done and not evaluations.has_ended():
            self._on_ready()
        evaluations.at_start()
        with catch_signals() as interruption:
            session.train_until(
                self.config.train_steps,
                interruption,
                on_checkpoint=evaluations.at_checkpoint,
                on_step=evaluations.after_step if validate_every else None,
            )
            if evaluate_at_checkpoints and not interruption.requested:
                evaluations.at_end()
        session.close()
        if session.step > first_step:
            ending = "Interrupted" if interruption.requested else "Finished"
            if evaluations.reason_to_stop is not None:
                ending = f"{evaluations.reason_to_stop}. Stopped early"
            elapsed = duration(time.monotonic() - started)
            logging.info("%s at step %d in %s.", ending, session.step, elapsed)
        return interruption

    def _validation(self, folder: str, first_step: float, is_new_run: bool = False) -> Validation:
        def evaluate(model: keras.Model, step: int, translates: bool) -> dict[str, float]:
            return self._evaluate_model(model, step, folder, translates=translates)

        return Validation(
            self._rules, self.config, evaluate,
            folder=folder, first_step=first_step, is_new_run=is_new_run,
        )  # fmt: skip

    def evaluate(self) -> dict[str, float]:
        """Evaluates the newest checkpoint once; results go to `eval_eval/` as well."""
        return self._evaluate_newest(SEPARATE_FOLDER)

    def evaluate_on_train_data(self) -> dict[str, float]:
        """Evaluates the newest checkpoint on training data; results go to `eval_eval_train/`."""
        return self._evaluate_newest("eval_eval_train", on_train_data=True)

    def continuous_eval(self) -> dict[str, float]:
        """Waits for checkpoints and evaluates each newest one, until none comes any more.

        It ends at `train_steps` and, with early stopping, at a plateau.
        """
        return self._evaluate_continuously(SEPARATE_FOLDER)

    def continuous_eval_on_train_data(self) -> dict[str, float]:
        """As `continuous_eval`, on training data."""
        return self._evaluate_continuously("eval_eval_train", on_train_data=True)

    def _evaluate_newest(self, folder: str, on_train_data: bool = False) -> dict[str, float]:
        prefix = checkpoints.resolve(self.config.output_dir)
        self._require_vocabulary()
        model = registry.model(self.model_name).from_hparams(self.hparams)
        step = checkpoints.load_model_variables(model, prefix)
        return self._evaluate_model(
            model, step, folder, on_train_data=on_train_data, translates=not on_train_data
        )

    def _require_vocabulary(self) -> None:
        config = self.config
        run_vocabulary.require_that_of_run(config.output_dir, self.hparams, config.data_dir)

    def _evaluate_continuously(self, folder: str, on_train_data: bool = False) -> dict[str, float]:
        config = self.config
        timeout = config.eval_timeout_mins * 60.0 if config.eval_timeout_mins >= 0 else float("inf")
        model = registry.model(self.model_name).from_hparams(self.hparams)
        seen: str | None = None
        results: dict[str, float] = {}
        validation = None if on_train_data else self._validation(folder, float("inf"))
        waiting_since = time.monotonic()
        while time.monotonic() - waiting_since <= timeout:
            newest = checkpoints.latest_checkpoint(config.output_dir)
            if newest is None or newest == seen or checkpoints.step_of(newest) == 0:
                time.sleep(min(config.eval_poll_seconds, timeout))
                continue
            seen, waiting_since = newest, time.monotonic()
            self._require_vocabulary()
            step = checkpoints.load_model_variables(model, newest)
            if validation is not None:
                results = validation(model, step)
            else:
                results = self._evaluate_model(model, step, folder, on_train_data=on_train_data)
            if step >= config.train_steps:
                break
            if validation is not None and validation.reason_to_stop is not None:
                logging.info("%s. No more evaluations.", validation.reason_to_stop)
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
        translates: bool = False,
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
        if translates and self._translation_check is not None:
            results |= self._translation_check(model, step)
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
