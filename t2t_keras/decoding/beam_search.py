"""Beam search over any next-symbol function.

The algorithm, its scores and its tie-breaking are those of T2T's `utils.beam_search`; the length
penalty is that of Wu et al. 2016 (https://arxiv.org/abs/1609.08144, section 7, without coverage).
The search knows nothing of models: it is given a function that turns the symbols so far into
logits, and carries that function's state (a cache, for instance) along with the hypotheses.

Shapes: `batch` rows are searched independently, each with `beam` hypotheses. All buffers have their
final size from the start (`length` = the longest row's limit + 1 for the start symbol), so that the
loop compiles under XLA whenever the batch size and the limit are static.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import tensorflow as tf

# Stands for "impossible" in scores. Not -inf: candidates that descend from an impossible hypothesis
# must stay ordered among themselves, as in T2T.
INFINITY = 1.0e7

States = Any
SymbolsToLogits = Callable[[tf.Tensor, tf.Tensor, States], tuple[tf.Tensor, States]]


class BeamState(NamedTuple):
    """Everything the loop carries from one step to the next.

    Attributes:
        step: int32 scalar, number of symbols produced so far (the start symbol not counted).
        alive_ids: int32 `[batch, beam, length]`, unfinished hypotheses, best first; start symbol
            in front, zeros after the last produced symbol.
        alive_log_probs: float32 `[batch, beam]`, sums of log probabilities (natural log).
        finished_ids: int32 `[batch, beam, length]`, best hypotheses that ended, best first.
        finished_scores: float32 `[batch, beam]`, log probability / length penalty.
        finished_flags: bool `[batch, beam]`, false for a slot nothing has filled yet.
        states: the caller's tensors `[batch, beam, ...]`, belonging to the alive hypotheses.
    """

    step: tf.Tensor
    alive_ids: tf.Tensor
    alive_log_probs: tf.Tensor
    finished_ids: tf.Tensor
    finished_scores: tf.Tensor
    finished_flags: tf.Tensor
    states: States


class Candidates(NamedTuple):
    """The 2 * beam best one-symbol extensions of a row's alive hypotheses, best first.

    Attributes:
        ids: int32 `[batch, 2 * beam, length]`.
        log_probs: float32 `[batch, 2 * beam]`.
        scores: float32 `[batch, 2 * beam]`, log_probs / length penalty.
        ended: bool `[batch, 2 * beam]`, whether the extension is the end symbol.
        parents: int32 `[batch, 2 * beam]`, index of the alive hypothesis that was extended.
    """

    ids: tf.Tensor
    log_probs: tf.Tensor
    scores: tf.Tensor
    ended: tf.Tensor
    parents: tf.Tensor


def length_penalty(length: tf.Tensor, alpha: float) -> tf.Tensor:
    """Wu et al. 2016, eq. 14: `((5 + length) / 6) ** alpha`, float32, shape of `length`."""
    return tf.pow((5.0 + tf.cast(length, tf.float32)) / 6.0, alpha)


def beam_search(
    symbols_to_logits_fn: SymbolsToLogits,
    initial_ids: tf.Tensor,
    beam_size: int,
    decode_length: int | tf.Tensor,
    vocab_size: int,
    alpha: float,
    states: States = (),
    eos_id: int = 1,
    stop_early: bool = True,
    trim: bool = True,
    max_decode_length: int | None = None,
    state_shape_invariants: States | None = None,
) -> tuple[tf.Tensor, tf.Tensor, States]:
    """Finds the best-scoring symbol sequences.

    Args:
        symbols_to_logits_fn: `(ids [batch, beam, length], step, states) -> (logits, states)`. `ids`
            are the alive hypotheses, of which columns 0 to `step` are filled; `logits` is
            `[batch, beam, vocab_size]`, unnormalised, for the symbol of column `step + 1`.
        initial_ids: int32 `[batch]`, the start symbol of each row.
        beam_size: hypotheses kept per row.
        decode_length: most symbols to produce (the start symbol not counted, the end symbol
            counted): a scalar, or int32 `[batch]` for a limit of each row's own. A row that has
            reached its limit is frozen while longer rows go on.
        vocab_size: number of symbols.
        alpha: exponent of the length penalty; 0 for none.
        states: nested structure of tensors `[batch, beam, ...]`, handed to `symbols_to_logits_fn`
            and reordered with the hypotheses. Tensors not of that form must be captured instead.
        eos_id: the end symbol.
        stop_early: stop as soon as the best sequence of every row is certain. Only the first of the
            returned sequences is then guaranteed to be what a full search finds.
        trim: cut the result after the longest produced sequence. Must be false under XLA, which
            has no shapes that depend on values; columns are then zeros up to the limit.
        max_decode_length: static size of the buffers, at least the largest limit; needed where
            shapes must be static and `decode_length` is a tensor.
        state_shape_invariants: as `tf.while_loop`'s, of the structure of `states`, for a
            `symbols_to_logits_fn` that returns states of another shape.

    Returns:
        ids: int32 `[batch, beam, produced + 1]` with the start symbol; zeros follow the end symbol.
            A row of which no hypothesis ended returns its alive ones; slots of other rows that
            nothing filled are all zeros.
        scores: float32 `[batch, beam]`, best first: log probability / length penalty for ended
            hypotheses; plain log probability in rows of which none ended (T2T's choice, and
            nothing is compared across rows); -1e7 for unfilled slots.
        states: the final states of the alive hypotheses.
    """
    row_limits = tf.broadcast_to(
        tf.cast(decode_length, tf.int32), tf.shape(initial_ids, out_type=tf.int32)
    )
    longest = longest_limit(decode_length, max_decode_length)
    state = _initial_state(initial_ids, beam_size, longest, states)

    def keep_going(state: BeamState) -> tf.Tensor:
        return (state.step < longest) & ~tf.reduce_all(
            (state.step >= row_limits) | _is_decided(state, row_limits, alpha, stop_early)
        )

    def advance(state: BeamState) -> tuple[BeamState]:
        logits, new_states = symbols_to_logits_fn(state.alive_ids, state.step, state.states)
        candidates = _best_extensions(state, logits, vocab_size, alpha, eos_id)
        alive_ids, alive_log_probs, parents = _new_alive(candidates, beam_size)
        new_state = BeamState(
            state.step + 1,
            alive_ids,
            alive_log_probs,
            *_new_finished(state, candidates, beam_size),
            states=tf.nest.map_structure(lambda t: _gather_beams(t, parents), new_states),
        )
        return (_frozen_where(state.step >= row_limits, old=state, new=new_state),)

    invariants = _shapes_of(state)
    if state_shape_invariants is not None:
        invariants = invariants._replace(states=state_shape_invariants)
    (state,) = tf.while_loop(
        keep_going, advance, (state,), shape_invariants=(invariants,), parallel_iterations=1
    )
    ids, scores = _best_of(state)
    if trim:
        ids = ids[:, :, : state.step + 1]
    return ids, scores, state.states


def longest_limit(decode_length: int | tf.Tensor, maximum: int | None = None) -> int | tf.Tensor:
    """The size of buffers for `decode_length`, a Python integer wherever that is possible."""
    if isinstance(decode_length, int):
        return decode_length
    return tf.reduce_max(decode_length) if maximum is None else maximum


def _initial_state(
    initial_ids: tf.Tensor, beam_size: int, longest: int | tf.Tensor, states: States
) -> BeamState:
    """One real hypothesis per row, the start symbol; the others are impossible ones."""
    batch_size = initial_ids.shape[0] or tf.shape(initial_ids)[0]
    first_column = tf.tile(tf.cast(initial_ids, tf.int32)[:, None, None], [1, beam_size, 1])
    zeros = tf.zeros([batch_size, beam_size, longest], tf.int32)
    log_probs = tf.constant([[0.0] + [-INFINITY] * (beam_size - 1)], tf.float32)
    return BeamState(
        step=tf.constant(0, tf.int32),
        alive_ids=tf.concat([first_column, zeros], axis=2),
        alive_log_probs=tf.tile(log_probs, [batch_size, 1]),
        finished_ids=tf.zeros([batch_size, beam_size, longest + 1], tf.int32),
        finished_scores=tf.fill([batch_size, beam_size], -INFINITY),
        finished_flags=tf.zeros([batch_size, beam_size], tf.bool),
        states=states,
    )


def _is_decided(
    state: BeamState, row_limits: tf.Tensor, alpha: float, stop_early: bool
) -> tf.Tensor:
    """Bool `[batch]`: no alive hypothesis can still enter what the row will return.

    Log probabilities only fall, and the penalty is largest at the row's limit, so the alive
    hypotheses can score no better than the best of them does at the limit.
    """
    best_possible = state.alive_log_probs[:, 0] / length_penalty(row_limits, alpha)
    if stop_early:
        return tf.reduce_max(state.finished_scores, axis=1) > best_possible
    # T2T compares with the worst finished score of the whole batch, not of the row. That never
    # changes a row's sequences, but decides how many steps are made, so it is kept.
    return tf.reduce_min(state.finished_scores) > best_possible


def _best_extensions(
    state: BeamState, logits: tf.Tensor, vocab_size: int, alpha: float, eos_id: int
) -> Candidates:
    """Extends every alive hypothesis by every symbol and keeps the 2 * beam best.

    Twice the beam, because at most half of them can have ended. The order of the float32
    operations (log probabilities are recovered from scores) is T2T's: ties depend on it.
    """
    batch_size, beam_size, _ = _shape(state.alive_ids)
    log_probs = state.alive_log_probs[:, :, None] + (
        logits - tf.reduce_logsumexp(logits, axis=2, keepdims=True)
    )  # [batch, beam, vocab]
    penalty = length_penalty(state.step + 1, alpha)
    scores, flat = tf.math.top_k(
        tf.reshape(log_probs / penalty, [batch_size, beam_size * vocab_size]), k=2 * beam_size
    )  # [batch, 2 * beam]
    parents = flat // vocab_size
    symbols = flat % vocab_size
    return Candidates(
        ids=_write_column(_gather_beams(state.alive_ids, parents), symbols, state.step + 1),
        log_probs=scores * penalty,
        scores=scores,
        ended=tf.equal(symbols, eos_id),
        parents=parents,
    )


def _new_alive(candidates: Candidates, beam_size: int) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """The best candidates that did not end: ids, log probabilities, parents."""
    scores = candidates.scores - tf.cast(candidates.ended, tf.float32) * INFINITY
    _, best = tf.math.top_k(scores, k=beam_size)
    return (
        _gather_beams(candidates.ids, best),
        _gather_beams(candidates.log_probs, best),
        _gather_beams(candidates.parents, best),
    )


def _new_finished(
    state: BeamState, candidates: Candidates, beam_size: int
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """The best of the finished hypotheses and of the candidates that ended: ids, scores, flags."""
    scores = candidates.scores - tf.cast(~candidates.ended, tf.float32) * INFINITY
    ids = tf.concat([state.finished_ids, candidates.ids], axis=1)
    flags = tf.concat([state.finished_flags, candidates.ended], axis=1)
    all_scores = tf.concat([state.finished_scores, scores], axis=1)  # [batch, 3 * beam]
    best_scores, best = tf.math.top_k(all_scores, k=beam_size)
    return _gather_beams(ids, best), best_scores, _gather_beams(flags, best)


def _frozen_where(frozen: tf.Tensor, old: BeamState, new: BeamState) -> BeamState:
    """`old` in the rows where `frozen` `[batch]`, else `new`.

    The caller's states are not frozen: nothing reads those of a frozen row again, and copying
    caches is what a search spends its time on.
    """
    rows = frozen[:, None]
    return BeamState(
        step=new.step,
        alive_ids=tf.where(rows[:, :, None], old.alive_ids, new.alive_ids),
        alive_log_probs=tf.where(rows, old.alive_log_probs, new.alive_log_probs),
        finished_ids=tf.where(rows[:, :, None], old.finished_ids, new.finished_ids),
        finished_scores=tf.where(rows, old.finished_scores, new.finished_scores),
        finished_flags=tf.where(rows, old.finished_flags, new.finished_flags),
        states=new.states,
    )


def _best_of(state: BeamState) -> tuple[tf.Tensor, tf.Tensor]:
    """Ids `[batch, beam, length]` and scores `[batch, beam]` to return."""
    any_finished = tf.reduce_any(state.finished_flags, axis=1)[:, None]  # [batch, 1]
    ids = tf.where(any_finished[:, :, None], state.finished_ids, state.alive_ids)
    scores = tf.where(any_finished, state.finished_scores, state.alive_log_probs)
    return ids, scores


def _gather_beams(tensor: tf.Tensor, indices: tf.Tensor) -> tf.Tensor:
    """`tensor[b, indices[b, j]]` for `tensor` `[batch, beam, ...]`, `indices` `[batch, j]`."""
    return tf.gather(tensor, indices, axis=1, batch_dims=1)


def _write_column(ids: tf.Tensor, symbols: tf.Tensor, column: tf.Tensor) -> tf.Tensor:
    """`ids` `[batch, beam, length]` with `symbols` `[batch, beam]` in one column."""
    is_column = tf.equal(tf.range(_shape(ids)[2]), column)
    return tf.where(is_column, symbols[:, :, None], ids)


def _shape(tensor: tf.Tensor) -> list[int | tf.Tensor]:
    """Sizes of the dimensions, Python integers where known."""
    dynamic = tf.shape(tensor)
    return [size or dynamic[axis] for axis, size in enumerate(tensor.shape)]


def _shapes_of(state: BeamState) -> BeamState:
    """The static shape of every tensor of `state`, in its structure."""
    return tf.nest.map_structure(lambda tensor: tf.convert_to_tensor(tensor).shape, state)
