"""The feed-forward sub-layers by T2T's `ffn_layer` names."""

from typing import Any

from t2t_keras.layers.conv_feed_forward import ConvReluConv
from t2t_keras.layers.dropout import parse_broadcast_dims
from t2t_keras.layers.feed_forward import DenseReluDense, FeedForward
from t2t_keras.layers.initializers import initializer_factory
from t2t_keras.layers.parameter_attention import ParameterAttention
from t2t_keras.layers.separable_convolution import SeparableReluSeparable
from t2t_keras.layers.sublayer import Processing

NAMES = (
    "dense_relu_dense",
    "conv_hidden_relu",
    "conv_relu_conv",
    "conv_hidden_relu_with_sepconv",
    "parameter_attention",
    "none",
)
# In an encoder, real positions see padding through these, unless it is zeroed.
SEE_PADDING = ("conv_relu_conv",)


def make_feed_forward(hparams: Any, processing: Processing, padding: str) -> FeedForward:
    """The kind that `hparams.ffn_layer` names.

    Args:
      hparams: the model's hyperparameters.
      processing: width of the model, what happens before and after.
      padding: "SAME" in an encoder, "LEFT" where later positions must not be seen.

    Raises:
      ValueError: unknown name, or hyperparameters that don't fit the kind.
    """
    kind = hparams.ffn_layer
    if kind not in NAMES:
        raise ValueError(f"ffn_layer must be one of {', '.join(NAMES)}. Received: {kind!r}")
    if kind == "none":
        return FeedForward(processing)
    options: dict[str, Any] = {
        "initializer": initializer_factory(hparams.initializer, hparams.initializer_gain)
    }
    if kind == "parameter_attention":
        return ParameterAttention(
            processing,
            hparams.filter_size,
            hparams.num_heads,
            key_depth=getattr(hparams, "parameter_attention_key_channels", 0),
            value_depth=getattr(hparams, "parameter_attention_value_channels", 0),
            dropout=hparams.attention_dropout,
            dropout_broadcast_dims=parse_broadcast_dims(hparams.attention_dropout_broadcast_dims),
            **options,
        )
    options["relu_dropout"] = hparams.relu_dropout
    options["relu_dropout_broadcast_dims"] = parse_broadcast_dims(
        hparams.relu_dropout_broadcast_dims
    )
    if kind == "conv_relu_conv":
        kernel_size = hparams.conv_first_kernel
        return ConvReluConv(processing, hparams.filter_size, kernel_size, padding, **options)
    if kind == "conv_hidden_relu_with_sepconv":
        return SeparableReluSeparable(processing, hparams.filter_size, **options)
    return DenseReluDense(processing, hparams.filter_size, **options)
