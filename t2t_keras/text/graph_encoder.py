"""The text encoders as TensorFlow graphs, for models that take and return strings.

Each gives exactly the results of its Python counterpart, so that a server answers as the decoder
does. tensorflow-text is imported here and nowhere else; a program that loads such a model needs
`import tensorflow_text` before, for the operations it registers.

Text that is not UTF-8 never fails: every bad sequence becomes U+FFFD.
"""

import sys
from collections.abc import Callable

import numpy as np
import tensorflow as tf
import tensorflow_text as tf_text

from t2t_keras.text import encoders, subwords

_CODE_POINTS = sys.maxunicode + 1
_BACKSLASH, _UNDERSCORE, _SPACE = map(ord, "\\_ ")
# In an escaped token `_` occurs at the end only, so nothing that begins like this is ever found in
# one. It marks the copies of the subtokens that stand inside of a token.
_INSIDE = "_\u0001"
_UNKNOWN = "_\u0002"
# Long words are ordinary input; at the tokenizer's own limit of 100 bytes they would be lost.
_MAX_BYTES_PER_WORD = 2**30


class GraphTextEncoder(tf.Module):
    """A text encoder in the graph. As a module, it can be part of a SavedModel."""

    def encode(self, strings: tf.Tensor) -> tf.RaggedTensor:
        """Ids of texts, without an end of sequence.

        Args:
          strings: string `[batch]`, UTF-8.

        Returns:
          int32 `[batch, (length)]`, ragged.
        """
        raise NotImplementedError

    def decode(self, ids: tf.Tensor | tf.RaggedTensor) -> tf.Tensor:
        """Texts of ids.

        Args:
          ids: integers, either dense `[batch, length]`, where 0 is padding and stands for nothing,
            or ragged `[batch, (length)]`, where 0 is an id like any other and stands for its name.
            The end of sequence is no end here: the caller cuts it off.

        Returns:
          string `[batch]`, UTF-8.
        """
        raise NotImplementedError


def graph_encoder_for(encoder: encoders.TextEncoder) -> GraphTextEncoder:
    """The graph encoder that gives the same results as a Python encoder.

    Args:
      encoder: a subword, byte or token encoder.

    Returns:
      The graph encoder.

    Raises:
      ValueError: there is none for this kind of encoder.
    """
    if isinstance(encoder, subwords.SubwordTextEncoder):
        return SubwordGraphEncoder(encoder)
    if isinstance(encoder, encoders.TokenTextEncoder):
        return TokenGraphEncoder(encoder)
    if isinstance(encoder, encoders.ByteTextEncoder):
        return ByteGraphEncoder(encoder)
    raise ValueError(
        "Only subword, byte and token encoders can be put into a graph. For other problems "
        f"decode with t2t-decoder instead of a server. Received: {type(encoder).__name__}"
    )


