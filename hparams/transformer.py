"""Hyperparameter sets of the Transformer: recipes and sizes.

Every set is a function of its own name that starts from another set and changes some values. T2T's
current sets are pre-norm; the model of "Attention Is All You Need" is transformer_base_v1, and its
experiments are the sets transformer_paper_*.
"""

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import basic_params1, changed


@registry.register_hparams
def transformer_base_v1() -> HParams:
    """The base model and recipe of "Attention Is All You Need", section 5 and table 3.

    Post-norm, dropout on the residual branches only, learning rate with 4,000 steps of warm-up.
    """
    hparams = changed(
        basic_params1(),
        num_hidden_layers=6,
        hidden_size=512,
        max_length=256,
        clip_grad_norm=0.0,
        optimizer_adam_beta1=0.9,
        optimizer_adam_beta2=0.98,
        optimizer_adam_epsilon=1e-9,
        learning_rate_decay_scheme="noam",
        learning_rate_warmup_steps=4000,
        initializer="uniform_unit_scaling",
        initializer_gain=1.0,
        weight_decay=0.0,
        shared_embedding_and_softmax_weights=True,
        symbol_modality_num_shards=16,
        moe_num_experts=16,
        moe_loss_coef=1e-3,
    )
    _add_transformer_hparams(hparams)
    # Not declared: it can't be overridden and isn't saved. (T2T's quirk)
    hparams.num_sampled_classes = 0
    return hparams


def _add_transformer_hparams(hparams: HParams) -> None:
    """Declares what only the Transformer reads."""
    # 0: num_hidden_layers.
    hparams.add_hparam("num_encoder_layers", 0)
    hparams.add_hparam("num_decoder_layers", 0)
    hparams.add_hparam("filter_size", 2048)
    hparams.add_hparam("ffn_layer", "dense_relu_dense")
    hparams.add_hparam("conv_first_kernel", 3)

    hparams.add_hparam("num_heads", 8)
    # Over all heads; 0: hidden_size.
    hparams.add_hparam("attention_key_channels", 0)
    hparams.add_hparam("attention_value_channels", 0)
    hparams.add_hparam("parameter_attention_key_channels", 0)
    hparams.add_hparam("parameter_attention_value_channels", 0)
    hparams.add_hparam("self_attention_type", "dot_product")
    hparams.add_hparam("causal_decoder_self_attention", True)
    hparams.add_hparam("unidirectional_encoder", False)
    hparams.add_hparam("proximity_bias", False)
    hparams.add_hparam("attention_variables_3d", False)
    hparams.add_hparam("hard_attention_k", 0)
    hparams.add_hparam("gumbel_noise_weight", 0.0)

    # Comma separated dimensions along which one dropout decision is shared.
    hparams.add_hparam("attention_dropout", 0.0)
    hparams.add_hparam("attention_dropout_broadcast_dims", "")
    hparams.add_hparam("relu_dropout", 0.0)
    hparams.add_hparam("relu_dropout_broadcast_dims", "")

    hparams.add_hparam("pos", "timing")
    hparams.add_hparam("position_features", "")
    hparams.add_hparam("use_target_space_embedding", True)
    hparams.add_hparam("use_pad_remover", True)
    hparams.add_hparam("nbr_decoder_problems", 1)
    hparams.add_hparam("moe_overhead_train", 1.0)
    hparams.add_hparam("moe_overhead_eval", 2.0)
    hparams.add_hparam("overload_eval_metric_name", "")


@registry.register_hparams
def transformer_base_v2() -> HParams:
    """T2T's second recipe: pre-norm, dropout on attention weights and in the feed-forward layer."""
    return changed(
        transformer_base_v1(),
        layer_preprocess_sequence="n",
        layer_postprocess_sequence="da",
        layer_prepostprocess_dropout=0.1,
        attention_dropout=0.1,
        relu_dropout=0.1,
        learning_rate_warmup_steps=8000,
        learning_rate=0.2,
    )


@registry.register_hparams
def transformer_base_v3() -> HParams:
    """T2T's third recipe: the learning rate as a product of factors, twice the paper's height."""
    return changed(
        transformer_base_v2(),
        optimizer_adam_beta2=0.997,
        learning_rate_schedule="constant*linear_warmup*rsqrt_decay*rsqrt_hidden_size",
        learning_rate_constant=2.0,
    )


@registry.register_hparams
def transformer_base() -> HParams:
    """T2T's base model in its last release (pre-norm), for 8 GPUs."""
    return transformer_base_v3()


