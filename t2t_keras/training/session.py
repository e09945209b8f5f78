"""A training run in progress: model, optimizer, input and files, new or resumed."""

import os
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import keras
from absl import logging

from t2t_keras import registry
from t2t_keras.data import pipeline
from t2t_keras.data.length_scan import TrainingSample
from t2t_keras.data.training_batches import DatasetInput, open_training_batches
from t2t_keras.data.training_input import TrainingInput
from t2t_keras.training import checkpoints, event_files, input_position, run_vocabulary
from t2t_keras.training.accumulation import accumulation_factor
from t2t_keras.training.compilation import CompilationLog
from t2t_keras.training.distribution import make_strategy
from t2t_keras.training.faults import StepFaults, explain_saving
from t2t_keras.training.interruption import Interruption
from t2t_keras.training.monitor import TrainingMonitor
from t2t_keras.training.nonfinite import NonfiniteSteps, StepRecord
from t2t_keras.training.precision import describe_precision
from t2t_keras.training.recovery import checkpoint_to_resume
from t2t_keras.training.retention import CheckpointKeeper
from t2t_keras.training.run_config import RunConfig
from t2t_keras.training.schedules import learning_rate_schedule
from t2t_keras.training.slots import slot_variables
from t2t_keras.training.step import TrainStep
from t2t_keras.training.workers import Workers

__all__ = ["TrainingSession"]

_MAX_SEED = 2**31


