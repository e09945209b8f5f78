"""Sentence pairs of TensorFlow Datasets (TFDS).

A data set is named as TFDS does, with optional arguments after a colon:

    wmt19_translate/de-en                      German -> English, the order of the config's name
    wmt19_translate/de-en:1.0.0                a version
    wmt19_translate/de-en:source=en:target=de  English -> German
    ted_multi_translate:source=en:target=pt-br two languages of a set with many

Naming one costs nothing; TFDS is imported when text is read.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from absl import logging

from t2t_keras import names
from t2t_keras.data import source_options
from t2t_keras.data.modes import DatasetSplit

Pair = tuple[str, str]

_BUILDER_NAME: Final = re.compile(r"\w+(/[\w.+-]+)?")
_VERSION: Final = re.compile(r"(\d+|\*)\.(\d+|\*)\.(\d+|\*)")
_LINE_BREAK: Final = re.compile(r"\s*\n\s*")
# TFDS's names of the splits, the preferred one first.
_SPLITS: Final = {
    DatasetSplit.TRAIN: ("train",),
    DatasetSplit.EVAL: ("validation", "valid", "dev"),
    DatasetSplit.TEST: ("test",),
}
# Features of sets that do not say which text translates which.
_SENTENCE_FEATURES: Final = ("source_sentence", "target_sentence")
# Without a validation split, the end of the training split serves: one pair in a hundred, at most.
_HELD_OUT_SHARE: Final = 100
_MOST_HELD_OUT: Final = 10_000


class TfdsError(ValueError):
    """A TFDS data set is unknown, can't be prepared or is no parallel text."""


@dataclass(frozen=True)
class TfdsName:
    """A data set's name taken apart.

    Attributes:
        builder: TFDS's name, "wmt19_translate/de-en" or "…:1.0.0".
        source: language (or feature) of the inputs; None: the data set's first.
        target: language (or feature) of the targets; None: the data set's second, or the other.
    """

    builder: str
    source: str | None = None
    target: str | None = None


def parse_name(text: str) -> TfdsName:
    """Reads `<set>[/<config>][:<version>][:source=…][:target=…]`.

    Raises:
        ValueError: it has another form.
    """
    builder, *rest = text.split(":")
    if not _BUILDER_NAME.fullmatch(builder):
        raise TfdsError(
            "A TFDS data set is named <set>/<config>, as in wmt19_translate/de-en. "
            f"Received: {text!r}"
        )
    if rest and _VERSION.fullmatch(rest[0]):
        builder += f":{rest.pop(0)}"
    arguments = names.parse_arguments(":".join(rest), ["source", "target"]) if rest else {}
    return TfdsName(builder, **arguments)


def prepared_directory(name: TfdsName) -> str | None:
    """Directory of the prepared data set, found without TFDS; None if there is none."""
    path, _, version = name.builder.partition(":")
    base = os.path.join(source_options.current().tfds_directory, path)
    pattern = os.path.join(glob.escape(base), version or "*.*.*", "dataset_info.json")
    found = [os.path.dirname(info) for info in glob.glob(pattern)]
    return max(found, key=_version_key) if found else None


