"""The inner parts of self-attention by T2T's `self_attention_type` names."""

from typing import Any

from t2t_keras.layers.dot_product import DotProductAttention
from t2t_keras.layers.dropout import parse_broadcast_dims
from t2t_keras.layers.initializers import initializer_factory
from t2t_keras.layers.local_attention import (
    DEFAULT_BLOCK_LENGTH,
    NEIGHBOURHOODS,
    LocalAttention,
)
from t2t_keras.layers.local_relative_attention import LocalRelativeAttention
from t2t_keras.layers.relative_attention import (
    RelativeAttention,
    RelativeAttentionV2,
    UnmaskedRelativeAttentionV2,
)

_RELATIVE_V2 = {
    "dot_product_relative_v2": RelativeAttentionV2,
    "dot_product_unmasked_relative_v2": UnmaskedRelativeAttentionV2,
}
# In a decoder, T2T lets these see later positions, which makes training meaningless: there, their
# causal counterpart is taken.
_CAUSAL_COUNTERPARTS = {
    "local_unmasked": "local_mask_right",
    "unmasked_dilated_1d": "masked_dilated_1d",
}
NAMES = ("dot_product", "dot_product_relative", *_RELATIVE_V2, *NEIGHBOURHOODS)


def is_local(hparams: Any) -> bool:
    """Whether self-attention is within a neighbourhood and takes no bias that has queries."""
    return hparams.self_attention_type in NEIGHBOURHOODS


def block_length_of(hparams: Any) -> int:
    """The block length of local attention: 128, as in T2T, unless the hparams declare another."""
    return int(getattr(hparams, "local_attention_block_length", DEFAULT_BLOCK_LENGTH))


def make_dot_product(hparams: Any, site: int) -> DotProductAttention:
    """The plain kind, which attention to the encoder always has."""
    return DotProductAttention(**_options(hparams, site))


def _options(hparams: Any, site: int) -> dict[str, Any]:
    """What all kinds take but the local ones without distances."""
    return {
        "dropout": hparams.attention_dropout,
        "dropout_broadcast_dims": parse_broadcast_dims(hparams.attention_dropout_broadcast_dims),
        "site": site,
        "hard_k": getattr(hparams, "hard_attention_k", 0),
        "gumbel_noise_weight": getattr(hparams, "gumbel_noise_weight", 0.0),
    }


def make_self_attention(hparams: Any, site: int, causal: bool = False) -> DotProductAttention:
    """The kind that `hparams.self_attention_type` names.

    Args:
      hparams: the model's hyperparameters.
      site: dropout site number.
      causal: whether later positions must be hidden. A bias hides them from all kinds but the
        local ones, which see to it themselves.

    Raises:
      ValueError: unknown name, or hyperparameters that don't fit the kind.
    """
    kind = hparams.self_attention_type
    if kind == "dot_product":
        return make_dot_product(hparams, site)
    if kind not in NAMES:
        raise ValueError(
            f"self_attention_type must be one of {', '.join(NAMES)}. Received: {kind!r}"
        )
    if kind in NEIGHBOURHOODS and kind != "local_relative_mask_right":
        neighbourhood = NEIGHBOURHOODS[_CAUSAL_COUNTERPARTS.get(kind, kind) if causal else kind]
        return LocalAttention(neighbourhood, block_length_of(hparams))
    depth, options = _depth_of_head(hparams), _options(hparams, site)
    if kind == "dot_product_relative":
        options["initializer"] = initializer_factory(hparams.initializer, hparams.initializer_gain)
        # T2T draws these weights' dropout without broadcast dims.
        del options["dropout_broadcast_dims"]
        return RelativeAttention(depth, hparams.max_relative_position, **options)
    options["heads_share_embeddings"] = getattr(hparams, "heads_share_relative_embedding", False)
    options["add_to_values"] = getattr(hparams, "add_relative_to_values", False)
    if kind == "local_relative_mask_right":
        return LocalRelativeAttention(hparams.num_heads, depth, block_length_of(hparams), **options)
    return _RELATIVE_V2[kind](hparams.num_heads, depth, hparams.max_relative_position, **options)


def _depth_of_head(hparams: Any) -> int:
    key_depth = hparams.attention_key_channels or hparams.hidden_size
    value_depth = hparams.attention_value_channels or hparams.hidden_size
    if key_depth != value_depth:
        raise ValueError(
            f"self_attention_type={hparams.self_attention_type} needs keys and values of one "
            f"depth. Received: attention_key_channels {key_depth}, attention_value_channels "
            f"{value_depth}"
        )
    return int(key_depth) // int(hparams.num_heads)
