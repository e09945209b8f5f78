"""Decoding a batch with a model: greedy, sampling or beam search with a key/value cache.

`infer` is a plain TensorFlow function: the decoder calls it in a `tf.function`, the exporter puts
it into the SavedModel.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from t2t_keras.decoding.beam_search import States, SymbolsToLogits, beam_search, longest_limit
from t2t_keras.decoding.sampling import Sampling, sample

# A cache of the final size would be copied whole at every step, while most sentences end long
# before their limit. It starts with this many positions and grows by as many when it is full.
_CACHE_BLOCK = 16
# Position axis of cache tensors [batch, beam, heads, length, depth].
_CACHE_LENGTH_AXIS = 3

_FORCED_OUT = -1.0e9


def row_lengths(ids: tf.Tensor) -> tf.Tensor:
    """Int32 `[batch]`: length of each row of `ids` `[batch, length]` without right padding (0)."""
    positions = tf.range(1, tf.shape(ids)[1] + 1)
    return tf.reduce_max(tf.where(tf.not_equal(ids, 0), positions, 0), axis=1)


def row_limits(
    inputs: tf.Tensor, extra_length: int | tf.Tensor, limit_by_longest_input: bool = False
) -> tf.Tensor:
    """Int32 `[batch]`: how many symbols may be produced for each row.

    Args:
        inputs: int32 `[batch, input_length]`, right-padded with 0.
        extra_length: added to the input length (end symbol included), scalar or `[batch]`.
        limit_by_longest_input: T2T takes the length of the longest row of the batch for all rows,
            which makes a result depend on the sentences it happens to be decoded with. False (the
            default elsewhere, too) takes each row's own length.
    """
    lengths = row_lengths(inputs)
    if limit_by_longest_input:
        lengths = tf.zeros_like(lengths) + tf.shape(inputs)[1]
    return lengths + extra_length


def infer(
    model: Any,
    inputs: tf.Tensor | None,
    *,
    beam_size: int,
    alpha: float,
    decode_length: tf.Tensor,
    top_beams: int = 1,
    partial_targets: tf.Tensor | None = None,
    partial_lengths: tf.Tensor | None = None,
    max_decode_length: int | None = None,
    sampling: Sampling = Sampling(),  # noqa: B008 (immutable)
    seed: tf.Tensor | None = None,
    force_decode_length: bool = False,
    zero_after_eos: bool = True,
    trim: bool = True,
) -> dict[str, tf.Tensor]:
    """Decodes a batch.

    Args:
        model: a `Transformer` (anything with its `encode`, `decoder_memory`, `init_cache`,
            `decode_step`, `target_vocab_size`).
        inputs: int32 `[batch, input_length]`, right-padded with 0; None for a model without
            inputs, which then needs `partial_targets`.
        beam_size: 1 for greedy decoding or sampling, else the beam.
        alpha: exponent of the length penalty (beam search only).
        decode_length: int32 `[batch]` or scalar: most symbols to produce in each row, end symbol
            included; see `row_limits`. With `partial_targets` their symbols count.
        top_beams: 1, or how many of the beams to return.
        partial_targets: int32 `[batch, prefix_length]`, right-padded with 0: what each row's
            output is made to begin with. It is not part of the result.
        partial_lengths: int32 `[batch]`, number of symbols of each row's prefix; by default all but
            the padding.
        max_decode_length: static size of the buffers, at least the largest limit; needed under XLA
            where `decode_length` is not a constant.
        sampling: how symbols are chosen with a beam of one; the most likely ones by default.
            See `sampling.sampling_from_hparams`.
        seed: int32 `[2]`, makes sampling repeatable.
        force_decode_length: do not stop at the end symbol (beam of one only).
        zero_after_eos: see `sampling.sample`.
        trim: cut the result after the longest produced sequence; must be false under XLA.

    Returns:
        `outputs`: int32 `[batch, produced]`, or `[batch, top_beams, produced]` if `top_beams` > 1,
        right-padded with 0.
        `scores`: float32 `[batch]` or `[batch, top_beams]`: log probability divided by the length
        penalty; greedy and sampling: log probability.

    Raises:
        ValueError: more beams are asked for than are searched, or there is nothing to decode from.
    """
    if top_beams > beam_size:
        raise ValueError(
            f"top_beams must not exceed beam_size. Received: {top_beams} and {beam_size}"
        )
    source = inputs if inputs is not None else partial_targets
    if source is None:
        raise ValueError("Nothing to decode from: both inputs and partial_targets are None.")
    batch_size = source.shape[0] or tf.shape(source)[0]
    limits = tf.broadcast_to(tf.cast(decode_length, tf.int32), [batch_size])
    memory = None if inputs is None else model.decoder_memory(model.encode(inputs))
    if partial_targets is not None and partial_lengths is None:
        partial_lengths = row_lengths(partial_targets)
    # Growing needs shapes that change, which XLA does not have.
    grow = trim
    cache = model.init_cache(
        batch_size,
        beam_size,
        _CACHE_BLOCK if grow else longest_limit(limits, max_decode_length),
    )
    filled = partial_targets is not None and getattr(model, "prefix_sees_itself", False)
    if filled:
        if grow:
            cache = _with_room_for(cache, tf.shape(partial_targets)[1] - 1)
        cache = model.fill_cache(cache, partial_targets, partial_lengths)
    next_logits = _next_logits_fn(
        model, memory, partial_targets, partial_lengths, grow, keeps_prefix=filled
    )
    start = tf.zeros([batch_size], tf.int32)
    common: dict[str, Any] = {
        "max_decode_length": max_decode_length,
        "trim": trim,
        "state_shape_invariants": _growing_shapes(cache) if grow else None,
    }
    if beam_size == 1:
        ids, scores = sample(
            next_logits,
            start,
            limits,
            cache,
            sampling=sampling,
            seed=seed,
            force_decode_length=force_decode_length,
            zero_after_eos=zero_after_eos,
            **common,
        )
        ids, scores = ids[:, None], scores[:, None]
    else:
        ids, scores, _ = beam_search(
            next_logits,
            start,
            beam_size,
            limits,
            model.target_vocab_size,
            alpha,
            cache,
            stop_early=top_beams == 1,
            **common,
        )
    outputs = ids[:, :top_beams, 1:]
    scores = scores[:, :top_beams]
    if partial_targets is not None:
        outputs = _without_prefix(outputs, partial_lengths)
    if top_beams == 1:
        outputs, scores = outputs[:, 0], scores[:, 0]
    return {"outputs": outputs, "scores": scores}


def prompt_arguments(ids: tf.Tensor, has_inputs: bool, prepends_inputs: bool) -> dict[str, Any]:
    """How `infer` is told what to decode from.

    Args:
        ids: int32 `[batch, length]`, right-padded with 0: inputs, or prompts where the problem has
            no inputs.
        has_inputs: whether the problem has inputs.
        prepends_inputs: whether the model, which has no encoder then, wants inputs and a 0 before
            its targets (hparam `prepend_mode`).
    """
    if has_inputs and prepends_inputs:
        return {
            "inputs": None,
            "partial_targets": tf.pad(ids, [[0, 0], [0, 1]]),
            "partial_lengths": row_lengths(ids) + 1,
        }
    if has_inputs:
        return {"inputs": ids}
    return {"inputs": None, "partial_targets": ids}


def _next_logits_fn(
    model: Any,
    memory: Any,
    partial_targets: tf.Tensor | None,
    partial_lengths: tf.Tensor | None,
    grow: bool,
    keeps_prefix: bool,
) -> SymbolsToLogits:
    """`model.decode_step` in the form the searches want.

    `keeps_prefix` tells that the cache already holds the prefixes.
    """

    def next_logits(ids: tf.Tensor, step: tf.Tensor, cache: States) -> tuple[tf.Tensor, States]:
        if grow:
            cache = _with_room_for(cache, step)
        last = tf.gather(ids, step, axis=2)  # [batch, beam]
        if partial_targets is not None:
            last = _or_prefix(last, step, partial_targets, partial_lengths)
        logits, new_cache = model.decode_step(last, step, cache, memory)
        if partial_targets is not None:
            logits = _forced_logits(logits, step, partial_lengths)
            if keeps_prefix:
                in_prefix = tf.reshape(step < partial_lengths, [-1, 1, 1, 1, 1])
                new_cache = tf.nest.map_structure(
                    lambda old, new: tf.where(in_prefix, old, new), cache, new_cache
                )
        return logits, new_cache

    return next_logits


def _or_prefix(
    last: tf.Tensor, step: tf.Tensor, prefix: tf.Tensor, lengths: tf.Tensor
) -> tf.Tensor:
    """`last` `[batch, beam]`, in rows whose prefix reaches up to `step` that symbol of the prefix.

    T2T repeats the batch of prefixes once per beam, which gives beams the prefixes of other rows
    when there is more than one; here every beam gets its own row's.
    """
    column = tf.clip_by_value(step - 1, 0, tf.shape(prefix)[1] - 1)
    given = tf.gather(prefix, column, axis=1)  # [batch]
    return tf.where((step <= lengths)[:, None] & (step > 0), given[:, None], last)


def _forced_logits(logits: tf.Tensor, step: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """`logits` `[batch, beam, vocab]`, in rows whose prefix is longer than `step` symbol 0 only.

    It holds the place of the prefix's symbol, which may be an end symbol: the search would end.
    """
    placeholder = tf.zeros(tf.shape(logits)[:2], tf.int32)
    forced = tf.one_hot(placeholder, tf.shape(logits)[2], on_value=0.0, off_value=_FORCED_OUT)
    return tf.where((step < lengths)[:, None, None], forced, logits)


def _without_prefix(outputs: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """`outputs` `[batch, beams, length]` moved left by each row's prefix length `[batch]`."""
    size = tf.shape(outputs)[2]
    columns = tf.range(size) + lengths[:, None]  # [batch, length]
    padded = tf.pad(outputs, [[0, 0], [0, 0], [0, 1]])
    moved = tf.gather(
        tf.transpose(padded, [0, 2, 1]), tf.minimum(columns, size), axis=1, batch_dims=1
    )
    return tf.transpose(moved, [0, 2, 1])


def _with_room_for(cache: States, step: tf.Tensor) -> States:
    """`cache` with at least `step + 1` positions."""
    leaves = tf.nest.flatten(cache)
    missing = step + 1 - tf.shape(leaves[0])[_CACHE_LENGTH_AXIS]
    paddings = [[0, 0]] * 5
    paddings[_CACHE_LENGTH_AXIS] = [0, tf.maximum(missing, _CACHE_BLOCK)]
    grown = tf.cond(
        step < tf.shape(leaves[0])[_CACHE_LENGTH_AXIS],
        lambda: leaves,
        lambda: [tf.pad(leaf, paddings) for leaf in leaves],
    )
    for leaf, new in zip(leaves, grown, strict=True):
        new.set_shape(_growing_shape(leaf))
    return tf.nest.pack_sequence_as(cache, grown)


def _growing_shapes(cache: States) -> States:
    return tf.nest.map_structure(_growing_shape, cache)


def _growing_shape(tensor: tf.Tensor) -> tf.TensorShape:
    sizes = tensor.shape.as_list()
    sizes[_CACHE_LENGTH_AXIS] = None
    return tf.TensorShape(sizes)
