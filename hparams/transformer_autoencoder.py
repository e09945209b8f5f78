"""Sets of T2T's models transformer_ae and transformer_nat: decoding through discrete latents.

The targets are compressed into few latent symbols, which are predicted first; all target symbols
then follow in parallel (Kaiser et al., 2018; Roy et al., 2018). The models aren't available here;
`transformer` refuses these sets.
"""

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import changed, extended
from t2t_keras.hparams.transformer import transformer_base
from t2t_keras.hparams.transformer_tpu import update_hparams_for_tpu


def _small() -> HParams:
    """What both models change of transformer_base: 3 layers of width 384."""
    return changed(
        transformer_base(),
        batch_size=2048,
        learning_rate_warmup_steps=4000,
        num_hidden_layers=3,
        hidden_size=384,
        filter_size=2048,
        num_heads=4,
        label_smoothing=0.0,
        force_full_predict=True,
    )


@registry.register_hparams
def transformer_ae_small() -> HParams:
    """3 layers of width 384; latents by semantic hashing."""
    hparams = _small()
    for group in (_LATENTS, _QUANTISATION, _GUMBEL_SOFTMAX, _PARTS, _MASKING):
        extended(hparams, **group)
    return hparams


_LATENTS = {
    "task": "translate",
    "bottleneck_kind": "semhash",
    "bit_vae": True,
    "z_size": 14,
    "z_dropout": 0.1,
    "v_size": 65536,
    "compress_filter_size": 2048 * 2,
    "num_compress_steps": 3,
    "max_context_length": 64,
    "is_2d": 0,
    "noise_dev": 0.5,
    "startup_steps": 10000,
}

_QUANTISATION = {
    "num_blocks": 1,
    "num_decode_blocks": 1,
    "num_residuals": 1,
    "reshape_method": "slice",
    "trainable_projections": False,
    "beta": 0.25,
    "decay": 0.999,
    "epsilon": 1e-5,
    "ema": True,
    "random_top_k": 1,
    "soft_em": False,
    "num_samples": 10,
    "inv_temp": 1.0,
    "entropy_scale": 0.0,
    "prior_scale": 1.0,
}

_GUMBEL_SOFTMAX = {
    "do_hard_gumbel_softmax": False,
    "approximate_gs_entropy": False,
    "temperature_warmup_steps": 150000,
    "softmax_k": 0,
    "sum_over_latents": False,
    "logit_normalization": True,
    "num_flows": 0,
    "causal": True,
}

_PARTS = {
    "do_ae": True,
    "do_vae": True,
    "do_mask": True,
    "do_refine": False,
    "do_attend_compress": False,
    "do_attend_decompress": True,
    "do_residual_compress": False,
    "drop_inputs": False,
    "decode_autoregressive": True,
    "d_mix": 0.5,
}

_MASKING = {
    "use_predict_mask": True,
    "unmasked_percentage": 0.1,
    "mask_startup_steps": 50000,
    "word_dropout": 0.0,
    "word_shuffle": 0.5,
}


@registry.register_hparams
def transformer_ae_base() -> HParams:
    """transformer_ae_small with 6 layers of width 512."""
    return changed(transformer_ae_small(), num_hidden_layers=6, hidden_size=512, filter_size=4096)


def _without_attention(hparams: HParams) -> HParams:
    """Latents by decomposed vector quantisation, decompressed without the inputs."""
    return changed(
        hparams, bottleneck_kind="dvq", z_size=12, do_attend_decompress=False, hidden_size=512
    )


@registry.register_hparams
def transformer_ae_small_noatt() -> HParams:
    """Decomposed vector quantisation, 3 layers of width 512."""
    return _without_attention(transformer_ae_small())


@registry.register_hparams
def transformer_ae_base_noatt() -> HParams:
    """Decomposed vector quantisation, 6 layers of width 512."""
    return _without_attention(transformer_ae_base())


@registry.register_hparams
def transformer_ae_base_ablation_1() -> HParams:
    """transformer_ae_base_noatt trained by soft expectation maximisation."""
    return changed(transformer_ae_base_noatt(), soft_em=True)


@registry.register_hparams
def transformer_ae_base_ablation_2() -> HParams:
    """transformer_ae_base_ablation_1 that rewards the entropy of the latents."""
    return changed(transformer_ae_base_ablation_1(), entropy_scale=0.1)


@registry.register_hparams
def transformer_ae_base_ablation_3() -> HParams:
    """transformer_ae_base_ablation_2 with a weaker prior."""
    return changed(transformer_ae_base_ablation_2(), prior_scale=0.1)


@registry.register_hparams
def transformer_ae_base_ablation_4() -> HParams:
    """Gumbel softmax with hard samples in place of the soft assignment."""
    return changed(transformer_ae_base_ablation_5(), do_hard_gumbel_softmax=True)


@registry.register_hparams
def transformer_ae_base_ablation_5() -> HParams:
    """Gumbel softmax with an approximate entropy."""
    return changed(
        transformer_ae_base_ablation_1(),
        bottleneck_kind="gumbel-softmax-dvq",
        approximate_gs_entropy=True,
    )


@registry.register_hparams
def transformer_ae_base_iaf() -> HParams:
    """transformer_ae_base_ablation_5 with one inverse autoregressive flow."""
    return changed(transformer_ae_base_ablation_5(), num_flows=1, num_samples=1)


@registry.register_hparams
def transformer_ae_base_tpu() -> HParams:
    """transformer_ae_base on TPUs."""
    return changed(update_hparams_for_tpu(transformer_ae_base()), batch_size=512)


@registry.register_hparams
def transformer_ae_a3() -> HParams:
    """transformer_ae_base with larger batches, dropout 0.3 and Adafactor."""
    return changed(
        transformer_ae_base(),
        batch_size=4096,
        layer_prepostprocess_dropout=0.3,
        optimizer="Adafactor",
        learning_rate=0.25,
        learning_rate_warmup_steps=10000,
    )


@registry.register_hparams
def transformer_ae_a6() -> HParams:
    """transformer_ae_a3 with Adam."""
    return changed(transformer_ae_a3(), optimizer="adam")


@registry.register_hparams
def transformer_ae_a8() -> HParams:
    """The same values as transformer_ae_a3."""
    return transformer_ae_a3()


@registry.register_hparams
def transformer_nat_small() -> HParams:
    """T2T's transformer_nat, translation in parallel: 3 layers of width 384."""
    return extended(
        _small(),
        bottleneck_kind="vq",
        bottleneck_bits=12,
        num_compress_steps=3,
        beta=0.25,
        decay=0.999,
        epsilon=1e-5,
        num_samples=10,
        mask_startup_steps=50000,
    )


@registry.register_hparams
def transformer_nat_base() -> HParams:
    """transformer_nat_small with 6 layers of width 512."""
    return changed(transformer_nat_small(), num_hidden_layers=6, hidden_size=512, filter_size=4096)


@registry.register_hparams
def transformer_nat_big() -> HParams:
    """transformer_nat_base with the width, heads and dropout of transformer_big."""
    return changed(
        transformer_nat_base(), hidden_size=1024, num_heads=16, layer_prepostprocess_dropout=0.3
    )
