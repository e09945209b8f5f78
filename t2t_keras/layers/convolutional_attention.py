"""Multi-head attention whose queries, keys and values see their neighbours."""

from typing import Any

from t2t_keras.layers.attention import MultiHeadAttention
from t2t_keras.layers.convolution import Convolution
from t2t_keras.layers.dense import Dense


class ConvolutionalMultiHeadAttention(MultiHeadAttention):
    """Multi-head attention with convolutions in the place of the projections to q, k and v.

    T2T's arguments `q_filter_width`, `kv_filter_width`, `q_padding` and `kv_padding`. No hparam of
    the Transformer sets them: the layer is for derived models, in training and evaluation; there is
    no attention step by step.

    Args:
      size: see `MultiHeadAttention`.
      num_heads: see `MultiHeadAttention`.
      query_width: positions that a query sees; 1 is the plain projection.
      memory_width: positions that a key and a value see; 1 is the plain projection.
      query_padding: "LEFT", a query sees earlier positions, or "SAME", those of either side.
      memory_padding: the same of keys and values. Under a causal bias it must be "LEFT".
      options: see `MultiHeadAttention`.
    """

    def __init__(
        self,
        size: int,
        num_heads: int,
        *,
        query_width: int = 1,
        memory_width: int = 1,
        query_padding: str = "LEFT",
        memory_padding: str = "LEFT",
        **options: Any,
    ) -> None:
        self._filters = {
            "q": (query_width, query_padding),
            "k": (memory_width, memory_padding),
            "v": (memory_width, memory_padding),
        }
        super().__init__(size, num_heads, **options)

    def make_projections(self) -> None:
        """Makes the convolutions, `q_single`, `k_single`, `v_single`, and the output's layer."""
        super().make_projections()

        def projection(name: str, units: int) -> Dense | Convolution:
            width, padding = self._filters[name]
            options: dict[str, Any] = {"initializer": self.initializer}
            if width == 1:
                return Dense(self.size, units, use_bias=False, name=name, **options)
            return Convolution(self.size, units, width, padding, name=f"{name}_single", **options)

        self.q = projection("q", self.num_heads * self.key_depth_per_head)
        self.k = projection("k", self.num_heads * self.key_depth_per_head)
        self.v = projection("v", self.num_heads * self.value_depth_per_head)

    def init_cache(self, batch_size: Any, beam_size: Any, max_length: Any) -> Any:
        """Not available: raises `TypeError`."""
        raise TypeError("Attention with filters over positions can't be computed step by step.")
