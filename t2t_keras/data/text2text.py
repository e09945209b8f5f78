"""Text2TextProblem: pairs of texts become vocabularies and shards of encoded examples."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from absl import logging

from t2t_keras import names
from t2t_keras.data import packing, problem, records, seeding, vocabularies
from t2t_keras.data.encoded_samples import Sample, text2text_generate_encoded
from t2t_keras.data.modes import DatasetSplit, ModalityType, VocabType
from t2t_keras.hparam import HParams
from t2t_keras.metric_names import Metrics
from t2t_keras.text import encoders, subwords

__all__ = ["Sample", "Text2TextProblem", "VocabType", "text2text_generate_encoded"]


class Text2TextProblem(problem.Problem):
    """Base class of problems whose samples are dicts of texts `{"inputs": …, "targets": …}`.

    A subclass defines `generate_samples` and `is_generate_per_split`, registers itself, and has a
    data set:

        @registry.register_problem
        class PoetryLines(text_problems.Text2TextProblem):
            @property
            def approx_vocab_size(self):
                return 2**13

            @property
            def is_generate_per_split(self):
                return False

            def generate_samples(self, data_dir, tmp_dir, dataset_split):
                for line, next_line in read_poems(tmp_dir):
                    yield {"inputs": line, "targets": next_line}

    `generate_data` then builds the vocabulary from the training samples, encodes all samples,
    writes them to shards and shuffles (and packs) each shard.
    """

    @classmethod
    def with_arguments(cls, arguments: str) -> type[Text2TextProblem]:
        """The variant that the name `<name>:vocab=<size>` stands for: another vocabulary size."""
        values = names.parse_arguments(arguments, ["vocab"])
        return vocabularies.with_vocab_size(cls, vocabularies.parse_size(values["vocab"]))

    # ---- To be overridden ----

    @property
    def dataset_splits(self) -> list[dict[str, Any]]:
        """Splits to generate, in order: dicts with `split` (see `DatasetSplit`) and `shards`."""
        return [
            {"split": DatasetSplit.TRAIN, "shards": 100},
            {"split": DatasetSplit.EVAL, "shards": 1},
        ]

    @property
    def is_generate_per_split(self) -> bool:
        """Whether `generate_samples` tells splits apart.

        If False it is called once, for TRAIN, and its samples are dealt out in turn to all shards
        of all splits.
        """
        raise NotImplementedError(
            f"{type(self).__name__} does not define is_generate_per_split: True if "
            "generate_samples tells the splits apart, False if it is called once and its samples "
            "are dealt out."
        )

    def generate_samples(self, data_dir: str, tmp_dir: str, dataset_split: str) -> Iterator[Sample]:
        """Yield the samples of a split: dicts with texts `targets` and, if any, `inputs`.

        It is called twice for TRAIN if a subword vocabulary must be built first.

        Args:
            data_dir: where shards and vocabularies go.
            tmp_dir: where downloads and intermediate files go.
            dataset_split: one of `DatasetSplit`.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define generate_samples.")

    @property
    def vocab_type(self) -> str:
        """One of `VocabType`. SUBWORD vocabularies are built, TOKEN ones must be in data_dir."""
        return VocabType.SUBWORD

    @property
    def approx_vocab_size(self) -> int:
        """Target size of a subword vocabulary; the built one is within about 1 %."""
        return self.targeted_vocab_size

    @property
    def targeted_vocab_size(self) -> int:
        """What early releases of tensor2tensor called `approx_vocab_size`; override that one."""
        return 2**15

    @property
    def additional_reserved_tokens(self) -> list[str]:
        """Tokens with ids from 2 on, in a vocabulary that is built."""
        return []

    @property
    def oov_token(self) -> str | None:
        """Token that replaces unknown ones in TOKEN vocabularies; None: unknown ones are errors."""
        return None

    @property
    def max_samples_for_vocab(self) -> int | None:
        """Number of training samples the vocabulary is built from; None: all."""
        return None

    @property
    def max_subtoken_length(self) -> int | None:
        """Longest subword considered when building; shorter is faster on long tokens."""
        return 200

    @property
    def packed_length(self) -> int | None:
        """Pack several examples into records of up to this length; None: do not."""
        return None

    @property
    def packed_spacing(self) -> int:
        """Zeros between examples packed into one record."""
        return 0

    @property
    def already_shuffled(self) -> bool:
        """Whether samples come in random order, so that shards need no shuffling."""
        return False

    @property
    def use_vocab_from_other_problem(self) -> problem.Problem | None:
        """Instance of the problem whose vocabulary this one shares; None: it has its own."""
        return None

    @property
    def inputs_prefix(self) -> str:
        """Text put before every input, before encoding."""
        return ""

    @property
    def targets_prefix(self) -> str:
        """Text put before every target, before encoding."""
        return ""

    @property
    def batch_size_means_tokens(self) -> bool:
        """Text batches are measured in tokens."""
        return True

    # ---- Vocabulary ----

    @property
    def vocab_filename(self) -> str:
        """Name of the vocabulary's file in data_dir."""
        other = self.use_vocab_from_other_problem
        if other is not None:
            return other.vocab_filename  # type: ignore[attr-defined]
        if self.vocab_type == VocabType.SUBWORD:
            size = self.approx_vocab_size
            return f"vocab.{self.dataset_filename()}.{size}.{VocabType.SUBWORD}"
        return f"vocab.{self.dataset_filename()}.{VocabType.TOKEN}"

    def get_or_create_vocab(self, data_dir: str, tmp_dir: str, force_get: bool = False) -> Any:
        """The vocabulary as an encoder; a missing subword vocabulary is built and stored.

        Args:
            data_dir: directory of the vocabulary; "" or None: build and do not store.
            tmp_dir: passed to `generate_text_for_vocab`.
            force_get: never build.

        Raises:
            FileNotFoundError: if the file is missing and may not, or can't, be built.
            ValueError: if `vocab_type` is unknown.
        """
        if self.vocab_type == VocabType.CHARACTER:
            return encoders.ByteTextEncoder()
        if self.vocab_type == VocabType.TOKEN:
            path = self._existing_vocab_path(data_dir)
            return encoders.TokenTextEncoder(path, replace_oov=self.oov_token)
        if self.vocab_type != VocabType.SUBWORD:
            raise ValueError(
                f"vocab_type of problem {self.name} must be one of character, subwords, tokens. "
                f"Received: {self.vocab_type!r}"
            )
        if force_get:
            return subwords.SubwordTextEncoder(self._existing_vocab_path(data_dir))
        other = self.use_vocab_from_other_problem
        if other is not None:
            return other.get_or_create_vocab(data_dir, tmp_dir, force_get)  # type: ignore[attr-defined]
        return self._load_or_build_subwords(data_dir, tmp_dir)

    def _existing_vocab_path(self, data_dir: str | None) -> str:
        maker = self.use_vocab_from_other_problem or self
        way_out = vocabularies.making_command(maker.name, data_dir)
        if self.vocab_type == VocabType.TOKEN:
            way_out = "put a file there with one token a line, beginning with <pad> and <EOS>"
        return vocabularies.existing_path(data_dir, self.vocab_filename, self.name, way_out)

    def _load_or_build_subwords(self, data_dir: str, tmp_dir: str) -> Any:
        path = os.path.join(data_dir, self.vocab_filename) if data_dir else None
        generators = seeding.SavedState(path) if path else None
        if path and generators and os.path.exists(path):
            # The samples that follow are then those of a run that was not interrupted.
            generators.restore()
            return vocabularies.load(path)
        vocabulary = vocabularies.build(
            self.generate_text_for_vocab(data_dir, tmp_dir),
            self.approx_vocab_size,
            self.name,
            self.max_subtoken_length,
            self.additional_reserved_tokens,
        )
        if path and generators:
            os.makedirs(data_dir, exist_ok=True)
            generators.save()
            vocabularies.store(vocabulary, path)
        return vocabulary

    def generate_text_for_vocab(self, data_dir: str, tmp_dir: str) -> Iterator[str]:
        """Yield the texts from which a subword vocabulary is built: the training samples.

        Prefixes are not part of it (T2T's behaviour, it fixes the vocabularies).
        """
        samples = self.generate_samples(data_dir, tmp_dir, DatasetSplit.TRAIN)
        count = 0
        for sample in itertools.islice(samples, self.max_samples_for_vocab or None):
            count += 1
            yield from (sample[feature] for feature in self._text_features)
        if not self.max_samples_for_vocab:
            self._num_training_samples = count

    @property
    def _text_features(self) -> list[str]:
        """What of a sample is text of the vocabulary, in the order in which it is read."""
        return ["inputs", "targets"] if self.has_inputs else ["targets"]

    def feature_encoders(self, data_dir: str | None) -> dict[str, Any]:
        """One encoder for targets and, if any, inputs."""
        encoder = self.get_or_create_vocab(data_dir or "", "", force_get=True)
        if self.has_inputs:
            return {"targets": encoder, "inputs": encoder}
        return {"targets": encoder}

    # ---- Generation ----

    # Found out when the vocabulary is built from all of them.
    _num_training_samples: int | None = None

    def num_samples(self, data_dir: str, tmp_dir: str, dataset_split: str) -> int | None:
        """Number of samples of a split, for the estimate of the time left; None: unknown.

        The default knows the training samples if the vocabulary has just been built from them.
        """
        del data_dir, tmp_dir
        return self._num_training_samples if dataset_split == DatasetSplit.TRAIN else None

    def generate_encoded_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[Sample]:
        """Yield the samples of a split with lists of ids in place of texts."""
        encoder = self.get_or_create_vocab(data_dir, tmp_dir)
        return self.encoded(self.generate_samples(data_dir, tmp_dir, dataset_split), encoder)

    def encoded(self, samples: Iterable[Sample], encoder: Any) -> Iterator[Sample]:
        """The samples with prefixes, in ids.

        Args:
            samples: as `generate_samples` yields them.
            encoder: of all texts.
        """
        return text2text_generate_encoded(
            samples,
            encoder,
            has_inputs=self.has_inputs,
            inputs_prefix=self.inputs_prefix,
            targets_prefix=self.targets_prefix,
        )

    def generate_data(self, data_dir: str, tmp_dir: str, task_id: int | None = -1) -> None:
        """Build the vocabulary, then write, shuffle and pack the shards of all splits.

        Splits whose shards all exist are left alone. Nothing appears under a final name before
        all shards are complete.
        """
        del task_id  # One process makes all shards.
        staged: list[str] = []
        for splits in self.generation_passes():
            paths = self.unshuffled_paths(data_dir, splits)
            if records.all_exist([records.final_path(path) for path in paths]):
                logging.info("Shards of %s exist: %s …", self.name, records.final_path(paths[0]))
                continue
            samples = self.generate_encoded_samples(data_dir, tmp_dir, splits[0]["split"])
            total = self.num_samples(data_dir, tmp_dir, splits[0]["split"])
            records.generate_files(samples, paths, total=total)
            staged += paths
        records.shuffle_dataset(staged, extra_fn=self.pack_fn(), shuffle=not self.already_shuffled)
        self.forget_interruption(data_dir)

    def unshuffled_paths(self, data_dir: str, splits: Iterable[dict[str, Any]]) -> list[str]:
        """Paths of the intermediate shards of some of the `dataset_splits`, in order."""
        return [
            path
            for split in splits
            for path in self.data_filepaths(
                split["split"], data_dir, split["shards"], shuffled=False
            )
        ]

    def forget_interruption(self, data_dir: str) -> None:
        """Remove what would be needed to go on if generation had been interrupted."""
        if self.vocab_type == VocabType.SUBWORD:
            seeding.SavedState(os.path.join(data_dir, self.vocab_filename)).remove()

    def generation_passes(self) -> list[list[dict[str, Any]]]:
        """Groups of splits that one run of `generate_samples` fills."""
        if self.is_generate_per_split:
            return [[split] for split in self.dataset_splits]
        train_first = sorted(self.dataset_splits, key=lambda s: s["split"] != DatasetSplit.TRAIN)
        return [train_first]

    def pack_fn(self) -> Callable[[list[bytes]], Iterable[bytes]] | None:
        """Function that packs the serialised examples of a shard; None if not packed."""
        packed_length = self.packed_length
        if not packed_length:
            return None

        return functools.partial(
            packing.pack_records,
            has_inputs=self.has_inputs,
            packed_length=packed_length,
            spacing=self.packed_spacing,
            chop_long_sequences=not self.has_inputs,
        )

    # ---- For models ----

    def hparams(self, defaults: HParams, model_hparams: HParams) -> None:
        """Symbols on both sides; sizes are those of the vocabularies."""
        del model_hparams
        assert self._encoders is not None
        defaults.stop_at_eos = True
        if self.vocab_type == VocabType.CHARACTER:
            defaults.loss_multiplier = 2.0
        sides = ["inputs", "targets"] if self.has_inputs else ["targets"]
        defaults.modality = dict.fromkeys(sides, ModalityType.SYMBOL)
        defaults.vocab_size = {side: self._encoders[side].vocab_size for side in sides}
        if self.packed_length:
            auxiliary = [f"{side}{kind}" for side in sides for kind in packing.AUXILIARY_SUFFIXES]
            defaults.modality.update(dict.fromkeys(auxiliary, ModalityType.IDENTITY))
            defaults.vocab_size.update(dict.fromkeys(auxiliary, None))

    def max_length(self, model_hparams: Any) -> int:
        """`packed_length` if packed, else as every problem."""
        return self.packed_length or super().max_length(model_hparams)

    def eval_metrics(self) -> list[str]:
        """Metrics of every problem, BLEU of the arg-max ids, ROUGE."""
        return [
            *super().eval_metrics(),
            Metrics.APPROX_BLEU,
            Metrics.ROUGE_2_F,
            Metrics.ROUGE_L_F,
        ]
