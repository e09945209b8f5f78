"""What computes tensor2tensor's recorded attentions and biases here."""

from typing import Any

import numpy as np

from t2t_keras.layers import attention, masks, padding
from t2t_keras.layers.attention_recording import record_attention
from t2t_keras.layers.convolutional_attention import ConvolutionalMultiHeadAttention
from t2t_keras.layers.dot_product import DotProductAttention
from t2t_keras.layers.relative_attention import (
    RelativeAttention,
    RelativeAttentionV2,
    UnmaskedRelativeAttentionV2,
    relative_positions,
)
from tests.layers.golden_case import Case, handles


@handles("attention_bias_ignore_padding")
def ignore_padding(case: Case) -> dict[str, Any]:
    return {"out": masks.padding_bias(1 - case.inputs["memory_padding"])}


@handles("attention_bias_lower_triangle")
def lower_triangle(case: Case) -> dict[str, Any]:
    return {"out": masks.causal_bias(case.meta["length"])}


@handles("attention_bias_proximal")
def proximal(case: Case) -> dict[str, Any]:
    return {"out": masks.proximity_bias(case.meta["length"])}


@handles("attention_bias_same_segment", "attention_bias_same_segment_float")
def same_segment(case: Case) -> dict[str, Any]:
    return {"out": masks.same_segment_bias(case.inputs["q"], case.inputs["k"])}


@handles("split_heads")
def split_heads(case: Case) -> dict[str, Any]:
    return {"out": attention.split_heads(case.inputs["x"], case.meta["num_heads"])}


@handles("combine_heads")
def combine_heads(case: Case) -> dict[str, Any]:
    return {"out": attention.combine_heads(case.inputs["x"])}


@handles(
    "dot_product_attention", "dot_product_attention_all_masked", "dot_product_attention_nobias"
)
def plain_attention(case: Case) -> dict[str, Any]:
    q, k, v, bias = (case.inputs.get(name) for name in ("q", "k", "v", "bias"))
    result = DotProductAttention()(q, k, v, bias)
    return {"out": result.output, "weights": result.weights, "logits": result.logits}


KINDS = {
    "dot_product_relative": lambda depth, heads, meta: RelativeAttention(
        depth, meta["max_relative_position"]
    ),
    "dot_product_relative_v2": lambda depth, heads, meta: RelativeAttentionV2(
        heads,
        depth,
        meta["max_relative_position"],
        heads_share_embeddings=meta.get("heads_share_relative_embedding", False),
        add_to_values=meta.get("add_relative_to_values", False),
    ),
    "dot_product_unmasked_relative_v2": lambda depth, heads, meta: UnmaskedRelativeAttentionV2(
        heads, depth, meta["max_relative_position"]
    ),
}


@handles("dot_product_attention_relative", *KINDS)
def relative_attention(case: Case) -> dict[str, Any]:
    kind = case.name.split("/")[0].replace("attention_", "")
    q, k, v, bias = (case.inputs.get(name) for name in ("q", "k", "v", "bias"))
    layer = case.fill(KINDS[kind](q.shape[-1], q.shape[1], case.meta))
    result = layer(q, k, v, bias)
    return {"out": result.output, "weights": result.weights, "logits": result.logits}


HAS_FILTERS = {
    "q_filter_width": "query_width",
    "kv_filter_width": "memory_width",
    "q_padding": "query_padding",
    "kv_padding": "memory_padding",
}


@handles("multihead_attention")
def multihead_attention(case: Case) -> dict[str, Any]:
    meta, query = case.meta, case.inputs["query"]
    inner, heads = None, meta["num_heads"]
    if "attention_type" in meta:
        depth = meta["total_key_depth"] // heads
        inner = KINDS[meta["attention_type"]](depth, heads, meta)
    kind: Any = attention.MultiHeadAttention
    filters = {HAS_FILTERS[name]: value for name, value in meta.items() if name in HAS_FILTERS}
    if filters:
        kind = ConvolutionalMultiHeadAttention
    elif meta.get("vars_3d", False):
        kind = attention.MultiHeadAttention3D
    layer = kind(
        query.shape[-1],
        heads,
        key_depth=meta["total_key_depth"],
        value_depth=meta["total_value_depth"],
        output_size=meta["output_depth"],
        inner=inner,
        **filters,
    )
    case.fill(layer)
    with record_attention() as recorded:
        output = layer(query, case.inputs.get("memory"), case.inputs.get("bias"))
    (weights, logits) = recorded.values()
    return {"out": output, "weights": weights, "logits": logits}


@handles("relative_positions_matrix")
def relative_positions_matrix(case: Case) -> dict[str, Any]:
    limit = case.meta["max_relative_position"]
    five = np.arange(5)

    def matrix(queries: Any) -> Any:
        return relative_positions(queries, five, limit)

    return {"plain": matrix(five), "q3_k5": matrix(five[2:]), "cache": matrix(five[4:])}


@handles("attention_bias_prepend_inputs_full_attention")
def prepended_inputs(case: Case) -> dict[str, Any]:
    return {"out": masks.prepended_inputs_bias(1 - case.inputs["p"])}


@handles("attention_bias_local")
def local_bias(case: Case) -> dict[str, Any]:
    return {"out": masks.local_bias(**case.meta)}


@handles("attention_bias_to_padding")
def bias_to_padding(case: Case) -> dict[str, Any]:
    bias = masks.padding_bias(1 - padding.embedding_to_padding(case.inputs["e"]))
    return {"out": padding.bias_to_padding(bias)}
