"""Single functions and layers against tensor2tensor's recorded results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.layers import attention, masks, positions
from t2t_keras.layers.attention_recording import record_attention
from t2t_keras.layers.conv_feed_forward import ConvReluConv
from t2t_keras.layers.dense import Dense
from t2t_keras.layers.dot_product import dot_product_attention
from t2t_keras.layers.embedding import SymbolModality
from t2t_keras.layers.feed_forward import DenseReluDense
from t2t_keras.layers.normalization import make_norm
from t2t_keras.layers.relative_attention import (
    RelativeAttention,
    RelativeAttentionV2,
    UnmaskedRelativeAttentionV2,
    relative_positions,
)
from t2t_keras.layers.sublayer import Processing
from t2t_keras.models.t2t_names import join_shards
from t2t_keras.models.transformer_body import TransformerBody
from t2t_keras.models.transformer_stacks import shift_right
from t2t_keras.training import losses
from tests.reference_data import golden_path, load_golden_json

pytestmark = pytest.mark.reference


class Case:
    def __init__(self, name: str) -> None:
        self.name = name
        self.meta: dict[str, Any] = load_golden_json("layers.json.gz")["cases"][name]["meta"]
        archive = np.load(golden_path("layers.npz"))
        self.inputs, self.variables, self.outputs = (
            {
                key.split("|", 2)[2]: archive[key]
                for key in archive.files
                if key.startswith(f"{name}|{kind}|")
            }
            for kind in ("in", "var", "out")
        )

    def fill(self, layer: Any) -> Any:
        """Builds the layer and sets its variables, matched by the last two parts of the names."""
        layer.build()
        variables = {name.rsplit("/", 2)[-2:][-1]: v for name, v in self.variables.items()}
        variables |= {"/".join(name.split("/")[-2:]): v for name, v in self.variables.items()}
        assert len(layer.weights) == len(self.variables)
        for variable in layer.weights:
            variable.assign(variables["/".join(variable.path.split("/")[-2:])])
        return layer


HANDLERS: dict[str, Callable[[Case], dict[str, Any]]] = {}


def handles(*prefixes: str) -> Any:
    def register(function: Any) -> Any:
        for prefix in prefixes:
            HANDLERS[prefix] = function
        return function

    return register


@handles("timing_signal_1d")
def timing_signal(case: Case) -> dict[str, Any]:
    return {"out": positions.timing_signal(**case.meta)}


@handles("add_timing_signal_1d")
def add_timing_signal(case: Case) -> dict[str, Any]:
    x = case.inputs["x"]
    return {"out": x + positions.timing_signal(x.shape[1], x.shape[2])}


@handles("timing_signal_given_position", "timing_signal_given_position_odd")
def timing_signal_given_position(case: Case) -> dict[str, Any]:
    x = case.inputs["x"]
    return {"out": x + positions.timing_signal_at(case.inputs["position"], x.shape[-1])}


@handles("add_positional_embedding", "add_positional_embedding_too_long")
def add_positional_embedding(case: Case) -> dict[str, Any]:
    x = case.inputs["x"]
    (table,) = case.variables.values()
    return {"out": x + positions.learned_signal(table, x.shape[1])}


@handles("add_positional_embedding_positions")
def add_positional_embedding_at(case: Case) -> dict[str, Any]:
    (table,) = case.variables.values()
    return {"out": case.inputs["x"] + positions.learned_signal_at(table, case.inputs["p"])}


@handles("apply_norm", "layer_norm", "layer_norm_eps", "l2_norm", "noam_norm")
def norm(case: Case) -> dict[str, Any]:
    kinds = {"layer_norm": "layer", "layer_norm_eps": "layer", "l2_norm": "l2", "noam_norm": "noam"}
    kind = case.meta.get("norm_type") or kinds[case.name]
    layer = make_norm(kind, case.inputs["x"].shape[-1], case.meta.get("epsilon", 1e-6))
    return {"out": case.inputs["x"] if layer is None else case.fill(layer)(case.inputs["x"])}


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


@handles("dense")
def dense(case: Case) -> dict[str, Any]:
    layer = Dense(case.inputs["x"].shape[-1], case.meta["units"], name="d")
    return {"out": case.fill(layer)(case.inputs["x"])}


@handles("dense_relu_dense")
def dense_relu_dense(case: Case) -> dict[str, Any]:
    layer = DenseReluDense(Processing(case.meta["output_size"]), case.meta["filter_size"])
    return {"out": case.fill(layer)(case.inputs["x"])}


@handles(
    "dot_product_attention", "dot_product_attention_all_masked", "dot_product_attention_nobias"
)
def plain_attention(case: Case) -> dict[str, Any]:
    q, k, v, bias = (case.inputs.get(name) for name in ("q", "k", "v", "bias"))
    result = dot_product_attention(q, k, v, bias)
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


@handles("multihead_attention")
def multihead_attention(case: Case) -> dict[str, Any]:
    meta, query = case.meta, case.inputs["query"]
    known = {
        "dropout",
        "num_heads",
        "output_depth",
        "total_key_depth",
        "total_value_depth",
        "vars_3d",
        "attention_type",
        "max_relative_position",
        "heads_share_relative_embedding",
    }
    if set(meta) - known:
        pytest.skip(f"not implemented: {sorted(set(meta) - known)}")
    inner, heads = None, meta["num_heads"]
    if "attention_type" in meta:
        depth = meta["total_key_depth"] // heads
        inner = KINDS[meta["attention_type"]](depth, heads, meta)
    three_axes = meta.get("vars_3d", False)
    kind = attention.MultiHeadAttention3D if three_axes else attention.MultiHeadAttention
    layer = kind(
        query.shape[-1],
        heads,
        key_depth=meta["total_key_depth"],
        value_depth=meta["total_value_depth"],
        output_size=meta["output_depth"],
        inner=inner,
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


@handles("conv_relu_conv_left")
def conv_relu_conv(case: Case) -> dict[str, Any]:
    meta = case.meta
    layer = ConvReluConv(
        Processing(meta["output_size"]),
        meta["filter_size"],
        meta["first_kernel_size"],
        meta["padding"],
    )
    return {"out": case.fill(layer)(case.inputs["x"])}


@handles("attention_bias_prepend_inputs_full_attention")
def prepended_inputs(case: Case) -> dict[str, Any]:
    return {"out": masks.prepended_inputs_bias(1 - case.inputs["p"])}


@handles("attention_bias_local")
def local_bias(case: Case) -> dict[str, Any]:
    return {"out": masks.local_bias(**case.meta)}


@handles("smoothing_cross_entropy")
def smoothing_cross_entropy(case: Case) -> dict[str, Any]:
    logits, labels = case.inputs["logits"], case.inputs["labels"]
    smoothing = 1.0 - case.meta["confidence"]
    return {"out": losses.label_smoothed_cross_entropy(logits, labels, smoothing)}


def weights_function(name: str, labels: Any) -> Any:
    if name == "weights_all":
        return tf.ones_like(labels, tf.float32)
    modes = {
        "weights_nonzero": "none",
        "weights_prepend_inputs_to_targets": "prepend_inputs_full_attention",
    }
    if name not in modes:
        pytest.skip(f"not implemented: {name}")
    return losses.loss_weights(labels, modes[name])


@handles("weights_fn")
def loss_weights(case: Case) -> dict[str, Any]:
    labels = case.inputs["labels"][:, :, 0, 0]
    weights = weights_function(case.name.split("/")[1], labels)
    return {"out": weights[..., None, None]}


@handles("padded_cross_entropy")
def padded_cross_entropy(case: Case) -> dict[str, Any]:
    meta = case.meta
    if "cutoff" in meta:
        pytest.skip("not implemented: cutoff")
    logits = tf.constant(case.inputs["logits"][:, :, 0, 0])
    labels = tf.constant(case.inputs["labels"][:, :, 0, 0])
    with tf.GradientTape() as tape:
        tape.watch(logits)
        padded_logits, padded_labels = losses.pad_to_same_length(logits, labels)
        weights = weights_function(meta["weights_fn"], padded_labels)
        total, count = losses.padded_loss_terms(
            logits, labels, meta["label_smoothing"], 1.0, weights
        )
        loss = total / count
    xent = losses.label_smoothed_cross_entropy(
        padded_logits, padded_labels, meta["label_smoothing"]
    )
    return {
        "num": total,
        "den": count,
        "loss": loss,
        "xent": (xent * weights)[..., None, None],
        "weights": weights[..., None, None],
        "grad_logits": tape.gradient(loss, logits)[:, :, None, None],
    }


@handles("layer_prepostprocess")
def layer_prepostprocess(case: Case) -> dict[str, Any]:
    x = case.inputs["x"]
    processing = Processing(
        x.shape[-1], postprocess=case.meta["sequence"], norm_type=case.meta["norm_type"]
    )
    layer = case.fill(processing.make_postprocess())
    return {"out": layer(x, residual=case.inputs["prev"])}


@handles("symbol_modality")
def symbol_modality(case: Case) -> dict[str, Any]:
    meta = case.meta
    modality = SymbolModality(
        meta["vocab_size"], meta["hidden_size"], meta["multiply_embedding_mode"] == "sqrt_depth"
    )
    shared = meta["shared_embedding_and_softmax_weights"]
    inputs, targets, softmax = (
        modality.table("shared" if shared else name)
        for name in ("input_emb", "target_emb", "softmax")
    )
    scope = "symbol_modality_1_1/"
    joined = join_shards({scope + name: value for name, value in case.variables.items()})
    case.variables = {name.removeprefix(scope): value for name, value in joined.items()}
    case.fill(modality)
    ids, body = case.inputs["ids"][:, :, 0, 0], case.inputs["body"][:, :, 0]
    return {
        "inputs_bottom": inputs.embed(ids)[:, :, None],
        "targets_bottom": targets.embed(ids)[:, :, None],
        "top": softmax.logits(body)[:, :, None, None],
    }


@handles("shift_right_3d")
def shift_right_3d(case: Case) -> dict[str, Any]:
    return {"out": shift_right(case.inputs["x"])}


class _Recorder:
    """Stands in for a stack: keeps what it is called with and gives it back."""

    def __call__(self, x: Any, bias: Any, *others: Any, **options: Any) -> Any:
        self.x, self.bias, self.others = x, bias, others
        return x


@handles("prepare")
def prepare(case: Case) -> dict[str, Any]:
    """What the stacks are given: inputs with positions, and biases."""
    meta = case.meta
    hparams = registry.hparams("transformer_base")
    hparams.parse(
        "hidden_size=16,num_heads=2,num_hidden_layers=0,filter_size=4,"
        f"max_length={meta['max_length']},pos={meta['pos']},proximity_bias={meta['proximity_bias']}"
    )
    body = TransformerBody(hparams, True, meta["target_space_id"])
    body.build()
    for variable in body.weights:
        for name, value in case.variables.items():
            if variable.path == f"body/{name}":
                variable.assign(value)
    encoder, decoder = _Recorder(), _Recorder()
    object.__setattr__(body, "encoder", encoder)
    object.__setattr__(body, "decoder", decoder)
    inputs, targets = case.inputs["inputs"], case.inputs["targets"]
    inputs_ids, targets_ids = (np.abs(x).sum(-1) > 0 for x in (inputs, targets))
    encoded = body.encode(inputs_ids.astype(np.int32), inputs)
    body.decode(targets_ids.astype(np.int32), targets, encoded)
    return {
        "encoder_input": encoder.x,
        "encoder_self_attention_bias": encoder.bias,
        "encoder_decoder_attention_bias": encoded.bias,
        "decoder_input": decoder.x,
        "decoder_self_attention_bias": decoder.bias,
    }


def case_names() -> list[str]:
    try:
        return sorted(load_golden_json("layers.json.gz")["cases"])
    except pytest.skip.Exception:
        return ["absent"]


@pytest.mark.parametrize("name", case_names())
def test_recorded_results(name: str) -> None:
    case = Case(name)
    handler = HANDLERS.get(name) or HANDLERS.get(name.split("/")[0])
    if handler is None:
        pytest.skip("no such layer here")
    results = handler(case)
    assert set(results) == set(case.outputs)
    for key, expected in case.outputs.items():
        np.testing.assert_allclose(results[key], expected, rtol=1e-4, atol=1e-5, err_msg=key)
