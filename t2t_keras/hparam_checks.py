"""Hyperparameters that can't work, told before anything slow is loaded.

What only a model or a layer knows, it checks itself when it is made. Here is what holds for every
model, and can be known without TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from t2t_keras import registry

__all__ = [
    "ACTIVATION_DTYPES",
    "WEIGHT_DTYPES",
    "HparamsError",
    "activation_dtype",
    "check_accumulation",
    "check_hparams",
]

ACTIVATION_DTYPES = ("float32", "bfloat16", "float16")
WEIGHT_DTYPES = ("float32",)
_LOSS_SCALERS = ("exponential", "", None)


class HparamsError(ValueError):
    """Some hyperparameters have values that can't work; the message has a line for each."""

    def __init__(self, problems: Iterable[str]) -> None:
        lines = list(problems)
        head = "" if len(lines) == 1 else f"{len(lines)} hyperparameters can't work:\n"
        super().__init__(head + "\n".join(lines))


class _Number(NamedTuple):
    """What a number must be: in words, and whether one is."""

    condition: str
    holds: Callable[[Any], bool]


_AT_LEAST_0 = _Number("0 or more", lambda number: number >= 0)
_AT_LEAST_1 = _Number("1 or more", lambda number: number >= 1)
_ABOVE_0 = _Number("more than 0", lambda number: number > 0)
_ABOVE_1 = _Number("more than 1", lambda number: number > 1)
_SHARE = _Number("in [0, 1)", lambda number: 0 <= number < 1)
_FINITE = _Number("a finite number", lambda number: abs(number) < float("inf"))

_NUMBERS = {
    "batch_size": _AT_LEAST_1,
    "batch_shuffle_size": _AT_LEAST_0,
    "hidden_size": _AT_LEAST_1,
    "filter_size": _AT_LEAST_1,
    "num_heads": _AT_LEAST_1,
    "num_hidden_layers": _AT_LEAST_0,
    # 0 stands for num_hidden_layers and hidden_size.
    "num_encoder_layers": _AT_LEAST_0,
    "num_decoder_layers": _AT_LEAST_0,
    "attention_key_channels": _AT_LEAST_0,
    "attention_value_channels": _AT_LEAST_0,
    "initializer_gain": _ABOVE_0,
    "norm_epsilon": _AT_LEAST_0,
    "weight_decay": _AT_LEAST_0,
    "symbol_modality_num_shards": _AT_LEAST_1,
    "vocab_divisor": _AT_LEAST_1,
    "min_length": _AT_LEAST_0,
    "max_length": _AT_LEAST_0,
    "min_length_bucket": _AT_LEAST_1,
    "length_bucket_step": _ABOVE_1,
    "max_input_seq_length": _AT_LEAST_0,
    "max_target_seq_length": _AT_LEAST_0,
    "split_to_length": _AT_LEAST_0,
    "dropout": _SHARE,
    "label_smoothing": _SHARE,
    "optimizer_adam_beta1": _SHARE,
    "optimizer_adam_beta2": _SHARE,
    "optimizer_adam_epsilon": _AT_LEAST_0,
    "clip_grad_norm": _AT_LEAST_0,
    "learning_rate_constant": _FINITE,
    "learning_rate_warmup_steps": _AT_LEAST_0,
}


def check_hparams(hparams: Any) -> None:
    """Refuses values that no model can be trained with.

    Args:
        hparams: the run's hyperparameters; absent ones aren't checked.

    Raises:
        HparamsError: names each, its value and what may stand there.
    """
    problems = [
        f"hparam {name} must be {number.condition}. Received: {getattr(hparams, name)!r}"
        for name, number in _NUMBERS.items()
        if _is_number(getattr(hparams, name, None)) and not number.holds(getattr(hparams, name))
    ]
    problems += filter(None, (check(hparams) for check in _CHECKS))
    if problems:
        raise HparamsError(problems)


