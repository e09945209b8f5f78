"""Finding a problem's raw files: in tmp_dir, in an archive there, or on the network.

A source is an address and the files wanted from it, the form in which translation problems list
their corpora (T2T's `source_data_files`). Whatever already lies in `tmp_dir` is used as it is, so
everything works without a network once the files were put there by hand.
"""

import difflib
import glob
import os
import posixpath
import shutil
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from absl import logging

from t2t_keras.data import archives, downloads, known_files


class SourceError(FileNotFoundError):
    """A problem's raw file is neither in tmp_dir nor to be had; the message says how to get it."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


def file_name_of(url: str) -> str:
    """The name under which a source is kept in tmp_dir: the last part of its address.

    `http://host/download.php?f=corpus/en-ro.txt.zip` is kept as "en-ro.txt.zip".
    """
    if "://" not in url:
        return os.path.basename(url)
    parts = urlsplit(url)
    if parts.path.endswith(".php") and "/" in parts.query:
        return unquote(posixpath.basename(parts.query))
    return unquote(posixpath.basename(parts.path))


def fetch(
    tmp_dir: str,
    url: str,
    *,
    file_name: str | None = None,
    sha256: str | None = None,
    attempts: int = 5,
) -> str:
    """Path in `tmp_dir` of the file that `url` names, fetched unless it is already there.

    Args:
        tmp_dir: folder for raw files; created if absent.
        url: http(s) address, or the path of a local (or, as `gs://…`, remote) file to copy.
        file_name: name in `tmp_dir`; default: the last part of `url`.
        sha256: expected checksum of a download; default: the known one, if any. A file that is
            already there may be another, for whoever put it there; that is logged.
        attempts: most tries of a download.

    Returns:
        Path of the file in `tmp_dir`.

    Raises:
        SourceError: if it can't be fetched. The message names the address and where to put the file
            by hand.
    """
    os.makedirs(tmp_dir, exist_ok=True)
    name = file_name or file_name_of(url)
    path = os.path.join(tmp_dir, name)
    if os.path.isfile(path):
        _warn_if_changed(path, url)
        logging.info("Using %s", path)
        return path
    if not name:
        raise SourceError(f"A source needs an address that ends in a file name. Received: {url!r}")
    try:
        if url.startswith(("http://", "https://")):
            known = known_files.KNOWN_FILES.get(url)
            expected = sha256 or (known.sha256 if known else None)
            return downloads.download(url, path, sha256=expected, attempts=attempts)
        return _copy(url, path)
    except downloads.DownloadError as error:
        raise SourceError(
            f"Could not download {url}.\n  Cause: {error}\n"
            f"  Without a network: fetch it elsewhere and put it at {path}"
        ) from error


def _warn_if_changed(path: str, url: str) -> None:
    difference = known_files.difference(path, url)
    if difference:
        logging.warning("%s. It is used all the same; delete it to fetch it again.", difference)


def _copy(source: str, path: str) -> str:
    """Copies a local file, or through TensorFlow's file systems one with a scheme (`gs://…`)."""
    temporary = f"{path}.incomplete.{os.getpid()}"
    try:
        if "://" in source and not source.startswith("file://"):
            import tensorflow as tf

            tf.io.gfile.copy(source, temporary, overwrite=True)
        else:
            shutil.copyfile(os.path.expanduser(source.removeprefix("file://")), temporary)
        os.replace(temporary, path)
    except Exception as error:
        raise SourceError(
            f"Could not copy {source!r} ({error}).\n  Put the file at {path} yourself."
        ) from error
    finally:
        if os.path.exists(temporary):
            os.remove(temporary)
    return path


def fetch_members(tmp_dir: str, url: str, names: Sequence[str]) -> list[str]:
    """Paths of the files `names` of a source, fetched and unpacked where they are missing.

    A name ending in ".gz" stands for the file inside: it is decompressed, and the path returned is
    the one without ".gz". If all files are there already, `url` is not touched.

    Args:
        tmp_dir: folder for raw files.
        url: address of the archive (or single file) that holds them; may be "" for files that
            the user puts into `tmp_dir`.
        names: paths inside the archive, and below `tmp_dir`.

    Returns:
        One path for each name.

    Raises:
        SourceError: if a file is missing and can't be fetched, or the archive does not hold it.
    """
    missing = [name for name in names if not is_present(tmp_dir, name)]
    if missing:
        _fetch_and_unpack(tmp_dir, url, missing)
    return [_plain_file(os.path.join(tmp_dir, name)) for name in names]


