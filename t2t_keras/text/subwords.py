"""SubwordTextEncoder: text as pieces of words, without unknown words.

A token of `tokenizer.encode` is escaped, so that every character is in the encoder's alphabet and
`_` marks the end of the token and nothing else. Then the longest known piece is taken again and
again from the left. Every character of the alphabet is a piece, so this always succeeds.
"""

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from t2t_keras.text import tokenizer
from t2t_keras.text.encoders import EOS_ID, PAD_ID, TextEncoder, strip_ids
from t2t_keras.text.text_files import write_text_atomically

# Characters that escapes are written with.
ESCAPE_CHARS = frozenset("\\_u;0123456789")
# What an escape of an impossible code point becomes: GETA MARK, "a character is missing here".
UNDECODABLE = "\u3013"

_ESCAPES = re.compile(r"\\u|\\\\|\\([0-9]+);")
_SURROGATES = re.compile("[\ud800-\udfff]")
_MAX_CACHED_TOKENS = 2**20
_MAX_CACHED_TOKEN_LENGTH = 100


def escape_token(token: str, alphabet: Collection[str]) -> str:
    r"""Writes a token with characters of the alphabet only, and ends it with `_`.

    Args:
      token: any string.
      alphabet: the characters that stand for themselves.

    Returns:
      The token with `\\` for a backslash, `\u` for an underscore, `\<decimal code point>;` for
      a newline and for every character outside of the alphabet, and `_` at the end.
    """
    token = token.replace("\\", "\\\\").replace("_", "\\u")
    return "".join(
        [char if char in alphabet and char != "\n" else f"\\{ord(char)};" for char in token] + ["_"]
    )


def unescape_token(escaped: str) -> str:
    r"""Undoes `escape_token`; one `_` at the end is dropped if there is one.

    Args:
      escaped: any string. A code point that does not exist becomes U+3013; a backslash that
        begins no escape stays.

    Returns:
      The token.
    """
    return _ESCAPES.sub(_unescaped, escaped.removesuffix("_"))


def _unescaped(match: re.Match[str]) -> str:
    if match.group(1) is None:
        return "_" if match.group(0) == "\\u" else "\\"
    try:
        return chr(int(match.group(1)))
    except (ValueError, OverflowError):
        return UNDECODABLE


