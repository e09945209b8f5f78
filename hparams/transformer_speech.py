"""Sets for speech recognition: LibriSpeech and Common Voice, waveforms to characters.

Problems of real-valued inputs aren't available here; `transformer` refuses them.
"""

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import changed
from t2t_keras.hparams.transformer import transformer_base
from t2t_keras.hparams.transformer_tpu import update_hparams_for_tpu


@registry.register_hparams
def transformer_librispeech_v1() -> HParams:
    """5 encoder and 3 decoder layers of width 256; lengths are those of the waveform."""
    return changed(
        transformer_base(),
        num_heads=4,
        filter_size=1024,
        hidden_size=256,
        num_encoder_layers=5,
        num_decoder_layers=3,
        learning_rate=0.15,
        batch_size=6000000,
        max_length=132000,
        max_input_seq_length=1650,
        max_target_seq_length=350,
    )


@registry.register_hparams
def transformer_librispeech_v2() -> HParams:
    """6 encoder and 4 decoder layers of width 384 with convolutions of width 9."""
    hparams = changed(
        transformer_base(),
        max_length=1240000,
        max_input_seq_length=1550,
        max_target_seq_length=350,
        batch_size=16,
        num_encoder_layers=6,
        num_decoder_layers=4,
        hidden_size=384,
        filter_size=1536,
        num_heads=2,
        ffn_layer="conv_relu_conv",
        conv_first_kernel=9,
        layer_prepostprocess_dropout=0.2,
        relu_dropout=0.2,
        daisy_chain_variables=False,
        learning_rate=0.15,
    )
    # An int where the set has a float. (T2T's quirk)
    hparams.weight_decay = 0
    return hparams


@registry.register_hparams
def transformer_librispeech() -> HParams:
    """T2T's current set for LibriSpeech."""
    return transformer_librispeech_v2()


@registry.register_hparams
def transformer_common_voice() -> HParams:
    """T2T's set for Common Voice."""
    return transformer_librispeech()


def _on_tpu(hparams: HParams) -> HParams:
    """The changes for TPUs, with waveforms of up to 132,000 values."""
    weight_decay = hparams.weight_decay
    changed(
        update_hparams_for_tpu(hparams),
        batch_size=16,
        max_length=132000,
        max_input_seq_length=1650,
        max_target_seq_length=350,
    )
    hparams.weight_decay = weight_decay
    return hparams


@registry.register_hparams
def transformer_librispeech_tpu_v1() -> HParams:
    """transformer_librispeech_v1 on TPUs."""
    return _on_tpu(transformer_librispeech_v1())


@registry.register_hparams
def transformer_librispeech_tpu_v2() -> HParams:
    """transformer_librispeech_v2 on TPUs."""
    return _on_tpu(transformer_librispeech_v2())


@registry.register_hparams
def transformer_librispeech_tpu() -> HParams:
    """transformer_librispeech on TPUs."""
    return transformer_librispeech_tpu_v2()


@registry.register_hparams
def transformer_common_voice_tpu() -> HParams:
    """transformer_common_voice on TPUs."""
    return changed(transformer_librispeech_tpu(), batch_size=8)


@registry.register_hparams
def transformer_librispeech_with_area_attention() -> HParams:
    """transformer_librispeech_tpu with attention to areas of 5 positions (Li et al., 2019)."""
    return changed(
        transformer_librispeech_tpu(),
        num_area_layers=3,
        max_area_width=5,
        area_key_mode="concat",
        area_value_mode="sum",
    )
