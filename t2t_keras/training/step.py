"""One training step: loss, gradients and update of a global batch over one or many replicas."""

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from t2t_keras.training.factored_loss import factored_loss_sum
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
# hparam weight_noise is counted in thousandths of the learning rate.
_WEIGHT_NOISE_UNIT = 0.001
# Apart from the numbers of variables, which gradient noise uses.
_WEIGHT_NOISE_SEED = 5000


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
    """What a step tells. All are float32 scalars, not fetched from the device yet."""

    loss: tf.Tensor  # mean over all tokens of the global batch, before the update
    token_count: tf.Tensor  # target tokens, without padding
    gradient_norm: tf.Tensor | None  # global norm before clipping; None where nothing needs it


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
        self._weight_decay = float(hparams.weight_decay)
        self._clip_norm = float(hparams.clip_grad_norm or 0.0)
        self._noise_scale = float(hparams.get("grad_noise_scale") or 0.0)
        self._weight_noise = float(hparams.get("weight_noise") or 0.0)
        self._measure_norm = measure_gradient_norm or self._clip_norm > 0.0
        with self._strategy.scope():
            optimizer.build(model.trainable_variables)
        self._variables = model.trainable_variables
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

    def _global_step(self, features: Features) -> tuple[Any, ...]:
        if self._weight_noise:
            self._move_weights()
        if self._num_replicas == 1:
            return self._replica_step(features)
        results = self._strategy.run(self._replica_step, args=(features,))
        # Loss, count and norm are the same on all replicas.
        return tuple(
            None if result is None else self._strategy.experimental_local_results(result)[0]
            for result in results
        )

    def _replica_step(self, features: Features) -> tuple[Any, ...]:
        context = tf.distribute.get_replica_context()
        replica = _replica_number(context)
        features = self._part_of_batch(features, replica)
        local_count = tf.reduce_sum(token_weights(features, self._settings, training=True))
        count = self._sum_over_replicas(local_count)
        denominator = tf.maximum(count, 1.0)
        seed = self._dropout_seed(replica)
        local_loss, gradients = self._gradients_of_replica[replica](features, seed, denominator)
        loss = self._sum_over_replicas(local_loss)
        gradients, norm = self._finish_gradients(gradients)
        self._optimizer.apply(gradients, self._variables)
        return loss, count, norm

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

    def _finish_gradients(self, gradients: list[tf.Tensor]) -> tuple[list[tf.Tensor], Any]:
        """Adds weight decay and noise, then clips (in T2T's order).

        Keras' optimizer sums gradients over replicas itself. What must see the sum sums here, and
        hands every replica its share of the result.
        """
        norm = None
        needs_sum = self._weight_decay or self._noise_scale or self._measure_norm
        if not needs_sum:
            return gradients, norm
        gradients = self._sum_over_replicas(gradients)
        if self._weight_decay:
            gradients = [
                self._decayed(g, v) for g, v in zip(gradients, self._variables, strict=True)
            ]
        if self._noise_scale:
            gradients = [self._noisy(g, number) for number, g in enumerate(gradients)]
        if self._measure_norm:
            norm = tf.linalg.global_norm(gradients)
        if self._clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, self._clip_norm, use_norm=norm)
        if self._num_replicas > 1:
            gradients = [gradient / self._num_replicas for gradient in gradients]
        return gradients, norm

    def _decayed(self, gradient: tf.Tensor, variable: Any) -> tf.Tensor:
        """Adds the gradient of `weight_decay * |v|^2 / 2`; biases don't decay."""
        if len(variable.shape) == 1 and variable.path.endswith("bias"):
            return gradient
        return gradient + self._weight_decay * tf.convert_to_tensor(variable.value)

    def _noisy(self, gradient: tf.Tensor, number: int) -> tf.Tensor:
        """Adds truncated normal noise, the same on every replica."""
        return gradient + self._noise_scale * self._noise_like(gradient, number)

    def _move_weights(self) -> None:
        """Adds noise in proportion to the learning rate to the weights of the model's body."""
        scale = self._weight_noise * _WEIGHT_NOISE_UNIT * self._optimizer.learning_rate
        for number, variable in enumerate(self._variables):
            if "/body/" in variable.path:
                value = variable.value
                noise = self._noise_like(value, _WEIGHT_NOISE_SEED + number)
                value.assign_add(tf.cast(scale, value.dtype) * noise)

    def _noise_like(self, value: Any, number: int) -> tf.Tensor:
        """Truncated normal noise, which depends on step, random seed and number only."""
        step = tf.cast(self._optimizer.iterations.value, tf.int32)
        seed = tf.stack([step, self._random_seed % (1 << 16) * 10007 + number])
        return tf.random.stateless_truncated_normal(value.shape, seed, dtype=value.dtype)


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
