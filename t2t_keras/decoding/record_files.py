"""Files of records, one text each: reading what is to be decoded, naming and writing the results.

Every record read has its record in the output, in the same place: that is what evaluation scripts
and parallel corpora rely on.
"""

from __future__ import annotations

import os
import string
import tempfile
from collections.abc import Sequence

from absl import logging

from t2t_keras import names
from t2t_keras.hparam import HParams
from t2t_keras.text.text_files import write_text_atomically

_BYTE_ORDER_MARK = "\ufeff"


def read_records(path: str, delimiter: str = "\n", strip: bool = True) -> list[str]:
    """The records of a UTF-8 file.

    Only the delimiter separates records, not the other characters that `str.splitlines` splits at.
    What follows the last delimiter is a record only if there is something, if only blanks. Bytes
    that are no UTF-8 are replaced by U+FFFD with a warning that names the record. A byte order mark
    is dropped.

    Args:
        path: file to read.
        delimiter: what ends a record.
        strip: remove white space around records; otherwise only the carriage return of files with
            Windows line ends.

    Raises:
        FileNotFoundError: there is no such file.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(f"There is no file to decode at {path!r} (--decode_from_file).")
    with open(path, "rb") as stream:
        raw_records = stream.read().split(delimiter.encode("utf-8"))
    records = [_decode(raw, path, number) for number, raw in enumerate(raw_records, start=1)]
    records[0] = records[0].removeprefix(_BYTE_ORDER_MARK)
    # Before stripping: blanks without a line end are a record, too.
    if not records[-1]:
        del records[-1]
    if strip:
        records = [record.strip() for record in records]
    elif delimiter == "\n":
        records = [record.removesuffix("\r") for record in records]
    return records


def _decode(raw: bytes, path: str, number: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        logging.warning(
            "%s, line %d: byte %d (0x%02x) is not UTF-8; such bytes are read as U+FFFD.",
            path,
            number,
            error.start + 1,
            raw[error.start],
        )
        return raw.decode("utf-8", errors="replace")


def prompts(records: Sequence[str], repetitions: int = 1) -> list[str]:
    """Records as beginnings for a language model: a space after final (ASCII) punctuation.

    Args:
        records: one prompt each.
        repetitions: how often the whole list is wanted.
    """
    spaced = [
        record + " " if record and record[-1] in string.punctuation else record
        for record in records
    ]
    return spaced * repetitions


def longest_first(lengths: Sequence[int]) -> list[int]:
    """Indices in order of decreasing length, equal lengths in their original order."""
    return sorted(range(len(lengths)), key=lambda index: -lengths[index])


def with_shard_suffix(path: str, options: HParams) -> str:
    """`path` with the number of the shard to decode appended, if there are several shards.

    Args:
        path: name without suffix.
        options: decode hparams; `shard_google_format` chooses between `-00002-of-00004` and `002`.
    """
    if options.shards <= 1:
        return path
    shard = options.shard_id + options.shards_start_offset
    if options.shard_google_format:
        return f"{path}-{shard:05d}-of-{options.shards:05d}"
    return f"{path}{shard:03d}"


def default_output_path(
    base: str, options: HParams, model_name: str, hparams_set: str, problem_name: str
) -> str:
    """T2T's name of the decodes of `base`.

    Shard suffix, model, hparams set, problem, beam, alpha; the description is left out if `base`
    already carries the beam and alpha.
    """
    path = with_shard_suffix(base, options)
    if f"beam{options.beam_size}.alpha{options.alpha}.decodes" in path:
        return path
    return (
        f"{path}.{model_name}.{hparams_set}.{names.file_name(problem_name)}"
        f".beam{options.beam_size}.alpha{options.alpha}.decodes"
    )


def prepare_output(path: str, source: str = "") -> None:
    """Makes sure, before hours of decoding, that `path` can be written.

    Args:
        path: the output.
        source: the file that is read.

    Raises:
        ValueError: it is a directory or the source, or its directory cannot be made or written to.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise ValueError(f"The output file is a directory. Received: {path!r}")
    if source and os.path.realpath(path) == os.path.realpath(source):
        raise ValueError(
            f"The output would overwrite the file that is read. Received: {path!r} for both"
        )
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise ValueError(f"Cannot make the directory of the output {path!r}: {error}") from error
    try:
        # Rights alone don't tell: think of /proc, quotas, read-only file systems, long names.
        with tempfile.NamedTemporaryFile(prefix=f".{os.path.basename(path)}.", dir=folder):
            pass
    except OSError as error:
        raise ValueError(f"The output {path!r} cannot be written: {error}") from error


def write_records(path: str, records: Sequence[str], delimiter: str = "\n") -> None:
    """Writes the records, each followed by the delimiter; the file appears complete or not at all.

    Raises:
        ValueError: a record contains the delimiter and would be read as two.
    """
    for number, record in enumerate(records, start=1):
        if delimiter in record:
            raise ValueError(f"Record {number} contains the delimiter. Received: {record!r}")
    write_text_atomically(path, "".join(record + delimiter for record in records))
