"""Sets for long sequences: self-attention within a neighbourhood."""

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.transformer import transformer_base


@registry.register_hparams
def transformer_base_local() -> HParams:
    """transformer_base whose self-attention sees the blocks beside each block of 128 positions.

    The restricted self-attention of "Attention Is All You Need" (section 4): cost grows linearly
    with the length. `local_attention_block_length` may be changed like any hparam; with the other
    sets, a `self_attention_type=local_…` has blocks of 128, tensor2tensor's constant.
    """
    hparams = transformer_base()
    hparams.self_attention_type = "local_unmasked"
    hparams.add_hparam("local_attention_block_length", 128)
    return hparams
