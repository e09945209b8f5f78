"""Downloading one file over HTTP: verified, retried, resumed, and never half there.

The file grows under the name `<path>.incomplete` and gets its own name only when all of it has
arrived and its checksum, where known, is right.
"""

import contextlib
import errno
import hashlib
import http.client
import json
import os
import re
import time
import urllib.error
import urllib.request
from typing import Final

from absl import logging
from tqdm import tqdm

from t2t_keras.data import folder_lock

_BLOCK_BYTES: Final = 1 << 18
_USER_AGENT: Final = "t2t_keras"
_RETRIED_STATUSES: Final = (408, 425, 429, 500, 502, 503, 504)
# Errors of this machine's disk, which waiting does not mend.
_LOCAL_ERRORS: Final = (errno.EACCES, errno.EDQUOT, errno.EFBIG, errno.ENOSPC, errno.EROFS)


class DownloadError(OSError):
    """A file could not be downloaded; the message says which, and why."""


def download(
    url: str,
    path: str,
    *,
    sha256: str | None = None,
    attempts: int = 5,
    first_wait_seconds: float = 1.0,
    timeout_seconds: float = 60.0,
) -> str:
    """Downloads `url` to `path`; does nothing if `path` exists.

    An interrupted download, also one of an earlier process, is continued where it stopped if the
    server supports that and the file there has not changed since.

    Args:
        url: http or https address.
        path: final file name; its directory must exist.
        sha256: expected SHA-256 in hexadecimal; None if unknown.
        attempts: most tries; waits of 1, 2, 4, … times `first_wait_seconds` lie between them.
        first_wait_seconds: wait after the first failure, in seconds.
        timeout_seconds: longest silence of the server, in seconds.

    Returns:
        `path`.

    Raises:
        DownloadError: if every attempt failed, or the content has not the expected checksum.
    """
    with folder_lock.locked(os.path.dirname(path)):
        if os.path.exists(path):
            return path
        logging.info("Downloading %s to %s", url, path)
        for attempt in range(1, attempts + 1):
            try:
                resumed = _receive(url, path, sha256 is not None, timeout_seconds)
                if _checksum_is_right(url, path, sha256, resumed):
                    _finish(path)
                    return path
                reason = "the continued file had the wrong checksum"
            except urllib.error.HTTPError as error:
                if error.code not in _RETRIED_STATUSES:
                    raise DownloadError(
                        f"{url}: HTTP status {error.code} ({error.reason})"
                    ) from error
                reason = f"HTTP status {error.code}"
            except http.client.HTTPException as error:
                reason = _reason(error)
            except OSError as error:
                if isinstance(error, DownloadError) or error.errno in _LOCAL_ERRORS:
                    raise
                reason = _reason(error)
            if attempt == attempts:
                raise DownloadError(f"{url}: {reason} (tried {attempts} times)")
            wait = first_wait_seconds * 2 ** (attempt - 1)
            logging.warning("Download of %s failed: %s. Next try in %.0f s", url, reason, wait)
            time.sleep(wait)
    raise ValueError(f"attempts must be at least 1. Received: {attempts}")


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.URLError):
        return str(error.reason)
    return str(error) or type(error).__name__


def _temporary(path: str) -> str:
    return f"{path}.incomplete"


def _validator_path(path: str) -> str:
    """File holding the URL and the server's version mark of an incomplete download."""
    return f"{path}.incomplete.json"


def _finish(path: str) -> None:
    os.replace(_temporary(path), path)
    with contextlib.suppress(FileNotFoundError):
        os.remove(_validator_path(path))


def _discard(path: str) -> None:
    for name in (_temporary(path), _validator_path(path)):
        with contextlib.suppress(FileNotFoundError):
            os.remove(name)


def _receive(url: str, path: str, checksum_known: bool, timeout_seconds: float) -> bool:
    """Brings `<path>.incomplete` to its full length; returns whether an earlier part was kept."""
    offset, validator = _resume_point(url, path, checksum_known)
    request = urllib.request.Request(url, headers={"User-Agent": _USER_AGENT})
    if offset:
        request.add_header("Range", f"bytes={offset}-")
        if validator:
            request.add_header("If-Range", validator)
    try:
        response = urllib.request.urlopen(request, timeout=timeout_seconds)
    except urllib.error.HTTPError as error:
        if offset and error.code == 416:
            if checksum_known and error.headers.get("Content-Range") == f"bytes */{offset}":
                return True
            # What is there is as long as the file or longer: it belongs to another version.
            _discard(path)
            raise ConnectionError("the incomplete file did not fit; starting again") from error
        raise
    with response:
        offset, total = _agreed_range(response, offset)
        _write_validator(url, path, response)
        _append(response, path, offset, total)
    return offset > 0


def _resume_point(url: str, path: str, checksum_known: bool) -> tuple[int, str | None]:
    """Bytes already here that may be kept, and the server's version mark for them."""
    try:
        offset = os.path.getsize(_temporary(path))
    except FileNotFoundError:
        return 0, None
    validator = None
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        with open(_validator_path(path), encoding="utf-8") as stream:
            record = json.load(stream)
        validator = record["validator"] if record["url"] == url else None
    # Without a version mark or a checksum nobody would notice two versions glued together.
    return (offset, validator) if validator or checksum_known else (0, None)


def _write_validator(url: str, path: str, response: http.client.HTTPResponse) -> None:
    etag = response.headers.get("ETag", "")
    # RFC 9110, 13.1.5: a weak entity tag must not be used in If-Range.
    validator = (
        etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")
    )
    with open(_validator_path(path), "w", encoding="utf-8") as stream:
        json.dump({"url": url, "validator": validator}, stream)


def _agreed_range(response: http.client.HTTPResponse, offset: int) -> tuple[int, int | None]:
    """Where the server's answer starts, and the length of the whole file if it says so."""
    if response.status == 206:
        match = re.match(r"bytes (\d+)-\d+/(\d+|\*)", response.headers.get("Content-Range", ""))
        if match is None or int(match[1]) != offset:
            raise ConnectionError("the server answered with another part of the file")
        return offset, None if match[2] == "*" else int(match[2])
    length = response.headers.get("Content-Length")
    return 0, int(length) if length else None


def _append(response: http.client.HTTPResponse, path: str, offset: int, total: int | None) -> None:
    size = offset
    with (
        open(_temporary(path), "r+b" if offset else "wb") as output,
        # disable=None: no bar where the output is not a terminal.
        tqdm(
            desc=os.path.basename(path),
            initial=offset,
            total=total,
            unit="B",
            unit_scale=True,
            disable=None,
        ) as bar,
    ):
        output.seek(offset)
        while block := response.read(_BLOCK_BYTES):
            output.write(block)
            size += len(block)
            bar.update(len(block))
        output.truncate()
    if total is not None and size != total:
        raise ConnectionError(f"the connection ended after {size} of {total} bytes")


def _checksum_is_right(url: str, path: str, sha256: str | None, resumed: bool) -> bool:
    """Compares; a wrong file is deleted, and is an error unless it was put together from parts."""
    if sha256 is None:
        return True
    found = sha256_of(_temporary(path))
    if found == sha256.lower():
        return True
    _discard(path)
    if resumed:
        return False
    raise DownloadError(
        f"{url} has SHA-256 {found}, expected {sha256}. The file was changed on the server or on "
        f"the way; if you trust it, put it at {path} yourself: a file found there is used."
    )


def sha256_of(path: str) -> str:
    """SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
