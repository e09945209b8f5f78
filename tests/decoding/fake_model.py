"""A model small enough to be predicted by hand, with the decoding interface of the real ones."""

import numpy as np
import tensorflow as tf


class FakeModel:
    """Next-symbol logits are a table's row: (sum of inputs + sum of symbols so far) mod rows.

    The symbols so far are read from the cache, so a wrongly ordered or cut cache changes results.
    """

    def __init__(self, vocab: int = 7, rows: int = 13, seed: int = 0) -> None:
        self.table = np.random.default_rng(seed).normal(size=(rows, vocab)).astype(np.float32)
        self.target_vocab_size = vocab

    def encode(self, inputs):
        return inputs

    def decoder_memory(self, encoded):
        return {"sum": tf.reduce_sum(encoded, axis=1)}

    def init_cache(self, batch, beam, max_length):
        return {"layer_0": {"k": tf.zeros([batch, beam, 1, max_length, 1])}}

    def decode_step(self, ids, step, cache, memory):
        k = cache["layer_0"]["k"]
        is_column = tf.equal(tf.range(tf.shape(k)[3]), step)[:, None]
        k = tf.where(is_column, tf.cast(ids, tf.float32)[:, :, None, None, None], k)
        total = tf.cast(tf.reduce_sum(k, axis=[2, 3, 4]), tf.int32)
        if memory is not None:
            total += memory["sum"][:, None]
        logits = tf.gather(tf.constant(self.table), total % self.table.shape[0])
        return logits, {"layer_0": {"k": k}}

    def greedy(self, inputs, limit, prefix=()):
        """What greedy decoding of one row must give: ids up to the end symbol, log probability."""
        total, ids, log_prob = sum(inputs), [], 0.0
        for step in range(limit):
            logits = self.table[total % self.table.shape[0]]
            if step < len(prefix):
                symbol = prefix[step]
            else:
                symbol = int(logits.argmax())
                log_prob += logits[symbol] - np.log(np.exp(logits).sum())
                ids.append(symbol)
                if symbol == 1:
                    break
            total += symbol
        return ids, log_prob
