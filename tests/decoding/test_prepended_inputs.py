"""Decoding with inputs and targets in one sequence gives what the whole sequence gives."""

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.decoding.scoring import Pair, score_pairs
from t2t_keras.decoding.search import infer, prompt_arguments
from t2t_keras.models.transformer import Transformer
from tests.models.tiny import VOCAB, fill_by_formula, tiny_hparams

INPUTS = np.array([[3, 5, 7, 4, 1], [6, 2, 1, 0, 0]], np.int32)
EXTRA = 4


def model_of(mode, overrides):
    hparams = tiny_hparams(overrides=f"prepend_mode={mode},{overrides}")
    model = Transformer(hparams, input_vocab_size=None, target_vocab_size=VOCAB)
    fill_by_formula(model)
    return model


def by_whole_sequences(model, row):
    """Greedy decoding of one row, everything computed anew for each symbol."""
    sequence = [*row, 0]
    for _ in range(EXTRA):
        # What stands at the last position does not matter: the sequence is shifted.
        logits = model({"targets": np.array([[*sequence, 2]], np.int32)})
        sequence.append(int(np.argmax(logits[0, -1])))
    return sequence[len(row) + 1 :]


@pytest.mark.parametrize("overrides", ["", "ffn_layer=conv_relu_conv"])
@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize(
    "mode", ["prepend_inputs_masked_attention", "prepend_inputs_full_attention"]
)
def test_decoding(mode, beam, overrides):
    model = model_of(mode, overrides)
    assert model.prepends_inputs and not model.has_inputs
    lengths = (INPUTS != 0).sum(1)
    result = tf.function(infer)(
        model,
        **prompt_arguments(tf.constant(INPUTS), True, model.prepends_inputs),
        beam_size=beam,
        alpha=0.0,
        decode_length=tf.constant(lengths + 1 + EXTRA, tf.int32),
        top_beams=beam,
        force_decode_length=beam == 1,
        zero_after_eos=False,
    )
    if beam > 1:
        # Every hypothesis' score is the sum over its symbols' log probabilities.
        for row in range(2):
            ids, score = result["outputs"][row, 0].numpy(), float(result["scores"][row, 0])
            sequence = [*INPUTS[row][: lengths[row]], 0, *ids[:EXTRA]]
            logits = model({"targets": np.array([sequence], np.int32)})[0]
            chosen = tf.gather(tf.nn.log_softmax(logits), sequence, axis=1, batch_dims=1)
            produced = int(np.argmax([*(ids == 1), True])) + 1 if 1 in ids else EXTRA
            start = lengths[row] + 1
            expected = float(tf.reduce_sum(chosen[start : start + produced]))
            np.testing.assert_allclose(score, expected, rtol=1e-4)
        return
    for row in range(2):
        expected = by_whole_sequences(model, INPUTS[row][: lengths[row]])
        assert result["outputs"][row, :EXTRA].numpy().tolist() == expected


def test_scores_count_only_the_targets():
    model = model_of("prepend_inputs_full_attention", "")
    (score,) = score_pairs(model, [Pair([3, 5, 1], [4, 1])])
    logits = model({"targets": np.array([[3, 5, 1, 0, 4, 1]], np.int32)})
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits([4, 1], logits[0, 4:])
    np.testing.assert_allclose(score, np.mean(losses), rtol=1e-5)
