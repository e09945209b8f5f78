"""The vocabulary builder against a plain implementation of the same definition."""

import collections
from collections.abc import Mapping

import hypothesis
import pytest
from hypothesis import strategies

from t2t_keras.text import subword_builder, subwords, tokenizer

CORPUS = [
    "the cat sat on the mat",
    "the cat ate the rat",
    "a cat and a rat",
    "the hat, the cat; the bat",
]


def _plain_build(
    token_counts: Mapping[str, int],
    min_count: int,
    num_iterations: int,
    reserved: list[str],
    max_subtoken_length: int | None,
) -> list[str]:
    """The definition, one dictionary update at a time."""
    alphabet = subwords.ESCAPE_CHARS.union(*token_counts, *reserved)
    escaped_reserved = [subwords.escape_token(token, alphabet) for token in reserved]
    encoder = subwords.SubwordTextEncoder.from_subtokens(sorted(alphabet))
    entries: list[str] = []
    for _ in range(num_iterations):
        counts: collections.Counter[str] = collections.Counter()
        for token, weight in token_counts.items():
            escaped = subwords.escape_token(token, alphabet)
            start = 0
            for piece in list(encoder.segment(escaped)):
                limit = len(escaped) + 1
                if max_subtoken_length is not None:
                    limit = min(limit, start + max_subtoken_length)
                for end in range(start + 1, limit):
                    counts[escaped[start:end]] += weight
                start += len(piece)
        frequent = [string for string, count in counts.items() if count >= max(min_count, 1)]
        result = []
        for string in sorted(frequent, key=len, reverse=True):
            count = counts[string]
            if count >= max(min_count, 1):
                if string not in alphabet:
                    result.append((count, string))
                for end in range(1, len(string)):
                    counts[string[:end]] -= count
        result += [(counts.get(char, 0), char) for char in alphabet]
        entries = escaped_reserved + [string for _, string in sorted(result, reverse=True)]
        encoder = subwords.SubwordTextEncoder.from_subtokens(entries)
    return entries


@hypothesis.settings(max_examples=150, deadline=None)
@hypothesis.given(
    counts=strategies.dictionaries(
        strategies.text(alphabet="abé_\\ \nUNK", max_size=8), strategies.integers(1, 5), max_size=12
    ),
    min_count=strategies.integers(0, 4),
    num_iterations=strategies.integers(1, 4),
    more_reserved=strategies.lists(strategies.text(alphabet="abUNK_", min_size=1, max_size=3)),
    max_subtoken_length=strategies.none() | strategies.integers(1, 6),
)
def test_same_as_the_definition(
    counts: dict[str, int],
    min_count: int,
    num_iterations: int,
    more_reserved: list[str],
    max_subtoken_length: int | None,
) -> None:
    reserved = ["<pad>", "<EOS>", *more_reserved]
    built = subword_builder.build_from_token_counts(
        counts, min_count, num_iterations, reserved, max_subtoken_length
    )
    wanted = _plain_build(counts, min_count, num_iterations, reserved, max_subtoken_length)
    assert built.all_subtoken_strings == wanted


# The digits between 9 and 0, which never occur, in their order.
DIGITS = "9 8 7 6 5 4 3 2 1 0".split()


@pytest.mark.parametrize(
    ("min_count", "words", "chars"),
    [
        (
            1,
            "the_ cat_ rat_ a_ sat_ on_ mat_ hat_ bat_ ate_ and_".split() + ["; _", ", _"],
            [*"utsrponmhedcba_\\SOE><;", *DIGITS, ",", " "],
        ),
        (
            2,
            "the_ cat_ at_ _ rat_ n a_ a".split() + [" _"],
            [*"tsomhedb;,urpc\\SOE><", *DIGITS, " "],
        ),
        (3, "the_ _ at_ cat_ a r n".split() + [" "], [*"tsomhedb;,upc\\SOE><", *DIGITS]),
    ],
)
def test_small_corpus(min_count: int, words: list[str], chars: list[str]) -> None:
    counts = tokenizer.count_tokens(CORPUS)
    encoder = subword_builder.build_from_token_counts(counts, min_count)
    assert encoder.all_subtoken_strings == ["<pad>_", "<EOS>_", *words, *chars]


def test_ids_of_the_small_corpus() -> None:
    counts = tokenizer.count_tokens(CORPUS)
    encoder = subword_builder.build_from_token_counts(counts, 2)
    ids = [2, 3, 12, 4, 20, 10, 25, 38, 37, 37, 19, 5]
    assert encoder.encode("the cat sat, é") == ids


def test_target_size_tries_the_known_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    build = subword_builder.Corpus.build

    def recorded(corpus, min_count, *arguments, **options):  # type: ignore[no-untyped-def]
        tried.append(min_count)
        return build(corpus, min_count, *arguments, **options)

    monkeypatch.setattr(subword_builder.Corpus, "build", recorded)
    encoder = subwords.SubwordTextEncoder.build_from_generator(CORPUS, 60)
    assert tried == [500, 250, 125, 62, 31, 15, 7, 3, 1]
    assert encoder.vocab_size == 49


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="min_val=3, max_val=2"):
        subword_builder.build_to_target_size(10, {"a": 1}, 3, 2)
    with pytest.raises(ValueError, match="Received: 0"):
        subword_builder.build_to_target_size(0, {"a": 1}, 1, 2)
    with pytest.raises(ValueError, match="must begin with.*'UNK'"):
        subword_builder.build_from_token_counts({"a": 1}, 1, reserved_tokens=["<pad>", "UNK"])
    with pytest.raises(ValueError, match="num_iterations=0"):
        subword_builder.build_from_token_counts({"a": 1}, 1, num_iterations=0)


def test_built_encoder_encodes_any_text() -> None:
    encoder = subwords.SubwordTextEncoder.build_to_target_size(100, {"ab": 3, "a\nb": 2}, 1, 10)
    assert encoder.decode(encoder.encode("x\n_ab")) == "x\n_ab"


def test_one_numbering_serves_all_minimum_counts() -> None:
    counts = tokenizer.count_tokens(CORPUS)
    shared = subword_builder.Corpus(counts, ["<pad>", "<EOS>"])
    for min_count in (9, 3, 5, 2, 1, 4):
        fresh = subword_builder.Corpus(counts, ["<pad>", "<EOS>"])
        built = shared.build(min_count, 4, 200, prepare_for=min_count - 2)
        assert built == fresh.build(min_count, 4, 200)
