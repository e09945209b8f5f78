"""T2T's conversions between texts and bytes (data_generators.text_encoder), as under Python 3."""


def is_unicode(text: object) -> bool:
    """Whether an object is a text rather than bytes."""
    return isinstance(text, str)


def native_to_unicode(text: str | bytes) -> str:
    """The text itself; bytes are decoded as UTF-8."""
    return to_unicode(text)


def unicode_to_native(text: str) -> str:
    """The text itself: Python 3's own strings are Unicode."""
    return text


def to_unicode(text: str | bytes, ignore_errors: bool = False) -> str:
    """Bytes as text, decoded as UTF-8.

    Args:
        text: the bytes; a text is returned as it is.
        ignore_errors: leave out bytes that aren't UTF-8.

    Raises:
        UnicodeDecodeError: they aren't UTF-8.
    """
    if isinstance(text, str):
        return text
    return text.decode("utf-8", errors="ignore" if ignore_errors else "strict")


def to_unicode_ignore_errors(text: str | bytes) -> str:
    """Bytes as text; what isn't UTF-8 is left out."""
    return to_unicode(text, ignore_errors=True)


def to_unicode_utf8(text: str | bytes) -> str:
    """Bytes as text; they must be UTF-8."""
    return to_unicode(text)
