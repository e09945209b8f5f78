"""Encoders between strings and lists of ids: reserved ids, bytes, tokens, labels, numbers.

Ids 0 and 1 mean the same to every encoder: padding and end of sequence. No encoder appends the
end of sequence; the problem does that.
"""

import difflib
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from t2t_keras.text.text_files import write_text_atomically

PAD = "<pad>"
EOS = "<EOS>"
RESERVED_TOKENS = [PAD, EOS]
NUM_RESERVED_TOKENS = len(RESERVED_TOKENS)
PAD_ID = RESERVED_TOKENS.index(PAD)
EOS_ID = RESERVED_TOKENS.index(EOS)


def strip_ids(ids: Iterable[int], ids_to_strip: Collection[int]) -> list[int]:
    """Removes members of `ids_to_strip` from the end of the list only."""
    stripped = list(ids)
    while stripped and stripped[-1] in ids_to_strip:
        stripped.pop()
    return stripped


class TextEncoder:
    """Base class, and itself an encoder of ids written as decimal numbers.

    The text `"1 2 3"` is the ids `[3, 4, 5]`: each number plus the number of reserved ids.

    Args:
      num_reserved_ids: how many ids are set aside at the start.
    """

    def __init__(self, num_reserved_ids: int = NUM_RESERVED_TOKENS) -> None:
        self._num_reserved_ids = num_reserved_ids

    @property
    def num_reserved_ids(self) -> int:
        """How many ids are set aside at the start."""
        return self._num_reserved_ids

    @property
    def vocab_size(self) -> int:
        """Number of ids, the reserved ones included."""
        raise NotImplementedError(
            f"{type(self).__name__} has no vocabulary: its ids are unlimited. Use an encoder "
            "with a vocabulary where a size is needed."
        )

    def encode(self, s: str) -> list[int]:
        """Ids of a text, without an end of sequence.

        Args:
          s: the text.

        Returns:
          The ids.
        """
        return [int(word) + self._num_reserved_ids for word in s.split()]

    def decode(self, ids: Iterable[int], strip_extraneous: bool = False) -> str:
        """Text of ids.

        Args:
          ids: the ids.
          strip_extraneous: whether padding and end of sequence are first removed from the end.

        Returns:
          The text.
        """
        if strip_extraneous:
            ids = strip_ids(ids, range(self._num_reserved_ids))
        return " ".join(self.decode_list(ids))

    def decode_list(self, ids: Iterable[int]) -> list[Any]:
        """One string per id.

        Args:
          ids: the ids.

        Returns:
          The strings; the bytes encoder returns bytes.
        """
        return [
            str(number - self._num_reserved_ids)
            if (number := int(item)) >= self._num_reserved_ids
            else RESERVED_TOKENS[number]
            for item in ids
        ]

    def store_to_file(self, filename: str) -> None:
        """Writes the vocabulary; encoders without one write nothing.

        Args:
          filename: the file to write.
        """


class ByteTextEncoder(TextEncoder):
    """Each byte of the UTF-8 text is one id: its value plus the number of reserved ids."""

    @property
    def vocab_size(self) -> int:
        """256 bytes and the reserved ids."""
        return 2**8 + self._num_reserved_ids

    def encode(self, s: str) -> list[int]:
        """Ids of the bytes of a text."""
        return [byte + self._num_reserved_ids for byte in s.encode("utf-8")]

    def decode(self, ids: Iterable[int], strip_extraneous: bool = False) -> str:
        """Text of bytes; what is not UTF-8 becomes U+FFFD, reserved ids become their names.

        Args:
          ids: the ids. An id beyond the 256 bytes, which a model with a padded vocabulary can
            produce, stands for nothing.
          strip_extraneous: whether reserved ids are first removed from the end.

        Returns:
          The text.
        """
        if strip_extraneous:
            ids = strip_ids(ids, range(self._num_reserved_ids))
        return b"".join(self.decode_list(ids)).decode("utf-8", "replace")

    def decode_list(self, ids: Iterable[int]) -> list[bytes]:
        """One bytes object per id."""
        return [self._bytes_of(int(item)) for item in ids]

    def _bytes_of(self, item: int) -> bytes:
        byte = item - self._num_reserved_ids
        if 0 <= item < self._num_reserved_ids:
            return RESERVED_TOKENS[item].encode("ascii")
        return bytes([byte]) if 0 <= byte < 2**8 else b""


