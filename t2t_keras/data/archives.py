"""Unpacking downloaded archives without trusting them.

Nothing is written outside the given directory, links and devices are never created, the total size
is bounded, and every file gets its final name only when it is complete.
"""

import functools
import gzip
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Final, cast

from absl import logging

_COPY_BYTES: Final = 1 << 20
# Text compresses about 3 to 10 times; gzip's own limit is about 1,000 times.
_MAX_EXPANSION: Final = 100
_MIN_LIMIT_BYTES: Final = 1 << 30

# What the standard library raises for archives that were cut or damaged.
_DAMAGE_ERRORS: Final = (
    EOFError,
    tarfile.ReadError,
    zipfile.BadZipFile,
    zlib.error,
    gzip.BadGzipFile,
    lzma.LZMAError,
)


def is_archive(path: str) -> bool:
    """True if the file is a tar (compressed or not) or zip archive, judged by its content."""
    try:
        return zipfile.is_zipfile(path) or tarfile.is_tarfile(path)
    except _DAMAGE_ERRORS:
        # A gzip file that breaks off within its first block.
        return False


def unpack(archive_path: str, directory: str, *, max_bytes: int | None = None) -> list[str]:
    """Unpacks a tar, tar.gz, tgz, tar.bz2, tar.xz or zip archive.

    Args:
        archive_path: the archive.
        directory: where its tree goes; created if absent. Existing files are replaced.
        max_bytes: most bytes to write in all; default 100 times the archive's size, at least 1 GiB.

    Returns:
        Paths of the files written, relative to `directory`, in archive order.

    Raises:
        ValueError: if the file is no archive, is damaged, has a member that would land outside
            `directory`, or holds more than `max_bytes`.
    """
    if max_bytes is None:
        max_bytes = max(_MIN_LIMIT_BYTES, _MAX_EXPANSION * os.path.getsize(archive_path))
    members = _zip_members if zipfile.is_zipfile(archive_path) else _tar_members
    logging.info("Unpacking %s into %s", archive_path, directory)
    written: list[str] = []
    remaining = max_bytes
    try:
        for name, open_member in members(archive_path):
            relative = _safe_relative_path(name, archive_path)
            target = os.path.join(directory, relative)
            with open_member() as stream:
                size = _write_bounded(stream, target, remaining, archive_path, max_bytes)
            remaining -= size
            written.append(relative)
    except _DAMAGE_ERRORS as error:
        raise ValueError(
            f"{archive_path} is damaged, incomplete or no archive ({error}). "
            "Delete it and fetch it again."
        ) from error
    return written


def gunzip(path: str, *, target: str | None = None, max_bytes: int | None = None) -> str:
    """Decompresses `<name>.gz` to `<name>` beside it, or to `target`; returns that path.

    tensor2tensor strips any of the characters ".", "g", "z" from both ends of the name, which
    damages names such as "giga.en.gz"; here exactly the suffix goes.

    Args:
        path: the file; without a `target` its name must end in ".gz".
        target: where to write; default: the name without ".gz".
        max_bytes: most bytes to write. Default: 100 times the file's size, at least 1 GiB.

    Raises:
        ValueError: if the name does not end in ".gz", or the content is damaged or too big.
    """
    if target is None:
        if not path.endswith(".gz"):
            raise ValueError(f"Only files named *.gz can be gunzipped. Received: {path}")
        target = path.removesuffix(".gz")
    if max_bytes is None:
        max_bytes = max(_MIN_LIMIT_BYTES, _MAX_EXPANSION * os.path.getsize(path))
    logging.info("Decompressing %s", path)
    try:
        with gzip.open(path, "rb") as stream:
            _write_bounded(cast(IO[bytes], stream), target, max_bytes, path, max_bytes)
    except _DAMAGE_ERRORS as error:
        raise ValueError(
            f"{path} is damaged or incomplete ({error}). Delete it and fetch it again."
        ) from error
    return target


def _tar_members(path: str) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    with tarfile.open(path, "r:*") as archive:
        for member in archive:
            if member.isdir():
                continue
            if not member.isreg():
                logging.warning("Skipping %s in %s: not a regular file", member.name, path)
                continue
            yield member.name, functools.partial(_open_tar_member, archive, member)


def _open_tar_member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    stream = archive.extractfile(member)
    assert stream is not None  # Only links and directories give None.
    return stream


def _zip_members(path: str) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG):
                logging.warning("Skipping %s in %s: not a regular file", member.filename, path)
                continue
            yield member.filename, functools.partial(archive.open, member)


def _safe_relative_path(name: str, archive_path: str) -> str:
    parts = name.replace("\\", "/").split("/")
    if name.startswith(("/", "\\")) or ".." in parts or (parts[0][1:2] == ":"):
        raise ValueError(
            f"{archive_path} holds a file that would be written outside the target directory; "
            f"nothing more was unpacked. Received: {name!r}"
        )
    return os.path.normpath("/".join(parts))


def _write_bounded(
    stream: IO[bytes], target: str, limit: int, archive_path: str, total_limit: int
) -> int:
    """Copies at most `limit` bytes of `stream` to `target`, atomically; returns the count."""
    os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
    temporary = f"{target}.incomplete.{os.getpid()}"
    size = 0
    try:
        with open(temporary, "wb") as output:
            while block := stream.read(_COPY_BYTES):
                size += len(block)
                if size > limit:
                    raise ValueError(
                        f"{archive_path} unpacks to more than {total_limit} bytes. If that is "
                        "right, unpack it by hand into the same directory."
                    )
                output.write(block)
        os.replace(temporary, target)
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
    return size