def activation_dtype(hparams: Any) -> str:
    """The type hparams ask for.

    `gpu_automatic_mixed_precision`, which in T2T made TensorFlow 1 rewrite the graph to float16,
    means float16 activations.

    Raises:
        HparamsError: `activation_dtype` is none of `ACTIVATION_DTYPES`, or both hparams are given.
    """
    problem = _problem_with_activation_dtype(hparams)
    if problem:
        raise HparamsError([problem])
    if getattr(hparams, "gpu_automatic_mixed_precision", False):
        return "float16"
    return str(getattr(hparams, "activation_dtype", None) or "float32")


def check_accumulation(hparams: Any, effective_batch_tokens: int) -> None:
    """Refuses `effective_batch_tokens` that can't be had.

    Args:
        hparams: with `optimizer`.
        effective_batch_tokens: tokens of an update; 0 for no accumulation.

    Raises:
        ValueError: it is negative, or the optimizer accumulates by itself.
    """
    if effective_batch_tokens < 0:
        raise ValueError(
            f"effective_batch_tokens must not be negative. Received: {effective_batch_tokens}"
        )
    if effective_batch_tokens and hparams.optimizer == "multistep_adam":
        raise ValueError(
            "effective_batch_tokens and optimizer multistep_adam both accumulate gradients. Use "
            "optimizer=adam with effective_batch_tokens, or multistep_adam without. "
            f"Received: effective_batch_tokens={effective_batch_tokens}"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _not_one_of(name: str, value: Any, choices: Iterable[str]) -> str:
    choices = list(choices)
    hint = registry.did_you_mean(str(value), choices)
    return f"hparam {name} must be one of {', '.join(choices)}.{hint} Received: {value!r}"


def _problem_with_activation_dtype(hparams: Any) -> str:
    dtype = getattr(hparams, "activation_dtype", None) or "float32"
    if dtype not in ACTIVATION_DTYPES:
        return _not_one_of("activation_dtype", dtype, ACTIVATION_DTYPES)
    if getattr(hparams, "gpu_automatic_mixed_precision", False) and dtype != "float32":
        return (
            "gpu_automatic_mixed_precision takes the place of activation_dtype: give one of "
            f"them. Received: gpu_automatic_mixed_precision=True, activation_dtype={dtype!r}"
        )
    return ""


def _problem_with_weight_dtype(hparams: Any) -> str:
    dtype = getattr(hparams, "weight_dtype", None) or "float32"
    if dtype in WEIGHT_DTYPES:
        return ""
    return (
        "hparam weight_dtype must be float32: weights and optimizer state are float32; "
        f"activation_dtype=bfloat16 makes bfloat16 of the rest. Received: {dtype!r}"
    )


def _problem_with_loss_scaling(hparams: Any) -> str:
    is_automatic = getattr(hparams, "gpu_automatic_mixed_precision", False)
    if is_automatic or getattr(hparams, "activation_dtype", None) != "float16":
        return ""
    scaler = getattr(hparams, "mixed_precision_optimizer_loss_scaler", None)
    scale = getattr(hparams, "mixed_precision_optimizer_init_loss_scale", None)
    if scaler not in _LOSS_SCALERS:
        return (
            "hparam mixed_precision_optimizer_loss_scaler must be 'exponential', or empty for no "
            f"loss scaling. Received: {scaler!r}"
        )
    if scaler and scale is not None and not scale >= 1:
        return (
            "hparam mixed_precision_optimizer_init_loss_scale must be at least 1. "
            f"Received: {scale!r}"
        )
    return ""


def _problem_with_optimizer(hparams: Any) -> str:
    name = getattr(hparams, "optimizer", None)
    if name is None:
        return ""
    snake_name, known = registry.camelcase_to_snakecase(name), registry.list_optimizers()
    if snake_name not in known:
        return _not_one_of("optimizer", name, known)
    steps = getattr(hparams, "optimizer_multistep_accumulate_steps", None) or 0
    if snake_name == "multistep_adam" and steps < 1:
        return (
            "multistep_adam needs hparam optimizer_multistep_accumulate_steps, the number of "
            f"steps to an update, at least 1. Received: {steps}"
        )
    return ""


_CHECKS: tuple[Callable[[Any], str], ...] = (
    _problem_with_activation_dtype,
    _problem_with_weight_dtype,
    _problem_with_loss_scaling,
    _problem_with_optimizer,
)
