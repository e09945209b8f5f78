"""Position-wise feed-forward sub-layers."""

from typing import Any

from keras import ops

from t2t_keras.layers.dense import Dense
from t2t_keras.layers.dropout import Dropout
from t2t_keras.layers.initializers import InitializerFactory, default_initializer
from t2t_keras.layers.sublayer import Processing, SubLayer


class FeedForward(SubLayer):
    """Base of the position-wise sub-layers. As it stands, the sub-layer is the identity.

    Args:
      processing: width of the model, what happens before and after.
      name: scope of the variables.
    """

    def __init__(self, processing: Processing, name: str = "ffn") -> None:
        super().__init__(processing, name)

    def build_transform(self) -> None:
        """Creates nothing."""

    def transform(self, x: Any, real: Any = None, dropout_seed: Any = None) -> Any:
        """`x` `[batch, length, size]` -> the same shape.

        Args:
          x: the input.
          real: `[batch, length, 1]`, 1 at real positions, 0 at padding; None where padding needs no
            care.
          dropout_seed: int32 `[2]`, None for no dropout.
        """
        return x

    def init_cache(self, batch_size: Any, beam_size: Any, max_length: Any) -> dict[str, Any]:
        """What `step` keeps of earlier positions, `[batch, beam, 1, max_length, …]`: nothing."""
        return {}

    def memory_of(self, x: Any) -> dict[str, Any]:
        """What `step` would have kept of `x` `[batch, length, size]`: `[batch, 1, length, …]`."""
        return {}

    def step(self, x: Any, step: Any, cache: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """One new position of every hypothesis: `x` `[batch, beam, size]` -> output, cache."""
        return self(x), {}


class DenseReluDense(FeedForward):
    """max(0, x·W1 + b1)·W2 + b2, with dropout on the hidden values.

    Section 3.3 of "Attention Is All You Need". The variables are T2T's `conv1` and `conv2`.

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
        self.initializer = initializer
        self.make_layers()
        self.dropout = Dropout(relu_dropout, next(processing.sites), relu_dropout_broadcast_dims)

    def make_layers(self) -> None:
        """Makes the layers to and from the hidden values."""
        self.conv1: Any = Dense(
            self.size, self.filter_size, initializer=self.initializer, name="conv1"
        )
        self.conv2: Any = Dense(
            self.filter_size, self.size, initializer=self.initializer, name="conv2"
        )

    def build_transform(self) -> None:
        """Creates the kernels and biases."""
        self.conv1.build()
        self.conv2.build()

    def transform(self, x: Any, real: Any = None, dropout_seed: Any = None) -> Any:
        """See the base class; results at padding are zeros if `real` is given.

        T2T's pad remover runs this layer on real positions only and leaves zeros at padding: the
        factor does the same.
        """
        output = self.output_of(self.conv1(x), dropout_seed)
        return output if real is None else output * ops.cast(real, output.dtype)

    def output_of(self, hidden: Any, dropout_seed: Any = None) -> Any:
        """What the hidden values `[…, filter_size]`, before ReLU, lead to: `[…, size]`."""
        return self.conv2(self.dropout(ops.relu(hidden), dropout_seed=dropout_seed))
