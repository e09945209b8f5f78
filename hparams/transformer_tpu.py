"""T2T's sets for TPUs: Adafactor, its own learning rate, shared dropout decisions, short sentences.

Nothing in them needs a TPU.
"""

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import changed
from t2t_keras.hparams.transformer import (
    transformer_base,
    transformer_base_v3,
    transformer_big,
    transformer_big_enfr,
    transformer_clean_big,
    transformer_small,
    transformer_tiny,
)
from t2t_keras.hparams.transformer_tasks import transformer_timeseries

TPU_BATCH_SIZE = 2048


def update_hparams_for_tpu(hparams: HParams) -> HParams:
    """Changes a set to what T2T trains with on TPUs; returns the object itself."""
    return with_shared_dropout(
        changed(
            hparams,
            optimizer="Adafactor",
            learning_rate_schedule="rsqrt_decay",
            learning_rate_warmup_steps=10000,
            symbol_modality_num_shards=1,
            max_length=64,
            batch_size=min(hparams.batch_size, TPU_BATCH_SIZE),
        )
    )


def with_shared_dropout(hparams: HParams) -> HParams:
    """One dropout decision for all positions, and for all sentences and heads in attention."""
    return changed(
        hparams,
        attention_dropout_broadcast_dims="0,1",
        relu_dropout_broadcast_dims="1",
        layer_prepostprocess_dropout_broadcast_dims="1",
    )


@registry.register_hparams
def transformer_tpu() -> HParams:
    """transformer_base on TPUs."""
    return update_hparams_for_tpu(transformer_base())


@registry.register_hparams
def transformer_packed_tpu() -> HParams:
    """The same as transformer_tpu, by the name used with packed problems."""
    return transformer_tpu()


@registry.register_hparams
def transformer_big_tpu() -> HParams:
    """transformer_big on TPUs."""
    return update_hparams_for_tpu(transformer_big())


@registry.register_hparams
def transformer_tiny_tpu() -> HParams:
    """transformer_tiny on TPUs."""
    return update_hparams_for_tpu(transformer_tiny())


@registry.register_hparams
def transformer_small_tpu() -> HParams:
    """transformer_small on TPUs."""
    return update_hparams_for_tpu(transformer_small())


@registry.register_hparams
def transformer_clean_big_tpu() -> HParams:
    """transformer_clean_big on TPUs."""
    return update_hparams_for_tpu(transformer_clean_big())


@registry.register_hparams
def transformer_big_enfr_tpu() -> HParams:
    """transformer_big_enfr with 8 heads on TPUs."""
    return update_hparams_for_tpu(changed(transformer_big_enfr(), num_heads=8))


@registry.register_hparams
def transformer_timeseries_tpu() -> HParams:
    """transformer_timeseries on TPUs."""
    return changed(update_hparams_for_tpu(transformer_timeseries()), batch_size=256)


@registry.register_hparams
def transformer_tpu_bf16_activation() -> HParams:
    """transformer_tpu with activations in bfloat16."""
    return changed(transformer_tpu(), activation_dtype="bfloat16")


@registry.register_hparams
def transformer_tpu_with_conv() -> HParams:
    """transformer_tpu with convolutions in the place of feed-forward layers, and 4 heads."""
    return changed(transformer_tpu(), num_heads=4, ffn_layer="conv_relu_conv")


@registry.register_hparams
def transformer_tpu_1b() -> HParams:
    """About 1.1 billion parameters: width 2,048, 8 layers, everything in bfloat16."""
    return changed(
        transformer_tpu(),
        hidden_size=2048,
        filter_size=8192,
        num_hidden_layers=8,
        batch_size=1024,
        activation_dtype="bfloat16",
        weight_dtype="bfloat16",
        shared_embedding_and_softmax_weights=False,
    )


@registry.register_hparams
def transformer_lm_tpu_0() -> HParams:
    """A language model of width 1,024 for large data, on TPUs."""
    return changed(
        transformer_clean_big_tpu(),
        num_heads=4,
        batch_size=4096,
        shared_embedding_and_softmax_weights=False,
        layer_prepostprocess_dropout=0.1,
    )


@registry.register_hparams
def transformer_lm_tpu_1() -> HParams:
    """transformer_lm_tpu_0 of width 2,048."""
    return changed(transformer_lm_tpu_0(), hidden_size=2048, filter_size=8192)


@registry.register_hparams
def transformer_mlperf_tpu() -> HParams:
    """T2T's set for the MLPerf benchmark: big sizes, dropout 0.1, Adam, sentences of up to 256."""
    return with_shared_dropout(
        changed(
            transformer_base_v3(),
            mlperf_mode=True,
            symbol_modality_num_shards=1,
            max_length=256,
            batch_size=2048,
            hidden_size=1024,
            filter_size=4096,
            num_heads=16,
        )
    )
