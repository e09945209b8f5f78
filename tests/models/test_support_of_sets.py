"""What the model says to each registered set: it honours the set or names what it can't."""

import keras
import pytest
from keras.src.backend.common import global_state

from t2t_keras import registry
from t2t_keras.models.transformer import Transformer
from t2t_keras.models.transformer_support import (
    UnsupportedHparams,
    check_not_of_other_model,
    check_supported,
)
from tests.models.tiny import tiny_hparams

SETS = registry.list_hparams("transformer_")
# Declared with the experts' gates; without experts (ffn_layer) nothing reads them, in T2T either.
OF_EXPERTS = set(registry.hparams("transformer_base_vq_ada_32ex_packed").values())


def objection(hparams):
    """What the model's constructor would raise first, None if nothing."""
    try:
        check_supported(hparams)
        check_not_of_other_model(hparams)
    except UnsupportedHparams as error:
        return error
    return None


def refusal(hparams, model_class=Transformer):
    """The error of building a model, None if it can be built; no memory is taken."""
    try:
        with keras.StatelessScope(initialize_variables=False):
            model_class(hparams, input_vocab_size=11, target_vocab_size=11)
    except UnsupportedHparams as error:
        return error
    finally:
        global_state.set_global_attribute("uninitialized_variables", [])
    return None


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_honoured_or_refused_by_name(name):
    hparams = registry.hparams(name)
    error = objection(hparams)
    known = set(registry.hparams("transformer_base").values())
    extra = set(hparams.values()) - known
    if error is None:
        extra -= {"local_attention_block_length"}  # Local attention reads it.
        assert extra <= OF_EXPERTS and (not extra or hparams.ffn_layer == "dense_relu_dense")
    else:
        assert error.names and all(f"  {hparam}: " in str(error) for hparam in error.names)
    print(f"\n{name}: {'honoured' if error is None else 'refused for ' + ', '.join(error.names)}")


@pytest.mark.parametrize(
    "name, culprit",
    [
        ("transformer_base_bs1", "block_size"),
        ("transformer_ae_small", "do_ae"),
        ("transformer_nat_small", "bottleneck_bits"),
        ("transformer_moe_base", "num_encoder_layers"),
        ("transformer_symshard_base", "bottom"),
        ("transformer_wikitext103_l4k_memory_v0", "split_targets_chunk_length"),
        ("transformer_supervised_attention", "expected_attention_loss_type"),
        ("transformer_topk_16_packed", "ffn_layer"),
        ("transformer_librispeech_with_area_attention", "num_area_layers"),
        ("basic_1", "filter_size"),
    ],
)
def test_sets_that_no_plain_transformer_can_honour(name, culprit):
    error = refusal(registry.hparams(name))
    assert error is not None and culprit in error.names
    assert str(error) == str(objection(registry.hparams(name)))


def test_a_derived_model_may_declare_what_it_likes():
    class Derived(Transformer):
        pass

    hparams = tiny_hparams()
    hparams.add_hparam("block_size", 4)
    assert refusal(hparams, Derived) is None
    assert refusal(hparams).names == ("block_size",)


def test_hparams_without_effect_are_named(caplog):
    with caplog.at_level("WARNING", logger="absl"):
        assert refusal(tiny_hparams(overrides="mlperf_mode=True")) is None
    assert "mlperf_mode has no effect" in caplog.text