def _version_key(directory: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", os.path.basename(directory))]


class _Fields(NamedTuple):
    """Where an example holds its two texts."""

    source: str
    target: str
    variable: tuple[str, ...] | None  # Path of a feature {language: […], translation: […]}.


class TfdsCorpus:
    """The parallel text of a TFDS data set, prepared when it is first read.

    A set that `source_options` finds prepared is read without a network. Else TFDS prepares it
    from the archives in its manual directory, or downloads them.

    Args:
        name: the data set.
    """

    def __init__(self, name: TfdsName) -> None:
        self._name = name
        self._opened: Any = None

    @property
    def builder(self) -> Any:
        """TFDS's builder of the data set, prepared.

        Raises:
            TfdsError: TFDS does not know the data set, or can't prepare it.
        """
        if self._opened is None:
            directory = prepared_directory(self._name)
            if directory is not None:
                self._opened = _tfds().builder_from_directory(directory)
                logging.info("TFDS data set %s, as prepared in %s", self._name.builder, directory)
            else:
                self._opened = _prepared_builder(self._name)
        return self._opened

    def has_split(self, dataset_split: str) -> bool:
        """Whether the data set has a split of its own for a `DatasetSplit`."""
        splits = self._split_infos()
        return any(split in splits for split in _SPLITS[dataset_split])

    def _split_infos(self) -> Any:
        """TFDS's splits by name; where a data set does not know them (a mock), the usual ones."""
        return self.builder.info.splits or {usual[0]: None for usual in _SPLITS.values()}

    def pairs(self, dataset_split: str) -> Iterator[Pair]:
        """Yields the pairs of a split in the order of TFDS's files, without empty sides.

        Line breaks inside a text become blanks: a sentence is one line everywhere here.

        Args:
            dataset_split: one of `DatasetSplit`. Without a validation split, DatasetSplit.EVAL is
                the end of the training split, which DatasetSplit.TRAIN then leaves out.

        Raises:
            TfdsError: there is no such split, or the set is no parallel text.
        """
        fields = self._fields()
        for example in self._examples(self._tfds_split(dataset_split)):
            pair = _pair_of(example, fields)
            if pair is not None and all(pair):
                yield pair

    def vocabulary_lines(self, num_bytes: float) -> Iterator[str]:
        """Yields both sides of training pairs taken evenly, about so many bytes in all."""
        split = self._split_infos()[self._train_split()]
        step = int(split.num_bytes / num_bytes) + 1 if split else 1
        for number, pair in enumerate(self.pairs(DatasetSplit.TRAIN)):
            if number % step == 0:
                yield from pair

    def _train_split(self) -> str:
        splits = self._split_infos()
        if "train" not in splits:
            raise TfdsError(
                f"TFDS data set {self._name.builder} has no split to train on. It has: "
                f"{', '.join(splits)}"
            )
        return "train"

    def _tfds_split(self, dataset_split: str) -> str:
        splits = self._split_infos()
        for split in _SPLITS[dataset_split]:
            if split in splits and (
                dataset_split != DatasetSplit.TRAIN or self.has_split(DatasetSplit.EVAL)
            ):
                return split
        if dataset_split == DatasetSplit.TEST:
            raise TfdsError(f"TFDS data set {self._name.builder} has no test split.")
        num_examples = splits[self._train_split()].num_examples
        held_out = min(max(num_examples // _HELD_OUT_SHARE, 1), _MOST_HELD_OUT)
        first = num_examples - held_out
        return f"train[:{first}]" if dataset_split == DatasetSplit.TRAIN else f"train[{first}:]"

    def _examples(self, split: str) -> Iterable[Any]:
        tfds = _tfds()
        # One file after the other: the same order on every machine.
        config = tfds.ReadConfig(interleave_cycle_length=1, try_autocache=False)
        dataset = self.builder.as_dataset(split=split, shuffle_files=False, read_config=config)
        return tfds.as_numpy(dataset)

    def _fields(self) -> _Fields:
        """Finds the two texts in the data set's features."""
        tfds = _tfds()
        info = self.builder.info
        features = info.features
        variable = tfds.features.TranslationVariableLanguages
        paths: list[tuple[str, ...]] = [
            (key,) for key in features if isinstance(features[key], variable)
        ]
        if isinstance(features, variable):
            paths = [()]
        if paths:
            languages = (features[paths[0][0]] if paths[0] else features).languages or []
            source, target = self._chosen(sorted(languages), default=None)
            return _Fields(source, target, paths[0])
        texts = [key for key in features if isinstance(features[key], tfds.features.Text)]
        default = info.supervised_keys
        if not default and set(_SENTENCE_FEATURES) <= set(texts):
            default = _SENTENCE_FEATURES
        if not default and len(texts) == 2:
            default = texts
        source, target = self._chosen(texts, default)
        return _Fields(source, target, None)

    def _chosen(self, available: list[str], default: Any) -> Pair:
        """The languages as named, completed by the data set's own pair."""
        first, second = default if default and set(default) <= set(available) else (None, None)
        source, target = self._name.source, self._name.target
        if source is None and target is None:
            source, target = first, second
        elif source is None:
            source = first if target == second else second
        elif target is None:
            target = second if source == first else first
        if source not in available or target not in available or source == target:
            raise TfdsError(
                f"TFDS data set {self._name.builder} needs two languages, as in "
                f"{self._name.builder}:source=…:target=… It has: {', '.join(available) or 'none'}. "
                f"Received: source={source} target={target}"
            )
        return source, target


def _pair_of(example: Any, fields: _Fields) -> Pair | None:
    """The two texts of an example; None if one is missing."""
    if fields.variable is None:
        return _text(example[fields.source]), _text(example[fields.target])
    translations = example[fields.variable[0]] if fields.variable else example
    texts: dict[str, str] = {}
    for language, text in zip(translations["language"], translations["translation"], strict=True):
        # The first of several translations.
        texts.setdefault(_text(language), _text(text))
    if fields.source in texts and fields.target in texts:
        return texts[fields.source], texts[fields.target]
    return None


def _text(value: bytes) -> str:
    return _LINE_BREAK.sub(" ", value.decode("utf-8").strip())


def _tfds() -> Any:
    import tensorflow_datasets as tfds

    return tfds


def unprepared_builder(name: TfdsName) -> Any:
    """TFDS's builder of a data set, whether prepared or not; nothing is written.

    Raises:
        TfdsError: TFDS does not know it; the message has near matches.
    """
    tfds = _tfds()
    try:
        return tfds.builder(name.builder, data_dir=source_options.current().tfds_directory)
    except tfds.core.registered.DatasetNotFoundError as error:
        base = name.builder.split("/")[0]
        hint = names.did_you_mean(base, tfds.list_builders())
        raise TfdsError(f"TFDS has no data set {base!r}.{hint}") from error
    except ValueError as error:
        raise TfdsError(f"TFDS can't make {name.builder}: {error}") from error


def _prepared_builder(name: TfdsName) -> Any:
    """Has TFDS prepare a data set from its manual directory, its downloads or the network."""
    tfds = _tfds()
    options = source_options.current()
    builder = unprepared_builder(name)
    logging.info(
        "TFDS prepares %s in %s; archives are looked for in %s, then downloaded",
        name.builder,
        builder.data_dir,
        options.manual_directory,
    )
    config = tfds.download.DownloadConfig(
        manual_dir=options.manual_directory, try_download_gcs=False
    )
    try:
        builder.download_and_prepare(
            download_dir=os.path.join(options.tfds_directory, "downloads"), download_config=config
        )
    except Exception as error:
        # TFDS's own errors have many types and no common base.
        raise TfdsError(
            f"TFDS could not prepare {name.builder}.\n  Cause: {type(error).__name__}: {error}\n"
            f"  Without a network: put the archives into {options.manual_directory} "
            "(--tfds_manual_dir), or copy a prepared data set to "
            f"{builder.data_dir} (--tfds_data_dir). --dry_run lists the archives."
        ) from error
    return builder
