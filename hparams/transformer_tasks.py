"""Sets for certain tasks: parsing, prepended inputs, time series, sketches, guided attention."""

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import changed, extended
from t2t_keras.hparams.transformer import (
    transformer_base,
    transformer_base_single_gpu,
    transformer_base_v1,
    transformer_base_v2,
    transformer_big,
    transformer_small,
)


@registry.register_hparams
def transformer_parsing_base() -> HParams:
    """Constituency parsing with a model of width 1,024 and 6 layers, separate tables.

    The paper's parser has 4 layers: transformer_paper_parsing_wsj.
    """
    return changed(
        transformer_base(),
        attention_dropout=0.2,
        layer_prepostprocess_dropout=0.2,
        max_length=512,
        learning_rate_warmup_steps=16000,
        hidden_size=1024,
        # Read by the legacy schedule only, so it has no effect here. (T2T's quirk)
        learning_rate=0.05,
        shared_embedding_and_softmax_weights=False,
    )


@registry.register_hparams
def transformer_parsing_big() -> HParams:
    """Constituency parsing with the big model, for semi-supervised data."""
    hparams = changed(
        transformer_big(),
        max_length=512,
        learning_rate_warmup_steps=4000,
        layer_prepostprocess_dropout=0.1,
        batch_size=2048,
        # No effect, see transformer_parsing_base.
        learning_rate=0.05,
    )
    # Neither declared nor read by anything. (T2T's quirk)
    hparams.shared_source_target_embedding = False
    return hparams


@registry.register_hparams
def transformer_parsing_ice() -> HParams:
    """Icelandic parsing and tagging on one GPU, with separate tables."""
    return changed(
        transformer_base_single_gpu(), batch_size=4096, shared_embedding_and_softmax_weights=False
    )


def _with_prepended_inputs(hparams: HParams) -> HParams:
    """One sequence, inputs then targets, in which the inputs see each other."""
    return changed(hparams, prepend_mode="prepend_inputs_masked_attention", max_length=0)


@registry.register_hparams
def transformer_prepend_v1() -> HParams:
    """Inputs prepended to the targets of a decoder-only model, on transformer_base_v1."""
    return _with_prepended_inputs(transformer_base_v1())


@registry.register_hparams
def transformer_prepend_v2() -> HParams:
    """Inputs prepended to the targets of a decoder-only model, on transformer_base_v2."""
    return _with_prepended_inputs(transformer_base_v2())


@registry.register_hparams
def transformer_prepend() -> HParams:
    """Inputs prepended to the targets of a decoder-only model."""
    return transformer_prepend_v2()


@registry.register_hparams
def transformer_timeseries() -> HParams:
    """A small model for sequences of real numbers."""
    return changed(transformer_small(), batch_size=256, learning_rate_warmup_steps=2000)


@registry.register_hparams
def transformer_sketch() -> HParams:
    """A small model for sequences of pen strokes, which are sampled."""
    return changed(transformer_small(), batch_size=32, clip_grad_norm=2.0, sampling_method="random")


@registry.register_hparams
def transformer_supervised_attention() -> HParams:
    """transformer_base whose attention to the encoder is trained towards given alignments."""
    return extended(
        transformer_base(),
        expected_attention_loss_type="kl_divergence",
        expected_attention_loss_multiplier=1.0,
    )


@registry.register_hparams
def transformer_revnet_base() -> HParams:
    """Sizes and rate of T2T's transformer_revnet, whose activations are computed anew backwards."""
    return changed(transformer_big(), learning_rate=0.4)


@registry.register_hparams
def transformer_revnet_big() -> HParams:
    """T2T's transformer_revnet of width 2,048, 7 layers."""
    return changed(
        transformer_revnet_base(),
        batch_size=4096,
        hidden_size=2048,
        num_heads=32,
        num_hidden_layers=7,
    )
