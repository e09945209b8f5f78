"""What a problem needs to generate its data, in words; nothing is fetched or written."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from t2t_keras.data import known_files, source_options, sources, tfds_text

Source = Sequence[Any]


def describe_archives(tmp_dir: str, corpora: Mapping[str, Sequence[Source]]) -> str:
    """Every archive with its address, size and place, and what of it is there.

    Archives of known checksum that are there are read to compare it.

    Args:
        tmp_dir: where raw files are looked for.
        corpora: by split (or "vocabulary"), lists of `[address, files]`.
    """
    lines = []
    for use, entries in corpora.items():
        lines.append(f"  {use}:")
        # The files wanted from one archive together.
        for url, group in itertools.groupby(entries, key=lambda entry: entry[0]):
            lines += _archive_lines(tmp_dir, url)
            for _, files in group:
                absent = "not unpacked" if url else "absent"
                lines += [f"      {line}" for line in _member_lines(tmp_dir, files, absent)]
    return "\n".join(lines)


def _archive_lines(tmp_dir: str, url: str) -> Iterator[str]:
    if not url:
        yield f"    files that you put into {tmp_dir}:"
        return
    known = known_files.KNOWN_FILES.get(url)
    yield f"    {url} ({f'{known.num_bytes:,} bytes' if known else 'size unknown'})"
    path = os.path.join(tmp_dir, sources.file_name_of(url))
    yield f"      looked for as {path}: {_state(path, url)}"


def _state(path: str, url: str) -> str:
    if os.path.isfile(path):
        difference = known_files.difference(path, url)
        if difference:
            return f"there, but changed. {difference}"
        checked = "checksum is right" if url in known_files.KNOWN_FILES else "checksum not known"
        return f"there, {os.path.getsize(path):,} bytes, {checked}"
    part = f"{path}.incomplete"
    if os.path.isfile(part):
        return f"download begun, {os.path.getsize(part):,} bytes"
    return "absent"


def _member_lines(tmp_dir: str, files: Sequence[Any], absent: str) -> Iterator[str]:
    if files[0] == "tsv":
        found = sources.matching_files(tmp_dir, files[3])
        yield f"files {files[3]}, columns {files[1]} and {files[2]}: {len(found)} unpacked"
        return
    for name in files[1:] if files[0] == "tmx" else files:
        state = "there" if sources.is_present(tmp_dir, name) else absent
        yield f"file {name}: {state}"


def describe_tfds(name: tfds_text.TfdsName) -> str:
    """Where a TFDS data set is, or how TFDS would get it.

    Raises:
        TfdsError: TFDS does not know it.
    """
    options = source_options.current()
    directory = tfds_text.prepared_directory(name)
    title = f"  TFDS data set {name.builder}"
    if directory is not None:
        splits = tfds_text.TfdsCorpus(name).builder.info.splits
        counts = ", ".join(f"{split} {info.num_examples:,}" for split, info in splits.items())
        return f"{title}: prepared in {directory} ({counts})"
    builder = tfds_text.unprepared_builder(name)
    lines = [
        f"{title}: not prepared; TFDS would do so in {builder.data_dir}",
        f"    archives are looked for in {options.manual_directory} (--tfds_manual_dir), then in",
        f"    {os.path.join(options.tfds_directory, 'downloads')}, then downloaded",
    ]
    lines += [f"    {line}" for line in _tfds_archives(builder, options.manual_directory)]
    return "\n".join(lines)


def _tfds_archives(builder: Any, manual_directory: str) -> Iterator[str]:
    """Archives of a data set: exactly for WMT's, else all that the builder may ask for."""
    infos = builder.url_infos
    urls = _wmt_urls(builder)
    if urls is None:
        yield "archives recorded for all configurations of this set:"
        urls = list(infos)
    for url in urls:
        info = infos.get(url)
        if info is None:
            yield f"{url} (size unknown)"
            continue
        path = os.path.join(manual_directory, info.filename or "")
        state = "there" if info.filename and os.path.isfile(path) else "absent"
        yield f"{url} ({int(info.size):,} bytes), as {info.filename or '(no fixed name)'}: {state}"


def _wmt_urls(builder: Any) -> list[str] | None:
    from tensorflow_datasets.translate import wmt

    if not isinstance(builder, wmt.WmtTranslate):
        return None
    source, _ = builder.builder_config.language_pair
    subsets = itertools.chain.from_iterable(builder.subsets.values())
    urls: list[str] = []
    for subset in dict.fromkeys(subsets):
        data_set = wmt.DATASET_MAP[subset]
        urls += data_set.get_manual_dl_files(source) or data_set.get_url(source)
    return list(dict.fromkeys(urls))
