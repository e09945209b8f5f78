"""Decoding step by step gives the logits of the whole targets at once."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.tiny import FEATURES, VOCAB, tiny_model

BEAM = 3

MODELS = {
    "pre_norm": ("transformer_base", "", VOCAB),
    "post_norm": ("transformer_base_v1", "", VOCAB),
    "separate_depths": (
        "transformer_base",
        "attention_key_channels=4,attention_value_channels=6",
        VOCAB,
    ),
    "learned_positions": ("transformer_base", "pos=emb", VOCAB),
    "no_positions": ("transformer_base", "pos=none", VOCAB),
    "language_model": ("transformer_base", "", None),
    "convolution": ("transformer_base", "ffn_layer=conv_relu_conv,conv_first_kernel=4", VOCAB),
    "separable_convolutions": (
        "transformer_base",
        "ffn_layer=conv_hidden_relu_with_sepconv",
        VOCAB,
    ),
    "parameters_attended": (
        "transformer_base",
        "ffn_layer=parameter_attention,parameter_attention_value_channels=4",
        VOCAB,
    ),
    "no_feed_forward": ("transformer_base", "ffn_layer=none", VOCAB),
    "three_axes": ("transformer_base", "attention_variables_3d=True", VOCAB),
    "hard_attention": ("transformer_base", "hard_attention_k=3", VOCAB),
    "relative": ("transformer_relative", "max_relative_position=2", VOCAB),
    "relative_v2": (
        "transformer_base",
        "self_attention_type=dot_product_relative_v2,max_relative_position=3",
        None,
    ),
    "relative_v2_values": (
        "transformer_base",
        "self_attention_type=dot_product_relative_v2,max_relative_position=2,"
        "heads_share_relative_embedding=True,add_relative_to_values=True",
        VOCAB,
    ),
    "relative_v2_both_ways": (
        "transformer_base",
        "self_attention_type=dot_product_unmasked_relative_v2,max_relative_position=3,"
        "add_relative_to_values=True",
        VOCAB,
    ),
    "local": ("transformer_base", "self_attention_type=local_mask_right", VOCAB),
    "local_both_ways": ("transformer_base", "self_attention_type=local_unmasked", VOCAB),
    "within_blocks": (
        "transformer_base",
        "self_attention_type=local_within_block_mask_right",
        None,
    ),
    "local_relative": ("transformer_base", "self_attention_type=local_relative_mask_right", VOCAB),
    "local_relative_values": (
        "transformer_base",
        "self_attention_type=local_relative_mask_right,add_relative_to_values=True,"
        "heads_share_relative_embedding=True",
        None,
    ),
    "dilated": ("transformer_base", "self_attention_type=masked_dilated_1d", None),
    "near_positions_favoured": ("transformer_base", "proximity_bias=True", None),
}


def stepped_logits(model, features, beam, static):
    """Logits `[batch, beam, length, vocab]`, one `decode_step` a position in one while loop."""
    targets = features["targets"]
    batch, length = targets.shape if static else tf.unstack(tf.shape(targets))
    memory = None
    if model.has_inputs:
        memory = model.decoder_memory(model.encode(features["inputs"]))

    def body(step, cache, collected):
        # At step 0 the model must ignore the ids: it gets real ones.
        last = targets[:, tf.maximum(step - 1, 0)]
        logits, cache = model.decode_step(tf.repeat(last[:, None], beam, 1), step, cache, memory)
        return step + 1, cache, collected.write(step, logits)

    collected = tf.TensorArray(tf.float32, length)
    loop = (tf.constant(0), model.init_cache(batch, beam, length), collected)
    _, _, collected = tf.while_loop(lambda step, *_: step < length, body, loop)
    return tf.transpose(collected.stack(), [1, 2, 0, 3])


def check(model, features, static, jit_compile):
    signature = {
        name: tf.TensorSpec(value.shape if static else [None, None], tf.int32)
        for name, value in features.items()
    }
    function = tf.function(
        lambda features: stepped_logits(model, features, BEAM, static),
        input_signature=[signature],
        jit_compile=jit_compile,
    )
    stepped = function({name: tf.constant(value) for name, value in features.items()})
    whole = model(features)
    for hypothesis in range(BEAM):
        np.testing.assert_allclose(stepped[:, hypothesis], whole, atol=1e-5)


@pytest.mark.parametrize("kind", MODELS)
def test_steps_equal_the_whole(kind: str) -> None:
    hparams_set, overrides, input_vocab_size = MODELS[kind]
    # So short that the targets are several blocks.
    block_length = {"local_attention_block_length": 2 if "dilated" not in overrides else 1}
    model = tiny_model(
        hparams_set, overrides, input_vocab_size=input_vocab_size, declare=block_length
    )
    features = dict(FEATURES)
    if input_vocab_size is None:
        del features["inputs"]
    check(model, features, static=True, jit_compile=False)


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("jit_compile", [True, False])
def test_shapes_and_compilers(static: bool, jit_compile: bool) -> None:
    check(tiny_model(), FEATURES, static, jit_compile)


def test_hypotheses_are_independent() -> None:
    model = tiny_model()
    memory = model.decoder_memory(model.encode(FEATURES["inputs"]))
    cache = model.init_cache(2, 2, 4)
    _, cache = model.decode_step(np.zeros((2, 2), np.int32), tf.constant(0), cache, memory)
    logits, _ = model.decode_step(np.array([[4, 8], [4, 8]]), tf.constant(1), cache, memory)
    for hypothesis, first in enumerate([4, 8]):
        targets = np.array([[first, 1], [first, 1]], np.int32)
        whole = model({"inputs": FEATURES["inputs"], "targets": targets})
        np.testing.assert_allclose(logits[:, hypothesis], whole[:, 1], atol=1e-5)


def test_padding_of_inputs_has_no_effect() -> None:
    model = tiny_model()
    padded = np.pad(FEATURES["inputs"], ((0, 0), (0, 3)))
    np.testing.assert_allclose(
        model({"inputs": padded, "targets": FEATURES["targets"]}), model(FEATURES), atol=1e-5
    )
