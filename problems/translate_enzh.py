"""English-Chinese translation on the WMT corpora (T2T's translate_enzh).

Chinese is written without blanks between words, so each side has a vocabulary of its own.
"""

import glob
import os
from collections.abc import Iterator
from typing import Any

from absl import logging

from t2t_keras import registry
from t2t_keras.data import archives, translate, vocabularies
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.text2text import text2text_generate_encoded
from t2t_keras.problems import wmt_corpora as wmt

_UN_ARCHIVE = "UNv1.0.en-zh.tar.gz"
_UN_NAMES = ("en-zh/UNv1.0.en-zh.en", "en-zh/UNv1.0.en-zh.zh")
_CWMT_ARCHIVE = "cwmt.tgz"
_CWMT_FOLDER = "cwmt"
_CHINESE_ENDINGS = ("_ch.txt", "_cn.txt")


@registry.register_problem
class TranslateEnzhWmt8k(translate.CorporaProblem):
    """News Commentary 13, a vocabulary of about 8,192 subwords for each language."""

    approx_vocab_size = 2**13
    train_shards = 10
    train_sources = [wmt.news_commentary13("zh")]
    dev_sources = [
        [
            "http://data.statmt.org/wmt18/translation-task/dev.tgz",
            ("dev/newsdev2017-enzh-src.en.sgm", "dev/newsdev2017-enzh-ref.zh.sgm"),
        ]
    ]

    @property
    def source_vocab_name(self) -> str:
        """File name of the English vocabulary."""
        return f"{self.vocab_filename}.en"

    @property
    def target_vocab_name(self) -> str:
        """File name of the Chinese vocabulary."""
        return f"{self.vocab_filename}.zh"

    @property
    def vocab_file_byte_budget(self) -> float:
        """A hundred times the usual: Chinese has many characters."""
        return 1e8

    def generate_encoded_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields pairs of ids; the vocabularies are built if they are missing."""
        training = self.sources_at_hand(tmp_dir, DatasetSplit.TRAIN)
        source_vocab, target_vocab = (
            vocabularies.load_or_build(
                os.path.join(data_dir, name),
                lambda side=side: translate.generate_lines_for_vocab(  # type: ignore[misc]
                    tmp_dir,
                    [[address, (files[side],)] for address, files in training],
                    self.vocab_file_byte_budget,
                ),
                self.approx_vocab_size,
                self.max_subtoken_length,
            )
            for side, name in enumerate((self.source_vocab_name, self.target_vocab_name))
        )
        samples = self.generate_samples(data_dir, tmp_dir, dataset_split)
        return text2text_generate_encoded(samples, source_vocab, target_vocab)

    def feature_encoders(self, data_dir: str | None) -> dict[str, Any]:
        """English subwords for inputs, Chinese ones for targets."""
        return {
            "inputs": vocabularies.load_existing(data_dir, self.source_vocab_name, self.name),
            "targets": vocabularies.load_existing(data_dir, self.target_vocab_name, self.name),
        }


@registry.register_problem
class TranslateEnzhWmt32k(TranslateEnzhWmt8k):
    """News Commentary 13, and what lies in tmp_dir of CWMT and the United Nations corpus.

    These two can't be had without asking: CWMT's files as `cwmt.tgz`, or in the folder `cwmt`, as
    pairs `…_en.txt` and `…_ch.txt` or `…_cn.txt`; the United Nations' as `UNv1.0.en-zh.tar.gz`.
    A vocabulary of about 32,768 subwords for each language.
    """

    approx_vocab_size = 2**15
    train_shards = 100

    def sources_at_hand(self, tmp_dir: str, dataset_split: str) -> list[translate.Source]:
        """The listed corpora and, for training, the optional ones that are in tmp_dir."""
        found = super().sources_at_hand(tmp_dir, dataset_split)
        if dataset_split == DatasetSplit.TRAIN:
            optional = [*_cwmt_sources(tmp_dir), *_un_sources(tmp_dir)]
            logging.info("%d more corpora (CWMT, United Nations) in %s", len(optional), tmp_dir)
            found += optional
        return found


def _un_sources(tmp_dir: str) -> list[translate.Source]:
    archive = os.path.join(tmp_dir, _UN_ARCHIVE)
    files = [os.path.join(tmp_dir, name) for name in _UN_NAMES]
    if os.path.exists(archive) or all(map(os.path.exists, files)):
        return [[archive, _UN_NAMES]]
    return []


def _cwmt_sources(tmp_dir: str) -> list[translate.Source]:
    """CWMT's pairs of files, sorted; the archive is unpacked if there is no folder yet."""
    archive, folder = (os.path.join(tmp_dir, name) for name in (_CWMT_ARCHIVE, _CWMT_FOLDER))
    if os.path.exists(archive) and not os.path.isdir(folder):
        archives.unpack(archive, tmp_dir)
    found: list[translate.Source] = []
    pattern = os.path.join(glob.escape(folder), "**", "*_en.txt")
    for english in sorted(glob.glob(pattern, recursive=True)):
        stem = english.removesuffix("_en.txt")
        chinese = [stem + ending for ending in _CHINESE_ENDINGS if os.path.exists(stem + ending)]
        if not chinese:
            logging.warning("No Chinese file beside %s: left out", english)
            continue
        found.append(["", tuple(os.path.relpath(path, tmp_dir) for path in (english, chinese[0]))])
    return found
