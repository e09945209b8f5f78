"""Decoding a tiny Transformer with made-up weights gives the ids and scores T2T gets."""

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.decoding.search import infer, row_limits
from t2t_keras.models.transformer import Transformer

INPUTS = tf.constant([[3, 5, 7, 4, 1], [6, 2, 9, 1, 0]])
SMALL = "hidden_size=8,filter_size=16,num_heads=2,num_hidden_layers=2,symbol_modality_num_shards=1"


def tiny_model(hparams_set, overrides=""):
    """Weights: element i of variable number j, by name, is 0.3 sin(0.37 i + 1.3 j)."""
    hparams = registry.hparams(hparams_set)
    hparams.parse(",".join(filter(None, [SMALL, overrides])))
    model = Transformer(hparams, input_vocab_size=11, target_vocab_size=11, target_space_id=0)
    for j, variable in enumerate(sorted(model.weights, key=lambda variable: variable.path)):
        i = np.arange(np.prod(variable.shape))
        value = 0.3 * np.sin(0.37 * i + 1.3 * j) + variable.path.endswith("layer_norm_scale")
        variable.assign(value.reshape(variable.shape).astype(np.float32))
    return model


# The set transformer_relative, with a shorter range.
RELATIVE = "pos=none,self_attention_type=dot_product_relative,max_relative_position=2"

CASES = [
    # set, overrides, beam, top beams, alpha, extra length, ids, scores
    (
        "transformer_base", "", 1, 1, 0.0, 4,
        [[7, 7, 9, 9, 7, 7, 7, 7, 9], [7] * 9], [-14.5642061, -14.4528818],
    ),
    # Nothing ends: log probabilities without length penalty.
    ("transformer_base", "", 2, 1, 0.6, 2, [[7] * 7] * 2, [-11.3044348, -11.2334681]),
    ("transformer_base", "", 4, 1, 0.6, 4, [[1, 0, 0]] * 2, [-2.1936078, -2.1686532]),
    (
        "transformer_base", "", 4, 4, 0.6, 4,
        [[[1] + [0] * 8] + [[0] * 9] * 3] * 2,
        [[-2.1936078, -1e7, -1e7, -1e7], [-2.1686532, -1e7, -1e7, -1e7]],
    ),
    ("transformer_base", "", 3, 1, 0.0, 3, [[1, 0]] * 2, [-2.1936078, -2.1686532]),
    ("transformer_base_v1", "", 1, 1, 0.0, 4, [[9] * 9] * 2, [-10.3563137, -10.2645788]),
    ("transformer_base_v1", "", 4, 1, 0.6, 4, [[1, 0, 0, 0, 0]] * 2, [-3.3635423, -3.4110234]),
    (
        "transformer_base", RELATIVE, 3, 1, 0.6, 4,
        [[1, 0, 0]] * 2, [-2.4759092, -2.4924581],
    ),
    # T2T decodes this one without a cache and gives no scores.
    ("transformer_base", RELATIVE, 1, 1, 0.0, 4, [[10] * 9] * 2, None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("hparams_set", "overrides", "beam", "top", "alpha", "extra_length", "ids", "scores"), CASES
)
def test_equals_t2t(hparams_set, overrides, beam, top, alpha, extra_length, ids, scores):
    model = tiny_model(hparams_set, overrides)
    result = tf.function(infer)(
        model,
        INPUTS,
        beam_size=beam,
        alpha=alpha,
        top_beams=top,
        decode_length=row_limits(INPUTS, extra_length, limit_by_longest_input=True),
    )
    np.testing.assert_array_equal(result["outputs"], ids)
    if scores is not None:
        np.testing.assert_allclose(result["scores"], scores, rtol=1e-5)
