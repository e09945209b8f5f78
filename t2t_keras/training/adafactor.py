"""Adafactor (Shazeer and Stern, 2018, https://arxiv.org/abs/1804.04235), as T2T has it."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from t2t_keras.models.t2t_names import is_sharded_table, shard_sizes
from t2t_keras.training.slots import Slot, SlotOptimizer

__all__ = ["Adafactor"]

# Added to squared gradients, and the least root mean square of a variable.
_SQUARE_EPSILON = 1e-30
_LEAST_SCALE = 1e-3


class Adafactor(SlotOptimizer):
    """Adam with the second moments of a matrix kept as those of its rows and columns.

    With s the global step, g the gradient and rho the decay,

    - rho is `1 - (s + 1)^-memory_exponent` ("pow") or Adam's bias-corrected `beta_2` ("adam");
    - of matrices, if `factored`: `r <- rho r + (1 - rho) mean over columns of g^2`, c likewise with
      the mean over rows, and `x = g / sqrt(r / mean(r)) / sqrt(c)`; otherwise
      `v <- rho v + (1 - rho) g^2` and `x = g / sqrt(v)`;
    - x is divided by `max(1, rms(x) / clipping_threshold)`;
    - `w <- w - alpha x` with `alpha = lr max(rms(w), 0.001)`, or lr without
      `multiply_by_parameter_scale`; with `beta_1` its running mean is subtracted.

    T2T stores an embedding table in shards, each a variable with means of its own. Here the table
    is one variable, so the means are taken over the rows that would be a shard. Their c's lie one
    after the other in one slot.

    Args:
        learning_rate: a number or a schedule.
        num_shards: of an embedding table.
        beta_1: decay of the momentum; 0 for none.
        beta_2: decay of second moments with decay type "adam".
        factored: see above.
        decay_type: "pow" or "adam".
        memory_exponent: see above.
        clipping_threshold: see above; None or 0 for no clipping.
        multiply_by_parameter_scale: see above.
    """

    slot_name = "Adafactor"

    def __init__(
        self,
        learning_rate: Any,
        num_shards: int = 1,
        beta_1: float = 0.0,
        beta_2: float = 0.999,
        factored: bool = True,
        decay_type: str = "pow",
        memory_exponent: float = 0.8,
        clipping_threshold: float | None = 1.0,
        multiply_by_parameter_scale: bool = True,
    ) -> None:
        if decay_type not in ("pow", "adam"):
            raise ValueError(
                "hparam optimizer_adafactor_decay_type must be pow or adam. "
                f"Received: {decay_type!r}"
            )
        super().__init__(learning_rate=learning_rate, name="adafactor")
        self.num_shards = num_shards
        self.beta_1, self.beta_2 = beta_1, beta_2
        self.factored = factored
        self.decay_type, self.memory_exponent = decay_type, memory_exponent
        self.clipping_threshold = clipping_threshold
        self.multiply_by_parameter_scale = multiply_by_parameter_scale

    def build(self, var_list: Sequence[Any]) -> None:
        """Makes the slots of all variables (called by Keras)."""
        if not self.built:
            self._num_shards_of = [self._num_shards(variable) for variable in var_list]
        super().build(var_list)

    def _num_shards(self, variable: Any) -> int:
        return self.num_shards if is_sharded_table(variable.path) else 1

    def _is_factored(self, variable: Any) -> bool:
        return self.factored and len(variable.shape) >= 2

    def make_slots(self, variable: Any) -> list[Slot]:
        """Momentum, if any, then second moments: of rows and columns, or of every entry."""
        shape = list(variable.shape)
        slots = [Slot(shape)] if self.beta_1 else []
        if not self._is_factored(variable):
            return [*slots, Slot(shape)]
        columns = shape[:-2] + shape[-1:]
        columns[0] *= self._num_shards(variable)
        return [*slots, Slot(shape[:-1]), Slot(columns)]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable (called by Keras for each)."""
        gradient = tf.cast(gradient, variable.dtype)
        learning_rate = tf.cast(learning_rate, variable.dtype)
        num_shards = self._num_shards_of[self._get_variable_index(variable)]
        sizes = shard_sizes(variable.shape[0], num_shards) if num_shards > 1 else None
        slots = self.slots_of(variable)
        moments = slots[1:] if self.beta_1 else slots
        # The parts that T2T has as variables of their own: each its value, gradient and moments.
        parts = zip(
            _split(tf.convert_to_tensor(variable), sizes),
            _split(gradient, sizes),
            *(self._split_moments(moment, sizes) for moment in moments),
            strict=True,
        )
        updates, new_moments = [], []
        for value, part_gradient, *part_moments in parts:
            if value.shape.num_elements() == 0:  # more shards than rows
                updates.append(value)
                new_moments.append(part_moments)
                continue
            update, after = self._update_of_part(value, part_gradient, part_moments, learning_rate)
            updates.append(update)
            new_moments.append(after)
        for moment, values in zip(moments, zip(*new_moments, strict=True), strict=True):
            moment.assign(tf.concat(values, axis=0))
        update = tf.concat(updates, axis=0)
        if self.beta_1:
            update = self.beta_1 * slots[0] + (1.0 - self.beta_1) * update
            slots[0].assign(update)
        variable.assign_sub(update)

    def _split_moments(self, moment: Any, sizes: list[int] | None) -> list[tf.Tensor]:
        value = tf.convert_to_tensor(moment)
        if sizes is None or moment.shape[0] == sum(sizes):
            return _split(value, sizes)
        return tf.split(value, len(sizes), axis=0)

    def _update_of_part(
        self, value: tf.Tensor, gradient: tf.Tensor, moments: list[tf.Tensor], learning_rate: Any
    ) -> tuple[tf.Tensor, list[tf.Tensor]]:
        """What to subtract from a variable, and its moments after this step."""
        decay = self._decay(gradient.dtype)
        square = tf.square(gradient) + _SQUARE_EPSILON
        if len(moments) == 2:
            rows = decay * moments[0] + (1.0 - decay) * tf.reduce_mean(square, axis=-1)
            columns = decay * moments[1] + (1.0 - decay) * tf.reduce_mean(square, axis=-2)
            row_factors = tf.math.rsqrt(rows / tf.reduce_mean(rows, axis=-1, keepdims=True))
            update = gradient * row_factors[..., None] * tf.math.rsqrt(columns)[..., None, :]
            after = [rows, columns]
        else:
            after = [decay * moments[0] + (1.0 - decay) * square]
            update = gradient * tf.math.rsqrt(after[0])
        if self.clipping_threshold:
            update /= tf.maximum(1.0, _root_mean_square(update) / self.clipping_threshold)
        if self.multiply_by_parameter_scale:
            learning_rate *= tf.maximum(_root_mean_square(value), _LEAST_SCALE)
        return learning_rate * update, after

    def _decay(self, dtype: Any) -> tf.Tensor:
        step = tf.cast(self.iterations.value, dtype)
        if self.decay_type == "pow":
            return 1.0 - tf.pow(step + 1.0, -self.memory_exponent)
        beta = tf.cast(self.beta_2, dtype)
        return beta * (1.0 - tf.pow(beta, step)) / (1.0 - tf.pow(beta, step + 1.0))


def _split(value: tf.Tensor, sizes: list[int] | None) -> list[tf.Tensor]:
    return [value] if sizes is None else tf.split(value, sizes, axis=0)


def _root_mean_square(value: tf.Tensor) -> tf.Tensor:
    return tf.sqrt(tf.reduce_mean(tf.square(value)))
