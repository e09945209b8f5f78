"""Builds subword vocabularies from token counts: T2T's algorithm, bit for bit, with NumPy.

One build: starting from single characters, repeat a few times: cut every escaped token with the
current vocabulary, count every string that begins where a piece begins, and make the frequent
strings the next vocabulary. A string's count does not include the occurrences that a longer chosen
string with the same beginning already accounts for.

The counts can only fall from one iteration to the next, since the first one counts the strings at
every character. So strings that are too rare in the first iteration are dropped for good, and their
extensions are never looked at. What remains is numbered once; an iteration is then a few array
operations instead of millions of dictionary updates.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from absl import logging

from t2t_keras.text import tokenizer
from t2t_keras.text.encoders import RESERVED_TOKENS
from t2t_keras.text.subwords import ESCAPE_CHARS, SubwordTextEncoder, escape_token


def build_from_generator(
    generator: Iterable[str],
    target_vocab_size: int,
    max_subtoken_length: int | None = None,
    reserved_tokens: Sequence[str] | None = None,
) -> SubwordTextEncoder:
    """Builds a vocabulary of about the wanted size from texts.

    Args:
      generator: the texts.
      target_vocab_size: the wanted number of subtokens.
      max_subtoken_length: see `build_from_token_counts`.
      reserved_tokens: see `build_from_token_counts`.

    Returns:
      The encoder.
    """
    return build_to_target_size(
        target_vocab_size,
        tokenizer.count_tokens(generator),
        1,
        1e3,
        max_subtoken_length=max_subtoken_length,
        reserved_tokens=reserved_tokens,
    )


def build_to_target_size(
    target_size: int,
    token_counts: Mapping[str, int],
    min_val: float,
    max_val: float,
    max_subtoken_length: int | None = None,
    reserved_tokens: Sequence[str] | None = None,
    num_iterations: int = 4,
) -> SubwordTextEncoder:
    """Builds a vocabulary of about the wanted size, by bisection over the minimum count.

    The search ends within 1 % of the wanted size, or when the bounds meet; the closest vocabulary
    met on the way is the result.

    Args:
      target_size: the wanted number of subtokens.
      token_counts: occurrences of each token.
      min_val: smallest minimum count to try.
      max_val: largest minimum count to try.
      max_subtoken_length: see `build_from_token_counts`.
      reserved_tokens: see `build_from_token_counts`.
      num_iterations: see `build_from_token_counts`.

    Returns:
      The encoder.

    Raises:
      ValueError: the bounds or the size make no sense.
    """
    if min_val > max_val:
        raise ValueError(
            "The lower bound of the minimum count exceeds the upper one. "
            f"Received: min_val={min_val}, max_val={max_val}"
        )
    if target_size < 1:
        raise ValueError(f"The vocabulary size must be positive. Received: {target_size}")
    corpus = _Corpus(token_counts, _checked_reserved_tokens(reserved_tokens))

    def search(low: float, high: float) -> list[str]:
        # With the usual float upper bound, middles are floats, as in T2T; comparisons don't care.
        middle = (low + high) // 2
        subtokens = corpus.build(middle, num_iterations, max_subtoken_length)
        size = len(subtokens)
        logging.info("Minimum count %g gives %d subtokens; wanted: %d", middle, size, target_size)
        if abs(size - target_size) * 100 < target_size or low >= high or middle < 2:
            return subtokens
        bounds = (middle + 1, high) if size > target_size else (low, middle - 1)
        other = search(*bounds)
        closer = abs(len(other) - target_size) < abs(size - target_size)
        return other if closer else subtokens

    return SubwordTextEncoder.from_subtokens(search(min_val, max_val))


def build_from_token_counts(
    token_counts: Mapping[str, int],
    min_count: float,
    num_iterations: int = 4,
    reserved_tokens: Sequence[str] | None = None,
    max_subtoken_length: int | None = None,
) -> SubwordTextEncoder:
    """Builds the vocabulary of all strings that are frequent enough.

    Args:
      token_counts: occurrences of each token.
      min_count: how often a string of several characters must occur; at least 1 is used.
      num_iterations: how often the vocabulary is refined, at least once.
      reserved_tokens: the first entries, beginning with `<pad>` and `<EOS>`. None: these two.
      max_subtoken_length: limit of the length in characters. As in T2T the longest string is one
        character shorter. None: no limit.

    Returns:
      The encoder.

    Raises:
      ValueError: the reserved tokens begin differently, or a number is out of range.
    """
    corpus = _Corpus(token_counts, _checked_reserved_tokens(reserved_tokens))
    return SubwordTextEncoder.from_subtokens(
        corpus.build(min_count, num_iterations, max_subtoken_length)
    )


def _checked_reserved_tokens(reserved_tokens: Sequence[str] | None) -> list[str]:
    if reserved_tokens is None:
        return list(RESERVED_TOKENS)
    # A list of one or no token passes, as in T2T.
    if any(
        given != wanted for given, wanted in zip(reserved_tokens, RESERVED_TOKENS, strict=False)
    ):
        raise ValueError(
            f"Reserved tokens must begin with {RESERVED_TOKENS}; put your own after these. "
            f"Received: {list(reserved_tokens)}"
        )
    return list(reserved_tokens)


class _Level(NamedTuple):
    """The strings of one length that are frequent enough at every character, as numbers.

    n is the number of occurrences, m the number of different strings.

    Attributes:
      positions: `[n]` where they begin in the corpus.
      strings: `[n]` which of the m strings each one is.
      parents: `[m]` number, one level up, of the string without the last character.
      counts: `[m]` weighted number of occurrences.
    """

    positions: np.ndarray
    strings: np.ndarray
    parents: np.ndarray
    counts: np.ndarray


class _Corpus:
    """All tokens, escaped and one after the other, as arrays over the characters."""

    def __init__(self, token_counts: Mapping[str, int], reserved_tokens: list[str]) -> None:
        self._alphabet = ESCAPE_CHARS.union(*token_counts, *reserved_tokens)
        self._reserved = [escape_token(token, self._alphabet) for token in reserved_tokens]
        escaped = [escape_token(token, self._alphabet) for token in token_counts]
        self._text = "".join(escaped)
        lengths = np.fromiter(map(len, escaped), np.int64, len(escaped))
        ends = np.cumsum(lengths)
        self._token_starts = ends - lengths
        # How many characters of its token are left at each position, this one included.
        self._left = np.repeat(ends, lengths) - np.arange(len(self._text))
        counts = np.fromiter(token_counts.values(), np.int64, len(escaped))
        self._weights = np.repeat(counts, lengths)
        codes = np.frombuffer(self._text.encode("utf-32-le", "surrogatepass"), np.uint32)
        self._distinct, self._chars = np.unique(codes, return_inverse=True)
        self._reserved_matches = [
            (len(token), self._find(token)) for token in self._reserved if token in self._text
        ]

    def build(
        self, min_count: float, num_iterations: int, max_subtoken_length: int | None
    ) -> list[str]:
        """The subtokens in the order of their ids; see `build_from_token_counts`."""
        if num_iterations < 1 or (max_subtoken_length is not None and max_subtoken_length < 1):
            raise ValueError(
                "A vocabulary needs at least one iteration and one character. Received: "
                f"num_iterations={num_iterations}, max_subtoken_length={max_subtoken_length}"
            )
        min_count = max(min_count, 1)
        longest = len(self._text)
        if max_subtoken_length is not None:
            # The limit itself is excluded, as in T2T.
            longest = max_subtoken_length - 1
        levels = self._levels(min_count, longest)
        counts = [level.counts for level in levels]
        chosen, rest = _choose(levels, counts, min_count)
        for _ in range(num_iterations - 1):
            is_start = self._piece_starts(levels, chosen)
            counts = [self._weighted_counts(level, is_start) for level in levels]
            chosen, rest = _choose(levels, counts, min_count)
        return self._reserved + self._sorted_strings(levels, chosen, rest)

    def _find(self, token: str) -> np.ndarray:
        """Where an escaped token occurs; occurrences can't overlap, `_` being at its end only."""
        found = []
        position = self._text.find(token)
        while position >= 0:
            found.append(position)
            position = self._text.find(token, position + len(token))
        return np.array(found, np.int64)

    def _levels(self, min_count: float, longest: int) -> list[_Level]:
        """One level for each length, with strings that occur at least `min_count` times.

        The first level has all characters, however rare.
        """
        if longest < 1:
            return []
        chars = len(self._distinct)
        counts = _bincount(self._chars, self._weights, chars)
        positions = np.arange(len(self._text))
        levels = [_Level(positions, self._chars, np.zeros(chars, np.int64), counts)]
        for length in range(1, longest):
            above = levels[-1]
            extendible = (self._left[above.positions] > length) & (above.counts >= min_count)[
                above.strings
            ]
            positions = above.positions[extendible]
            keys = above.strings[extendible] * chars + self._chars[positions + length]
            distinct, strings = np.unique(keys, return_inverse=True)
            counts = _bincount(strings, self._weights[positions], len(distinct))
            frequent = counts >= min_count
            if not frequent.any():
                break
            kept = frequent[strings]
            renumbered = np.cumsum(frequent) - 1
            levels.append(
                _Level(
                    positions[kept],
                    renumbered[strings[kept]],
                    distinct[frequent] // chars,
                    counts[frequent],
                )
            )
        return levels

    def _piece_starts(self, levels: list[_Level], chosen: list[np.ndarray]) -> np.ndarray:
        """`[characters]` whether a piece begins there when all tokens are cut into pieces."""
        piece_lengths = np.ones(len(self._text), np.int64)
        for length, (level, is_chosen) in enumerate(zip(levels, chosen, strict=True), start=1):
            if length > 1:
                piece_lengths[level.positions[is_chosen[level.strings]]] = length
        for length, positions in self._reserved_matches:
            piece_lengths[positions] = np.maximum(piece_lengths[positions], length)
        is_start = np.zeros(len(self._text), bool)
        positions = self._token_starts
        while positions.size:
            is_start[positions] = True
            lengths = piece_lengths[positions]
            positions = (positions + lengths)[self._left[positions] > lengths]
        return is_start

    def _weighted_counts(self, level: _Level, is_start: np.ndarray) -> np.ndarray:
        """`[m]` weighted number of occurrences of a level's strings at starts of pieces."""
        counted = is_start[level.positions]
        weights = self._weights[level.positions[counted]]
        return _bincount(level.strings[counted], weights, len(level.counts))

    def _sorted_strings(
        self, levels: list[_Level], chosen: list[np.ndarray], rest: list[np.ndarray]
    ) -> list[str]:
        """Chosen strings and the alphabet, by descending count, then descending string."""
        counted = dict.fromkeys(self._alphabet, 0)
        for length, level in enumerate(levels, start=1):
            occurrence = np.zeros(len(level.counts), np.int64)
            occurrence[level.strings] = level.positions
            for index in (
                range(len(level.counts)) if length == 1 else np.flatnonzero(chosen[length - 1])
            ):
                start = int(occurrence[index])
                counted[self._text[start : start + length]] = int(rest[length - 1][index])
        pairs = sorted(((count, string) for string, count in counted.items()), reverse=True)
        return [string for _, string in pairs]


def _choose(
    levels: list[_Level], counts: list[np.ndarray], min_count: float
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Selects the next vocabulary, longest strings first.

    A selected string takes its count away from all of its beginnings.

    Args:
      levels: the strings of each length.
      counts: for each level `[m]` occurrences in this iteration.
      min_count: how many must be left.

    Returns:
      For each level `[m]` whether a string is selected, and `[m]` what is left of its count.
    """
    chosen: list[np.ndarray] = []
    rest: list[np.ndarray] = []
    # What the selected longer strings take away from each string of the level.
    taken = np.zeros(len(counts[-1]) if counts else 0, np.int64)
    for depth in range(len(levels) - 1, -1, -1):
        left = counts[depth] - taken
        is_chosen = left >= min_count
        chosen.append(is_chosen)
        rest.append(left)
        if depth:
            passed_on = taken + np.where(is_chosen, left, 0)
            taken = _bincount(levels[depth].parents, passed_on, len(counts[depth - 1]))
    return chosen[::-1], rest[::-1]


def _bincount(indices: np.ndarray, weights: np.ndarray, size: int) -> np.ndarray:
    """Sums the integer weights of each index; exact below 2^53."""
    return np.rint(np.bincount(indices, weights, size)).astype(np.int64)
