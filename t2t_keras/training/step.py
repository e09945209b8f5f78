"""One training step: loss, gradients and update of a global batch over one or many replicas."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from t2t_keras.layers.compilation import traced_for_xla
from t2t_keras.training.accumulation import GradientAccumulator, nominal_token_count
from t2t_keras.training.gradients import GradientFinisher, finiteness_mark
from t2t_keras.training.precision import loss_scale_for
from t2t_keras.training.slots import count_skipped_update
from t2t_keras.training.training_loss import Features, TrainingLoss

__all__ = ["StepResult", "TrainStep"]

# Odd constants that spread small numbers over 32 bits, so that no (seed, replica) pair meets
# another.
_SPREAD_SEED = 0x9E3779B1
_SPREAD_REPLICA = 0xC2B2AE35
_ALL_BITS = 0xFFFFFFFF

# Everything that depends on a tensor's value is written as an operation, so Python's own
# conditions need no conversion: that alone would take more than a second.
_graph_of = functools.partial(tf.function, autograph=False)


class StepResult(NamedTuple):
    """What a step tells; tensors that aren't fetched from the device yet.

    Attributes:
        loss: float32 scalar, mean over all tokens of the global batch, before the update.
        token_count: float32 scalar, target tokens, without padding.
        gradient_norm: float32 scalar, global norm before clipping; None where nothing needs it.
        replica_losses: float32 `[parts]`, what each part of the global batch adds to `loss`: they
            sum up to it (each of several workers has its own parts only). Part `m * replicas + r`
            is that of replica r in micro-batch m.
        is_finite: bool scalar, whether the loss and every gradient were finite, so that the update
            took place; None where nothing asks for it.
        loss_scale: float32 scalar, by which the loss was multiplied for the gradients; None
            without loss scaling. A step that isn't finite only because the scale was too large has
            a finite loss.
    """

    loss: tf.Tensor
    token_count: tf.Tensor
    gradient_norm: tf.Tensor | None
    replica_losses: tf.Tensor
    is_finite: tf.Tensor | None = None
    loss_scale: tf.Tensor | None = None


class TrainStep:
    """A compiled training step; calling it updates model and optimizer in place.

    The global batch is cut into equal parts along axis 0, one a replica. Every replica takes the
    gradient of its *sum* of token losses divided by the token count of the *global* batch; the
    gradients are then summed over replicas. So the step is the same for any number of replicas,
    also if their parts hold different numbers of tokens or none at all. (A mean of the replicas'
    means would weigh tokens unequally.)

    With accumulation a step takes several micro-batches. Their losses and token counts are summed
    before the one is divided by the other, so n micro-batches are as one n times as large: it is
    one update, one global step, and one in the learning-rate schedule.

    With float16 activations the loss is scaled (`precision.DynamicLossScale`), and a step whose
    scaled gradients overflow is skipped as with `skip_nonfinite`.

    Args:
        model: built; called as `model(features, training=True, dropout_seed=seed)`.
        optimizer: a Keras optimizer whose `iterations` is the global step.
        hparams: `label_smoothing`, `weight_decay`, `clip_grad_norm`, `grad_noise_scale`, ….
        strategy: the strategy in whose scope the model was made; the default one for one replica.
        random_seed: with global step and replica number it determines the dropout masks.
        jit_compile: whether XLA compiles loss and gradients; one compilation per batch shape.
        measure_gradient_norm: whether to compute the global norm even if nothing clips by it.
        skip_nonfinite: whether a step whose loss or gradients aren't finite leaves the variables
            and the optimizer's slots as they were. It counts as a step all the same: `iterations`,
            and with it learning rate and dropout masks, move on. (What hparam `weight_noise` has
            added to the weights before the step stays.)
        num_micro_batches: how many batches a step takes.

    Attributes:
        num_micro_batches: as given.
        state_variables: what of the step is to be saved besides model and optimizer, Keras
            variables by name in a checkpoint.
    """

    def __init__(
        self,
        model: keras.Model,
        optimizer: keras.optimizers.Optimizer,
        hparams: Any,
        *,
        strategy: tf.distribute.Strategy | None = None,
        random_seed: int = 0,
        jit_compile: bool = False,
        measure_gradient_norm: bool = False,
        skip_nonfinite: bool = False,
        num_micro_batches: int = 1,
    ) -> None:
        self._model = model
        self._optimizer = optimizer
        self._strategy = strategy or tf.distribute.get_strategy()
        self._num_replicas = self._strategy.num_replicas_in_sync
        self._random_seed = random_seed
        self._jit_compile = jit_compile
        self._loss = TrainingLoss(model, hparams)
        self.num_micro_batches = num_micro_batches
        self._accumulator: Any = None  # a GradientAccumulator where gradients are accumulated
        with self._strategy.scope():
            optimizer.build(model.trainable_variables)
            self._loss_scale = loss_scale_for(hparams)
            if num_micro_batches > 1:
                self._accumulator = GradientAccumulator(model.trainable_variables)
        self._nominal_count = nominal_token_count(
            int(hparams.batch_size), self._num_replicas, num_micro_batches
        )
        self.state_variables = self._loss_scale.variables if self._loss_scale is not None else {}
        self._checks_finiteness = skip_nonfinite or self._loss_scale is not None
        self._variables = model.trainable_variables
        self._finisher = GradientFinisher(
            hparams,
            optimizer,
            self._variables,
            random_seed=random_seed,
            num_replicas=self._num_replicas,
            measure_norm=measure_gradient_norm,
        )
        # One compiled function per replica: each captures its own replica's variables.
        self._gradients_of_replica = [self._gradient_function() for _ in range(self._num_replicas)]
        self._step: Any = None  # the compiled step, made for the first batch
        self._update = _graph_of(self._accumulated_step)

    @property
    def num_traces(self) -> int:
        """How often the step has been traced; it stays constant once all shapes are known."""
        return int(self._step.experimental_get_tracing_count()) if self._step is not None else 0

    def __call__(self, *batches: Features) -> StepResult:
        """Trains on one global batch, or on as many as are accumulated.

        Args:
            *batches: `num_micro_batches` times features, int32 `[batch, length]` each; `batch` a
                multiple of the number of replicas.

        Raises:
            ValueError: another number of batches.
        """
        if len(batches) != self.num_micro_batches:
            raise ValueError(
                f"A step takes {self.num_micro_batches} batch(es). Received: {len(batches)}"
            )
        if self._step is None:
            self._step = self._compile(batches[0])
        if self._accumulator is None:
            return StepResult(*self._step(batches[0]))
        numbers = [tf.constant(number) for number in range(self.num_micro_batches)]
        losses = [self._step(*micro_batch) for micro_batch in zip(batches, numbers, strict=True)]
        return StepResult(*self._update(tf.concat(losses, axis=0)))

    def compile_for(self, features: Features) -> None:
        """Compiles the step for the shapes of a global batch; variables stay as they are.

        Args:
            features: as those of a step; what is in them plays no part.
        """
        if self._step is None:
            self._step = self._compile(features)
        number = [] if self._accumulator is None else [tf.constant(0)]
        self._step.get_concrete_function(features, *number)
        if self._jit_compile:
            # That calls compiled functions, which XLA compiles when they first run in a graph.
            _graph_of(self._on_replicas)(self._unused_gradients, features)

    def _unused_gradients(self, features: Features) -> tf.Tensor:
        replica = _replica_number()
        part = self._part_of_batch(features, replica)
        number = None if self._accumulator is None else tf.constant(0)
        seed = self._dropout_seed(replica, number)
        return self._loss_and_gradients(replica, part, seed, tf.constant(1.0))

    def _compile(self, features: Features) -> Any:
        function = self._global_step if self._accumulator is None else self._micro_step
        number = [] if self._accumulator is None else [tf.TensorSpec([], tf.int32)]
        if self._jit_compile:
            # XLA needs static shapes; every new one is traced.
            return _graph_of(function)
        # All lengths share one trace.
        signature = {
            name: tf.TensorSpec([None] * len(value.shape), value.dtype, name)
            for name, value in features.items()
        }
        return _graph_of(function, input_signature=[signature, *number])

    def _global_step(self, features: Features) -> StepResult:
        if self._finisher.moves_weights:
            self._finisher.move_weights()
        results = self._on_replicas(self._replica_step, features)
        replica_losses = tf.stack(self._of_all_replicas(results.result.replica_losses))
        return self._conclude(results, replica_losses)

    def _micro_step(self, features: Features, number: tf.Tensor) -> tf.Tensor:
        """Accumulates micro-batch `number`; the replicas' losses before division, `[replicas]`."""
        if self._finisher.moves_weights:
            tf.cond(number == 0, self._finisher.move_weights, lambda: None)
        losses = self._on_replicas(self._replica_micro_step, features, number)
        return tf.stack(self._of_all_replicas(losses))

    def _accumulated_step(self, losses: tf.Tensor) -> StepResult:
        """Updates with what has been accumulated; `losses` are of all parts, `[parts]`."""
        results = self._on_replicas(self._replica_update)
        count = self._of_all_replicas(results.result.token_count)[0]
        return self._conclude(results, losses * self._nominal_count / tf.maximum(count, 1.0))

    def _conclude(self, results: "_ReplicaStep", replica_losses: tf.Tensor) -> StepResult:
        """Applies or skips the update where that was left open; outside the replicas."""
        first = [None if v is None else self._of_all_replicas(v)[0] for v in results.result]
        result = StepResult(*first)._replace(replica_losses=replica_losses)
        if self._checks_finiteness:
            tf.cond(
                result.is_finite,
                lambda: self._on_replicas(self._apply, results.gradients),
                lambda: self._on_replicas(self._skip),
            )
        if self._loss_scale is not None:
            result = result._replace(loss_scale=self._loss_scale.value())
            self._loss_scale.update(result.is_finite)
        return result

    def _on_replicas(self, function: Callable[..., Any], *args: Any) -> Any:
        if self._num_replicas == 1:
            return function(*args)
        return self._strategy.run(function, args=args)

    def _of_all_replicas(self, value: Any) -> list[Any]:
        if self._num_replicas == 1:
            return [value]
        return list(self._strategy.experimental_local_results(value))

    def _replica_step(self, features: Features) -> "_ReplicaStep":
        replica = _replica_number()
        features = self._part_of_batch(features, replica)
        count = self._sum_over_replicas(self._loss.token_count(features))
        seed = self._dropout_seed(replica)
        loss, gradients = self._loss_and_gradients(replica, features, seed, tf.maximum(count, 1.0))
        return self._finish(gradients, loss, self._sum_over_replicas(loss), count)

    def _replica_micro_step(self, features: Features, number: tf.Tensor) -> tf.Tensor:
        replica = _replica_number()
        features = self._part_of_batch(features, replica)
        seed = self._dropout_seed(replica, number)
        denominator = tf.constant(self._nominal_count)
        loss, gradients = self._loss_and_gradients(replica, features, seed, denominator)
        self._accumulator.add(gradients, loss, self._loss.token_count(features))
        return loss

    def _replica_update(self) -> "_ReplicaStep":
        gradients, loss, count = self._accumulator.take()
        count = self._sum_over_replicas(count)
        factor = self._nominal_count / tf.maximum(count, 1.0)
        gradients = [gradient * factor for gradient in gradients]
        return self._finish(gradients, loss, self._sum_over_replicas(loss * factor), count)

    def _loss_and_gradients(
        self, replica: int | tf.Tensor, features: Features, seed: tf.Tensor, denominator: tf.Tensor
    ) -> tuple[tf.Tensor, list[tf.Tensor]]:
        """Loss sum and its gradients, divided by the denominator; scaled only on the way."""
        function = self._gradients_of_replica[0 if tf.is_tensor(replica) else replica]
        if self._loss_scale is None:
            return function(features, seed, denominator)
        scale = self._loss_scale.value()
        loss, gradients = function(features, seed, denominator / scale)
        return loss / scale, [gradient / scale for gradient in gradients]

    def _finish(
        self, gradients: list[tf.Tensor], local_loss: tf.Tensor, loss: tf.Tensor, count: tf.Tensor
    ) -> "_ReplicaStep":
        """Finishes a replica's gradients, and applies them if nothing can speak against it."""
        is_finite = None
        if self._checks_finiteness:
            mark = self._sum_over_replicas(finiteness_mark([local_loss, *gradients]))
            is_finite = tf.math.is_finite(mark)
        gradients, norm = self._finisher.finish(gradients, self._sum_over_replicas)
        result = StepResult(loss, count, norm, local_loss, is_finite)
        if self._checks_finiteness:
            return _ReplicaStep(result, gradients)
        self._apply(gradients)
        return _ReplicaStep(result, [])

    def _apply(self, gradients: list[tf.Tensor]) -> None:
        self._optimizer.apply(gradients, self._variables)

    def _skip(self) -> None:
        count_skipped_update(self._optimizer, self._variables)

    def _part_of_batch(self, features: Features, replica: int | tf.Tensor) -> Features:
        if self._num_replicas == 1:
            return features
        if tf.is_tensor(replica):
            return {
                name: tf.reshape(value, [self._num_replicas, -1, *value.shape[1:]])[replica]
                for name, value in features.items()
            }
        parts = {}
        for name, value in features.items():
            rows = value.shape[0] if value.shape[0] is not None else tf.shape(value)[0]
            rows = rows // self._num_replicas
            parts[name] = value[replica * rows : (replica + 1) * rows]
        return parts

    def _sum_over_replicas(self, value: Any) -> Any:
        if self._num_replicas == 1:
            return value
        return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, value)

    def _dropout_seed(
        self, replica: int | tf.Tensor, micro_batch: tf.Tensor | None = None
    ) -> tf.Tensor:
        """int32 `[2]`, different for every step, part of the global batch and random seed.

        Part m·replicas + r is that of replica r in micro-batch m: n micro-batches on one replica
        have the masks of one batch on n replicas.
        """
        word = self._random_seed * _SPREAD_SEED & _ALL_BITS
        if not tf.is_tensor(replica):
            word = (word + replica * _SPREAD_REPLICA) & _ALL_BITS
        step = tf.cast(self._optimizer.iterations.value, tf.int32)
        if micro_batch is None and not tf.is_tensor(replica):
            return tf.stack([step, word - (1 << 32) if word >= 1 << 31 else word])
        stride = tf.constant(self._num_replicas * _SPREAD_REPLICA & _ALL_BITS, tf.uint32)
        of_part = tf.constant(word, tf.uint32)
        if tf.is_tensor(replica):
            of_part += tf.cast(replica, tf.uint32) * tf.constant(_SPREAD_REPLICA, tf.uint32)
        if micro_batch is not None:
            of_part += tf.cast(micro_batch, tf.uint32) * stride
        return tf.stack([step, tf.bitcast(of_part, tf.int32)])

    def _gradient_function(self) -> Callable[..., Any]:
        def loss_and_gradients(
            features: Features, seed: tf.Tensor, denominator: tf.Tensor
        ) -> tuple[tf.Tensor, list[tf.Tensor]]:
            with tf.GradientTape() as tape:
                loss = self._loss.sum(features, seed) / denominator
            variables = [variable.value for variable in self._variables]
            gradients = tape.gradient(loss, variables, unconnected_gradients="zero")
            # Embedding gradients become dense: sums over replicas and Adam treat all rows alike.
            return loss, [tf.convert_to_tensor(gradient) for gradient in gradients]

        if self._jit_compile:
            return _graph_of(traced_for_xla(loss_and_gradients), jit_compile=True)
        return loss_and_gradients


class _ReplicaStep(NamedTuple):
    """Of one replica: its result, and the gradients that are still to be applied."""

    result: StepResult
    gradients: list[tf.Tensor]


def _replica_number() -> int | tf.Tensor:
    """Among all replicas; a tensor where all run the same program, on a TPU."""
    number = tf.distribute.get_replica_context().replica_id_in_sync_group
    static = tf.get_static_value(number) if tf.is_tensor(number) else number
    return number if static is None else int(static)