@registry.register_hparams
def transformer_big() -> HParams:
    """T2T's big model, with the sizes and dropout of the paper's big model, for 8 GPUs."""
    return changed(
        transformer_base(),
        hidden_size=1024,
        filter_size=4096,
        batch_size=2048,
        num_heads=16,
        layer_prepostprocess_dropout=0.3,
    )


@registry.register_hparams
def transformer_base_single_gpu() -> HParams:
    """T2T's base model for one GPU: small batches, a learning rate that doesn't know the width."""
    return changed(
        transformer_base(),
        batch_size=1024,
        learning_rate_schedule="constant*linear_warmup*rsqrt_decay",
        learning_rate_constant=0.1,
        learning_rate_warmup_steps=16000,
    )


@registry.register_hparams
def transformer_big_single_gpu() -> HParams:
    """T2T's big model for one GPU: less dropout, a longer warm-up."""
    return changed(
        transformer_big(),
        layer_prepostprocess_dropout=0.1,
        learning_rate_warmup_steps=16000,
    )


@registry.register_hparams
def transformer_big_dr1() -> HParams:
    """The sizes of the paper's big model with dropout 0.1, as for English to French."""
    return changed(
        transformer_base(),
        hidden_size=1024,
        filter_size=4096,
        num_heads=16,
        layer_prepostprocess_dropout=0.1,
    )


@registry.register_hparams
def transformer_big_dr2() -> HParams:
    """As transformer_big_dr1, with dropout 0.2."""
    return changed(transformer_big_dr1(), layer_prepostprocess_dropout=0.2)


@registry.register_hparams
def transformer_big_enfr() -> HParams:
    """T2T's big model for English to French: wider feed-forward layers, three separate tables.

    The paper's has a filter_size of 4,096 and one shared table: transformer_paper_big_enfr.
    """
    return changed(
        transformer_big_dr1(),
        shared_embedding_and_softmax_weights=False,
        filter_size=8192,
        layer_prepostprocess_dropout=0.1,
    )


@registry.register_hparams
def transformer_base_multistep8() -> HParams:
    """transformer_base on one GPU as on eight: eight batches are added up before an update."""
    return changed(
        transformer_base(), optimizer="multistep_adam", optimizer_multistep_accumulate_steps=8
    )


@registry.register_hparams
def transformer_cubbitt() -> HParams:
    """The big model of CUBBITT, English-Czech news translation (Popel et al., 2020)."""
    return changed(
        transformer_big_single_gpu(),
        learning_rate_schedule="rsqrt_decay",
        batch_size=2900,
        learning_rate_warmup_steps=8000,
        max_length=150,
        layer_prepostprocess_dropout=0.0,
        optimizer="Adafactor",
    )


@registry.register_hparams
def transformer_fairseq_fp16_activation_big() -> HParams:
    """The big model with activations in float16 and batches of 3,584 tokens."""
    return changed(transformer_big(), activation_dtype="float16", batch_size=3584)


@registry.register_hparams
def transformer_clean() -> HParams:
    """No dropout and no label smoothing, for large data: what is left is the model itself."""
    return changed(
        transformer_base_v2(),
        label_smoothing=0.0,
        layer_prepostprocess_dropout=0.0,
        attention_dropout=0.0,
        relu_dropout=0.0,
        max_length=0,
    )


@registry.register_hparams
def transformer_clean_big() -> HParams:
    """transformer_clean of width 1,024."""
    return changed(transformer_clean(), hidden_size=1024, filter_size=4096)


@registry.register_hparams
def transformer_teeny() -> HParams:
    """Six layers of width 128 with narrow feed-forward layers."""
    return changed(transformer_base(), hidden_size=128, filter_size=128, num_heads=2)


@registry.register_hparams
def transformer_tiny() -> HParams:
    """T2T's smallest useful model: 2 layers of width 128; minutes on a CPU for simple problems."""
    return changed(
        transformer_base(), num_hidden_layers=2, hidden_size=128, filter_size=512, num_heads=4
    )


@registry.register_hparams
def transformer_small() -> HParams:
    """T2T's small model: 2 layers of width 256."""
    return changed(
        transformer_base(), num_hidden_layers=2, hidden_size=256, filter_size=1024, num_heads=4
    )


@registry.register_hparams
def transformer_test() -> HParams:
    """T2T's model for tests: 2 layers of width 16."""
    return changed(
        transformer_base(), num_hidden_layers=2, hidden_size=16, filter_size=8, num_heads=2
    )
