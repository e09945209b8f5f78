"""What happens to gradients between the loss and the optimizer: decay, noise, clipping, checks."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

__all__ = ["GradientFinisher", "finiteness_mark"]

# hparam weight_noise is counted in thousandths of the learning rate.
_WEIGHT_NOISE_UNIT = 0.001
# Apart from the numbers of variables, which gradient noise uses.
_WEIGHT_NOISE_SEED = 5000


class GradientFinisher:
    """Adds weight decay and noise to gradients, then clips them (in T2T's order).

    Args:
        hparams: `weight_decay`, `clip_grad_norm`, `grad_noise_scale`, `weight_noise`.
        optimizer: its `iterations` seed the noise.
        variables: the trainable variables, in the order of the gradients.
        random_seed: of the noise.
        num_replicas: among which the gradients are divided.
        measure_norm: whether to compute the global norm even if nothing clips by it.
    """

    def __init__(
        self,
        hparams: Any,
        optimizer: Any,
        variables: Sequence[Any],
        *,
        random_seed: int,
        num_replicas: int,
        measure_norm: bool,
    ) -> None:
        self._optimizer = optimizer
        self._variables = variables
        self._random_seed = random_seed
        self._num_replicas = num_replicas
        self._weight_decay = float(hparams.weight_decay)
        self._clip_norm = float(hparams.clip_grad_norm or 0.0)
        self._noise_scale = float(hparams.get("grad_noise_scale") or 0.0)
        self._weight_noise = float(hparams.get("weight_noise") or 0.0)
        self._measure_norm = measure_norm or self._clip_norm > 0.0
        self.moves_weights = bool(self._weight_noise)

    def finish(
        self, gradients: list[tf.Tensor], sum_over_replicas: Callable[[Any], Any]
    ) -> tuple[list[tf.Tensor], tf.Tensor | None]:
        """Finished gradients, and their global norm before clipping where it was computed.

        Keras' optimizer sums gradients over replicas itself. What must see the sum sums here, and
        hands every replica its share of the result.

        Args:
            gradients: of this replica, in the order of the variables.
            sum_over_replicas: joins the replicas' gradients.
        """
        norm = None
        if not (self._weight_decay or self._noise_scale or self._measure_norm):
            return gradients, norm
        gradients = sum_over_replicas(gradients)
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

    def move_weights(self) -> None:
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


def finiteness_mark(tensors: Sequence[tf.Tensor]) -> tf.Tensor:
    """A float32 scalar that is finite if, and as good as only if, every entry of them all is.

    It is their sum: one infinity or NaN makes it infinite or NaN, finite entries don't unless they
    add up to more than 1e38. Marks of replicas may be added.
    """
    return tf.add_n([tf.cast(tf.reduce_sum(tensor), tf.float32) for tensor in tensors])