class TokenTextEncoder(TextEncoder):
    """Each word, as separated by white space, is one id.

    Args:
      vocab_filename: file with one word a line; the line number is the id. Nothing is added, so
        the file itself must begin with `<pad>` and `<EOS>`.
      reverse: whether the order of the words is reversed, in both directions.
      vocab_list: the words, instead of a file. Words named like a reserved token are dropped,
        then the reserved tokens are put in front.
      replace_oov: the word that stands for unknown words. None: an unknown word is an error.
      num_reserved_ids: how many ids are set aside at the start.

    Raises:
      ValueError: neither or both of file and list are given, or the file does not exist.
    """

    def __init__(
        self,
        vocab_filename: str | None,
        reverse: bool = False,
        vocab_list: Sequence[str] | None = None,
        replace_oov: str | None = None,
        num_reserved_ids: int = NUM_RESERVED_TOKENS,
    ) -> None:
        super().__init__(num_reserved_ids)
        self._reverse = reverse
        self._replace_oov = replace_oov
        if (vocab_filename is None) == (vocab_list is None):
            raise ValueError(
                "Give either a vocabulary file or a list of words. "
                f"Received: vocab_filename={vocab_filename!r}, vocab_list="
                + ("None" if vocab_list is None else f"{len(vocab_list)} words")
            )
        if vocab_filename is not None:
            self._tokens = _read_lines(vocab_filename)
        else:
            self._tokens = RESERVED_TOKENS + [
                word for word in vocab_list or () if word not in RESERVED_TOKENS
            ]
        # Of a word that occurs twice the last id counts, as in T2T.
        self._ids = {word: index for index, word in enumerate(self._tokens)}

    @property
    def vocab_size(self) -> int:
        """Number of words, the reserved ones included."""
        return len(self._tokens)

    @property
    def tokens(self) -> list[str]:
        """The words in the order of their ids."""
        return list(self._tokens)

    @property
    def reverse(self) -> bool:
        """Whether the order of the words is reversed."""
        return self._reverse

    @property
    def replace_oov(self) -> str | None:
        """The word that stands for unknown words."""
        return self._replace_oov

    def encode(self, s: str) -> list[int]:
        """Ids of the words of a text.

        Args:
          s: the text.

        Returns:
          The ids.

        Raises:
          KeyError: a word is unknown and `replace_oov` is None, or itself unknown.
        """
        words = s.split()
        if self._replace_oov is not None:
            words = [word if word in self._ids else self._replace_oov for word in words]
        try:
            ids = [self._ids[word] for word in words]
        except KeyError as error:
            raise KeyError(self._unknown_word_message(error.args[0])) from None
        return ids[::-1] if self._reverse else ids

    def decode(self, ids: Iterable[int], strip_extraneous: bool = False) -> str:
        """Words of ids, joined by spaces.

        Args:
          ids: the ids; an unknown one becomes `ID_<number>`.
          strip_extraneous: ignored, as in T2T.

        Returns:
          The text.
        """
        del strip_extraneous
        return " ".join(self.decode_list(ids))

    def decode_list(self, ids: Iterable[int]) -> list[str]:
        """One word per id, in reading order."""
        words = [self._word_of(int(item)) for item in ids]
        return words[::-1] if self._reverse else words

    def store_to_file(self, filename: str) -> None:
        """Writes every word, the reserved ones included, one a line."""
        write_text_atomically(filename, "".join(f"{word}\n" for word in self._tokens))

    def _word_of(self, item: int) -> str:
        return self._tokens[item] if 0 <= item < len(self._tokens) else f"ID_{item}"

    def _unknown_word_message(self, word: str) -> str:
        near = difflib.get_close_matches(word, self._tokens, n=3)
        hint = f" Did you mean {', '.join(map(repr, near))}?" if near else ""
        return (
            f"The word {word!r} is not in the vocabulary of {len(self._tokens)} words.{hint} "
            "Set replace_oov (a text problem's oov_token) to a word of the vocabulary that is to "
            f"stand for unknown words. Received: replace_oov={self._replace_oov!r}"
        )


