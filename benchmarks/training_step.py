"""The training step that the benchmarks time: the trainer's own, on a synthetic batch."""

import time
from typing import Any, NamedTuple


class Work(NamedTuple):
    """What a step does: which model on which batch.

    Attributes:
        hparams_set: name of the set, `transformer_base` for example.
        vocabulary: size of the one vocabulary of both sides.
        sentences: in a batch.
        length: of every sentence on both sides, in tokens; nothing is padding.
        overrides: of hparams, `name=value,name=value`.
    """

    hparams_set: str = "transformer_base"
    vocabulary: int = 8192
    sentences: int = 32
    length: int = 32
    overrides: str = ""

    @property
    def target_tokens(self) -> int:
        """Target tokens of a step."""
        return self.sentences * self.length

    def hparams(self) -> Any:
        """The set's hyperparameters with the overrides."""
        from t2t_keras import hparams_lib
        from t2t_keras.hparam import HParams

        hparams = hparams_lib.create_hparams(self.hparams_set, self.overrides)
        hparams.problem_hparams = HParams(loss_multiplier=1.0)
        return hparams


def matmul_flops(work: Work) -> float:
    """Floating-point operations of a step's products with weights, multiply and add apart.

    A product of `[m, k]` and `[k, n]` takes 2·m·k·n; the backward pass takes two such products for
    each of the forward pass. So a step takes three times

        N·(E·(8·d² + 4·d·f) + D·(16·d² + 4·d·f) + 2·d·V)

    with N tokens on each side, E and D layers, width d, filter f and vocabulary V: 8·d² are the
    four projections of an attention (16·d² of two), 4·d·f the feed-forward layer, 2·d·V the logits.
    The products inside the attention heads, 4·N·length·d an attention, are left out, as is all that
    isn't a product: transformer_base on 32 × 32 tokens and 8,192 symbols takes 296 GFLOP (300 with
    the products inside the heads).
    """
    hparams = work.hparams()
    depth, filter_size = hparams.hidden_size, hparams.filter_size
    encoder_layers = hparams.num_encoder_layers or hparams.num_hidden_layers
    decoder_layers = hparams.num_decoder_layers or hparams.num_hidden_layers
    attention, feed_forward = 8 * depth**2, 4 * depth * filter_size
    per_token = (
        encoder_layers * (attention + feed_forward)
        + decoder_layers * (2 * attention + feed_forward)
        + 2 * depth * work.vocabulary
    )
    return 3.0 * work.target_tokens * per_token


def random_batch(work: Work) -> dict[str, Any]:
    """Features without padding, the same ones on every call."""
    import numpy as np
    import tensorflow as tf

    random = np.random.default_rng(0)
    shape = (work.sentences, work.length)
    return {
        name: tf.constant(random.integers(2, work.vocabulary, shape), tf.int32)
        for name in ("inputs", "targets")
    }


def make_train_step(work: Work, xla: bool) -> Any:
    """The trainer's step with a new model and the set's optimizer and schedule."""
    from t2t_keras import registry
    from t2t_keras.training.schedules import learning_rate_schedule
    from t2t_keras.training.step import TrainStep

    hparams = work.hparams()
    sizes = {"input_vocab_size": work.vocabulary, "target_vocab_size": work.vocabulary}
    model = registry.model("transformer")(hparams, **sizes)
    optimizer = registry.optimizer(hparams.optimizer)(learning_rate_schedule(hparams), hparams)
    return TrainStep(model, optimizer, hparams, jit_compile=xla)


def timed_step(step: Any, batch: dict[str, Any]) -> float:
    """Seconds from the call to the loss in hand, and so to the end of the update.

    The step's function returns when all of its graph has run, the update included.
    """
    start = time.perf_counter()
    step(batch).loss.numpy()
    return time.perf_counter() - start
