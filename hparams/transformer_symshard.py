"""Sets of T2T's model transformer_symshard: eight narrow models that exchange activations.

`encoder_layers` and `decoder_layers` spell out every operation; `m` mixes the shards. The model
isn't available here; `transformer` refuses these sets.
"""

from typing import Any

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import basic_params1, changed, extended

_NUM_LAYERS = 6


def identity_bottom(x: Any, model_hparams: HParams, vocab_size: int) -> Any:
    """The features as they are: the model embeds them itself."""
    del model_hparams, vocab_size
    return x


def identity_top(body_output: Any, targets: Any, model_hparams: HParams, vocab_size: int) -> Any:
    """The model's output as it is: the model computes the logits itself."""
    del targets, model_hparams, vocab_size
    return body_output


def _layers(*operations: str) -> str:
    """The operations of six layers, each wrapped in norm, mixing, dropout and residual."""
    layer = "".join(f"n,{operation},m,d,a," for operation in operations)
    return layer * _NUM_LAYERS + "n,d"


@registry.register_hparams
def transformer_symshard_base() -> HParams:
    """Eight shards of width 256."""
    hparams = changed(
        basic_params1(),
        hidden_size=256,
        batch_size=2048,
        clip_grad_norm=0.0,
        initializer="uniform_unit_scaling",
        initializer_gain=1.0,
        layer_prepostprocess_dropout_broadcast_dims="1",
        learning_rate_schedule="rsqrt_decay",
        learning_rate_warmup_steps=10000,
        no_data_parallelism=True,
        optimizer="Adafactor",
        shared_embedding_and_softmax_weights=True,
        weight_decay=0.0,
        bottom={"inputs": identity_bottom, "targets": identity_bottom},
        top={"targets": identity_top},
    )
    return extended(
        hparams,
        num_model_shards=8,
        mix_fraction=0.5,
        filter_size=1280,
        attention_dropout=0.1,
        relu_dropout=0.0,
        relu_dropout_broadcast_dims="1",
        pos="timing",
        encoder_layers=_layers("att", "ffn"),
        decoder_layers=_layers("att", "enc-att", "ffn"),
        multihead_attention_num_heads=4,
        multihead_attention_key_channels=0,
        multihead_attention_value_channels=0,
    )


@registry.register_hparams
def transformer_symshard_sh4() -> HParams:
    """Four shards."""
    return changed(transformer_symshard_base(), num_model_shards=4)


@registry.register_hparams
def transformer_symshard_h4() -> HParams:
    """Attention with four heads in place of one in every shard."""
    return changed(
        transformer_symshard_base(),
        encoder_layers=_layers("multihead-att", "ffn"),
        decoder_layers=_layers("multihead-att", "enc-multihead-att", "ffn"),
    )


@registry.register_hparams
def transformer_symshard_lm_0() -> HParams:
    """A language model."""
    hparams = transformer_symshard_base()
    # An int where the set has a float. (T2T's quirk)
    hparams.label_smoothing = 0
    return hparams
