"""One training step: loss, gradients and update of a global batch over one or many replicas."""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from t2t_keras.training.factored_loss import factored_loss_sum
from t2t_keras.training.gradients import GradientFinisher, finiteness_mark
from t2t_keras.training.losses import (
    loss_weights,
    pad_to_same_length,
    padded_loss_terms,
    squared_error_terms,
)
from t2t_keras.training.scheduled_sampling import ScheduledSampling

__all__ = ["LossSettings", "StepResult", "TrainStep", "loss_terms", "token_weights"]

Features = dict[str, tf.Tensor]

# Odd constants that spread small numbers over 32 bits, so that no (seed, replica) pair meets
# another.
_SPREAD_SEED = 0x9E3779B1
_SPREAD_REPLICA = 0xC2B2AE35


class LossSettings(NamedTuple):
    """What turns logits and labels into a loss."""

    label_smoothing: float = 0.0
    loss_multiplier: float = 1.0
    prepend_mode: str = "none"
    predicts_numbers: bool = False  # Targets are real numbers, float32 `[batch, 1]`.

    @classmethod
    def from_hparams(cls, hparams: Any, training: bool) -> "LossSettings":
        """The settings of `hparams`; labels are smoothed in training only."""
        problem_hparams = getattr(hparams, "problem_hparams", None)
        return cls(
            label_smoothing=float(hparams.label_smoothing) if training else 0.0,
            loss_multiplier=float(getattr(problem_hparams, "loss_multiplier", 1.0) or 1.0),
            prepend_mode=hparams.get("prepend_mode") or "none",
            predicts_numbers=_has_real_targets(problem_hparams),
        )


class StepResult(NamedTuple):
    """What a step tells; tensors that aren't fetched from the device yet.

    Attributes:
        loss: float32 scalar, mean over all tokens of the global batch, before the update.
        token_count: float32 scalar, target tokens, without padding.
        gradient_norm: float32 scalar, global norm before clipping; None where nothing needs it.
        replica_losses: float32 `[replicas]`, what each replica adds to `loss`: they sum up to it.
        is_finite: bool scalar, whether the loss and every gradient were finite, so that the update
            took place; None where nothing asks for it.
    """

    loss: tf.Tensor
    token_count: tf.Tensor
    gradient_norm: tf.Tensor | None
    replica_losses: tf.Tensor
    is_finite: tf.Tensor | None = None


def token_weights(features: Features, settings: LossSettings, training: bool) -> tf.Tensor:
    """Which target tokens count in the loss, float32 `[batch, length]`."""
    if settings.predicts_numbers:
        return tf.ones_like(features["targets"], tf.float32)
    weights = loss_weights(features["targets"], settings.prepend_mode, training)
    if "targets_mask" in features:
        weights *= tf.cast(features["targets_mask"], tf.float32)
    return weights


