"""Variants of transformer_base that change one thing, and variants of its layers.

The one-factor sets have the sizes of Table 3 of "Attention Is All You Need" on T2T's later recipe
(pre-norm, dropout in three places). The paper's own rows, with its recipe, are transformer_paper_*.
"""

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import changed
from t2t_keras.hparams.transformer import transformer_base, transformer_big


@registry.register_hparams
def transformer_h1() -> HParams:
    """One head in place of 8."""
    return changed(transformer_base(), num_heads=1)


@registry.register_hparams
def transformer_h4() -> HParams:
    """4 heads in place of 8."""
    return changed(transformer_base(), num_heads=4)


@registry.register_hparams
def transformer_h16() -> HParams:
    """16 heads in place of 8."""
    return changed(transformer_base(), num_heads=16)


@registry.register_hparams
def transformer_h32() -> HParams:
    """32 heads in place of 8."""
    return changed(transformer_base(), num_heads=32)


@registry.register_hparams
def transformer_k128() -> HParams:
    """Keys of width 16 a head, 128 over all heads, in place of 64."""
    return changed(transformer_base(), attention_key_channels=128)


@registry.register_hparams
def transformer_k256() -> HParams:
    """Keys of width 32 a head, 256 over all heads, in place of 64."""
    return changed(transformer_base(), attention_key_channels=256)


@registry.register_hparams
def transformer_l2() -> HParams:
    """2 layers in either stack in place of 6."""
    return changed(transformer_base(), num_hidden_layers=2)


@registry.register_hparams
def transformer_l4() -> HParams:
    """4 layers in either stack in place of 6."""
    return changed(transformer_base(), num_hidden_layers=4)


@registry.register_hparams
def transformer_l8() -> HParams:
    """8 layers in either stack in place of 6."""
    return changed(transformer_base(), num_hidden_layers=8)


@registry.register_hparams
def transformer_l10() -> HParams:
    """10 layers in either stack in place of 6."""
    return changed(transformer_base(), num_hidden_layers=10)


@registry.register_hparams
def transformer_ff1024() -> HParams:
    """Feed-forward layers of width 1,024 in place of 2,048."""
    return changed(transformer_base(), filter_size=1024)


@registry.register_hparams
def transformer_ff4096() -> HParams:
    """Feed-forward layers of width 4,096 in place of 2,048."""
    return changed(transformer_base(), filter_size=4096)


@registry.register_hparams
def transformer_hs256() -> HParams:
    """Width 256 in place of 512."""
    return changed(transformer_base(), hidden_size=256)


@registry.register_hparams
def transformer_hs1024() -> HParams:
    """Width 1,024 in place of 512."""
    return changed(transformer_base(), hidden_size=1024)


@registry.register_hparams
def transformer_dr0() -> HParams:
    """Dropout 0.0 in place of 0.1 on the residual branches; elsewhere it stays 0.1."""
    return changed(transformer_base(), layer_prepostprocess_dropout=0.0)


@registry.register_hparams
def transformer_dr2() -> HParams:
    """Dropout 0.2 in place of 0.1 on the residual branches; elsewhere it stays 0.1."""
    return changed(transformer_base(), layer_prepostprocess_dropout=0.2)


@registry.register_hparams
def transformer_ls0() -> HParams:
    """Label smoothing 0.0 in place of 0.1."""
    return changed(transformer_base(), label_smoothing=0.0)


@registry.register_hparams
def transformer_ls2() -> HParams:
    """Label smoothing 0.2 in place of 0.1."""
    return changed(transformer_base(), label_smoothing=0.2)


@registry.register_hparams
def transformer_parameter_attention_a() -> HParams:
    """Attention over learned keys and values in the place of feed-forward layers."""
    return changed(transformer_base(), ffn_layer="parameter_attention", filter_size=1536)


@registry.register_hparams
def transformer_parameter_attention_b() -> HParams:
    """As transformer_parameter_attention_a, with fewer but wider learned keys, and 16 heads."""
    return changed(
        transformer_base(),
        ffn_layer="parameter_attention",
        filter_size=512,
        parameter_attention_key_channels=1024,
        parameter_attention_value_channels=1024,
        num_heads=16,
    )


def _with_relative_positions(hparams: HParams) -> HParams:
    """Replaces the timing signal by relative positions up to 20 (Shaw et al., 2018)."""
    hparams.pos = None  # Not the type of the hyperparameter, hence by assignment.
    return changed(hparams, self_attention_type="dot_product_relative", max_relative_position=20)


@registry.register_hparams
def transformer_relative() -> HParams:
    """transformer_base with relative positions in self-attention (Shaw et al., 2018)."""
    return _with_relative_positions(transformer_base())


@registry.register_hparams
def transformer_relative_tiny() -> HParams:
    """transformer_relative with the sizes of transformer_tiny."""
    return changed(
        transformer_relative(), num_hidden_layers=2, hidden_size=128, filter_size=512, num_heads=4
    )


@registry.register_hparams
def transformer_relative_big() -> HParams:
    """transformer_big with relative positions in self-attention (Shaw et al., 2018)."""
    return _with_relative_positions(transformer_big())
