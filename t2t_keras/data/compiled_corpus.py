"""Corpora of all kinds joined into one pair of line-aligned files."""

import itertools
import os
from collections.abc import Iterator, Sequence
from typing import IO, Any

from absl import logging

from t2t_keras.data import cleaner, parallel_text, sources
from t2t_keras.data.progress import progress

# [address, files]; files is (first file, second file), ("tsv", column, column, glob pattern) or
# ("tmx", file).
Source = Sequence[Any]

LANGUAGE_SUFFIXES = (".lang1", ".lang2")


def compile_data(
    tmp_dir: str,
    datasets: Sequence[Source],
    filename: str,
    datatypes_to_clean: Sequence[str] | None = None,
    *,
    cut_to_shorter: bool = False,
) -> str:
    """Joins corpora into two line-aligned files `<tmp_dir>/<filename>.lang1` and `.lang2`.

    Pairs with an empty side are left out. Existing files are used again unless a corpus file is
    newer than they are.

    Args:
        tmp_dir: folder for raw files.
        datasets: list of `[address, files]`, see `translate.TranslateProblem`.
        filename: base name of the compiled files.
        datatypes_to_clean: kinds ("txt", "tsv", "tmx") whose pairs are to be cleaned.
        cut_to_shorter: accept line-aligned files of different lengths.

    Returns:
        `<tmp_dir>/<filename>`.

    Raises:
        SourceError: if a corpus is missing and can't be fetched.
        ValueError: if a corpus is malformed, or its two sides have different lengths.
    """
    base = os.path.join(tmp_dir, filename)
    if _is_up_to_date(base, tmp_dir, datasets):
        logging.info("Using the compiled corpus %s%s and %s", base, *LANGUAGE_SUFFIXES)
        return base
    temporary = f"{base}.incomplete.{os.getpid()}"
    names = [temporary + suffix for suffix in LANGUAGE_SUFFIXES]
    os.makedirs(tmp_dir, exist_ok=True)
    try:
        with (
            open(names[0], "w", encoding="utf-8", newline="") as first_stream,
            open(names[1], "w", encoding="utf-8", newline="") as second_stream,
        ):
            for url, files in datasets:
                pairs = _pairs_of(tmp_dir, url, files, datatypes_to_clean or (), cut_to_shorter)
                _write_pairs(
                    progress(pairs, f"Compiling {files}", "pair"), first_stream, second_stream
                )
        for name, suffix in zip(names, LANGUAGE_SUFFIXES, strict=True):
            os.replace(name, base + suffix)
    finally:
        for name in names:
            if os.path.exists(name):
                os.remove(name)
    return base


def _write_pairs(
    pairs: Iterator[tuple[str, str]], first_stream: IO[str], second_stream: IO[str]
) -> None:
    for first, second in pairs:
        if first and second:
            first_stream.write(first + "\n")
            second_stream.write(second + "\n")


def _pairs_of(
    tmp_dir: str,
    url: str,
    files: Sequence[Any],
    kinds_to_clean: Sequence[str],
    cut_to_shorter: bool,
) -> Iterator[tuple[str, str]]:
    """Pairs of one corpus, of whatever kind it is."""
    kind = files[0] if files[0] in ("tsv", "tmx") else "txt"
    pairs: Iterator[tuple[str, str]]
    if kind == "tsv":
        pairs = itertools.chain.from_iterable(
            parallel_text.tsv_pairs(path, int(files[1]), int(files[2]))
            for path in sources.fetch_matching(tmp_dir, url, files[3])
        )
    elif kind == "tmx":
        pairs = itertools.chain.from_iterable(
            parallel_text.tmx_pairs(path) for path in sources.fetch_members(tmp_dir, url, files[1:])
        )
    else:
        first_path, second_path = sources.fetch_members(tmp_dir, url, files)
        pairs = parallel_text.text_pairs(first_path, second_path, cut_to_shorter=cut_to_shorter)
    return cleaner.clean_pairs(pairs) if kind in kinds_to_clean else pairs


def is_tsv(files: Sequence[Any]) -> bool:
    """Whether an entry stands for the tables that match a pattern."""
    return bool(files[0] == "tsv")


def names_of(files: Sequence[Any]) -> Sequence[str]:
    """The files of an entry that are named one by one."""
    return files[1:] if files[0] == "tmx" else () if is_tsv(files) else files


def _is_up_to_date(base: str, tmp_dir: str, datasets: Sequence[Source]) -> bool:
    """Whether both compiled files exist, and no corpus file in tmp_dir is newer."""
    compiled = [base + suffix for suffix in LANGUAGE_SUFFIXES]
    if not all(os.path.exists(path) for path in compiled):
        return False
    made = min(os.path.getmtime(path) for path in compiled)
    for _, files in datasets:
        for name in names_of(files):
            path = os.path.join(tmp_dir, name).removesuffix(".gz")
            if os.path.exists(path) and os.path.getmtime(path) > made:
                logging.info("%s is newer than %s: compiling again", path, compiled[0])
                return False
    return True
