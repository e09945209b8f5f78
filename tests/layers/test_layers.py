"""Properties of layers that need no recorded data."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.layers import masks, positions
from t2t_keras.layers.attention import MultiHeadAttention
from t2t_keras.layers.dense import Dense
from t2t_keras.layers.dot_product import DotProductAttention
from t2t_keras.layers.embedding import SymbolTable
from t2t_keras.layers.initializers import NAMES, initializer_factory
from t2t_keras.layers.normalization import make_norm
from t2t_keras.layers.sublayer import Processing


def test_timing_signal_layout() -> None:
    signal = positions.timing_signal_at(np.arange(3), 6)
    expected = [
        [0, 0, 0, 1, 1, 1],
        [0.8414710, 0.0099998, 0.0001, 0.5403023, 0.9999500, 1.0],
        [0.9092974, 0.0199987, 0.0002, -0.4161468, 0.9998000, 1.0],
    ]
    np.testing.assert_allclose(signal, expected, atol=1e-6)


@pytest.mark.parametrize("channels", [1, 2, 3, 4, 7])
def test_timing_signal_of_any_width_is_finite(channels: int) -> None:
    signal = positions.timing_signal_at(np.array([[0, 1, 5]]), channels)
    assert signal.shape == (1, 3, channels)
    assert np.all(np.isfinite(signal))


def test_padding_embeds_to_zero_and_the_scale_is_the_root_of_the_depth() -> None:
    table = SymbolTable(5, 16)
    table.build()
    vectors = table.embed(np.array([[2, 0]]))
    np.testing.assert_allclose(vectors[0, 0], table.table[2] * 4.0, rtol=1e-6)
    np.testing.assert_array_equal(vectors[0, 1], np.zeros(16))


def test_causal_row_is_the_row_of_the_square() -> None:
    square = masks.causal_bias(5) + masks.proximity_bias(5)
    for step in range(5):
        row = masks.decode_step_bias(tf.constant(step), 5, proximity=True)
        np.testing.assert_allclose(row, square[0, 0, step], rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_initializers(name: str) -> None:
    factory = initializer_factory(name, 2.0)
    first, second = factory()((60, 80)), factory()((60, 80))
    assert np.abs(first - second).max() > 1e-3
    if name.endswith("unit_scaling"):
        np.testing.assert_allclose(np.std(first), np.sqrt(2.0 / 70), rtol=0.06)
    if name == "uniform":
        assert 0.19 < np.abs(first).max() <= 0.2


def test_unknown_initializer_names_a_near_one() -> None:
    with pytest.raises(ValueError, match="Did you mean 'orthogonal'"):
        initializer_factory("orthogonals")


def test_norm_numbers_and_unknown_norms() -> None:
    layer = Processing(4, postprocess="nan").make_postprocess()
    layer.build()
    assert [variable.path.split("/")[1] for variable in layer.weights] == [
        "layer_norm",
        "layer_norm",
        "layer_norm_1",
        "layer_norm_1",
    ]
    with pytest.raises(ValueError, match="batch"):
        make_norm("batch", 4)


def test_sequences_reject_unknown_letters() -> None:
    with pytest.raises(ValueError, match="'x'"):
        Processing(4, postprocess="x").make_postprocess()
    with pytest.raises(ValueError, match="'a'"):
        Processing(4, preprocess="a").make_preprocess()


def test_sites_of_one_model_differ() -> None:
    processing = Processing(4, postprocess="dad", dropout=0.5)
    layers = [processing.make_postprocess() for _ in range(2)]
    sites = [step.site for layer in layers for step in layer.steps if step is not None]
    assert len(sites) == len(set(sites)) == 4


def test_dense_gradient_of_a_batch_is_one_matrix_product() -> None:
    layer = Dense(3, 2)
    layer.build()
    x = np.random.default_rng(0).normal(size=(4, 5, 3)).astype(np.float32)
    with tf.GradientTape() as tape:
        y = layer(x)
    gradient = tape.gradient(y, layer.kernel.value)
    np.testing.assert_allclose(gradient[:, 0], x.sum((0, 1)), rtol=1e-5)
    np.testing.assert_allclose(y, x @ layer.kernel.numpy() + layer.bias.numpy(), rtol=1e-5)


def test_attention_dropout_is_on_the_weights() -> None:
    layer = MultiHeadAttention(8, 2, inner=DotProductAttention(dropout=0.5))
    layer.build()
    x = keras.random.normal((2, 5, 8))
    seed = tf.constant([1, 2])
    assert np.abs(layer(x, dropout_seed=seed) - layer(x)).max() > 1e-3
    np.testing.assert_array_equal(layer(x, dropout_seed=seed), layer(x, dropout_seed=seed))
