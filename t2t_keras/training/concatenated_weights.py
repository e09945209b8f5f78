"""Loss weights of text and translation that alternate in one sequence."""

import tensorflow as tf

from t2t_keras.text.encoders import EOS_ID

# A sentence begins with two symbols that are not to be learned: the language's name, for instance.
_NOT_LEARNED = 2


def concatenated_weights(labels: tf.Tensor) -> tf.Tensor:
    """Which labels count where sentences of source and target language take turns.

    Each sentence ends with EOS. Those with an odd number, counted from 0, are the translations: all
    but their first two symbols count (T2T's `weights_concatenated`).

    Args:
        labels: integers `[batch, length]`.

    Returns:
        float32 `[batch, length]` of ones and zeros.
    """
    ends = tf.cast(tf.equal(labels, EOS_ID), tf.int32)
    sentence = tf.cumsum(ends, axis=1, exclusive=True)
    earlier = tf.pad(sentence, [[0, 0], [_NOT_LEARNED, 0]])[:, :-_NOT_LEARNED]
    counts = tf.logical_and(sentence % 2 == 1, tf.equal(sentence, earlier))
    return tf.cast(counts, tf.float32)
