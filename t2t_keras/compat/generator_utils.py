"""T2T's generator_utils: files and vocabularies of problems, with T2T's names and arguments.

Problems of this package have methods for most of it (`Problem.training_filepaths`,
`Text2TextProblem.get_or_create_vocab`); these functions are for code that calls T2T's.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from absl import logging

from t2t_keras.data import archives, publishing, records, sources, text_lines, translate
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.problem import UNSHUFFLED_SUFFIX, shard_paths
from t2t_keras.text.subwords import SubwordTextEncoder

# ---- Source files ----


def maybe_download(directory: str, filename: str, uri: str) -> str:
    """Fetches a file unless it is there.

    Args:
        directory: where to put it; created if absent.
        filename: its name there.
        uri: http(s) address, or path of a local or remote (`gs://…`) file to copy.

    Returns:
        Its path.

    Raises:
        SourceError: it can't be fetched; the message says where to put it by hand.
    """
    return sources.fetch(directory, uri, file_name=filename)


def gunzip_file(gz_path: str, new_path: str) -> None:
    """Decompresses a gzip file unless `new_path` exists; the whole file appears or nothing."""
    if os.path.exists(new_path):
        logging.info("%s exists already: not decompressed again", new_path)
        return
    archives.gunzip(gz_path, target=new_path)


# ---- Names of shards ----


def sharded_name(base_name: str, shard: int, total_shards: int) -> str:
    """`<base_name>-<shard>-of-<total>`, five digits each."""
    return f"{base_name}-{shard:05d}-of-{total_shards:05d}"


def shard_filepath(fname: str, num_shards: int) -> list[str]:
    """Names of all shards of a file."""
    return [sharded_name(fname, shard, num_shards) for shard in range(num_shards)]


def train_data_filenames(problem: str, output_dir: str, num_shards: int) -> list[str]:
    """Paths of the training shards of a problem's name (which may end in `-unshuffled`)."""
    return shard_paths(output_dir, problem, DatasetSplit.TRAIN, num_shards)


def dev_data_filenames(problem: str, output_dir: str, num_shards: int) -> list[str]:
    """Paths of the evaluation shards; see `train_data_filenames`."""
    return shard_paths(output_dir, problem, DatasetSplit.EVAL, num_shards)


def test_data_filenames(problem: str, output_dir: str, num_shards: int) -> list[str]:
    """Paths of the test shards; see `train_data_filenames`."""
    return shard_paths(output_dir, problem, DatasetSplit.TEST, num_shards)


# pytest takes functions of such names for tests.
test_data_filenames.__test__ = False  # type: ignore[attr-defined]


def combined_data_filenames(problem: str, output_dir: str, num_training_shards: int) -> list[str]:
    """Paths of all training shards, one evaluation and one test shard."""
    return [
        *train_data_filenames(problem, output_dir, num_training_shards),
        *dev_data_filenames(problem, output_dir, 1),
        *test_data_filenames(problem, output_dir, 1),
    ]


# ---- Writing records ----


def outputs_exist(filenames: Sequence[str]) -> str | None:
    """The first of the final files (without `-unshuffled`) that exists, or None."""
    return next((path for path in map(records.final_path, filenames) if os.path.exists(path)), None)


def write_records(serialized_records: Iterable[bytes], out_filename: str) -> None:
    """Writes serialised examples to a TFRecord file; the whole file or nothing."""
    records.write_records(publishing.incomplete_path(out_filename), serialized_records)
    publishing.publish([out_filename])


def generate_dataset_and_shuffle(
    train_gen: Iterable[dict[str, Any]],
    train_paths: Sequence[str],
    dev_gen: Iterable[dict[str, Any]],
    dev_paths: Sequence[str],
    shuffle: bool = True,
) -> None:
    """Writes training and evaluation shards and shuffles each of them.

    Args:
        train_gen: encoded training samples.
        train_paths: paths of the training shards, with the suffix `-unshuffled` if `shuffle`.
        dev_gen: encoded evaluation samples.
        dev_paths: paths of the evaluation shards.
        shuffle: False writes the files only.

    Raises:
        ValueError: shards to be shuffled have no such suffix.
    """
    paths = [*train_paths, *dev_paths]
    plain = [path for path in paths if shuffle and UNSHUFFLED_SUFFIX not in path]
    if plain:
        raise ValueError(
            f"Shards to be shuffled need names with {UNSHUFFLED_SUFFIX}. Received: {plain[0]}"
        )
    records.generate_files(train_gen, train_paths)
    records.generate_files(dev_gen, dev_paths)
    if shuffle:
        records.shuffle_dataset(paths)