class TrainingSession:
    """Everything of a run that changes from step to step.

    Made in an output directory that has a checkpoint, it goes on from there: weights, optimizer,
    position in the input and dropout masks are those of a run that never stopped.

    Args:
        hparams: with `problem` and `problem_hparams`.
        model_name: a registered model.
        config: settings of the run.
        callbacks: Keras callbacks. An epoch, to them, lasts from one checkpoint to the next.
    """

    def __init__(
        self,
        hparams: Any,
        model_name: str,
        config: RunConfig,
        callbacks: Sequence[keras.callbacks.Callback] = (),
    ) -> None:
        self._hparams = hparams
        self._config = config
        is_chief = config.cluster is None or config.cluster.is_chief
        self._restored_from = checkpoint_to_resume(config.output_dir, moves_damaged=is_chief)
        self._vocabulary = run_vocabulary.describe(
            hparams.problem, hparams.problem_hparams.vocabulary, config.data_dir
        )
        if self._restored_from is not None:
            run_vocabulary.refuse_another(config.output_dir, self._vocabulary)
        saved = input_position.read_description(self._restored_from or "") or {}
        self.strategy = make_strategy(config.num_replicas, config.cluster, config.tpu)
        self.workers = Workers(self.strategy, config.cluster)
        self.workers.require_same_run(hparams, config, self._restored_from)
        self._seed = self.workers.from_chief(_choose_seed(config.random_seed, saved))
        keras.utils.set_random_seed(self._seed)
        self._learning_rate = learning_rate_schedule(hparams)
        make_optimizer = registry.optimizer(hparams.optimizer)
        with self.strategy.scope():
            self.model = registry.model(model_name).from_hparams(hparams)
            self.optimizer = make_optimizer(self._learning_rate, hparams)
        self._train_step = TrainStep(
            self.model,
            self.optimizer,
            hparams,
            strategy=self.strategy,
            random_seed=self._seed,
            jit_compile=config.jit_compile,
            measure_gradient_norm=bool(hparams.get("summarize_grads")),
            skip_nonfinite=config.on_nan == "skip",
            num_micro_batches=accumulation_factor(
                hparams, config.total_replicas, config.effective_batch_tokens
            ),
        )
        self._slots = slot_variables(self.optimizer, self.model.trainable_variables)
        self._slots |= self._train_step.state_variables
        self.step = self._restore_or_initialize()
        self._faults = StepFaults(hparams, config.data_dir, self.strategy.num_replicas_in_sync)
        self._sample = TrainingSample(hparams.problem, hparams, config.data_dir)
        with self._faults.of_reading(self.step, self._restored_from):
            self._open_input(saved)
        self.workers.require_equal("position in the data", self._input_description)
        self.workers.require_equal("way to read the data", self._iterator.description)
        self._faults.scheme = getattr(self._iterator, "scheme", None)
        self._compilations = CompilationLog(config.jit_compile, self._iterator.shapes)
        self._keeper = CheckpointKeeper(
            config.output_dir, config.keep_checkpoint_max, config.keep_checkpoint_every_n_hours
        )
        self._writer = event_files.EventWriter(config.output_dir, self.step)
        self._monitor = TrainingMonitor(
            self._writer,
            self._learning_rate,
            self._nonfinite_steps(),
            first_step=self.step,
            last_step=config.train_steps,
            log_every=config.log_step_count_steps,
            summary_every=config.save_summary_steps if self.workers.is_chief else 0,
        )
        self._monitor.last_checkpoint = self._restored_from
        self._saved_step = self.step if self._restored_from else -1
        self._saved_time = time.monotonic()
        self.model.stop_training = False
        self._callbacks = keras.callbacks.CallbackList(list(callbacks), model=self.model)
        self._has_callbacks = bool(callbacks)

    def _nonfinite_steps(self) -> NonfiniteSteps:
        config = self._config
        return NonfiniteSteps(
            config.output_dir if self.workers.is_chief else "",
            self.model.trainable_variables,
            self._hparams.problem_hparams.vocabulary,
            on_nan=config.on_nan,
            total_replicas=self.strategy.num_replicas_in_sync,
            first_replica=config.cluster.index * config.num_replicas if config.cluster else 0,
            local_replicas=config.num_replicas,
        )

    def _restore_or_initialize(self) -> int:
        """Loads the newest checkpoint, or the variables to start from; returns the global step."""
        if self._restored_from is None:
            self._warm_start()
            self._forget_events_after(0)
            return 0
        step = checkpoints.load_training_state(
            self._restored_from, self.model, self._slots, self._hparams.optimizer
        )
        self.optimizer.iterations.assign(step)
        self._forget_events_after(step)
        logging.info("Going on from %s at step %d", self._restored_from, step)
        return step

    def _forget_events_after(self, step: int) -> None:
        if self.workers.is_chief:
            for directory in ("", *(["eval"] if step else [])):
                event_files.truncate_after(os.path.join(self._config.output_dir, directory), step)

    def _warm_start(self) -> None:
        for source in (self._config.warm_start_from, self._hparams.get("warm_start_from_second")):
            if source:
                checkpoints.warm_start(self.model, source)

    def _open_input(self, saved: dict[str, Any]) -> None:
        """Opens the training data where the restored run stood."""
        self._input_description = {
            "random_seed": self._seed,
            "input_seed": saved.get("input_seed", self._seed),
        }
        self._iterator = self._batches()
        if self._restored_from is None:
            return
        if not input_position.restore(self._restored_from, self._iterator):
            # Another order than at the start, so that the first batches don't come twice.
            self._input_description["input_seed"] = (self._seed + self.step) % _MAX_SEED
            self._iterator = self._batches()

    def _batches(self) -> TrainingInput | DatasetInput:
        return open_training_batches(
            self._hparams.problem,
            self._hparams,
            self._config.data_dir,
            num_replicas=self.strategy.num_replicas_in_sync,
            seed=self._input_description["input_seed"],
            pad_to_bucket=self._config.jit_compile,
            max_shapes=self._max_shapes,
            sample=self._sample,
        )

    @property
    def _max_shapes(self) -> int:
        return self._config.max_xla_shapes if self._config.jit_compile else 0

    def describe(self) -> str:
        """What is trained on what, for the log."""
        hparams = self._hparams
        num_weights = sum(variable.value.shape.num_elements() for variable in self.model.variables)
        data = pipeline.describe(
            hparams.problem,
            hparams,
            self._config.data_dir,
            self.strategy.num_replicas_in_sync,
            max_shapes=self._max_shapes,
            sample=self._sample,
        )
        return (
            f"{self.model.name}: {num_weights:,} weights in {len(self.model.variables)} variables, "
            f"{self.strategy.num_replicas_in_sync} replica(s), random seed {self._seed}, "
            f"{describe_precision(hparams)}\n{data}"
        )

    def train_until(
        self,
        end_step: int,
        interruption: Interruption,
        on_checkpoint: Callable[[int], None] | None = None,
        on_step: Callable[[int], None] | None = None,
    ) -> None:
        """Trains, saving checkpoints on the way, at the very start and at the end.

        Args:
            end_step: global step at which to stop.
            interruption: if it is requested, training stops after the step and saves, and nothing
                is called any more.
            on_checkpoint: called with the step after each checkpoint.
            on_step: called with the number of steps done after each step.

        Raises:
            DivergedError: the loss is NaN or infinite; nothing is saved then.
        """
        self._callbacks.on_train_begin()
        if self._saved_step < 0:
            self.save()
        self._callbacks.on_epoch_begin(self._epoch)
        while self.step < end_step and not self.workers.should_stop(
            self.step, interruption, self.model.stop_training
        ):
            with self.workers.explained():
                self._one_step(lambda: interruption.requested)
                # Before an evaluation: it may take longer than a process that is to end has.
                if self._checkpoint_is_due():
                    self._checkpoint(interruption, on_checkpoint)
                if on_step is not None and not interruption.requested:
                    with self._monitor.paused():
                        on_step(self.step)
        self._monitor.finish(self.step)
        if self._saved_step != self.step:
            self._checkpoint(interruption, on_checkpoint)
        self._callbacks.on_train_end()
        self._writer.flush()

    @property
    def last_checkpoint(self) -> str | None:
        """The checkpoint from which training would go on now."""
        return self._monitor.last_checkpoint

    @property
    def _epoch(self) -> int:
        return self.step // self._config.save_checkpoints_steps

    def _one_step(self, should_stop: Callable[[], bool]) -> None:
        last_checkpoint = self._monitor.last_checkpoint
        with self._faults.of_reading(self.step, last_checkpoint):
            batches = self._next_batches()
        if self._has_callbacks:
            self._callbacks.on_train_batch_begin(self.step)
        features, records_of = batches[-1]
        micro_batches = [features for features, _ in batches]
        if self._config.compile_all_shapes_first:
            self._compilations.compile_all(features, self._compile_for, should_stop)
        with (
            self._faults.of_training(micro_batches, self.step, last_checkpoint),
            self._compilations.of_step(micro_batches),
        ):
            result = self._train_step(*micro_batches)
        self.step += 1
        with explain_saving(self._config.output_dir, last_checkpoint):
            self._monitor.after_step(
                StepRecord(self.step, result, features, records_of, batches[:-1])
            )
        if self._has_callbacks:
            self._callbacks.on_train_batch_end(self.step - 1, {"loss": float(result.loss)})

    def _compile_for(self, features: dict[str, Any]) -> None:
        with self._faults.of_training([features], self.step, self._monitor.last_checkpoint):
            self._train_step.compile_for(features)

    def _next_batches(self) -> list[tuple[dict[str, Any], Any]]:
        """The micro-batches of a step, each with its finder of records."""
        return [
            (next(self._iterator), self._iterator.record_finder())
            for _ in range(self._train_step.num_micro_batches)
        ]

    def _checkpoint_is_due(self) -> bool:
        if self._config.save_checkpoints_secs > 0:
            return time.monotonic() - self._saved_time >= self._config.save_checkpoints_secs
        return self.step % self._config.save_checkpoints_steps == 0

    def _checkpoint(
        self, interruption: Interruption, on_checkpoint: Callable[[int], None] | None
    ) -> None:
        with self._monitor.paused():
            self.save()
            if on_checkpoint is not None and not interruption.requested:
                on_checkpoint(self.step)
            self._callbacks.on_epoch_end(max(self._epoch - 1, 0))
            self._callbacks.on_epoch_begin(self._epoch)

    def save(self) -> str:
        """Writes a checkpoint of the present step with the input's position; returns its prefix.

        Only the chief of several workers writes.
        """
        self._monitor.check_before_saving()
        prefix = checkpoints.prefix_of_step(self._config.output_dir, self.step)
        if self.workers.is_chief:
            with explain_saving(self._config.output_dir, self._monitor.last_checkpoint, prefix):
                self._write_checkpoint(prefix)
        self._saved_step, self._saved_time = self.step, time.monotonic()
        self._monitor.last_checkpoint = prefix
        return prefix

    def _write_checkpoint(self, prefix: str) -> None:
        # Curves first: they must hold every step up to the checkpoint that a resumed run starts at.
        self._writer.flush()
        run_vocabulary.remember(self._config.output_dir, self._vocabulary)
        input_position.save(prefix, self._iterator, self._input_description)
        checkpoints.save(self._config.output_dir, self.model, self.step, self._slots)
        self._keeper.add(prefix)
        logging.info("Saved %s", prefix)

    def close(self) -> None:
        """Closes event file and input; of several workers, none ends before all are here."""
        self._writer.close()
        self._iterator.close()
        self.workers.barrier()


def _choose_seed(wanted: int | None, saved: dict[str, Any]) -> int:
    """The seed asked for, else that of the run so far, else a new one."""
    if wanted is not None:
        return wanted % _MAX_SEED
    return int(saved.get("random_seed", random.SystemRandom().randrange(_MAX_SEED)))
