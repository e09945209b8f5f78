import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.layers.dropout import Dropout, keep_mask, parse_broadcast_dims, random_bits

SEED = tf.constant([12345, 678], tf.int32)


def test_without_seed_nothing_happens() -> None:
    x = np.ones((3, 4), np.float32)
    np.testing.assert_array_equal(Dropout(0.5, site=0)(x), x)


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.9])
def test_share_of_zeros_and_scale(rate: float) -> None:
    dropped = Dropout(rate, site=3)(np.ones((400, 500), np.float32), dropout_seed=SEED).numpy()
    # Four standard deviations of a binomial share.
    assert abs((dropped == 0).mean() - rate) < 4 * np.sqrt(rate * (1 - rate) / dropped.size)
    np.testing.assert_allclose(np.unique(dropped[dropped > 0]), 1 / (1 - rate), rtol=1e-4)


@pytest.mark.parametrize("shape", [(7,), (3, 5, 9), (2, 4, 5, 8), (1,)])
def test_the_same_with_and_without_xla_and_for_dynamic_shapes(shape) -> None:
    layer = Dropout(0.4, site=11)
    x = tf.ones(shape)
    plain = layer(x, dropout_seed=SEED)
    compiled = tf.function(lambda x, s: layer(x, dropout_seed=s), jit_compile=True)(x, SEED)
    np.testing.assert_array_equal(plain, compiled)
    dynamic = tf.function(
        lambda x: layer(x, dropout_seed=SEED),
        input_signature=[tf.TensorSpec([None] * len(shape), tf.float32)],
    )
    np.testing.assert_array_equal(plain, dynamic(x))


def test_masks_of_steps_replicas_and_sites_are_unrelated() -> None:
    def mask(step, replica, site):
        seed = tf.constant([step, replica], tf.int32)
        return keep_mask((100_000,), 0.5, seed, site).numpy().astype(float)

    masks = [mask(step, replica, site) for step in (0, 1) for replica in (0, 1) for site in (0, 1)]
    correlation = np.corrcoef(masks) - np.eye(len(masks))
    assert np.abs(correlation).max() < 5 / np.sqrt(100_000)


@pytest.mark.parametrize("rate", [0.1, 0.5])
def test_rows_columns_and_corners_of_a_mask_are_unrelated(rate: float) -> None:
    rows, columns = 1024, 256
    mask = keep_mask((rows, columns), rate, SEED, 7).numpy()
    # Mean 0 and variance 1.
    values = (mask - (1 - rate)) / np.sqrt(rate * (1 - rate))
    of_columns = (values.T @ values / np.sqrt(rows))[np.triu_indices(columns, 1)]
    of_rows = (values @ values.T / np.sqrt(columns))[np.triu_indices(rows, 1)]
    for related in (of_columns, of_rows):
        assert abs(related.std() - 1) < 0.05
        assert np.abs(related).max() < 7
    # A mask made of what rows and columns have apart would show in the products of four corners.
    corners = values[:-1, :-1] * values[1:, :-1] * values[:-1, 1:] * values[1:, 1:]
    assert abs(corners.mean()) * np.sqrt(corners.size) < 5


def test_neighbouring_bits_are_unrelated_and_uniform() -> None:
    bits = random_bits(tf.constant(200_000), SEED, 5).numpy()
    counts = np.bincount(bits >> 8, minlength=256)
    # Chi-squared with 255 degrees of freedom: mean 255, deviation 22.6.
    expected = bits.size / 256
    assert abs(((counts - expected) ** 2 / expected).sum() - 255) < 5 * 22.6
    for distance in (1, 2, 3, 64, 512):
        related = np.corrcoef(bits[:-distance], bits[distance:])[0, 1]
        assert abs(related) < 5 / np.sqrt(bits.size)


def test_count_may_be_odd() -> None:
    longer = random_bits(tf.constant(8), SEED, 0)
    np.testing.assert_array_equal(random_bits(tf.constant(7), SEED, 0), longer[:7])


@pytest.mark.parametrize("dims", [(1,), (-2,), (0, 1)])
def test_broadcast_dims_share_one_decision(dims) -> None:
    x = np.ones((4, 6, 50), np.float32)
    dropped = Dropout(0.5, site=1, broadcast_dims=dims)(x, dropout_seed=SEED).numpy()
    for axis in dims:
        first = np.take(dropped, [0], axis=axis)
        np.testing.assert_array_equal(dropped, np.broadcast_to(first, dropped.shape))
    assert 0 < (dropped == 0).mean() < 1


def test_gradient_goes_through_kept_values_only() -> None:
    x = tf.Variable(np.ones((10, 10), np.float32))
    with tf.GradientTape() as tape:
        y = Dropout(0.3, site=2)(x, dropout_seed=SEED)
    np.testing.assert_array_equal(tape.gradient(y, x), y)


def test_arguments_are_checked() -> None:
    assert parse_broadcast_dims("") == ()
    assert parse_broadcast_dims("0,-1") == (0, -1)
    with pytest.raises(ValueError, match="Received: 'a'"):
        parse_broadcast_dims("a")
    with pytest.raises(ValueError, match=r"\[0, 1\)"):
        Dropout(1.0, site=0)
