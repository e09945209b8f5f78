"""Ranges for tuning the Transformer."""

from t2t_keras import registry
from t2t_keras.ranged_hparam import RangedHParams


@registry.register_ranged_hparams
def transformer_base_range(ranges: RangedHParams) -> None:
    """Ranges around transformer_base."""
    ranges.set_float("learning_rate", 0.3, 3.0, scale=ranges.LOG_SCALE)
    ranges.set_discrete("learning_rate_warmup_steps", [1000, 2000, 4000, 8000, 16000])
    ranges.set_float("initializer_gain", 0.5, 2.0)
    ranges.set_float("optimizer_adam_beta1", 0.85, 0.95)
    ranges.set_float("optimizer_adam_beta2", 0.97, 0.99)
    ranges.set_float("weight_decay", 0.0, 1e-4)


@registry.register_ranged_hparams
def transformer_tpu_range(ranges: RangedHParams) -> None:
    """As transformer_base_range, with much stronger weight decay."""
    transformer_base_range(ranges)
    ranges.set_float("weight_decay", 0.0, 2.0)


@registry.register_ranged_hparams
def transformer_tiny_tpu_range(ranges: RangedHParams) -> None:
    """Learning rate and weight decay only."""
    ranges.set_float("learning_rate", 0.3, 3.0, scale=ranges.LOG_SCALE)
    ranges.set_float("weight_decay", 0.0, 2.0)
