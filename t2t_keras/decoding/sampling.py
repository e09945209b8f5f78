"""Greedy decoding and sampling over any next-symbol function: one hypothesis per row.

Scores and choices are those of T2T's fast greedy decoding.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from t2t_keras.decoding.beam_search import States, SymbolsToLogits, longest_limit
from t2t_keras.hparam import HParams

# What T2T gives the logits that a top-k filter removes.
_FILTERED_LOGIT = -1.0e6

SAMPLING_METHODS = ("argmax", "random")


class Sampling(NamedTuple):
    """How the next symbol is chosen.

    Attributes:
        method: "argmax" (the most likely symbol, the lowest id on ties) or "random".
        temperature: divides the logits before a random choice.
        keep_top_k: choose among the k most likely symbols only; -1 for all.
    """

    method: str = "argmax"
    temperature: float = 1.0
    keep_top_k: int = -1


def sampling_from_hparams(hparams: HParams) -> Sampling:
    """The choice that model hparams ask for.

    Args:
        hparams: model hparams; read are `sampling_method`, `sampling_temp`, `sampling_keep_top_k`.

    Raises:
        ValueError: the method is unknown, or its numbers make no sense.
    """
    sampling = Sampling(
        hparams.get("sampling_method", "argmax"),
        hparams.get("sampling_temp", 1.0),
        hparams.get("sampling_keep_top_k", -1),
    )
    if sampling.method not in SAMPLING_METHODS:
        raise ValueError(
            f"hparam sampling_method must be one of {SAMPLING_METHODS}. "
            f"Received: {sampling.method!r}"
        )
    if sampling.keep_top_k == 0 or sampling.keep_top_k < -1:
        raise ValueError(
            "hparam sampling_keep_top_k must be positive, or -1 for no filter. "
            f"Received: {sampling.keep_top_k}"
        )
    if sampling.method == "random" and sampling.temperature <= 0:
        raise ValueError(
            "hparam sampling_temp must be positive; use sampling_method=argmax for the most likely "
            f"symbol. Received: {sampling.temperature}"
        )
    return sampling


class SamplingState(NamedTuple):
    """Everything the loop carries from one step to the next.

    Attributes:
        step: int32 scalar, number of symbols produced so far.
        ids: int32 `[batch, 1, length]`, start symbol in front, zeros after the last symbol.
        log_probs: float32 `[batch]`, log probability of the symbols up to the first end symbol.
        ended: bool `[batch]`, whether the row has produced the end symbol.
        states: the caller's tensors `[batch, 1, ...]`.
    """

    step: tf.Tensor
    ids: tf.Tensor
    log_probs: tf.Tensor
    ended: tf.Tensor
    states: States


def sample(
    symbols_to_logits_fn: SymbolsToLogits,
    initial_ids: tf.Tensor,
    decode_length: int | tf.Tensor,
    states: States = (),
    *,
    sampling: Sampling = Sampling(),  # noqa: B008 (immutable)
    seed: tf.Tensor | None = None,
    eos_id: int = 1,
    max_decode_length: int | None = None,
    force_decode_length: bool = False,
    zero_after_eos: bool = True,
    trim: bool = True,
    state_shape_invariants: States | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Produces one symbol after the other.

    Args:
        symbols_to_logits_fn: as in `beam_search`, with a beam of one.
        initial_ids: int32 `[batch]`, the start symbol of each row.
        decode_length: most symbols to produce: a scalar, or int32 `[batch]`.
        states: as in `beam_search`.
        sampling: how symbols are chosen.
        seed: int32 `[2]`, makes random choices repeatable; None draws a new one.
        eos_id: the end symbol.
        max_decode_length: as in `beam_search`.
        force_decode_length: do not stop when every row has ended.
        zero_after_eos: write zeros after the end symbol. T2T leaves there what the model goes on
            producing for as long as other rows need, so that a row's ids depend on its neighbours;
            false does the same.
        trim: cut the result after the longest produced sequence; must be false under XLA.
        state_shape_invariants: as in `beam_search`.

    Returns:
        ids: int32 `[batch, produced + 1]` with the start symbol.
        log_probs: float32 `[batch]`, log probability up to and with the first end symbol, without
            length penalty.
    """
    row_limits = tf.broadcast_to(
        tf.cast(decode_length, tf.int32), tf.shape(initial_ids, out_type=tf.int32)
    )
    longest = longest_limit(decode_length, max_decode_length)
    if seed is None:
        seed = tf.random.uniform([2], maxval=tf.int32.max, dtype=tf.int32)
    first_column = tf.cast(initial_ids, tf.int32)[:, None, None]
    batch_size = initial_ids.shape[0] or tf.shape(initial_ids)[0]
    state = SamplingState(
        step=tf.constant(0, tf.int32),
        ids=tf.concat([first_column, tf.zeros([batch_size, 1, longest], tf.int32)], axis=2),
        log_probs=tf.zeros([batch_size]),
        ended=tf.zeros([batch_size], tf.bool),
        states=states,
    )

    def keep_going(state: SamplingState) -> tf.Tensor:
        all_ended = tf.reduce_all(state.ended | (state.step >= row_limits))
        return (state.step < longest) & (force_decode_length | ~all_ended)

    def advance(state: SamplingState) -> tuple[SamplingState]:
        logits, new_states = symbols_to_logits_fn(state.ids, state.step, state.states)
        logits = logits[:, 0]  # [batch, vocab]
        chosen = choose(logits, sampling, seed + tf.stack([state.step, 0]))  # [batch]
        log_prob = tf.gather(tf.nn.log_softmax(logits), chosen, axis=1, batch_dims=1)
        counts = ~state.ended & (state.step < row_limits)
        writes = state.step < row_limits
        if zero_after_eos and not force_decode_length:
            writes &= ~state.ended
        is_column = tf.equal(tf.range(tf.shape(state.ids)[2]), state.step + 1)  # [length]
        symbols = tf.where(writes, chosen, 0)
        return (
            SamplingState(
                step=state.step + 1,
                ids=tf.where(is_column, symbols[:, None, None], state.ids),
                log_probs=state.log_probs + tf.where(counts, log_prob, 0.0),
                ended=state.ended | tf.equal(chosen, eos_id),
                states=new_states,
            ),
        )

    invariants = tf.nest.map_structure(lambda t: tf.convert_to_tensor(t).shape, state)
    if state_shape_invariants is not None:
        invariants = invariants._replace(states=state_shape_invariants)
    (state,) = tf.while_loop(
        keep_going, advance, (state,), shape_invariants=(invariants,), parallel_iterations=1
    )
    ids = state.ids[:, 0]
    return (ids[:, : state.step + 1] if trim else ids), state.log_probs


def choose(logits: tf.Tensor, sampling: Sampling, seed: tf.Tensor) -> tf.Tensor:
    """The next symbols, int32 `[batch]`, for `logits` `[batch, vocab]` and `seed` int32 `[2]`."""
    if sampling.method == "argmax":
        return tf.argmax(logits, axis=1, output_type=tf.int32)
    if sampling.keep_top_k != -1:
        logits = _filter_top_k(logits, sampling.keep_top_k)
    drawn = tf.random.stateless_categorical(
        logits / sampling.temperature, num_samples=1, seed=seed, dtype=tf.int32
    )
    return drawn[:, 0]


def _filter_top_k(logits: tf.Tensor, keep: int) -> tf.Tensor:
    """`logits` `[batch, vocab]` with all but the `keep` largest of each row made impossible."""
    if keep >= logits.shape[-1]:
        return logits
    largest, _ = tf.math.top_k(logits, k=keep + 1)
    # Not greater than the first that is to go: ties with it go too, as in T2T.
    return tf.where(logits <= largest[:, -1:], _FILTERED_LOGIT, logits)
