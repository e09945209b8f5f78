"""A feed-forward sub-layer of two separable convolutions over the positions so far."""

from typing import Any

import keras
from keras import ops

from t2t_keras.layers.attention import write_step
from t2t_keras.layers.convolution import SeparableConvolution
from t2t_keras.layers.dropout import Dropout
from t2t_keras.layers.feed_forward import FeedForward
from t2t_keras.layers.initializers import InitializerFactory, default_initializer
from t2t_keras.layers.sublayer import Processing

# T2T's constants: positions of the two kernels.
FIRST_WIDTH, SECOND_WIDTH = 3, 31


def last_rows(history: Any, step: Any, width: int) -> Any:
    """The `width` positions up to `step` of a cache, zeros before the first.

    Args:
      history: `[batch, beam, 1, max_length, depth]`.
      step: int scalar.
      width: number of positions.

    Returns:
      `[batch, beam, width, depth]`.
    """
    positions = ops.arange(1 - width, 1, dtype="int32") + step
    rows = ops.take(history[:, :, 0], ops.maximum(positions, 0), axis=2)
    exists = ops.cast(ops.greater_equal(positions, 0), rows.dtype)
    return rows * exists[:, None]


class SeparableReluSeparable(FeedForward):
    """Separable convolution, ReLU, dropout, and another one: T2T's `conv_hidden_relu_with_sepconv`.

    The kernels see earlier positions only, 3 and 31 of them, also in an encoder, as in T2T.

    Args:
      processing: width of the model, what happens before and after.
      filter_size: number of hidden values.
      relu_dropout: dropout rate of the hidden values.
      relu_dropout_broadcast_dims: axes that share one decision.
      initializer: makes the kernels' initialisers.
      name: scope of the variables.
    """

    def __init__(
        self,
        processing: Processing,
        filter_size: int,
        *,
        relu_dropout: float = 0.0,
        relu_dropout_broadcast_dims: tuple[int, ...] = (),
        initializer: InitializerFactory = default_initializer,
        name: str = "ffn",
    ) -> None:
        super().__init__(processing, name)
        self.size, self.filter_size = processing.size, filter_size

        def convolution(input_size: int, units: int, width: int, name: str) -> keras.layers.Layer:
            return SeparableConvolution(
                input_size, units, width, "LEFT", initializer=initializer, name=name
            )

        self.conv1 = convolution(self.size, filter_size, FIRST_WIDTH, "conv1_single")
        self.conv2 = convolution(filter_size, self.size, SECOND_WIDTH, "conv2_single")
        self.dropout = Dropout(relu_dropout, next(processing.sites), relu_dropout_broadcast_dims)

    def build_transform(self) -> None:
        """Creates the kernels and biases."""
        self.conv1.build()
        self.conv2.build()

    def transform(self, x: Any, *args: Any, dropout_seed: Any = None) -> Any:
        """`x` `[batch, length, size]` -> the same shape.

        Padding comes last, so no real position sees it; an arg (see the base class) zeroes results
        at padding.
        """
        hidden = ops.relu(self.conv1(x))
        output = self.conv2(self.dropout(hidden, dropout_seed=dropout_seed))
        for factor in args:
            output = output * ops.cast(factor, output.dtype)
        return output

    def init_cache(self, batch_size: Any, beam_size: Any, max_length: Any) -> dict[str, Any]:
        """`f` and `h` `[batch, beam, 1, max_length, …]`: what went into the two convolutions."""
        leading = (batch_size, beam_size, 1, max_length)
        return {
            "f": ops.zeros((*leading, self.size), self.compute_dtype),
            "h": ops.zeros((*leading, self.filter_size), self.compute_dtype),
        }

    def memory_of(self, x: Any) -> dict[str, Any]:
        """See the base class."""
        prepared = self.preprocess(x)
        return {"f": prepared[:, None], "h": ops.relu(self.conv1(prepared))[:, None]}

    def step(self, x: Any, step: Any, cache: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """See the base class."""
        inputs = write_step(cache["f"], self.preprocess(x)[:, :, None, None], step)
        new = ops.relu(self.conv1.of_window(last_rows(inputs, step, FIRST_WIDTH)))
        hidden = write_step(cache["h"], new[:, :, None, None], step)
        output = self.conv2.of_window(last_rows(hidden, step, SECOND_WIDTH))
        return self.postprocess(output, residual=x), {"f": inputs, "h": hidden}
