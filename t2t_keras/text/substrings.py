"""Counts of all frequent strings in the tokens of a corpus, as arrays.

The frequent strings form a tree: a string's parent is the string without its last character. Every
position of the corpus belongs to one node, the longest frequent string that begins there. To count
all strings at some positions only, the positions are counted at their nodes, and the counts passed
up to the parents. That takes a few array operations instead of millions of dictionary updates.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from t2t_keras.text.subwords import ESCAPE_CHARS, escape_token

# Possible strings, as a multiple of the strings that occur, up to which they are all counted.
_DENSE_FACTOR = 4


class _Level(NamedTuple):
    """The m frequent strings of one length.

    Attributes:
      parents: `[m]` number, one level up, of the string without the last character.
      counts: `[m]` occurrences, each as often as its token.
      occurrences: `[m]` a position at which each string begins.
    """

    parents: np.ndarray
    counts: np.ndarray
    occurrences: np.ndarray


class _Tree(NamedTuple):
    """The frequent strings of all lengths.

    Attributes:
      min_count: how often a string must occur to be in the tree; single characters always are.
      levels: the strings of 1, 2, … characters.
      nodes: `[characters]` number, over all levels, of the longest string at every position.
    """

    min_count: float
    levels: list[_Level]
    nodes: np.ndarray


class Corpus:
    """All tokens, escaped and one after the other, as arrays over the characters.

    Args:
      token_counts: occurrences of each token.
      reserved_tokens: the first entries of vocabularies.
    """

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
        self._distinct, chars = np.unique(codes, return_inverse=True)
        self._chars = chars.astype(np.int32)
        self._reserved_matches = [
            (len(token), self._find(token)) for token in self._reserved if token in self._text
        ]
        self._trees: dict[int, _Tree] = {}

    def build(
        self,
        min_count: float,
        num_iterations: int,
        max_subtoken_length: int | None,
        prepare_for: float | None = None,
    ) -> list[str]:
        """The subtokens of a vocabulary, in the order of their ids.

        Args:
          min_count: how often a string of several characters must occur.
          num_iterations: how often the vocabulary is refined.
          max_subtoken_length: limit of the length in characters, excluded. None: no limit.
          prepare_for: a smaller minimum count, for which the next builds will be faster.

        Raises:
          ValueError: a number is out of range.
        """
        if num_iterations < 1 or (max_subtoken_length is not None and max_subtoken_length < 1):
            raise ValueError(
                "A vocabulary needs at least one iteration and one character. Received: "
                f"num_iterations={num_iterations}, max_subtoken_length={max_subtoken_length}"
            )
        min_count = max(min_count, 1)
        longest = len(self._text) if max_subtoken_length is None else max_subtoken_length - 1
        if longest < 1:
            return self._reserved + sorted(self._alphabet, reverse=True)
        tree = self._trees.get(longest)
        if tree is None or tree.min_count > min_count:
            tree = self._tree(max(1, min(min_count, prepare_for or min_count)), longest)
            self._trees[longest] = tree
        counts = [level.counts for level in tree.levels]
        chosen, rest = _choose(tree.levels, counts, min_count)
        for _ in range(num_iterations - 1):
            counts = self._counts_at(tree, self._piece_starts(tree, chosen))
            chosen, rest = _choose(tree.levels, counts, min_count)
        return self._reserved + self._sorted_strings(tree.levels, chosen, rest)

    def _find(self, token: str) -> np.ndarray:
        """Where an escaped token occurs; occurrences can't overlap, `_` being at its end only."""
        found = []
        position = self._text.find(token)
        while position >= 0:
            found.append(position)
            position = self._text.find(token, position + len(token))
        return np.array(found, np.int64)

    def _tree(self, min_count: float, longest: int) -> _Tree:
        """The strings of up to `longest` characters that occur at least `min_count` times."""
        chars = len(self._distinct)
        positions = np.arange(len(self._text), dtype=np.int64)
        # [positions] the string at each position: its number in its level
        strings = self._chars
        nodes = strings.astype(np.int32)
        counts = _bincount(strings, self._weights, chars)
        levels = [_level(positions, strings, np.zeros(chars, np.int64), counts)]
        num_nodes = chars
        for length in range(1, longest):
            extendible = (self._left[positions] > length) & (levels[-1].counts >= min_count)[
                strings
            ]
            positions = positions[extendible]
            keys = strings[extendible].astype(np.int64) * chars + self._chars[positions + length]
            frequent, counts, strings = _frequent_keys(
                keys, self._weights[positions], len(levels[-1].counts) * chars, min_count
            )
            if not len(frequent):
                break
            kept = strings >= 0
            positions, strings = positions[kept], strings[kept]
            levels.append(_level(positions, strings, frequent // chars, counts))
            nodes[positions] = strings + num_nodes
            num_nodes += len(frequent)
        return _Tree(min_count, levels, nodes)

    def _piece_starts(self, tree: _Tree, chosen: list[np.ndarray]) -> np.ndarray:
        """`[characters]` whether a piece begins there when all tokens are cut into pieces."""
        # The longest selected beginning of every string; a single character always is one.
        lengths = [np.ones(len(tree.levels[0].counts), np.int64)]
        for length, (level, is_chosen) in enumerate(
            zip(tree.levels[1:], chosen[1:], strict=True), start=2
        ):
            lengths.append(np.where(is_chosen, length, lengths[-1][level.parents]))
        piece_lengths = np.concatenate(lengths)[tree.nodes]
        for length, positions in self._reserved_matches:
            piece_lengths[positions] = np.maximum(piece_lengths[positions], length)
        is_start = np.zeros(len(self._text), bool)
        positions = self._token_starts
        while positions.size:
            is_start[positions] = True
            steps = piece_lengths[positions]
            positions = (positions + steps)[self._left[positions] > steps]
        return is_start

    def _counts_at(self, tree: _Tree, is_counted: np.ndarray) -> list[np.ndarray]:
        """For each level `[m]` occurrences of its strings at the given positions."""
        sizes = [len(level.counts) for level in tree.levels]
        at_nodes = _bincount(tree.nodes[is_counted], self._weights[is_counted], sum(sizes))
        counts = np.split(at_nodes, np.cumsum(sizes)[:-1])
        for depth in range(len(sizes) - 1, 0, -1):
            counts[depth - 1] += _bincount(
                tree.levels[depth].parents, counts[depth], sizes[depth - 1]
            )
        return counts

    def _sorted_strings(
        self, levels: list[_Level], chosen: list[np.ndarray], rest: list[np.ndarray]
    ) -> list[str]:
        """Chosen strings and the alphabet, by descending count, then descending string."""
        counted = dict.fromkeys(self._alphabet, 0)
        for length, level in enumerate(levels, start=1):
            selected = (
                np.arange(len(level.counts)) if length == 1 else np.flatnonzero(chosen[length - 1])
            )
            starts = level.occurrences[selected].tolist()
            for start, count in zip(starts, rest[length - 1][selected].tolist(), strict=True):
                counted[self._text[start : start + length]] = count
        pairs = sorted(((count, string) for string, count in counted.items()), reverse=True)
        return [string for _, string in pairs]


def _level(
    positions: np.ndarray, strings: np.ndarray, parents: np.ndarray, counts: np.ndarray
) -> _Level:
    occurrences = np.zeros(len(counts), np.int64)
    occurrences[strings] = positions
    return _Level(parents, counts, occurrences)


def _frequent_keys(
    keys: np.ndarray, weights: np.ndarray, num_possible: int, min_count: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Finds the keys whose weights add up to `min_count`.

    Args:
      keys: `[n]` numbers below `num_possible`.
      weights: `[n]` integers.
      num_possible: a limit of the keys.
      min_count: the smallest sum to keep.

    Returns:
      `[m]` the frequent keys in ascending order, `[m]` their sums, and `[n]` for every given key
      its place among them, −1 for the rare.
    """
    if num_possible <= _DENSE_FACTOR * len(keys):
        distinct, indices, num_distinct = np.arange(num_possible), keys, num_possible
    else:
        distinct, indices = np.unique(keys, return_inverse=True)
        num_distinct = len(distinct)
    counts = _bincount(indices, weights, num_distinct)
    frequent = np.flatnonzero(counts >= min_count)
    places = np.full(num_distinct, -1, np.int32)
    places[frequent] = np.arange(len(frequent))
    return distinct[frequent], counts[frequent], places[indices]


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
    taken = np.zeros(len(counts[-1]), np.int64)
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