class ClassLabelEncoder(TextEncoder):
    """A label is one id: its place in the list.

    Args:
      class_labels: the labels.
      class_labels_fname: file with one label a line, instead of the list.

    Raises:
      ValueError: neither or both are given, or the file does not exist.
    """

    def __init__(
        self, class_labels: Sequence[str] | None = None, class_labels_fname: str | None = None
    ) -> None:
        super().__init__(num_reserved_ids=0)
        if (class_labels is None) == (class_labels_fname is None):
            raise ValueError(
                "Give either the labels or a file of labels. "
                f"Received: class_labels={class_labels!r}, "
                f"class_labels_fname={class_labels_fname!r}"
            )
        if class_labels is not None:
            self._class_labels = list(class_labels)
        else:
            self._class_labels = _read_lines(str(class_labels_fname))

    @property
    def vocab_size(self) -> int:
        """Number of labels."""
        return len(self._class_labels)

    def encode(self, s: str) -> int:  # type: ignore[override]
        """The id of a label: one number, not a list.

        Args:
          s: the label.

        Returns:
          Its place in the list.

        Raises:
          ValueError: there is no such label.
        """
        try:
            return self._class_labels.index(s)
        except ValueError:
            near = difflib.get_close_matches(s, self._class_labels, n=3) or self._class_labels[:10]
            raise ValueError(f"Unknown label; try one of {near}. Received: {s!r}") from None

    def decode(self, ids: Any, strip_extraneous: bool = False) -> str:
        """The label of an id.

        Args:
          ids: a number, or a list or array with one number in it.
          strip_extraneous: ignored.

        Returns:
          The label.

        Raises:
          ValueError: a list or array holds another count of numbers.
        """
        del strip_extraneous
        if hasattr(ids, "tolist"):
            ids = ids.tolist()
        while isinstance(ids, (list, tuple)):
            if len(ids) != 1:
                raise ValueError(f"A class label is one id. Received: {ids!r}")
            ids = ids[0]
        return self._class_labels[int(ids)]

    def decode_list(self, ids: Iterable[int]) -> list[str]:
        """One label per id."""
        return [self._class_labels[int(item)] for item in ids]

    def store_to_file(self, filename: str) -> None:
        """Writes the labels, one a line."""
        write_text_atomically(filename, "".join(f"{label}\n" for label in self._class_labels))


class RealEncoder(TextEncoder):
    """Numbers written with spaces between them."""

    def encode(self, s: str) -> list[float]:  # type: ignore[override]
        """The numbers of a text."""
        return [float(word) for word in s.split()]

    def decode(self, ids: Iterable[float], strip_extraneous: bool = False) -> str:
        """The numbers as text."""
        del strip_extraneous
        return " ".join(str(item) for item in ids)


def _read_lines(filename: str) -> list[str]:
    """The lines of a UTF-8 file without the white space around them."""
    try:
        with open(filename, encoding="utf-8", newline="\n") as stream:
            return [line.strip() for line in stream]
    except FileNotFoundError as error:
        raise ValueError(
            "The vocabulary file does not exist; make it with t2t-datagen, or check the data "
            f"folder. Received: {filename!r}"
        ) from error
