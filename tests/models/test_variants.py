"""Every variant that hparams can choose, and the refusals of what can't be chosen."""

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.models.transformer_support import UnsupportedHparams
from tests.models.test_decode_step import check
from tests.models.tiny import FEATURES, PACKED_FEATURES, VOCAB, tiny_model

ATTENTION = [
    "self_attention_type=dot_product",
    "self_attention_type=dot_product_relative,max_relative_position=2",
    "self_attention_type=dot_product_relative_v2,max_relative_position=8",
    "self_attention_type=dot_product_relative_v2,max_relative_position=8,"
    "heads_share_relative_embedding=True,add_relative_to_values=True",
    "self_attention_type=dot_product_unmasked_relative_v2,max_relative_position=8",
    "self_attention_type=local_mask_right",
    "self_attention_type=local_relative_mask_right",
    "self_attention_type=local_relative_mask_right,heads_share_relative_embedding=True,"
    "add_relative_to_values=True",
    "self_attention_type=local_within_block_mask_right",
    "self_attention_type=local_unmasked",
    "self_attention_type=masked_dilated_1d",
    "self_attention_type=unmasked_dilated_1d",
    "hard_attention_k=3,gumbel_noise_weight=0.1",
    "attention_variables_3d=True",
    "attention_key_channels=4,attention_value_channels=12",
    "proximity_bias=True",
    "unidirectional_encoder=True",
    "causal_decoder_self_attention=False",
]
OTHERS = [
    "ffn_layer=dense_relu_dense",
    "ffn_layer=conv_hidden_relu",
    "ffn_layer=conv_relu_conv",
    "ffn_layer=conv_hidden_relu_with_sepconv",
    "ffn_layer=parameter_attention",
    "ffn_layer=none",
    "norm_type=layer",
    "norm_type=noam",
    "norm_type=l2",
    "norm_type=none",
    "layer_preprocess_sequence=none,layer_postprocess_sequence=dan",
    "layer_postprocess_sequence=dz",
    "pos=timing",
    "pos=emb",
    "pos=none",
    "pos=timing_from_features,position_features=inputs_position",
    "symbol_dropout=0.1",
    "use_pad_remover=False",
    "use_target_space_embedding=False",
    "shared_embedding_and_softmax_weights=False,shared_embedding=True",
]


@pytest.mark.parametrize("overrides", ATTENTION + OTHERS)
def test_every_variable_of_a_variant_learns(overrides: str) -> None:
    model = tiny_model(overrides=overrides)
    for variable in model.weights:
        if variable.path.endswith("gamma"):
            variable.assign(0.5)  # At its initial 0 what it is a factor of doesn't matter.
    with tf.GradientTape() as tape:
        logits = model(FEATURES, training=True, dropout_seed=tf.constant([1, 2]))
        loss = tf.reduce_sum(tf.square(logits))
    assert logits.shape == (2, 4, VOCAB) and np.all(np.isfinite(logits))
    variables = [variable.value for variable in model.trainable_variables]
    for variable, gradient in zip(model.weights, tape.gradient(loss, variables), strict=True):
        assert gradient is not None, variable.path
        assert np.abs(tf.convert_to_tensor(gradient)).max() > 0.0, variable.path


COMPILED = [
    "self_attention_type=local_relative_mask_right,add_relative_to_values=True",
    "ffn_layer=conv_hidden_relu_with_sepconv",
    "pos=timing_from_features,position_features=inputs_position:targets_position",
]


@pytest.mark.parametrize("overrides", COMPILED)
def test_xla_and_low_precision_give_the_same(overrides: str) -> None:
    model = tiny_model(overrides=overrides)

    def gradients():
        with tf.GradientTape() as tape:
            logits = model(FEATURES)
            loss = tf.reduce_sum(tf.square(logits))
        return logits, tape.gradient(loss, model.trainable_variables[-1].value)

    compiled, plain = tf.function(gradients, jit_compile=True)(), gradients()
    for actual, expected in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-4)
    low = tiny_model(overrides=overrides + ",activation_dtype=bfloat16")(FEATURES)
    np.testing.assert_allclose(low, plain[0], atol=0.1 * np.abs(plain[0]).max())


