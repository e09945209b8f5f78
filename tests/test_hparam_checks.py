"""Values of hyperparameters that no model can be trained with."""

import pytest

from t2t_keras import hparam_checks, registry
from t2t_keras.hparam import HParams
from t2t_keras.hparam_checks import HparamsError, check_accumulation, check_hparams


def changed(**values):
    hparams = registry.hparams("transformer_tiny")
    for name, value in values.items():
        hparams.set_hparam(name, value)
    return hparams


@pytest.mark.parametrize("name", sorted(registry.list_hparams()))
def test_registered_sets_pass(name):
    hparams = registry.hparams(name)
    if hparams.get("weight_dtype") == "bfloat16":
        with pytest.raises(HparamsError, match="weight_dtype must be float32"):
            check_hparams(hparams)
        hparams.weight_dtype = "float32"
    check_hparams(hparams)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (dict(activation_dtype="bf16"), r"activation_dtype.*Did you mean: bfloat16\?.*'bf16'$"),
        (dict(weight_dtype="float16"), r"weight_dtype must be float32.*'float16'$"),
        (dict(gpu_automatic_mixed_precision=True, activation_dtype="bfloat16"), "give one of"),
        (
            dict(activation_dtype="float16", mixed_precision_optimizer_loss_scaler="linear"),
            "'exponential'.*'linear'$",
        ),
        (
            dict(activation_dtype="float16", mixed_precision_optimizer_init_loss_scale=0),
            "at least 1.*0$",
        ),
        (dict(optimizer="adm"), r"Did you mean: adam, adam_w\? Received: 'adm'$"),
        (dict(optimizer="multistep_adam"), "optimizer_multistep_accumulate_steps.*Received: 0$"),
        (dict(hidden_size=-8), "hidden_size must be 1 or more. Received: -8$"),
        (dict(batch_size=0), "batch_size must be 1 or more. Received: 0$"),
        (dict(length_bucket_step=1.0), r"length_bucket_step must be more than 1. Received: 1.0$"),
        (dict(label_smoothing=1.0), r"label_smoothing must be in \[0, 1\). Received: 1.0$"),
        (dict(learning_rate_constant=float("nan")), "finite number. Received: nan$"),
    ],
)
def test_what_can_not_work_is_refused(values, message):
    with pytest.raises(HparamsError, match=message):
        check_hparams(changed(**values))


def test_all_mistakes_are_told_at_once():
    with pytest.raises(HparamsError) as caught:
        check_hparams(changed(num_heads=0, optimizer="adm"))
    first, *lines = str(caught.value).split("\n")
    assert first.startswith("2 hyperparameters") and len(lines) == 2
    assert "num_heads" in lines[0] and "optimizer" in lines[1]


def test_what_is_not_declared_or_not_used_is_not_checked():
    check_hparams(HParams())
    check_hparams(HParams(hidden_size=None, batch_size=None))
    # Only float16 has a loss scale.
    check_hparams(changed(mixed_precision_optimizer_loss_scaler="linear"))
    check_hparams(changed(optimizer="Adam"))


@pytest.mark.parametrize(
    ("optimizer", "tokens", "message"),
    [
        ("adam", -5, "negative. Received: -5"),
        ("multistep_adam", 4096, "both accumulate.*Received: effective_batch_tokens=4096"),
    ],
)
def test_accumulation_that_can_not_be_had(optimizer, tokens, message):
    with pytest.raises(ValueError, match=message):
        check_accumulation(HParams(optimizer=optimizer), tokens)


def test_accumulation_that_can_be_had():
    check_accumulation(HParams(optimizer="adam"), 4096)
    check_accumulation(HParams(optimizer="multistep_adam"), 0)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ({}, "float32"),
        (dict(activation_dtype=""), "float32"),
        (dict(activation_dtype="bfloat16"), "bfloat16"),
        (dict(gpu_automatic_mixed_precision=True), "float16"),
    ],
)
def test_activation_dtype(values, dtype):
    assert hparam_checks.activation_dtype(HParams(**values)) == dtype
