import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.decoding import scoring
from t2t_keras.text.encoders import ByteTextEncoder

VOCABULARY = {"inputs": ByteTextEncoder(), "targets": ByteTextEncoder()}


def model(features, training):
    """Logits that depend on the row's inputs and on the position."""
    assert not training
    weights = tf.range(1.0, tf.cast(tf.shape(features["targets"])[1], tf.float32) + 1.0)
    total = tf.cast(
        tf.reduce_sum(features.get("inputs", tf.zeros([1, 1], tf.int32)), axis=1), float
    )
    angles = (total[:, None] + weights)[:, :, None] * tf.range(258.0)
    return tf.sin(angles + tf.cast(features["targets"], tf.float32)[:, :, None] * 0.0)


def expected(inputs, targets):
    losses = []
    for position, target in enumerate(targets, start=1):
        logits = np.sin((sum(inputs) + position) * np.arange(258.0))
        losses.append(np.log(np.exp(logits).sum()) - logits[target])
    return np.mean(losses)


def test_scores_are_mean_negative_log_likelihoods(tmp_path):
    (tmp_path / "in").write_text("a\tbcd\nlonger in\tx\n\ty\nä\t\n", encoding="utf-8")
    scores = scoring.score_file(model, VOCABULARY, str(tmp_path / "in"), str(tmp_path / "out"))
    pairs = scoring.read_pairs(str(tmp_path / "in"), VOCABULARY)
    assert [len(pair.targets) for pair in pairs] == [4, 2, 2, 1]
    np.testing.assert_allclose(scores, [expected(*pair) for pair in pairs], rtol=1e-3)
    assert (tmp_path / "out").read_text() == "".join(f"{score:.6f}\n" for score in scores)


@pytest.mark.parametrize("line", ["only inputs", "a\tb\tc"])
def test_malformed_lines_are_named(tmp_path, line):
    (tmp_path / "in").write_text(f"a\tb\n{line}\n")
    with pytest.raises(ValueError, match="line 2.*Received"):
        scoring.read_pairs(str(tmp_path / "in"), VOCABULARY)


def test_targets_alone_where_there_are_no_inputs(tmp_path):
    (tmp_path / "in").write_text("ab\nc\n")
    vocabulary = {"targets": ByteTextEncoder()}
    pairs = scoring.read_pairs(str(tmp_path / "in"), vocabulary)
    assert [(len(pair.inputs), len(pair.targets)) for pair in pairs] == [(0, 3), (0, 2)]
    scores = scoring.score_pairs(model, pairs)
    np.testing.assert_allclose(scores, [expected(*pair) for pair in pairs], rtol=1e-3)
