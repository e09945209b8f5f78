"""Beam search against T2T's recorded results, known answers and exhaustive search."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.decoding import beam_search as bs
from tests.reference_data import golden_path, load_golden_json

# One row whose next-symbol logits depend on the last symbol only.
LAST_SYMBOL_LOGITS = np.array(
    [
        [0.1, -1.0, 1.2, 0.3, -0.4],
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [0.2, 0.9, -0.3, 1.1, 0.4],
        [0.0, 1.5, 0.6, -0.2, 0.8],
        [-0.5, 0.4, 1.0, 0.7, 0.1],
    ],
    np.float32,
)
ALPHABET = 5


def last_column(ids, step):
    return tf.gather(ids, step, axis=2)


def by_last_symbol(table):
    """`table` [last id, vocab], the same for every row."""

    def symbols_to_logits(ids, step, states):
        return tf.gather(tf.constant(table), last_column(ids, step)), states

    return symbols_to_logits


def by_row_step_and_last_symbol(table):
    """`table` [batch, step, last id, vocab]; sums the symbols fed in states["cnt"]."""

    def symbols_to_logits(ids, step, states):
        last = last_column(ids, step)
        logits = tf.gather(tf.constant(table)[:, step], last, batch_dims=1)
        if states:
            states = {"cnt": states["cnt"] + tf.cast(last[:, :, None], tf.float32)}
        return logits, states

    return symbols_to_logits


@pytest.mark.reference
def test_equals_recorded_searches():
    cases = load_golden_json("beam_search.json")
    arrays = np.load(golden_path("beam_search.npz"))
    assert cases
    for case in cases:
        table = arrays["table|" + case["table"]]
        batch, _, _, vocab = table.shape
        beam = case["beam_size"]
        ids, scores, states = bs.beam_search(
            by_row_step_and_last_symbol(table),
            tf.constant(case["initial_ids"] or [0] * batch),
            beam,
            case["decode_length"],
            vocab,
            case["alpha"],
            {"cnt": tf.zeros([batch, beam, 1])} if case["states"] else (),
            eos_id=case["eos_id"],
            stop_early=case["stop_early"],
        )
        name = case["case"]
        np.testing.assert_array_equal(ids, arrays[name + "|sequences"], err_msg=name)
        np.testing.assert_allclose(scores, arrays[name + "|scores"], rtol=1e-5, err_msg=name)
        if case["states"]:
            np.testing.assert_array_equal(states["cnt"], arrays[name + "|state_cnt"], err_msg=name)


@pytest.mark.parametrize(
    ("beam", "limit", "alpha", "stop_early", "expected_ids", "expected_scores"),
    [
        (2, 5, 0.6, True, [[0, 2, 1, 0], [0, 2, 3, 1]], [-1.8296373, -2.2246139]),
        (2, 5, 0.6, False, [[0, 2, 1, 0], [0, 2, 3, 1]], [-1.8296373, -2.2246139]),
        (
            3,
            4,
            1.0,
            True,
            [[0, 2, 1, 0], [0, 2, 3, 1], [0, 3, 1, 0]],
            [-1.7202291, -1.9828012, -2.1048722],
        ),
        (2, 2, 0.0, True, [[0, 2, 1], [0, 3, 1]], [-2.0069342, -2.4556844]),
        # Nothing ends within one symbol: alive hypotheses, scores without length penalty.
        (2, 1, 0.6, True, [[0, 2], [0, 3]], [-0.7188833, -1.6188834]),
    ],
)
def test_known_answers(beam, limit, alpha, stop_early, expected_ids, expected_scores):
    ids, scores, _ = bs.beam_search(
        by_last_symbol(LAST_SYMBOL_LOGITS),
        tf.constant([0]),
        beam,
        limit,
        ALPHABET,
        alpha,
        stop_early=stop_early,
    )
    np.testing.assert_array_equal(ids[0], expected_ids)
    np.testing.assert_allclose(scores[0], expected_scores, rtol=1e-6)


def exhaustive_best(table, limit, alpha, eos_id=1):
    """The best-scoring sequence that ends within `limit` symbols, by trying all of them."""
    log_probs = table - np.log(np.exp(table).sum(axis=1, keepdims=True))
    vocab = table.shape[0]
    others = [symbol for symbol in range(vocab) if symbol != eos_id]
    found = []
    for length in range(1, limit + 1):
        for prefix in itertools.product(others, repeat=length - 1):
            symbols = (0, *prefix, eos_id)
            total = sum(log_probs[a, b] for a, b in itertools.pairwise(symbols))
            found.append((total / ((5 + length) / 6) ** alpha, symbols))
    return max(found)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.5])
def test_wide_beam_finds_what_exhaustive_search_finds(seed, alpha):
    vocab, limit = 4, 4
    table = np.random.default_rng(seed).normal(size=(vocab, vocab)).astype(np.float32)
    # As wide as there are prefixes: nothing can be pruned.
    width = (vocab - 1) ** limit
    ids, scores, _ = bs.beam_search(
        by_last_symbol(table), tf.constant([0]), width, limit, vocab, alpha
    )
    best_score, best_symbols = exhaustive_best(table, limit, alpha)
    assert tuple(ids.numpy()[0, 0][: len(best_symbols)]) == best_symbols
    assert scores.numpy()[0, 0] == pytest.approx(best_score, rel=1e-5)


def random_rows(batch=3, limit=7, vocab=6, seed=0):
    return np.random.default_rng(seed).normal(size=(batch, limit, vocab, vocab)).astype(np.float32)


@pytest.mark.parametrize("stop_early", [True, False])
def test_row_with_its_own_limit_is_searched_as_if_alone(stop_early):
    table = random_rows()
    limits = [7, 3, 5]
    ids, scores, _ = bs.beam_search(
        by_row_step_and_last_symbol(table),
        tf.zeros([3], tf.int32),
        3,
        tf.constant(limits),
        6,
        0.6,
        stop_early=stop_early,
        trim=False,
    )
    kept = 1 if stop_early else 3
    for row, limit in enumerate(limits):
        alone_ids, alone_scores, _ = bs.beam_search(
            by_row_step_and_last_symbol(table[row : row + 1]),
            tf.zeros([1], tf.int32),
            3,
            limit,
            6,
            0.6,
            stop_early=stop_early,
            trim=False,
        )
        np.testing.assert_array_equal(ids[row, :kept, : limit + 1], alone_ids[0, :kept])
        np.testing.assert_array_equal(ids[row, :kept, limit + 1 :], 0)
        np.testing.assert_allclose(scores[row, :kept], alone_scores[0, :kept], rtol=1e-6)


@pytest.mark.parametrize("limits", [6, [6, 2, 4]])
def test_compiled_search_equals_interpreted_one(limits):
    table = random_rows(limit=6)
    decode_length = limits if isinstance(limits, int) else tf.constant(limits)

    def search():
        return bs.beam_search(
            by_row_step_and_last_symbol(table),
            tf.zeros([3], tf.int32),
            3,
            decode_length,
            6,
            0.6,
            {"cnt": tf.zeros([3, 3, 1])},
            trim=False,
        )

    plain = tf.function(search)()
    compiled = tf.function(search, jit_compile=True)()
    np.testing.assert_array_equal(plain[0], compiled[0])
    np.testing.assert_allclose(plain[1], compiled[1], rtol=1e-6)
    np.testing.assert_array_equal(plain[2]["cnt"], compiled[2]["cnt"])


def test_works_with_unknown_batch_size_and_limit():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32), tf.TensorSpec([None], tf.int32)])
    def search(start, limits):
        return bs.beam_search(by_last_symbol(LAST_SYMBOL_LOGITS), start, 2, limits, ALPHABET, 0.6)[
            :2
        ]

    ids, _ = search(tf.constant([0, 0]), tf.constant([5, 5]))
    np.testing.assert_array_equal(ids, [[[0, 2, 1, 0], [0, 2, 3, 1]]] * 2)


def test_zero_limit_gives_the_start_symbol_only():
    ids, scores, _ = bs.beam_search(
        by_last_symbol(LAST_SYMBOL_LOGITS), tf.constant([3]), 2, 0, ALPHABET, 0.6
    )
    np.testing.assert_array_equal(ids, [[[3], [3]]])
    np.testing.assert_allclose(scores, [[0.0, -bs.INFINITY]])
