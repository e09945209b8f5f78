"""Sets with mixtures of experts, whose feed-forward layers are several of which few are used.

First those of the Transformer with `ffn_layer` local_moe and gates of vector-quantised or top-k
kind, then those of T2T's model transformer_moe. Neither is available here: `transformer` refuses
them, except transformer_ada_lmpackedbase*, which have ordinary feed-forward layers.
"""

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import basic_params1, changed, extended
from t2t_keras.hparams.transformer import transformer_base_v2


@registry.register_hparams
def transformer_base_vq_ada_32ex_packed() -> HParams:
    """A language model with 32 experts of which vector quantisation chooses one."""
    hparams = changed(
        transformer_base_v2(),
        moe_num_experts=32,
        moe_k=1,
        batch_size=5072,
        ffn_layer="local_moe",
        shared_embedding_and_softmax_weights=False,
        num_heads=4,
        num_decoder_layers=6,
        label_smoothing=0.0,
        layer_preprocess_sequence="none",
        layer_postprocess_sequence="dan",
        weight_decay=1e-6,
        optimizer="Adafactor",
        learning_rate_schedule="linear_warmup*rsqrt_decay*linear_decay",
        learning_rate_warmup_steps=10000,
        learning_rate_decay_steps=27200,
        learning_rate=0.1,
        learning_rate_constant=1.0,
    )
    return extended(
        hparams,
        gating_type="vq",
        bottleneck_kind="dvq",
        z_size=4,
        beta=0.25,
        decay=0.999,
        epsilon=1e-5,
        ema=False,
        soft_em=False,
        noise_dev=0.5,
        num_blocks=1,
        num_residuals=1,
        num_samples=10,
        random_top_k=1,
        residual_centroids=0,
        use_scales=1,
    )


@registry.register_hparams
def transformer_topk_16_packed() -> HParams:
    """16 experts of which the gate's two best are used."""
    return changed(
        transformer_base_vq_ada_32ex_packed(), gating_type="topk", moe_num_experts=16, moe_k=2
    )


def _vq_16_experts() -> HParams:
    """16 experts, one used, with a weaker commitment to the chosen code."""
    return changed(transformer_base_vq_ada_32ex_packed(), moe_num_experts=16, moe_k=1, beta=0.1)


@registry.register_hparams
def transformer_base_vq1_16_nb1_packed_nda_b01_scales() -> HParams:
    """16 experts chosen by vector quantisation, pre-norm."""
    return changed(_vq_16_experts(), layer_preprocess_sequence="n", layer_postprocess_sequence="da")


@registry.register_hparams
def transformer_base_vq1_16_nb1_packed_dan_b01_scales() -> HParams:
    """16 experts chosen by vector quantisation, post-norm."""
    return _vq_16_experts()


@registry.register_hparams
def transformer_base_vq1_16_nb1_packed_nda_b01_scales_dialog() -> HParams:
    """The pre-norm set for dialogues of up to 1,024 symbols."""
    return changed(
        transformer_base_vq1_16_nb1_packed_nda_b01_scales(),
        batch_size=2048,
        max_length=1024,
        filter_size=3072,
    )


@registry.register_hparams
def transformer_ada_lmpackedbase() -> HParams:
    """The language model without experts, for comparison: ordinary feed-forward layers."""
    return changed(transformer_base_vq_ada_32ex_packed(), ffn_layer="dense_relu_dense")


@registry.register_hparams
def transformer_ada_lmpackedbase_dialog() -> HParams:
    """transformer_ada_lmpackedbase for dialogues of up to 1,024 symbols."""
    return changed(transformer_ada_lmpackedbase(), max_length=1024, batch_size=4096)


@registry.register_hparams
def transformer_ada_lmpackedbase_relative() -> HParams:
    """The same as transformer_ada_lmpackedbase: T2T's set has no relative positions either."""
    return transformer_ada_lmpackedbase()


@registry.register_hparams
def transformer_moe_base() -> HParams:
    """T2T's transformer_moe: `layer_types` names the kind of every layer of both stacks."""
    hparams = changed(
        basic_params1(),
        hidden_size=512,
        batch_size=4096,
        max_length=2001,
        max_input_seq_length=2000,
        max_target_seq_length=2000,
        dropout=0.0,
        clip_grad_norm=0.0,
        optimizer_adam_beta1=0.9,
        optimizer_adam_beta2=0.98,
        optimizer_adam_epsilon=1e-9,
        learning_rate_decay_scheme="noam",
        learning_rate=0.1,
        learning_rate_warmup_steps=2000,
        initializer_gain=1.0,
        initializer="uniform_unit_scaling",
        num_hidden_layers=5,
        weight_decay=0.0,
        label_smoothing=0.0,
        shared_embedding_and_softmax_weights=True,
        layer_preprocess_sequence="n",
        layer_postprocess_sequence="da",
    )
    return extended(
        hparams,
        filter_size=2048,
        num_heads=8,
        attention_key_channels=0,
        attention_value_channels=0,
        attention_dropout=0.0,
        relu_dropout=0.0,
        pos="timing",
        proximity_bias=False,
        causal_decoder_self_attention=True,
        attention_loc_block_length=256,
        attention_loc_block_width=128,
        attention_red_factor=3,
        attention_red_type="conv",
        attention_red_nonlinearity="none",
        layer_types="",
        default_att="a",
        default_ff="fc",
    )


@registry.register_hparams
def transformer_moe_8k() -> HParams:
    """Width 1,024 with separable convolutions; batches of 8,192 tokens."""
    return changed(
        transformer_moe_base(),
        batch_size=8192,
        max_length=0,
        eval_drop_long_sequences=True,
        min_length_bucket=256,
        hidden_size=1024,
        default_ff="sep",
    )


@registry.register_hparams
def transformer_moe_12k() -> HParams:
    """transformer_moe_8k with batches of 12,000 tokens."""
    return changed(transformer_moe_8k(), batch_size=12000)


@registry.register_hparams
def transformer_moe_2k() -> HParams:
    """Experts in the middle layer of the decoder; batches of 2,048 tokens."""
    return changed(
        transformer_moe_8k(),
        batch_size=2048,
        layer_types="a/a/a/a/a#a-sepm/a-sepm/a-moe/a-sepm/a-sepm",
    )


@registry.register_hparams
def transformer_moe_8k_lm() -> HParams:
    """A language model: the stack of the encoder is empty."""
    return changed(transformer_moe_8k(), default_ff="sepm", layer_types="#a/a/a-moe/a/a")


@registry.register_hparams
def transformer_moe_prepend_8k() -> HParams:
    """Inputs of up to 7,500 symbols prepended to the targets; local and compressed attention."""
    return changed(
        transformer_moe_8k(),
        eval_drop_long_sequences=False,
        max_input_seq_length=7500,
        default_ff="sepm",
        layer_types="locm/redm/locm-moe/redm/locm",
        moe_num_experts=256,
        prepend_mode="prepend_inputs_masked_attention",
    )
