"""Builds subword vocabularies from token counts: T2T's algorithm, bit for bit, with NumPy.

One build: starting from single characters, repeat a few times: cut every escaped token with the
current vocabulary, count every string that begins where a piece begins, and make the frequent
strings the next vocabulary. A string's count does not include the occurrences that a longer chosen
string with the same beginning already accounts for.

The counts can only fall from one iteration to the next, since the first one counts the strings at
every character; so strings that are too rare in the first iteration never matter. See `substrings`.
"""

from collections.abc import Iterable, Mapping, Sequence

from absl import logging

from t2t_keras.text import tokenizer
from t2t_keras.text.encoders import RESERVED_TOKENS
from t2t_keras.text.substrings import Corpus
from t2t_keras.text.subwords import SubwordTextEncoder

# The strings of a corpus are numbered for minimum counts down to this part of the wanted one, so
# that one numbering serves most of the search.
_HEADROOM = 16


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

    Raises:
      ValueError: the texts have no words.
    """
    token_counts = tokenizer.count_tokens(generator)
    if not token_counts:
        raise ValueError(
            "There are no words to build a vocabulary from. Are the source files empty?"
        )
    return build_to_target_size(
        target_vocab_size,
        token_counts,
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
    corpus = Corpus(token_counts, _checked_reserved_tokens(reserved_tokens))

    def search(low: float, high: float) -> list[str]:
        # With the usual float upper bound, middles are floats, as in T2T; comparisons don't care.
        middle = (low + high) // 2
        subtokens = corpus.build(
            middle, num_iterations, max_subtoken_length, prepare_for=middle // _HEADROOM
        )
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
    corpus = Corpus(token_counts, _checked_reserved_tokens(reserved_tokens))
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
