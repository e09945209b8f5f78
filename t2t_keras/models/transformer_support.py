"""Which hyperparameter values the Transformer implements; anything else is refused.

A value that changes the model must never be ignored silently, so the model checks its hparams when
it is built and names everything it cannot honour at once.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from absl import logging

from t2t_keras.layers import (
    feed_forward_types,
    initializers,
    local_attention,
    normalization,
    precision,
    self_attention_types,
)
from t2t_keras.layers.given_positions import split_names
from t2t_keras.layers.sublayer import POSTPROCESS_LETTERS, PREPROCESS_LETTERS


class UnsupportedHparams(ValueError):
    """Some hparams have values this model does not implement.

    Attributes:
      names: the hparams at fault.
    """

    def __init__(self, problems: Mapping[str, str]) -> None:
        self.names = tuple(problems)
        lines = "\n".join(f"  {name}: {text}" for name, text in problems.items())
        super().__init__(f"The transformer model does not support these hparams:\n{lines}")


@dataclasses.dataclass(frozen=True)
class _Check:
    supported: str
    accepts: Callable[[Any], bool]


def _one_of(*values: Any, without: str = "") -> _Check:
    listed = ", ".join(repr(value) for value in values)
    return _Check(f"one of {listed}{without and f' ({without})'}", lambda v: v in values)


def _letters(allowed: str) -> _Check:
    return _Check(
        f"letters of {allowed!r} or 'none'", lambda v: v == "none" or set(v) <= set(allowed)
    )


def _off(value: Any) -> bool:
    return not value


_EMPTY = _Check("empty: the problem's modalities decide", _off)
_ZERO = _Check("0", _off)
_FALSE = _Check("False", _off)
_RATE = _Check("a number in [0, 1)", lambda v: 0.0 <= v < 1.0)

_CHECKS: dict[str, _Check] = {
    "self_attention_type": _one_of(*self_attention_types.NAMES),
    "ffn_layer": _one_of(
        *feed_forward_types.NAMES,
        without="recurrent units and mixtures of experts, T2T's sru, local_moe and local_moe_tpu, "
        "are not implemented",
    ),
    "scheduled_sampling_prob": _one_of(0.0, 1.0),
    "scheduled_sampling_method": _one_of("parallel"),
    "scheduled_sampling_warmup_schedule": _one_of("exp"),
    "prepend_mode": _one_of(
        "none", "prepend_inputs_masked_attention", "prepend_inputs_full_attention"
    ),
    "pos": _one_of("timing", "emb", "timing_from_features", "none", None),
    "norm_type": _one_of(
        *normalization.NORM_TYPES,
        without="a batch norm would mix sentences and padding, and T2T's group norm takes images "
        "only",
    ),
    "initializer": _one_of(*initializers.NAMES),
    "activation_dtype": _one_of(*precision.ACTIVATION_DTYPES),
    "weight_dtype": _Check(
        "'float32': weights and optimizer state are float32; activation_dtype=bfloat16 makes "
        "bfloat16 of the rest",
        lambda v: v == "float32",
    ),
    "layer_preprocess_sequence": _letters(PREPROCESS_LETTERS),
    "layer_postprocess_sequence": _letters(POSTPROCESS_LETTERS),
    "layer_prepostprocess_dropout": _RATE,
    "attention_dropout": _RATE,
    "relu_dropout": _RATE,
    "symbol_dropout": _RATE,
    "split_targets_chunk_length": _ZERO,
    "eval_run_autoregressive": _FALSE,
    "no_data_parallelism": _Check("False; --worker_gpu=1 trains on one device", _off),
    "expected_attention_loss_type": _one_of(None, "", "none"),
    "bottom": _EMPTY,
    "top": _EMPTY,
    "loss": _EMPTY,
    "weights_fn": _EMPTY,
    "name": _EMPTY,
}


# Without these there is no Transformer.
_NEEDED = (
    "hidden_size",
    "filter_size",
    "num_heads",
    "num_hidden_layers",
    "num_encoder_layers",
    "num_decoder_layers",
    "attention_key_channels",
    "attention_value_channels",
    "attention_dropout",
    "attention_dropout_broadcast_dims",
    "relu_dropout",
    "relu_dropout_broadcast_dims",
    "pos",
    "proximity_bias",
    "causal_decoder_self_attention",
    "unidirectional_encoder",
    "use_pad_remover",
    "use_target_space_embedding",
)

# They change what is logged, not what is computed.
_WITHOUT_EFFECT = ("mlperf_mode", "summarize_vars")

# What only the sets of another model of T2T declare.
_MARKS_OF_OTHER_MODELS = {
    "attention_loc_block_length": "transformer_moe",
    "block_size": "transformer_block_parallel",
    "bottleneck_bits": "transformer_nat",
    "do_ae": "transformer_ae",
    "memory_type": "transformer_memory",
    "num_model_shards": "transformer_symshard",
}


def check_not_of_other_model(hparams: Any) -> None:
    """Refuses the sets of T2T's other models, of which a plain Transformer would ignore a part.

    Derived models aren't checked: they may declare what they like.

    Raises:
      UnsupportedHparams: names the hparams that belong to another model.
    """
    problems = {
        name: f"belongs to the model {model}, which isn't available. "
        f"Received: {getattr(hparams, name)!r}"
        for name, model in _MARKS_OF_OTHER_MODELS.items()
        if hasattr(hparams, name)
    }
    if problems:
        raise UnsupportedHparams(problems)


def check_supported(hparams: Any) -> None:
    """Refuses hparams whose values this model would not honour.

    Args:
      hparams: an object with the hyperparameters as attributes; absent ones are not checked, but
        those that every Transformer needs must be there.

    Raises:
      UnsupportedHparams: names each such hparam, its value and what is supported.
    """
    problems = {
        name: "missing. Start from a set transformer_*, or declare it with add_hparam."
        for name in _NEEDED
        if not hasattr(hparams, name)
    }
    for name, check in _CHECKS.items():
        if not hasattr(hparams, name):
            continue
        value = getattr(hparams, name)
        if not check.accepts(value):
            problems[name] = f"supported is {check.supported}. Received: {value!r}"
    if getattr(hparams, "num_area_layers", 0) and (
        getattr(hparams, "max_area_width", 1) > 1 or getattr(hparams, "max_area_height", 1) > 1
    ):
        problems["num_area_layers"] = (
            "area attention is not implemented; supported is 0, or max_area_width=1 and "
            f"max_area_height=1. Received: {hparams.num_area_layers!r}"
        )
    if getattr(hparams, "pos", None) == "timing_from_features" and not split_names(
        getattr(hparams, "position_features", "")
    ):
        problems["position_features"] = (
            "pos=timing_from_features needs the name of a feature at least, e.g. inputs_position. "
            f"Received: {getattr(hparams, 'position_features', '')!r}"
        )
    problems |= _conflicts_with_local_attention(hparams)
    if problems:
        raise UnsupportedHparams(problems)
    for name in _WITHOUT_EFFECT:
        if getattr(hparams, name, False):
            logging.warning("Hparam %s has no effect.", name)


def _conflicts_with_local_attention(hparams: Any) -> dict[str, str]:
    """What T2T's local self-attention ignores."""
    kind = getattr(hparams, "self_attention_type", None)
    if kind not in local_attention.NEIGHBOURHOODS:
        return {}
    ignored = {
        "proximity_bias": getattr(hparams, "proximity_bias", False),
        "hard_attention_k": getattr(hparams, "hard_attention_k", 0),
        "prepend_mode": getattr(hparams, "prepend_mode", "") == "prepend_inputs_full_attention",
    }
    return {
        name: f"has no effect on self_attention_type={kind}. Received: {getattr(hparams, name)!r}"
        for name, is_on in ignored.items()
        if is_on
    }


# Methods of T2T's models that derived models override there.
_T2T_METHODS = (
    "bottom",
    "decode",
    "eval_autoregressive",
    "estimator_spec_eval",
    "estimator_spec_predict",
    "estimator_spec_train",
    "infer",
    "loss",
    "model_fn",
    "optimize",
    "sample",
    "top",
)


def check_overrides(model_class: type) -> None:
    """Raises `TypeError` if a derived model overrides a method of T2T's that is never called."""
    ignored = [name for name in _T2T_METHODS if callable(vars(model_class).get(name))]
    encode = vars(model_class).get("encode")
    if encode is not None and "target_space" in inspect.signature(encode).parameters:
        ignored.append("encode(…, target_space, …)")
    if ignored:
        raise TypeError(
            f"Model {model_class.__name__} overrides what tensor2tensor calls, but this package "
            f"doesn't: {', '.join(ignored)}. Override body(features) for training and evaluation, "
            "encode(inputs, training, dropout_seed) and decode_step for decoding."
        )


def prepends_inputs(hparams: Any) -> bool:
    """Whether inputs go before the targets, as one sequence, instead of into an encoder."""
    return getattr(hparams, "prepend_mode", "none") not in (None, "", "none")