@pytest.mark.parametrize(
    "overrides, received, alternative",
    [
        ("self_attention_type=local_block", "'local_block'", "'local_relative_mask_right'"),
        ("ffn_layer=sru", "'sru'", "'conv_hidden_relu_with_sepconv'"),
        ("ffn_layer=local_moe", "'local_moe'", "'dense_relu_dense'"),
        ("ffn_layer=local_moe_tpu", "'local_moe_tpu'", "'dense_relu_dense'"),
        ("num_area_layers=1,max_area_width=3", "1", "max_area_width=1"),
        ("num_area_layers=2,max_area_height=2", "2", "supported is 0"),
        ("norm_type=batch", "'batch'", "'layer', 'noam', 'l2', 'none'"),
        ("norm_type=group", "'group'", "'layer', 'noam', 'l2', 'none'"),
        ("pos=relative", "'relative'", "'timing_from_features'"),
        ("prepend_mode=append", "'append'", "'prepend_inputs_full_attention'"),
        ("position_features=,pos=timing_from_features", "''", "inputs_position"),
    ],
)
def test_a_refusal_names_hparam_value_and_alternatives(
    overrides: str, received: str, alternative: str
) -> None:
    with pytest.raises(UnsupportedHparams) as caught:
        tiny_model(overrides=overrides)
    (name,) = caught.value.names
    message = str(caught.value)
    assert name == overrides.split("=")[0]
    assert f"Received: {received}" in message and alternative in message


POSITIONS = "pos=timing_from_features,position_features="
OF_PACKED = POSITIONS + "inputs_position:targets_position"


def test_positions_of_packed_rows_are_those_of_the_timing_signal() -> None:
    model, expected = tiny_model(overrides=OF_PACKED), tiny_model(overrides="pos=timing")
    np.testing.assert_allclose(model(PACKED_FEATURES), expected(PACKED_FEATURES), atol=1e-6)
    np.testing.assert_allclose(model(FEATURES), expected(FEATURES), atol=1e-6)


def test_a_feature_is_added_on_its_side_and_must_be_there() -> None:
    lines = np.array([[0, 0, 1, 1, 2], [3, 0, 1, 2, 0]])
    model = tiny_model(overrides=POSITIONS + "line_number")
    plain = tiny_model(overrides="pos=none")
    with_lines = model({**FEATURES, "line_number": lines})
    assert np.abs(with_lines - plain(FEATURES)).max() > 1e-3
    zeros = model({**FEATURES, "line_number": np.zeros_like(lines)})
    assert np.abs(with_lines - zeros).max() > 1e-3
    with pytest.raises(ValueError, match="line_number"):
        model(FEATURES)
    with pytest.raises(ValueError, match="line_number"):
        model.encode(FEATURES["inputs"])


def test_counted_positions_decode_step_by_step() -> None:
    check(tiny_model(overrides=OF_PACKED), FEATURES, static=True, jit_compile=False)


def test_without_an_encoder_all_features_are_the_decoders() -> None:
    model = tiny_model(overrides=POSITIONS + "line_number", input_vocab_size=None)
    targets = {"targets": FEATURES["targets"]}
    lines = np.array([[0, 0, 1, 1], [3, 0, 1, 2]])
    first, second = (model({**targets, "line_number": rows}) for rows in (lines, 2 * lines))
    assert np.abs(first - second).max() > 1e-3
    with pytest.raises(ValueError, match="line_number"):
        cache = model.init_cache(2, 1, 4)
        model.decode_step(np.ones((2, 1), np.int32), tf.constant(1), cache)


@pytest.mark.parametrize("causal", [True, False])
def test_local_attention_refuses_packed_rows(causal: bool) -> None:
    overrides = f"self_attention_type=local_unmasked,causal_decoder_self_attention={causal}"
    packed = {name: rows for name, rows in PACKED_FEATURES.items() if name.startswith("targets")}
    with pytest.raises(ValueError, match="packed"):
        tiny_model(overrides=overrides, input_vocab_size=None)(packed)