class SubwordGraphEncoder(GraphTextEncoder):
    """`SubwordTextEncoder` in the graph.

    The longest-match search is done by a WordPiece tokenizer. WordPiece has separate vocabularies
    for the first piece of a word and for later ones, T2T has one for both: so each subtoken is
    given to it twice.

    A vocabulary from elsewhere can lack pieces for some of its own characters. Where the Python
    encoder raises an error for a token, this one leaves the token out.

    Args:
      encoder: the Python encoder.
    """

    def __init__(self, encoder: subwords.SubwordTextEncoder) -> None:
        super().__init__(name="subword_graph_encoder")
        # The tokenizer and the split at regular expressions take a NUL for the end of a string.
        # A character that the vocabulary lacks never occurs in an escaped token, so it can stand
        # for a NUL there.
        alphabet = {ord(char) for char in encoder.alphabet if char != "\n"}
        self._nul = next(code for code in range(0xE000, _CODE_POINTS) if code not in alphabet)
        subtokens = [piece.replace("\0", chr(self._nul)) for piece in encoder.all_subtoken_strings]
        self._subtokens = tf.constant(subtokens or [""], tf.string)
        # Entries with an inner `_` or a newline can't occur in an escaped token.
        found = {
            piece: item
            for item, piece in enumerate(subtokens)
            if piece and "_" not in piece[:-1] and "\n" not in piece
        }
        inside = [_INSIDE + piece for piece in found]
        self._ids = tf.constant([*found.values(), *found.values(), -1], tf.int32)
        self._pieces = tf_text.FastWordpieceTokenizer(
            [*found, *inside, _UNKNOWN],
            suffix_indicator=_INSIDE,
            max_bytes_per_word=_MAX_BYTES_PER_WORD,
            unknown_token=_UNKNOWN,
            token_out_type=tf.int32,
            no_pretokenization=True,
        )
        self._in_alphabet = _CharClass(alphabet.__contains__)
        self._is_alphanumeric = _alphanumeric_class()

    def encode(self, strings: tf.Tensor) -> tf.RaggedTensor:
        """See `GraphTextEncoder.encode`."""
        with self.name_scope:
            chars = tf.strings.unicode_decode(strings, "UTF-8", errors="replace")
            tokens, rows = self._escaped_tokens(chars.values, chars.value_rowids())
            pieces = self._pieces.tokenize(tokens)
            ids = tf.gather(self._ids, pieces.values)
            rows = tf.gather(rows, pieces.value_rowids())
            known = ids >= 0
            return tf.RaggedTensor.from_value_rowids(
                ids[known], rows[known], nrows=chars.nrows(), validate=False
            )

    def decode(self, ids: tf.Tensor | tf.RaggedTensor) -> tf.Tensor:
        """See `GraphTextEncoder.decode`."""
        with self.name_scope:
            ragged = _without_padding(ids)
            escaped = tf.strings.reduce_join(
                ragged.with_values(_look_up(self._subtokens, ragged.values)), axis=1
            )
            tokens, rows = _unescaped_tokens(escaped, chr(self._nul))
            return _join_tokens(tokens, rows, ragged.nrows(), self._is_alphanumeric)

    def _escaped_tokens(self, codes: tf.Tensor, rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Splits characters into tokens and escapes these.

        Args:
          codes: int32 `[chars]` code points of all texts.
          rows: int64 `[chars]` which text each one belongs to.

        Returns:
          string `[tokens]`, and int64 `[tokens]` which text each one belongs to.
        """
        is_alphanumeric = self._is_alphanumeric(codes)
        new_row = rows[1:] != rows[:-1]
        is_first = tf.concat([tf.ones_like(rows[:1], tf.bool), new_row], 0)
        is_last = tf.concat([new_row, tf.ones_like(rows[:1], tf.bool)], 0)
        change = is_alphanumeric[1:] != is_alphanumeric[:-1]
        starts = is_first | tf.concat([tf.ones_like(is_first[:1]), change], 0)
        ends = is_last | tf.concat([change, tf.ones_like(is_last[:1])], 0)
        # One space between two tokens is implied, but not one at either end of the text.
        implied = (codes == _SPACE) & starts & ends & ~is_first & ~is_last
        codes, rows, starts = codes[~implied], rows[~implied], starts[~implied]
        token_numbers = tf.cumsum(tf.cast(starts, tf.int32)) - 1
        token_rows = rows[starts]
        tokens = tf.strings.unsorted_segment_join(
            self._escaped_chars(codes), token_numbers, tf.shape(token_rows)[0]
        )
        return tokens + "_", token_rows

    def _escaped_chars(self, codes: tf.Tensor) -> tf.Tensor:
        """String `[chars]` each character as it is written in an escaped token."""
        written = tf.where(
            self._in_alphabet(codes),
            _chars_of(tf.where(codes == 0, self._nul, codes)),
            tf.strings.join(["\\", tf.strings.as_string(codes), ";"]),
        )
        written = tf.where(codes == _BACKSLASH, "\\\\", written)
        return tf.where(codes == _UNDERSCORE, "\\u", written)


class ByteGraphEncoder(GraphTextEncoder):
    """`ByteTextEncoder` in the graph.

    Args:
      encoder: the Python encoder.
    """

    def __init__(self, encoder: encoders.ByteTextEncoder) -> None:
        super().__init__(name="byte_graph_encoder")
        reserved = encoder.num_reserved_ids
        self._reserved = reserved
        self._bytes = tf.constant(encoder.decode_list(range(encoder.vocab_size)), tf.string)

    def encode(self, strings: tf.Tensor) -> tf.RaggedTensor:
        """See `GraphTextEncoder.encode`."""
        with self.name_scope:
            split = tf.strings.bytes_split(_valid_utf8(strings))
            values = tf.io.decode_raw(split.values, tf.uint8)
            # [bytes, 1] -> [bytes]
            ids = tf.cast(tf.reshape(values, [-1]), tf.int32) + self._reserved
            return split.with_values(ids)

    def decode(self, ids: tf.Tensor | tf.RaggedTensor) -> tf.Tensor:
        """See `GraphTextEncoder.decode`."""
        with self.name_scope:
            ragged = _without_padding(ids)
            found = ragged.with_values(_look_up(self._bytes, ragged.values))
            return _valid_utf8(tf.strings.reduce_join(found, axis=1))


class TokenGraphEncoder(GraphTextEncoder):
    """`TokenTextEncoder` in the graph.

    Where the Python encoder raises an error for an unknown word, because no other word stands for
    such, this one leaves the word out.

    Args:
      encoder: the Python encoder.
    """

    def __init__(self, encoder: encoders.TokenTextEncoder) -> None:
        super().__init__(name="token_graph_encoder")
        words = encoder.tokens
        self._words = tf.constant(words or [""], tf.string)
        self._reverse = encoder.reverse
        last_ids = {word: item for item, word in enumerate(words)}
        unknown = -1
        if encoder.replace_oov is not None:
            unknown = encoder.encode(encoder.replace_oov)[0]
        self._ids = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(
                tf.constant(list(last_ids), tf.string), tf.constant([*last_ids.values()], tf.int32)
            ),
            default_value=unknown,
        )
        spaces = "".join(f"\\x{{{code:x}}}" for code in range(_CODE_POINTS) if chr(code).isspace())
        self._spaces = f"[{spaces}]+"

    def encode(self, strings: tf.Tensor) -> tf.RaggedTensor:
        """See `GraphTextEncoder.encode`."""
        with self.name_scope:
            spaced = tf.strings.regex_replace(_valid_utf8(strings), self._spaces, " ")
            words = tf.strings.split(spaced)
            ids = words.with_values(self._ids.lookup(words.values))
            return self._in_order(tf.ragged.boolean_mask(ids, ids >= 0))

    def decode(self, ids: tf.Tensor | tf.RaggedTensor) -> tf.Tensor:
        """See `GraphTextEncoder.decode`."""
        with self.name_scope:
            ragged = self._in_order(_without_padding(ids))
            items = ragged.values
            unknown = tf.strings.join(["ID_", tf.strings.as_string(items)])
            known = (items >= 0) & (items < tf.size(self._words))
            words = tf.where(known, _look_up(self._words, items), unknown)
            return tf.strings.reduce_join(ragged.with_values(words), axis=1, separator=" ")

    def _in_order(self, ids: tf.RaggedTensor) -> tf.RaggedTensor:
        return ids[:, ::-1] if self._reverse else ids


class _CharClass:
    """A set of code points as the sorted places where membership changes.

    Args:
      contains: whether a code point is a member.
    """

    def __init__(self, contains: Callable[[int], bool]) -> None:
        members = np.fromiter(map(contains, range(_CODE_POINTS)), bool, _CODE_POINTS)
        changes = np.flatnonzero(np.diff(members, prepend=False))
        self._changes = tf.constant(changes, tf.int32)

    def __call__(self, codes: tf.Tensor) -> tf.Tensor:
        """Bool `[n]` membership of int32 code points `[n]`."""
        return tf.searchsorted(self._changes, codes, side="right") % 2 == 1


def _alphanumeric_class() -> _CharClass:
    """Python's own letters and numbers; RE2's classes follow another version of Unicode."""
    return _CharClass(lambda code: chr(code).isalnum())


def _chars_of(codes: tf.Tensor) -> tf.Tensor:
    """String `[n]` one character for each int32 code point `[n]`."""
    return tf.strings.unicode_encode(codes[:, tf.newaxis], "UTF-8", errors="replace")


def _valid_utf8(strings: tf.Tensor) -> tf.Tensor:
    return tf.strings.unicode_transcode(strings, "UTF-8", "UTF-8", errors="replace")


def _without_padding(ids: tf.Tensor | tf.RaggedTensor) -> tf.RaggedTensor:
    """Ragged ids; a dense tensor loses its zeros."""
    if isinstance(ids, tf.RaggedTensor):
        return ids
    return tf.ragged.boolean_mask(ids, ids != encoders.PAD_ID)


def _look_up(strings: tf.Tensor, ids: tf.Tensor) -> tf.Tensor:
    """String `[n]` for each of the ids `[n]`; empty for one that is out of range."""
    size = tf.cast(tf.size(strings), ids.dtype)
    known = (ids >= 0) & (ids < size)
    return tf.where(known, tf.gather(strings, tf.clip_by_value(ids, 0, size - 1)), "")


def _unescaped_tokens(escaped: tf.Tensor, nul: str) -> tuple[tf.Tensor, tf.Tensor]:
    """Splits joined subtokens at each `_` and undoes the escapes.

    Args:
      escaped: string `[batch]`.
      nul: the character that stands for a NUL.

    Returns:
      string `[tokens]`, none empty, and int64 `[tokens]` which text each one belongs to.
    """
    special = r"_|\\u|\\\\|\\[0-9]+;"
    parts, _, _ = tf_text.regex_split_with_offsets(escaped, special, special)
    texts, rows = parts.values, parts.value_rowids()
    is_end = texts == "_"
    # A token ends behind its `_`, or with the text.
    new_row = tf.concat([tf.ones_like(rows[:1], tf.bool), rows[1:] != rows[:-1]], 0)
    after_end = tf.concat([tf.zeros_like(is_end[:1]), is_end[:-1]], 0)
    starts = new_row | after_end
    token_numbers = tf.cumsum(tf.cast(starts, tf.int32)) - 1
    token_rows = rows[starts]
    tokens = tf.strings.unsorted_segment_join(
        _unescaped_parts(texts, nul), token_numbers, tf.shape(token_rows)[0]
    )
    kept = tokens != ""
    return tokens[kept], token_rows[kept]


def _unescaped_parts(parts: tf.Tensor, nul: str) -> tf.Tensor:
    """String `[n]` the meaning of each part: an escape, an end of a token, or plain text."""
    # Seven digits hold every code point; with more of them it is none.
    is_code = tf.strings.regex_full_match(parts, r"\\[0-9]+;")
    is_short = tf.strings.regex_full_match(parts, r"\\0*[0-9]{1,7};")
    digits = tf.strings.regex_replace(parts, r"^\\0*([0-9]{1,7});$", r"\1")
    codes = tf.strings.to_number(tf.where(is_short, digits, "0"), tf.int32)
    exists = is_short & (codes < _CODE_POINTS) & ((codes < 0xD800) | (codes > 0xDFFF))
    chars = tf.where(exists, _chars_of(tf.where(exists, codes, 0)), subwords.UNDECODABLE)
    texts = tf.where(is_code, chars, tf.strings.regex_replace(parts, nul, "\0"))
    texts = tf.where(parts == "_", "", texts)
    texts = tf.where(parts == "\\u", "_", texts)
    return tf.where(parts == "\\\\", "\\", texts)


def _join_tokens(
    tokens: tf.Tensor, rows: tf.Tensor, num_rows: tf.Tensor, is_alphanumeric: _CharClass
) -> tf.Tensor:
    """`tokenizer.decode` of each row.

    Args:
      tokens: string `[tokens]`, none empty.
      rows: int64 `[tokens]` which text each one belongs to.
      num_rows: int64 scalar, batch.
      is_alphanumeric: the character class.

    Returns:
      string `[batch]`.
    """
    first_chars = tf.strings.substr(tokens, 0, 1, unit="UTF8_CHAR")
    is_word = is_alphanumeric(tf.strings.unicode_decode(first_chars, "UTF-8").values)
    needs_space = (rows[1:] == rows[:-1]) & is_word[1:] & is_word[:-1]
    needs_space = tf.concat([tf.zeros_like(is_word[:1]), needs_space], 0)
    spaced = tf.strings.join([tf.where(needs_space, " ", ""), tokens])
    return tf.strings.unsorted_segment_join(spaced, rows, num_rows)
