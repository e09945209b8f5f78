"""A feed-forward sub-layer that sees the neighbours of a position."""

from typing import Any

import keras
from keras import ops

from t2t_keras.layers.attention import write_step
from t2t_keras.layers.convolution import pad_positions, positions_before, rows_at
from t2t_keras.layers.dense import Dense
from t2t_keras.layers.feed_forward import DenseReluDense
from t2t_keras.layers.sublayer import Processing


class ConvReluConv(DenseReluDense):
    """Convolution over positions, ReLU, dropout, and a dense layer (T2T's `conv_relu_conv`).

    A kernel of k positions is k matrices `conv1_0` … `conv1_{k-1}` for the positions from left to
    right, but that T2T applies the first one to the middle (or, with "LEFT", last) position instead
    of the leftmost: which checkpoints depend on. The sum is divided by sqrt(k); its bias is that of
    the first matrix. Variables are below a scope `conv_relu_conv`.

    In an encoder, padding is zeroed before the convolution. In a decoder it isn't, as no real
    position sees it.

    Args:
      processing: width of the model, what happens before and after.
      filter_size: number of hidden values.
      kernel_size: number of positions that a hidden value sees.
      padding: "SAME", the position in the middle, or "LEFT", only earlier ones and itself.
      options: see the base class.

    Raises:
      ValueError: another padding, or an empty kernel.
    """

    def __init__(
        self,
        processing: Processing,
        filter_size: int,
        kernel_size: int,
        padding: str,
        **options: Any,
    ) -> None:
        self.kernel_size = kernel_size
        self.before = positions_before(kernel_size, padding)
        # Where each matrix looks, relative to the position of the result.
        self.offsets = [0, *range(1 - self.before, kernel_size - self.before)]
        super().__init__(processing, filter_size, **options)

    def make_layers(self) -> None:
        """See the base class; the first layer is one for each position of the kernel."""
        options: dict[str, Any] = {"initializer": self.initializer}
        count = self.kernel_size
        names = ["conv1"] if count == 1 else [f"conv1_{i}" for i in range(count)]
        self.conv1 = [
            Dense(self.size, self.filter_size, use_bias=not i, name=name, **options)
            for i, name in enumerate(names)
        ]
        self.conv2 = Dense(self.filter_size, self.size, name="conv2", **options)

    def build_transform(self) -> None:
        """Creates the kernels and biases."""
        with keras.name_scope("conv_relu_conv"):
            for layer in (*self.conv1, self.conv2):
                layer.build()

    def transform(self, x: Any, real: Any = None, dropout_seed: Any = None) -> Any:
        """See `FeedForward`."""
        length = ops.shape(x)[1]
        if real is not None and self.kernel_size > 1:
            x = x * ops.cast(real, x.dtype)
        x = pad_positions(x, self.kernel_size, self.before)
        starts = [self.before + offset for offset in self.offsets]
        return self._of_windows([x[:, i : i + length] for i in starts], dropout_seed)

    def _of_windows(self, windows: list[Any], dropout_seed: Any = None) -> Any:
        """Results from the inputs at each position of the kernel, `[…, size]` each."""
        hidden = sum(conv(window) for conv, window in zip(self.conv1, windows, strict=True))
        return self.output_of(hidden * self.kernel_size**-0.5, dropout_seed)

    def init_cache(self, batch_size: Any, beam_size: Any, max_length: Any) -> dict[str, Any]:
        """`f` `[batch, beam, 1, max_length, size]`: what went into the convolution."""
        shape = (batch_size, beam_size, 1, max_length, self.size)
        return {"f": ops.zeros(shape, self.compute_dtype)}

    def memory_of(self, x: Any) -> dict[str, Any]:
        """See `FeedForward`."""
        return {"f": self.preprocess(x)[:, None]}

    def step(self, x: Any, step: Any, cache: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """See `FeedForward`; padding must be "LEFT"."""
        prepared = self.preprocess(x)  # [batch, beam, size]
        history = write_step(cache["f"], prepared[:, :, None, None], step)
        positions = step + ops.convert_to_tensor(self.offsets, dtype="int32")
        rows = rows_at(history, positions)  # [batch, beam, kernel_size, size]
        output = self._of_windows([rows[:, :, i] for i in range(self.kernel_size)])
        return self.postprocess(output, residual=x), {"f": history}
