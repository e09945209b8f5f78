"""Sizes and checksums of published archives, as TensorFlow Datasets recorded them."""

import os
from typing import Final, NamedTuple

from t2t_keras.data import downloads


class KnownFile(NamedTuple):
    """What a file at an address should be.

    Attributes:
        num_bytes: its size.
        sha256: its SHA-256, in lower-case hexadecimal.
    """

    num_bytes: int
    sha256: str


_WMT18: Final = "http://data.statmt.org/wmt18/translation-task"
_STATMT: Final = "http://www.statmt.org"
_PARACRAWL: Final = "https://s3.amazonaws.com/web-language-models/paracrawl/release1"

KNOWN_FILES: Final[dict[str, KnownFile]] = {
    f"{_WMT18}/rapid2016.tgz": KnownFile(
        161050516, "41557dd5d8f0ed3a6d98bce3b798b1a9d3b68361eb99d902329ddbb943a6b55a"
    ),
    f"{_WMT18}/training-parallel-ep-v8.tgz": KnownFile(
        246201434, "953eaf7f24dcfc87eff6845d13ec6ca8acbee0ccf7edf4063b8b94e943933a96"
    ),
    f"{_WMT18}/training-parallel-nc-v13.tgz": KnownFile(
        113157482, "17992b7e919cfb754c60f4e754148bc23b80706ad0ed7b34150831a554b40c91"
    ),
    f"{_STATMT}/wmt10/training-giga-fren.tar": KnownFile(
        2595102720, "3ff8319f6919393520559bfbc7ad6a747ec81b3abc7be9993b338d4b017b4d9a"
    ),
    f"{_STATMT}/wmt13/training-parallel-commoncrawl.tgz": KnownFile(
        918311367, "c7a74e2ea01ac6c920123108627e35278d4ccb5701e15428ffa34de86fa3a9e5"
    ),
    f"{_STATMT}/wmt13/training-parallel-europarl-v7.tgz": KnownFile(
        657632379, "0224c7c710c8a063dfd893b0cc0830202d61f4c75c17eb8e31836103d27d96e7"
    ),
    f"{_STATMT}/wmt13/training-parallel-un.tgz": KnownFile(
        2365634246, "29141b5c1eba149a94f7a59d3b1a834b2e47fe0f8758d68dcd77a3d3f497ee47"
    ),
    f"{_STATMT}/wmt14/training-parallel-nc-v9.tgz": KnownFile(
        80418416, "cb8953f292298e6877ae433c98912b927cb0766b303f4540512ddd286c748485"
    ),
    f"{_PARACRAWL}/paracrawl-release1.en-et.zipporah0-dedup-clean.tgz": KnownFile(
        78283314, "1c3065a8e04a5a6d09d5d5c72ece8aeabcc418eb48cf85038bba6cdef638dc7d"
    ),
}


def difference(path: str, url: str) -> str:
    """How a file differs from what is known of its address; "" if it doesn't or nothing is known.

    Args:
        path: the file. It is read whole if something is known.
        url: where it came from.
    """
    known = KNOWN_FILES.get(url)
    if known is None:
        return ""
    found = downloads.sha256_of(path)
    if found == known.sha256:
        return ""
    return (
        f"{path} is not the file that {url} was known to be: it has "
        f"{os.path.getsize(path)} bytes and SHA-256 {found}, expected were {known.num_bytes} "
        f"bytes and SHA-256 {known.sha256}"
    )
