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
from typing import Final
from urllib.parse import unquote, urlsplit

from absl import logging

from t2t_keras.data import archives, downloads

# SHA-256 of archives as recorded by TensorFlow Datasets.
KNOWN_SHA256: Final[dict[str, str]] = {
    "http://data.statmt.org/wmt18/translation-task/rapid2016.tgz": (
        "41557dd5d8f0ed3a6d98bce3b798b1a9d3b68361eb99d902329ddbb943a6b55a"
    ),
    "http://data.statmt.org/wmt18/translation-task/training-parallel-nc-v13.tgz": (
        "17992b7e919cfb754c60f4e754148bc23b80706ad0ed7b34150831a554b40c91"
    ),
    "http://www.statmt.org/wmt10/training-giga-fren.tar": (
        "3ff8319f6919393520559bfbc7ad6a747ec81b3abc7be9993b338d4b017b4d9a"
    ),
    "http://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz": (
        "c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5"
    ),
    "http://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz": (
        "0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7"
    ),
    "http://www.statmt.org/wmt13/training-parallel-un.tgz": (
        "29141b5c1eba149a94f7a59d3b1a834b2e47fe0f8758d68dcd77a3d3f497ee47"
    ),
    "http://www.statmt.org/wmt14/training-parallel-nc-v9.tgz": (
        "cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485"
    ),
}


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
        sha256: expected checksum of a download; default: the one in `KNOWN_SHA256`, if any.
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
        logging.info("Using %s", path)
        return path
    if not name:
        raise SourceError(f"A source needs an address that ends in a file name. Received: {url!r}")
    try:
        if url.startswith(("http://", "https://")):
            expected = sha256 or KNOWN_SHA256.get(url)
            return downloads.download(url, path, sha256=expected, attempts=attempts)
        return _copy(url, path)
    except downloads.DownloadError as error:
        raise SourceError(
            f"Could not download {url}.\n  Cause: {error}\n"
            f"  Without a network: fetch it elsewhere and put it at {path}"
        ) from error


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
    missing = [name for name in names if not _is_present(tmp_dir, name)]
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
    paths = _matching(tmp_dir, pattern)
    if not paths:
        archive = _fetch_or_explain(tmp_dir, url, [pattern])
        members = archives.unpack(archive, tmp_dir) if archives.is_archive(archive) else []
        paths = _matching(tmp_dir, pattern)
        if not paths:
            raise _not_in_archive(archive, [pattern], members)
    return paths


def _matching(tmp_dir: str, pattern: str) -> list[str]:
    """Decompressed files that match, or whose compressed form matches."""
    found = glob.glob(os.path.join(glob.escape(tmp_dir), pattern))
    found = [path for path in found if ".incomplete" not in os.path.basename(path)]
    return sorted({_plain_file(path) for path in found if os.path.isfile(path)})


def _is_present(tmp_dir: str, name: str) -> bool:
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
    members: list[str] = []
    if archives.is_archive(archive):
        members = archives.unpack(archive, tmp_dir)
    elif archive.endswith(".gz"):
        members = [os.path.basename(archives.gunzip(archive))]
    still_missing = [name for name in missing if not _is_present(tmp_dir, name)]
    if still_missing:
        raise _not_in_archive(archive, still_missing, members)


def _fetch_or_explain(tmp_dir: str, url: str, missing: Sequence[str]) -> str:
    paths = "".join(f"\n    {os.path.join(tmp_dir, name)}" for name in missing)
    if not url:
        raise SourceError(f"These files are needed and must be put there by you:{paths}")
    try:
        return fetch(tmp_dir, url)
    except SourceError as error:
        raise SourceError(f"{error}\n  or put there what it holds:{paths}") from error


def _not_in_archive(archive: str, wanted: Sequence[str], members: Sequence[str]) -> SourceError:
    near = sorted({match for name in wanted for match in difflib.get_close_matches(name, members)})
    hint = f" Nearest names in it: {', '.join(near)}." if near else ""
    return SourceError(
        f"{archive} does not hold {', '.join(wanted)} ({len(members)} files were unpacked).{hint}"
        " If it is damaged or another file of the same name, delete it and run again."
    )
