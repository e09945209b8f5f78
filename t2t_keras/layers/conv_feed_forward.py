"""A feed-forward sub-layer that sees the neighbours of a position."""

from typing import Any

import keras
from keras import ops

from t2t_keras.layers.attention import write_step
from t2t_keras.layers.dense import Dense
from t2t_keras.layers.dropout import Dropout
from t2t_keras.layers.feed_forward import FeedForward
from t2t_keras.layers.initializers import InitializerFactory, default_initializer
from t2t_keras.layers.sublayer import Processing


class _ConvReluConv(keras.layers.Layer):
    """The two convolutions, below a scope of their own.

    A kernel of k positions is k matrices `conv1_0` … `conv1_{k-1}` for the positions from left to
    right, but that T2T applies the first one to the middle (or, with "LEFT", last) position instead
    of the leftmost: which checkpoints depend on. The sum is divided by sqrt(k); its bias is that of
    the first matrix.
    """

    def __init__(
        self,
        size: int,
        filter_size: int,
        kernel_size: int,
        padding: str,
        dropout: Dropout,
        initializer: InitializerFactory,
    ) -> None:
        super().__init__(name="conv_relu_conv")
        if padding not in ("SAME", "LEFT"):
            raise ValueError(f"padding must be SAME or LEFT. Received: {padding!r}")
        if kernel_size < 1:
            raise ValueError(f"The kernel needs at least one position. Received: {kernel_size}")
        self.kernel_size = kernel_size
        left = kernel_size - 1 if padding == "LEFT" else (kernel_size - 1) // 2
        self.offsets = [0, *range(1 - left, kernel_size - left)]
        names = ["conv1"] if kernel_size == 1 else [f"conv1_{i}" for i in range(kernel_size)]
        self.conv1 = [
            Dense(size, filter_size, use_bias=not i, initializer=initializer, name=name)
            for i, name in enumerate(names)
        ]
        self.conv2 = Dense(filter_size, size, initializer=initializer, name="conv2")
        self.dropout = dropout

    def build(self, input_shape: Any = None) -> None:
        for layer in (*self.conv1, self.conv2):
            layer.build()

    def call(self, x: Any, real: Any = None, dropout_seed: Any = None) -> Any:
        """`x` `[batch, length, size]` -> the same shape."""
        length = ops.shape(x)[1]
        if real is not None and self.kernel_size > 1:
            x = x * ops.cast(real, x.dtype)
        left, right = -min(self.offsets), max(self.offsets)
        x = ops.pad(x, ((0, 0), (left, right), (0, 0)))
        windows = [x[:, left + offset : left + offset + length] for offset in self.offsets]
        return self.of_windows(windows, dropout_seed)

    def of_windows(self, windows: list[Any], dropout_seed: Any = None) -> Any:
        """Results from the inputs at each position of the kernel, `[…, size]` each."""
        hidden = sum(conv(window) for conv, window in zip(self.conv1, windows, strict=True))
        hidden = ops.relu(hidden * self.kernel_size**-0.5)
        return self.conv2(self.dropout(hidden, dropout_seed=dropout_seed))


class ConvReluConv(FeedForward):
    """Convolution over positions, ReLU, dropout, and a dense layer (T2T's `conv_relu_conv`).

    In an encoder, padding is zeroed before the convolution. In a decoder it isn't, as no real
    position sees it.

    Args:
      processing: width of the model, what happens before and after.
      filter_size: number of hidden values.
      kernel_size: number of positions that a hidden value sees.
      padding: "SAME", the position in the middle, or "LEFT", only earlier ones and itself.
      relu_dropout: dropout rate of the hidden values.
      relu_dropout_broadcast_dims: axes that share one decision.
      initializer: makes the kernels' initialisers.
      name: scope of the variables.

    Raises:
      ValueError: another padding, or an empty kernel.
    """

    sees_neighbours = True

    def __init__(
        self,
        processing: Processing,
        filter_size: int,
        kernel_size: int,
        padding: str,
        *,
        relu_dropout: float = 0.0,
        relu_dropout_broadcast_dims: tuple[int, ...] = (),
        initializer: InitializerFactory = default_initializer,
        name: str = "ffn",
    ) -> None:
        super().__init__(processing, name)
        self.size = processing.size
        dropout = Dropout(relu_dropout, next(processing.sites), relu_dropout_broadcast_dims)
        self.convolutions = _ConvReluConv(
            processing.size, filter_size, kernel_size, padding, dropout, initializer
        )

    def build_transform(self) -> None:
        """Creates the kernels and biases."""
        self.convolutions.build()

    def transform(self, x: Any, *args: Any, dropout_seed: Any = None) -> Any:
        """See the base class."""
        return self.convolutions(x, *args, dropout_seed=dropout_seed)

    def init_cache(self, batch_size: Any, beam_size: Any, max_length: Any) -> dict[str, Any]:
        """`f` `[batch, beam, 1, max_length, size]`: what went into the convolution."""
        shape = (batch_size, beam_size, 1, max_length, self.size)
        return {"f": ops.zeros(shape, self.compute_dtype)}

    def memory_of(self, x: Any) -> dict[str, Any]:
        """See the base class."""
        return {"f": self.preprocess(x)[:, None]}

    def step(self, x: Any, step: Any, cache: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """See the base class; padding must be "LEFT"."""
        prepared = self.preprocess(x)  # [batch, beam, size]
        history = write_step(cache["f"], prepared[:, :, None, None], step)
        offsets = self.convolutions.offsets
        positions = step + ops.convert_to_tensor(offsets, dtype="int32")
        rows = ops.take(history[:, :, 0], ops.maximum(positions, 0), axis=2)
        exists = ops.cast(ops.greater_equal(positions, 0), rows.dtype)
        rows = rows * exists[:, None]  # [batch, beam, kernel_size, size]
        output = self.convolutions.of_windows([rows[:, :, i] for i in range(len(offsets))])
        return self.postprocess(output, residual=x), {"f": history}