def fetch_matching(tmp_dir: str, url: str, pattern: str) -> list[str]:
    """Paths of all files of a source that match a glob pattern, sorted, decompressed.

    Args:
        tmp_dir: folder for raw files.
        url: address of the archive or file; fetched only if nothing in `tmp_dir` matches.
        pattern: glob pattern below `tmp_dir`.

    Raises:
        SourceError: if nothing matches even after unpacking.
    """
    paths = _matching_plain_files(tmp_dir, pattern)
    if not paths:
        archive = _fetch_or_explain(tmp_dir, url, [pattern])
        members = _unpack(archive, tmp_dir, url) if archives.is_archive(archive) else []
        paths = _matching_plain_files(tmp_dir, pattern)
        if not paths:
            raise _not_in_archive(archive, url, [pattern], members)
    return paths


def matching_files(tmp_dir: str, pattern: str) -> list[str]:
    """Files below `tmp_dir` that match a glob pattern, sorted, compressed ones included."""
    found = glob.glob(os.path.join(glob.escape(tmp_dir), pattern))
    found = [path for path in found if ".incomplete" not in os.path.basename(path)]
    return sorted(path for path in found if os.path.isfile(path))


def is_at_hand(tmp_dir: str, url: str, names: Sequence[str], pattern: str = "") -> bool:
    """Whether a source needs no network: its archive or all the files wanted are in `tmp_dir`.

    Args:
        tmp_dir: folder for raw files.
        url: address of the archive.
        names: the files wanted.
        pattern: instead of `names`, a glob pattern.
    """
    name = file_name_of(url)
    if name and os.path.isfile(os.path.join(tmp_dir, name)):
        return True
    if pattern:
        return bool(matching_files(tmp_dir, pattern))
    return all(is_present(tmp_dir, name) for name in names)


def _matching_plain_files(tmp_dir: str, pattern: str) -> list[str]:
    """The same, decompressed."""
    return sorted({_plain_file(path) for path in matching_files(tmp_dir, pattern)})


def is_present(tmp_dir: str, name: str) -> bool:
    """Whether a file is there, or for `x.gz` the decompressed `x`."""
    path = os.path.join(tmp_dir, name)
    return os.path.isfile(path) or os.path.isfile(path.removesuffix(".gz"))


def _plain_file(path: str) -> str:
    """The path itself, or for `x.gz` the path `x`, decompressed now if need be."""
    if not path.endswith(".gz"):
        return path
    plain = path.removesuffix(".gz")
    return plain if os.path.isfile(plain) else archives.gunzip(path)


def _fetch_and_unpack(tmp_dir: str, url: str, missing: Sequence[str]) -> None:
    archive = _fetch_or_explain(tmp_dir, url, missing)
    members = _unpack(archive, tmp_dir, url)
    still_missing = [name for name in missing if not is_present(tmp_dir, name)]
    if still_missing:
        raise _not_in_archive(archive, url, still_missing, members)


def _unpack(archive: str, tmp_dir: str, url: str) -> list[str]:
    """Unpacks an archive or decompresses a file; returns what was written. Others stay as is."""
    try:
        if archives.is_archive(archive):
            return archives.unpack(archive, tmp_dir)
        if archive.endswith(".gz"):
            return [os.path.basename(archives.gunzip(archive))]
    except ValueError as error:
        difference = known_files.difference(archive, url)
        if not difference:
            raise
        raise ValueError(f"{error}\n  {difference}. Delete it to fetch it again.") from error
    return []


def _fetch_or_explain(tmp_dir: str, url: str, missing: Sequence[str]) -> str:
    paths = "".join(f"\n    {os.path.join(tmp_dir, name)}" for name in missing)
    if not url:
        raise SourceError(f"These files are needed and must be put there by you:{paths}")
    try:
        return fetch(tmp_dir, url)
    except SourceError as error:
        raise SourceError(f"{error}\n  or put there what it holds:{paths}") from error


def _not_in_archive(
    archive: str, url: str, wanted: Sequence[str], members: Sequence[str]
) -> SourceError:
    near = sorted({match for name in wanted for match in difflib.get_close_matches(name, members)})
    hint = f" Nearest names in it: {', '.join(near)}." if near else ""
    difference = known_files.difference(archive, url)
    return SourceError(
        f"{archive} does not hold {', '.join(wanted)} ({len(members)} files were unpacked).{hint}"
        " If it is damaged or another file of the same name, delete it and run again."
        + (f"\n  {difference}." if difference else "")
    )
