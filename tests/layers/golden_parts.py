"""What computes tensor2tensor's recorded layers beside attention, and its losses, here."""

from typing import Any

import numpy as np
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.layers import activations, padding, positions
from t2t_keras.layers.conv_feed_forward import ConvReluConv
from t2t_keras.layers.dense import Dense
from t2t_keras.layers.embedding import SymbolModality
from t2t_keras.layers.feed_forward import DenseReluDense
from t2t_keras.layers.normalization import make_norm
from t2t_keras.layers.shifting import shift_right
from t2t_keras.layers.sublayer import Processing
from t2t_keras.models.t2t_names import join_shards
from t2t_keras.models.transformer_body import TransformerBody
from t2t_keras.training import losses
from t2t_keras.training.concatenated_weights import concatenated_weights
from tests.layers.golden_case import Case, handles


@handles("timing_signal_1d")
def timing_signal(case: Case) -> dict[str, Any]:
    meta = dict(case.meta)
    where = meta.pop("start_index", 0) + np.arange(meta.pop("length"))
    return {"out": positions.timing_signal_at(where, **meta)[None]}


@handles("add_timing_signal_1d")
def add_timing_signal(case: Case) -> dict[str, Any]:
    x = case.inputs["x"]
    return {"out": x + positions.timing_signal_at(np.arange(x.shape[1]), x.shape[2])}


@handles("timing_signal_given_position", "timing_signal_given_position_odd")
def timing_signal_given_position(case: Case) -> dict[str, Any]:
    x = case.inputs["x"]
    return {"out": x + positions.timing_signal_at(case.inputs["position"], x.shape[-1])}


@handles("add_positional_embedding", "add_positional_embedding_too_long")
def add_positional_embedding(case: Case) -> dict[str, Any]:
    x = case.inputs["x"]
    (table,) = case.variables.values()
    return {"out": x + positions.learned_signal_at(table, np.arange(x.shape[1]))}


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


@handles("dense")
def dense(case: Case) -> dict[str, Any]:
    layer = Dense(case.inputs["x"].shape[-1], case.meta["units"], name="d")
    return {"out": case.fill(layer)(case.inputs["x"])}


@handles("dense_relu_dense")
def dense_relu_dense(case: Case) -> dict[str, Any]:
    layer = DenseReluDense(Processing(case.meta["output_size"]), case.meta["filter_size"])
    return {"out": case.fill(layer)(case.inputs["x"])}


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


@handles("smoothing_cross_entropy")
def smoothing_cross_entropy(case: Case) -> dict[str, Any]:
    logits, labels = case.inputs["logits"], case.inputs["labels"]
    smoothing = 1.0 - case.meta["confidence"]
    return {"out": losses.label_smoothed_cross_entropy(logits, labels, smoothing)}


def weights_function(name: str, labels: Any) -> Any:
    if name == "weights_all":
        return tf.ones_like(labels, tf.float32)
    if name == "weights_concatenated":
        return concatenated_weights(labels)
    modes = {
        "weights_nonzero": "none",
        "weights_prepend_inputs_to_targets": "prepend_inputs_full_attention",
    }
    return losses.loss_weights(labels, modes[name])


@handles("weights_fn")
def loss_weights(case: Case) -> dict[str, Any]:
    labels = case.inputs["labels"][:, :, 0, 0]
    weights = weights_function(case.name.split("/")[1], labels)
    return {"out": weights[..., None, None]}


@handles("padded_cross_entropy")
def padded_cross_entropy(case: Case) -> dict[str, Any]:
    meta = case.meta
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


@handles("padded_cross_entropy/cutoff")
def cross_entropy_with_cutoff(case: Case) -> dict[str, Any]:
    meta = case.meta
    total, count = losses.padded_loss_terms(
        case.inputs["logits"],
        case.inputs["labels"],
        meta["label_smoothing"],
        cutoff=meta["cutoff"],
    )
    return {"num": total, "den": count}


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


@handles("shift_right", "shift_right_2d", "shift_right_3d", "shift_right_pad_value")
def shifted(case: Case) -> dict[str, Any]:
    return {"out": shift_right(case.inputs["x"], case.inputs.get("p"))}


@handles("gelu")
def gelu(case: Case) -> dict[str, Any]:
    return {"out": activations.gelu(case.inputs["x"])}


@handles("embedding_to_padding")
def embedding_to_padding(case: Case) -> dict[str, Any]:
    return {"out": padding.embedding_to_padding(case.inputs["e"])}


@handles("pad_remover")
def pad_remover(case: Case) -> dict[str, Any]:
    remover = padding.PadRemover(case.inputs["p"])
    removed = remover.remove(case.inputs["x"])
    return {"removed": removed, "restored": remover.restore(removed)}


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