class SubwordTextEncoder(TextEncoder):
    """Encoder with a vocabulary of subtokens, T2T's file format and ids.

    A vocabulary file has one subtoken a line in the order of the ids, in single quotes. Files
    without quotes, or with double ones, are read as well.

    Example:
    ```python
    encoder = SubwordTextEncoder("data/vocab.translate_ende_wmt32k.32768.subwords")
    ids = encoder.encode("Hello world.")
    assert encoder.decode(ids) == "Hello world."
    ```

    Args:
      filename: the vocabulary file. None: an empty encoder, used by the builder.
      join_split_newline: a vocabulary built from tokens with newlines has a newline as one of its
        subtokens, and the file has that entry on two lines. True (the default): they are read as
        one entry again, so that the ids are those of the encoder that wrote the file. False: T2T's
        reading as two empty entries, which moves every later id by one.
      replace_surrogates: a model can produce the escape of half a surrogate pair, which no UTF-8
        file can hold. True (the default): `decode` gives U+3013 for it, as for other impossible
        code points. False: T2T's, the lone surrogate.

    Raises:
      ValueError: the file does not exist.
    """

    def __init__(
        self,
        filename: str | None = None,
        *,
        join_split_newline: bool = True,
        replace_surrogates: bool = True,
    ) -> None:
        super().__init__()
        self.filename = filename
        self._replace_surrogates = replace_surrogates
        self._set_subtokens([])
        if filename is not None:
            self._set_subtokens(_read_vocabulary(filename, join_split_newline))

    @classmethod
    def from_subtokens(cls, subtokens: Iterable[str]) -> "SubwordTextEncoder":
        """An encoder with the given subtokens, reserved ones included, in the order of ids."""
        encoder = cls()
        encoder._set_subtokens(list(subtokens))
        return encoder

    @classmethod
    def build_from_generator(
        cls,
        generator: Iterable[str],
        target_size: int,
        max_subtoken_length: int | None = None,
        reserved_tokens: list[str] | None = None,
    ) -> "SubwordTextEncoder":
        """See `subword_builder.build_from_generator`."""
        from t2t_keras.text import subword_builder

        return subword_builder.build_from_generator(
            generator, target_size, max_subtoken_length, reserved_tokens
        )

    @classmethod
    def build_to_target_size(
        cls,
        target_size: int,
        token_counts: Mapping[str, int],
        min_val: float,
        max_val: float,
        max_subtoken_length: int | None = None,
        reserved_tokens: list[str] | None = None,
        num_iterations: int = 4,
    ) -> "SubwordTextEncoder":
        """See `subword_builder.build_to_target_size`."""
        from t2t_keras.text import subword_builder

        return subword_builder.build_to_target_size(
            target_size,
            token_counts,
            min_val,
            max_val,
            max_subtoken_length,
            reserved_tokens,
            num_iterations,
        )

    @property
    def vocab_size(self) -> int:
        """Number of subtokens, the reserved ones included."""
        return len(self._subtokens)

    @property
    def all_subtoken_strings(self) -> list[str]:
        """The subtokens in the order of their ids."""
        return list(self._subtokens)

    @property
    def alphabet(self) -> frozenset[str]:
        """The characters that stand for themselves in an escaped token."""
        return self._alphabet

    @property
    def max_subtoken_len(self) -> int:
        """Length of the longest subtoken in characters."""
        return self._max_subtoken_len

    def encode(self, s: str) -> list[int]:
        """Ids of a text, without an end of sequence.

        Args:
          s: the text.

        Returns:
          The ids of the subtokens.
        """
        runs = tokenizer.runs(s)
        if runs and (runs[0] == " " or runs[-1] == " "):
            # At an end a single space is a token; the cache holds for those between tokens.
            return [item for token in tokenizer.encode(s) for item in self._token_ids(token)]
        return list(itertools.chain.from_iterable(map(self._ids_of_runs.__getitem__, runs)))

    def encode_without_tokenizing(self, token_text: str) -> list[int]:
        """Ids of a text that is taken as one single token."""
        return list(self._token_ids(token_text))

    def __getstate__(self) -> dict[str, Any]:
        """All but what has been encoded so far."""
        return {name: value for name, value in vars(self).items() if name != "_ids_of_runs"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._ids_of_runs = _Cache(self._token_ids)

    def decode(self, ids: Iterable[int], strip_extraneous: bool = False) -> str:
        """Text of ids.

        Args:
          ids: the ids. One outside of the vocabulary stands for nothing; a reserved one for its
            name.
          strip_extraneous: whether padding and end of sequence are first removed from the end.

        Returns:
          The text.
        """
        if strip_extraneous:
            ids = strip_ids(ids, (PAD_ID, EOS_ID))
        tokens = map(unescape_token, filter(None, "".join(self.decode_list(ids)).split("_")))
        text = tokenizer.decode(list(filter(None, tokens)))
        return _SURROGATES.sub(UNDECODABLE, text) if self._replace_surrogates else text

    def decode_list(self, ids: Iterable[int]) -> list[str]:
        """The subtoken of each id, escapes and `_` included."""
        return [
            self._subtokens[item] if 0 <= (item := int(number)) < len(self._subtokens) else ""
            for number in ids
        ]

    def store_to_file(self, filename: str, add_single_quotes: bool = True) -> None:
        """Writes the vocabulary file.

        Args:
          filename: the file to write.
          add_single_quotes: whether subtokens are put in quotes. Without them, subtokens that end
            in white space do not survive.
        """
        quote = "'" if add_single_quotes else ""
        text = "".join(f"{quote}{subtoken}{quote}\n" for subtoken in self._subtokens)
        write_text_atomically(filename, text)

    def segment(self, escaped_token: str) -> Iterator[str]:
        """Cuts an escaped token into the longest known pieces, from the left.

        Args:
          escaped_token: the result of `escape_token`.

        Yields:
          The pieces.

        Raises:
          ValueError: no piece fits somewhere.
        """
        known = self._subtoken_ids
        start, length = 0, len(escaped_token)
        while start < length:
            for end in range(min(length, start + self._max_subtoken_len), start, -1):
                piece = escaped_token[start:end]
                if piece in known:
                    yield piece
                    start = end
                    break
            else:
                raise ValueError(
                    "The vocabulary lacks a character that its own escapes need, so this token "
                    f"can't be encoded: {escaped_token!r} at {escaped_token[start]!r}. Vocabulary: "
                    f"{self.filename or 'built in memory'}. Build the vocabulary anew."
                )

    def _set_subtokens(self, subtokens: list[str]) -> None:
        self._subtokens = subtokens
        # Of a subtoken that occurs twice the later id counts, as in T2T.
        self._subtoken_ids = {piece: item for item, piece in enumerate(subtokens) if piece}
        self._max_subtoken_len = max(map(len, subtokens), default=0)
        self._alphabet = ESCAPE_CHARS.union(*subtokens)
        self._ids_of_runs = _Cache(self._token_ids)

    def _token_ids(self, token: str) -> tuple[int, ...]:
        escaped = escape_token(token, self._alphabet)
        return tuple([self._subtoken_ids[piece] for piece in self.segment(escaped)])


class _Cache(dict[str, tuple[int, ...]]):
    """Ids of tokens; none for the single spaces between them. Computed when first asked for."""

    def __init__(self, compute: Callable[[str], tuple[int, ...]]) -> None:
        super().__init__()
        self._compute = compute
        self[" "] = ()

    def __missing__(self, token: str) -> tuple[int, ...]:
        ids = self._compute(token)
        if len(token) <= _MAX_CACHED_TOKEN_LENGTH:
            if len(self) >= _MAX_CACHED_TOKENS:
                self.clear()
                self[" "] = ()
            self[token] = ids
        return ids


def _read_vocabulary(filename: str, join_split_newline: bool) -> list[str]:
    """The subtokens of a vocabulary file."""
    try:
        # newline="\n": a carriage return can be a subtoken.
        with open(filename, encoding="utf-8", newline="\n") as stream:
            lines = [line.rstrip() for line in stream]
    except FileNotFoundError as error:
        raise ValueError(
            "The vocabulary file does not exist; make it with t2t-datagen, or check the data "
            f"folder. Received: {filename!r}"
        ) from error
    subtokens = []
    position = 0
    while position < len(lines):
        # No other entry of a quoted file gives a line with one quote only, so two of them in
        # sequence are the halves of a newline in quotes.
        if join_split_newline and lines[position : position + 2] == ["'", "'"]:
            subtokens.append("\n")
            position += 2
        else:
            subtokens.append(_unquoted(lines[position]))
            position += 1
    return subtokens


def _unquoted(line: str) -> str:
    """The line without the quotes around it, if any; nothing inside of them is interpreted."""
    quoted = line[:1] in ("'", '"') and line.endswith(line[0])
    return line[1:-1] if quoted else line
