"""A feed-forward sub-layer of two separable convolutions over the positions so far."""

from typing import Any

from keras import ops

from t2t_keras.layers.attention import write_step
from t2t_keras.layers.convolution import SeparableConvolution
from t2t_keras.layers.feed_forward import DenseReluDense

# T2T's constants: positions of the two kernels.
FIRST_WIDTH, SECOND_WIDTH = 3, 31


class SeparableReluSeparable(DenseReluDense):
    """Separable convolution, ReLU, dropout, and another one: T2T's `conv_hidden_relu_with_sepconv`.

    The kernels see earlier positions only, 3 and 31 of them with the own one, also in an encoder,
    as in T2T. Padding comes last, so no real position sees it.

    Arguments as the base class'. The variables are T2T's, below `conv1_single` and `conv2_single`.
    """

    def make_layers(self) -> None:
        """See the base class."""

        def convolution(input_size: int, units: int, width: int, name: str) -> SeparableConvolution:
            return SeparableConvolution(
                input_size, units, width, "LEFT", initializer=self.initializer, name=name
            )

        self.conv1 = convolution(self.size, self.filter_size, FIRST_WIDTH, "conv1_single")
        self.conv2 = convolution(self.filter_size, self.size, SECOND_WIDTH, "conv2_single")

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
        new = ops.relu(self.conv1.step(inputs, step))  # [batch, beam, filter_size]
        hidden = write_step(cache["h"], new[:, :, None, None], step)
        output = self.conv2.step(hidden, step)
        return self.postprocess(output, residual=x), {"f": inputs, "h": hidden}