def loss_terms(
    logits: tf.Tensor, features: Features, settings: LossSettings, training: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    """Sum of the token losses and number of tokens of a batch, as `losses.padded_loss_terms`."""
    if settings.predicts_numbers:
        return squared_error_terms(logits, features["targets"])
    logits, labels = pad_to_same_length(logits, features["targets"])
    weights = token_weights({**features, "targets": labels}, settings, training)
    return padded_loss_terms(
        logits, labels, settings.label_smoothing, settings.loss_multiplier, weights
    )


class TrainStep:
    """A compiled training step; calling it updates model and optimizer in place.

    The global batch is cut into equal parts along axis 0, one a replica. Every replica takes the
    gradient of its *sum* of token losses divided by the token count of the *global* batch; the
    gradients are then summed over replicas. So the step is the same for any number of replicas,
    also if their parts hold different numbers of tokens or none at all. (A mean of the replicas'
    means would weigh tokens unequally.)

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
    ) -> None:
        _refuse_unsupported(hparams)
        self._model = model
        self._optimizer = optimizer
        self._strategy = strategy or tf.distribute.get_strategy()
        self._num_replicas = self._strategy.num_replicas_in_sync
        self._random_seed = random_seed
        self._jit_compile = jit_compile
        self._settings = LossSettings.from_hparams(hparams, training=True)
        self._scheduled_sampling = ScheduledSampling(hparams)
        self._factored_logits = bool(hparams.get("factored_logits"))
        self._checks_finiteness = skip_nonfinite
        with self._strategy.scope():
            optimizer.build(model.trainable_variables)
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

    @property
    def num_traces(self) -> int:
        """How often the step has been traced; it stays constant once all shapes are known."""
        return int(self._step.experimental_get_tracing_count()) if self._step is not None else 0

    def __call__(self, features: Features) -> StepResult:
        """Trains on one global batch.

        Args:
            features: int32 `[batch, length]` each; `batch` a multiple of the number of replicas.
        """
        if self._step is None:
            self._step = self._compile(features)
        return StepResult(*self._step(features))

    def _compile(self, features: Features) -> Any:
        if self._jit_compile:
            # XLA needs static shapes; every new one is traced.
            return tf.function(self._global_step)
        # All lengths share one trace.
        signature = {
            name: tf.TensorSpec([None] * len(value.shape), value.dtype, name)
            for name, value in features.items()
        }
        return tf.function(self._global_step, input_signature=[signature])

    def _global_step(self, features: Features) -> StepResult:
        if self._finisher.moves_weights:
            self._finisher.move_weights()
        results = self._on_replicas(self._replica_step, features)
        first = self._of_first_replica(results.result)
        replica_losses = tf.stack(self._of_all_replicas(results.result.replica_losses))
        if self._checks_finiteness:
            tf.cond(
                first.is_finite,
                lambda: self._on_replicas(self._apply, results.gradients),
                lambda: self._on_replicas(self._skip),
            )
        return first._replace(replica_losses=replica_losses)

    def _on_replicas(self, function: Callable[..., Any], *args: Any) -> Any:
        if self._num_replicas == 1:
            return function(*args)
        return self._strategy.run(function, args=args)

    def _of_all_replicas(self, value: Any) -> list[Any]:
        if self._num_replicas == 1:
            return [value]
        return list(self._strategy.experimental_local_results(value))

    def _of_first_replica(self, result: StepResult) -> StepResult:
        """Of what is the same on all replicas."""
        return StepResult(*(None if v is None else self._of_all_replicas(v)[0] for v in result))

    def _replica_step(self, features: Features) -> "_ReplicaStep":
        context = tf.distribute.get_replica_context()
        replica = _replica_number(context)
        features = self._part_of_batch(features, replica)
        local_count = tf.reduce_sum(token_weights(features, self._settings, training=True))
        count = self._sum_over_replicas(local_count)
        denominator = tf.maximum(count, 1.0)
        seed = self._dropout_seed(replica)
        local_loss, gradients = self._gradients_of_replica[replica](features, seed, denominator)
        loss = self._sum_over_replicas(local_loss)
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
        self._optimizer.iterations.assign_add(1)

    def _part_of_batch(self, features: Features, replica: int) -> Features:
        if self._num_replicas == 1:
            return features
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

    def _dropout_seed(self, replica: int) -> tf.Tensor:
        """int32 `[2]`, different for every step, replica and random seed."""
        word = (self._random_seed * _SPREAD_SEED + replica * _SPREAD_REPLICA) & 0xFFFFFFFF
        signed_word = word - (1 << 32) if word >= 1 << 31 else word
        return tf.stack([tf.cast(self._optimizer.iterations.value, tf.int32), signed_word])

    def _gradient_function(self) -> Callable[..., Any]:
        def loss_and_gradients(
            features: Features, seed: tf.Tensor, denominator: tf.Tensor
        ) -> tuple[tf.Tensor, list[tf.Tensor]]:
            with tf.GradientTape() as tape:
                loss = self._loss_sum(features, seed) / denominator
            variables = [variable.value for variable in self._variables]
            gradients = tape.gradient(loss, variables, unconnected_gradients="zero")
            # Embedding gradients become dense: sums over replicas and Adam treat all rows alike.
            return loss, [tf.convert_to_tensor(gradient) for gradient in gradients]

        if self._jit_compile:
            return tf.function(loss_and_gradients, jit_compile=True)
        return loss_and_gradients

    def _loss_sum(self, features: Features, seed: tf.Tensor) -> tf.Tensor:
        read = features
        if self._scheduled_sampling.is_on:
            read = self._scheduled_sampling.mixed_features(
                lambda mixed: self._model(mixed, training=True, dropout_seed=seed),
                features,
                step=seed[0],
                seed=seed,
            )
        if self._factored_logits:
            loss_sum = factored_loss_sum(
                self._model.hidden(read, training=True, dropout_seed=seed),
                tf.convert_to_tensor(self._model.softmax_table.table),
                features["targets"],
                token_weights(features, self._settings, training=True),
                self._settings.label_smoothing,
            )
            return loss_sum * self._settings.loss_multiplier
        logits = self._model(read, training=True, dropout_seed=seed)
        return loss_terms(logits, features, self._settings, training=True)[0]


class _ReplicaStep(NamedTuple):
    """Of one replica: its result, and the gradients that are still to be applied."""

    result: StepResult
    gradients: list[tf.Tensor]


def _replica_number(context: Any) -> int:
    number = context.replica_id_in_sync_group
    return int(tf.get_static_value(number) if tf.is_tensor(number) else number)


def _has_real_targets(problem_hparams: Any) -> bool:
    kind = (getattr(problem_hparams, "modality", None) or {}).get("targets")
    return str(getattr(kind, "value", kind)) == "real"


def _refuse_unsupported(hparams: Any) -> None:
    """Raises `ValueError` for hparams that would change training but aren't available."""
    if hparams.get("activation_dtype", "float32") == "float16":
        raise ValueError(
            "activation_dtype float16 needs loss scaling, which isn't available; use float32. "
            "Received: 'float16'"
        )