# ---- Vocabularies ----


def get_or_generate_vocab_inner(
    data_dir: str | None,
    vocab_filename: str,
    vocab_size: int,
    generator: Iterable[str],
    max_subtoken_length: int | None = None,
    reserved_tokens: Sequence[str] | None = None,
) -> SubwordTextEncoder:
    """A subword vocabulary: read from its file, or built from texts and stored.

    Args:
        data_dir: directory of the file; None: build and don't store.
        vocab_filename: its name.
        vocab_size: target size.
        generator: texts; only read if the file doesn't exist.
        max_subtoken_length: longest subword considered.
        reserved_tokens: all reserved tokens, the usual two first; None: those two.
    """
    path = os.path.join(data_dir, vocab_filename) if data_dir else None
    if path and os.path.exists(path):
        logging.info("Vocabulary: %s", path)
        return SubwordTextEncoder(path)
    from t2t_keras.text import subword_builder

    logging.info("Building a vocabulary of about %d subwords", vocab_size)
    vocabulary = subword_builder.build_from_generator(
        generator,
        vocab_size,
        max_subtoken_length=max_subtoken_length,
        reserved_tokens=None if reserved_tokens is None else list(reserved_tokens),
    )
    if path:
        os.makedirs(data_dir or ".", exist_ok=True)
        vocabulary.store_to_file(path)
    return vocabulary


def get_or_generate_vocab(
    data_dir: str | None,
    tmp_dir: str,
    vocab_filename: str,
    vocab_size: int,
    sources: Sequence[translate.Source],
    file_byte_budget: float = 1e6,
    max_subtoken_length: int | None = None,
) -> SubwordTextEncoder:
    """A subword vocabulary of line-aligned corpora; see `translate.generate_lines_for_vocab`.

    Args:
        data_dir: directory of the vocabulary's file.
        tmp_dir: folder for raw files.
        vocab_filename: name of the vocabulary's file.
        vocab_size: target size.
        sources: list of `[address, (file, …)]`.
        file_byte_budget: how much of each file is read.
        max_subtoken_length: longest subword considered.
    """
    lines = translate.generate_lines_for_vocab(tmp_dir, sources, file_byte_budget)
    return get_or_generate_vocab_inner(
        data_dir, vocab_filename, vocab_size, lines, max_subtoken_length
    )


def get_or_generate_tabbed_vocab(
    data_dir: str,
    tmp_dir: str,
    source_filename: str,
    index: int,
    vocab_filename: str,
    vocab_size: int,
) -> SubwordTextEncoder:
    """A subword vocabulary of one column of a tab-separated file in tmp_dir.

    Args:
        data_dir: directory of the vocabulary's file.
        tmp_dir: directory of the text file.
        source_filename: its name.
        index: number of the column, from 0; lines without it are left out.
        vocab_filename: name of the vocabulary's file.
        vocab_size: target size.
    """
    path = os.path.join(tmp_dir, source_filename)

    def column() -> Iterator[str]:
        for line in text_lines.stripped_lines(path):
            parts = line.split("\t")
            if index < len(parts) and len(parts) > 1:
                yield parts[index].strip()

    return get_or_generate_vocab_inner(data_dir, vocab_filename, vocab_size, column())


def get_or_generate_txt_vocab(
    data_dir: str, vocab_filename: str, vocab_size: int, filepatterns: str | Sequence[str]
) -> SubwordTextEncoder:
    """A subword vocabulary of the lines of text files.

    Args:
        data_dir: directory of the vocabulary's file.
        vocab_filename: its name.
        vocab_size: target size.
        filepatterns: glob pattern, or several.

    Raises:
        FileNotFoundError: a pattern matches nothing.
    """
    patterns = [filepatterns] if isinstance(filepatterns, str) else filepatterns
    return get_or_generate_vocab_inner(
        data_dir, vocab_filename, vocab_size, _lines_of_files(patterns)
    )


def _lines_of_files(patterns: Sequence[str]) -> Iterator[str]:
    for pattern in patterns:
        paths = sorted(glob.glob(pattern))
        if not paths:
            raise FileNotFoundError(f"No file matches {pattern}")
        for path in paths:
            yield from text_lines.stripped_lines(path)
