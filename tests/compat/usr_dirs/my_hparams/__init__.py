"""Hyperparameter sets only."""

from tensor2tensor.layers import common_hparams
from tensor2tensor.models import transformer
from tensor2tensor.utils import registry
from tensor2tensor.utils.hparam import HParams


@registry.register_hparams
def transformer_narrow():
    hparams = transformer.transformer_base()
    hparams.num_hidden_layers = 1
    hparams.hidden_size = 24
    hparams.filter_size = 48
    hparams.num_heads = 4
    hparams.add_hparam("my_own_parameter", 7)
    return hparams


@registry.register_hparams("from_the_ground")
def basic_but_wider():
    hparams = common_hparams.basic_params1()
    hparams.hidden_size = 72
    return hparams


@registry.register_hparams
def made_by_hand():
    return HParams(hidden_size=5, names=["a", "b"])


@registry.register_ranged_hparams("transformer_narrow_range")
def transformer_narrow_range(rhp):
    rhp.set_float("learning_rate", 0.3, 3.0, scale=rhp.LOG_SCALE)
    rhp.set_discrete("hidden_size", [24, 48])
