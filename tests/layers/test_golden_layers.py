"""Single functions and layers against tensor2tensor's recorded results."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from t2t_keras import registry
from t2t_keras.layers import attention, masks, positions
from t2t_keras.layers.dense import Dense
from t2t_keras.layers.embedding import SymbolModality
from t2t_keras.layers.feed_forward import DenseReluDense
from t2t_keras.layers.normalization import make_norm
from t2t_keras.layers.sublayer import Processing
from t2t_keras.models.t2t_names import join_shards
from t2t_keras.models.transformer_body import TransformerBody
from t2t_keras.models.transformer_stacks import shift_right
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
def dot_product_attention(case: Case) -> dict[str, Any]:
    q, k, v, bias = (case.inputs.get(name) for name in ("q", "k", "v", "bias"))
    result = attention.dot_product_attention(q, k, v, bias)
    return {"out": result.output, "weights": result.weights, "logits": result.logits}


@handles("multihead_attention")
def multihead_attention(case: Case) -> dict[str, Any]:
    meta, query = case.meta, case.inputs["query"]
    known = {"dropout", "num_heads", "output_depth", "total_key_depth", "total_value_depth"}
    if set(meta) - known:
        pytest.skip(f"not implemented: {sorted(set(meta) - known)}")
    if meta["output_depth"] != query.shape[-1]:
        pytest.skip("not implemented: output depth other than the input's")
    layer = attention.MultiHeadAttention(
        query.shape[-1],
        meta["num_heads"],
        key_depth=meta["total_key_depth"],
        value_depth=meta["total_value_depth"],
    )
    case.fill(layer)
    memory = case.inputs.get("memory")
    key, value = layer.project_memory(query if memory is None else memory)
    inner = attention.dot_product_attention(
        layer.project_query(query), key, value, case.inputs["bias"]
    )
    return {
        "out": layer(query, memory, case.inputs["bias"]),
        "weights": inner.weights,
        "logits": inner.logits,
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
