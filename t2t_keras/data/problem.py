"""Problem: what a data set is, where its files are, how they are made and how they are read.

Subclasses live in `t2t_keras.problems` or in a user's directory (`--t2t_usr_dir`) and are found by
name through `t2t_keras.registry`. The public members carry tensor2tensor's names.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from t2t_keras import names
from t2t_keras.data import reversal
from t2t_keras.data.default_hparams import default_model_hparams, default_problem_hparams
from t2t_keras.data.modes import DatasetSplit, ModalityType, ModeKeys, SpaceID, split_of_mode
from t2t_keras.data.shard_names import UNSHUFFLED_SUFFIX, shard_paths
from t2t_keras.hparam import HParams
from t2t_keras.metric_names import Metrics
from t2t_keras.text import encoders

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = [
    "DatasetSplit",
    "ModalityType",
    "ModeKeys",
    "Problem",
    "SpaceID",
    "UNSHUFFLED_SUFFIX",
    "default_model_hparams",
    "default_problem_hparams",
    "shard_paths",
]

Sample = dict[str, Any]
ReadingSpec = tuple[dict[str, Any], dict[str, Any] | None]


class Problem:
    """One task with its data: generation, vocabularies, reading, hparams.

    A subclass overrides at least `generate_data` and `hparams`; text problems derive from
    `t2t_keras.data.text_problems.Text2TextProblem`, which leaves only `generate_samples` to write.

    The suffixes `_rev` and `_copy` of a problem's name become `was_reversed` (inputs and targets
    change places when reading) and `was_copy` (targets become the inputs). `name`, file names and
    vocabulary names are those of the problem without suffix.

    Args:
        was_reversed: swap inputs and targets.
        was_copy: use the (possibly swapped) inputs as targets too.
    """

    # The registry sets it to the registered name.
    name: str = ""

    def __init__(self, was_reversed: bool = False, was_copy: bool = False) -> None:
        self._was_reversed = was_reversed
        self._was_copy = was_copy
        # As the subclass returns them, before reversal.
        self._encoders: dict[str, Any] | None = None
        self._encoders_data_dir: str | None = None

    @property
    def was_reversed(self) -> bool:
        """Whether inputs and targets change places (name suffix `_rev`)."""
        return self._was_reversed

    @property
    def was_copy(self) -> bool:
        """Whether targets are the inputs (name suffix `_copy`)."""
        return self._was_copy

    # ---- To be overridden ----

    @property
    def num_training_examples(self) -> int:
        """Number of training examples; only needed to mix problems."""
        raise NotImplementedError(f"{type(self).__name__} does not say num_training_examples.")

    def generate_data(self, data_dir: str, tmp_dir: str, task_id: int | None = -1) -> None:
        """Write this problem's shards and vocabularies.

        Args:
            data_dir: where shards and vocabularies go.
            tmp_dir: where downloads and intermediate files go.
            task_id: part of the work to do, if `multiprocess_generate`; else ignored.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define generate_data.")

    def describe_sources(self, tmp_dir: str) -> str:
        """What `generate_data` needs and whether it is there, for `t2t-datagen --dry_run`.

        Args:
            tmp_dir: where raw files are looked for.

        Returns:
            Lines indented by two blanks.
        """
        del tmp_dir
        return "  The problem does not say which raw files it needs."

    @property
    def multiprocess_generate(self) -> bool:
        """Whether generation is split into `num_generate_tasks` independent tasks."""
        return False

    @property
    def num_generate_tasks(self) -> int:
        """Number of tasks, if `multiprocess_generate`."""
        raise NotImplementedError(f"{type(self).__name__} does not define num_generate_tasks.")

    def prepare_to_generate(self, data_dir: str, tmp_dir: str) -> None:
        """Do once, before the tasks, what they all need; if `multiprocess_generate`."""
        raise NotImplementedError(f"{type(self).__name__} does not define prepare_to_generate.")

    def hparams(self, defaults: HParams, model_hparams: HParams) -> None:
        """Fill in the problem hparams, in place; `self._encoders` is set when it is called.

        Args:
            defaults: problem hparams to change.
            model_hparams: the model's hparams.
        """

    def max_length(self, model_hparams: Any) -> int:
        """Longest training example kept by the length filter, in ids incl. EOS."""
        return model_hparams.split_to_length or model_hparams.max_length or model_hparams.batch_size

    @property
    def has_inputs(self) -> bool:
        """Whether examples have inputs beside targets."""
        return True

    @property
    def packed_length(self) -> int | None:
        """Length to which several examples were packed into one record; None: not packed."""
        return None

    @property
    def batch_size_means_tokens(self) -> bool:
        """Whether hparam `batch_size` counts tokens (True) or examples (False)."""
        return False

    @property
    def skip_random_fraction_when_training(self) -> bool:
        """Whether training starts at a random example, so that restarts see different data."""
        return True

    def dataset_filename(self) -> str:
        """Base name of the shards: the registered name, fit for file names.

        Raises:
            ValueError: if the problem has no name.
        """
        if not self.name:
            raise ValueError(
                f"Problem class {type(self).__name__} has no name. Register it with "
                "@registry.register_problem, or set its class attribute `name`."
            )
        return names.file_name(self.name)

    def feature_encoders(self, data_dir: str | None) -> dict[str, Any]:
        """Encoders by feature name, before reversal; vocabularies are read from `data_dir`."""
        del data_dir
        return {"inputs": encoders.TextEncoder(), "targets": encoders.TextEncoder()}

    def example_reading_spec(self) -> ReadingSpec:
        """How records are parsed.

        Returns:
            (feature name -> tf.io parsing configuration, None). The second item is T2T's table of
            decoders, which were TensorFlow 1's: decode in `preprocess_example` instead.
        """
        import tensorflow as tf

        features = {"targets": tf.io.VarLenFeature(tf.int64)}
        if self.has_inputs:
            features["inputs"] = tf.io.VarLenFeature(tf.int64)
        if self.packed_length:
            for name in list(features):
                features[f"{name}_segmentation"] = tf.io.VarLenFeature(tf.int64)
                features[f"{name}_position"] = tf.io.VarLenFeature(tf.int64)
        return features, None

    def preprocess_example(
        self, example: dict[str, tf.Tensor], mode: str, hparams: Any
    ) -> dict[str, tf.Tensor] | tf.data.Dataset:
        """Change one parsed example, in every mode, before reversal and the length filter.

        The default cuts inputs to `max_input_seq_length`, joins inputs and targets for
        `prepend_mode`, cuts targets to `max_target_seq_length` and splits by `split_to_length`.

        Args:
            example: feature name -> tensor `[length]`.
            mode: one of `ModeKeys`.
            hparams: model hparams.

        Returns:
            The example, or a tf.data.Dataset of examples.
        """
        from t2t_keras.data import preprocessing

        return preprocessing.preprocess_example(example, mode, hparams)

    def eval_metrics(self) -> list[str]:
        """Names of the teacher-forced evaluation metrics."""
        return [
            Metrics.ACC,
            Metrics.ACC_TOP5,
            Metrics.ACC_PER_SEQ,
            Metrics.NEG_LOG_PERPLEXITY,
        ]

    @property
    def decode_hooks(self) -> list[Any]:
        """Functions called after decoding a data set, with the decoding arguments."""
        return []

    # ---- Files ----

    def data_filepaths(
        self, split: str, output_dir: str, num_shards: int, shuffled: bool
    ) -> list[str]:
        """Paths of the shards of any split; see `training_filepaths`."""
        suffix = "" if shuffled else UNSHUFFLED_SUFFIX
        return shard_paths(output_dir, self.dataset_filename() + suffix, split, num_shards)

    def training_filepaths(self, data_dir: str, num_shards: int, shuffled: bool) -> list[str]:
        """Paths of the training shards.

        Args:
            data_dir: directory of the shards.
            num_shards: their number.
            shuffled: False for the intermediate files (`-unshuffled`).
        """
        return self.data_filepaths(DatasetSplit.TRAIN, data_dir, num_shards, shuffled)

    def dev_filepaths(self, data_dir: str, num_shards: int, shuffled: bool) -> list[str]:
        """Paths of the evaluation shards; see `training_filepaths`."""
        return self.data_filepaths(DatasetSplit.EVAL, data_dir, num_shards, shuffled)

    def test_filepaths(self, data_dir: str, num_shards: int, shuffled: bool) -> list[str]:
        """Paths of the test shards; see `training_filepaths`."""
        return self.data_filepaths(DatasetSplit.TEST, data_dir, num_shards, shuffled)

    def filepattern(self, data_dir: str, mode: str, shard: int | None = None) -> str:
        """Glob pattern of the shards read in a mode.

        Args:
            data_dir: directory of the shards.
            mode: one of `ModeKeys` or `DatasetSplit` ("test" only selects the test split).
            shard: number of a single shard to read.
        """
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.PREDICT):
            split = split_of_mode(mode)
        elif mode in (DatasetSplit.EVAL, DatasetSplit.TEST):
            split = mode
        else:
            raise ValueError(
                "The mode or split must be one of train, eval, infer, dev, test. "
                f"Received: {mode!r}"
            )
        shard_text = "" if shard is None else f"-{shard:05d}"
        return os.path.join(data_dir, f"{self.dataset_filename()}-{split}{shard_text}*")

    # ---- Encoders and hparams ----

    def get_feature_encoders(self, data_dir: str | None = None) -> dict[str, Any]:
        """Encoders by feature as the model sees them: after reversal and copying. Cached.

        Args:
            data_dir: directory of the vocabularies; None: those already loaded.
        """
        return self._reversed_and_copied(self._raw_encoders(data_dir))

    def get_hparams(self, model_hparams: Any = None) -> HParams:
        """Problem hparams, after reversal and copying.

        Args:
            model_hparams: the model's hparams; `data_dir` among them is where vocabularies are.

        Returns:
            HParams with `modality`, `vocab_size` and `vocabulary` (by feature), `input_space_id`,
            `target_space_id`, `loss_multiplier`, `batch_size_multiplier`, `stop_at_eos`,
            `was_reversed`, `was_copy`; where `vocab_size` is T2T's and too small for the data,
            `least_vocab_size` (by feature) is what models need.
        """
        if model_hparams is None:
            model_hparams = default_model_hparams()
        raw_encoders = self._raw_encoders(getattr(model_hparams, "data_dir", None))
        problem_hparams = default_problem_hparams()
        # T2T code may return something by mistake and expect it to be used; the type says None.
        returned: Any = self.hparams(problem_hparams, model_hparams)  # type: ignore[func-returns-value]
        if returned is not None:
            raise ValueError(
                f"{type(self).__name__}.hparams must change its first argument in place and "
                f"return None. Received: {returned!r}"
            )
        problem_hparams.modality = self._reversed_and_copied(problem_hparams.modality)
        problem_hparams.vocab_size = self._reversed_and_copied(problem_hparams.vocab_size)
        if "least_vocab_size" in problem_hparams:
            problem_hparams.least_vocab_size = self._reversed_and_copied(
                problem_hparams.least_vocab_size
            )
        problem_hparams.add_hparam("vocabulary", self._reversed_and_copied(raw_encoders))
        problem_hparams.add_hparam("was_reversed", self.was_reversed)
        problem_hparams.add_hparam("was_copy", self.was_copy)
        self._reverse_and_copy_spaces(problem_hparams)
        return problem_hparams

    def _raw_encoders(self, data_dir: str | None) -> dict[str, Any]:
        """Encoders as the subclass makes them, loaded once per data directory."""
        from_elsewhere = data_dir is not None and self._encoders_data_dir not in (None, data_dir)
        if self._encoders is None or from_elsewhere:
            self._encoders = self.feature_encoders(data_dir)
            self._encoders_data_dir = data_dir
        return self._encoders

    def _reverse_and_copy_spaces(self, problem_hparams: HParams) -> None:
        source, target = problem_hparams.input_space_id, problem_hparams.target_space_id
        if self.was_reversed:
            source, target = target, source
        problem_hparams.input_space_id = source
        problem_hparams.target_space_id = source if self.was_copy else target

    # ---- Reversal and copying ----

    def maybe_reverse_and_copy(self, features: dict[str, Any]) -> dict[str, Any]:
        """Swap inputs and targets (`_rev`), then copy inputs to targets (`_copy`), if so named.

        Args:
            features: feature name -> anything. `inputs_segmentation` and `inputs_position` go
                with `inputs`.
        """
        return self._reversed_and_copied(features)

    def _reversed_and_copied(self, by_feature: dict[str, Any]) -> dict[str, Any]:
        return reversal.reversed_and_copied(by_feature, self.was_reversed, self.was_copy)

    # ---- Reading ----

    def dataset(
        self,
        mode: str,
        data_dir: str | None = None,
        hparams: Any = None,
        *,
        dataset_split: str | None = None,
        shuffle_files: bool | None = None,
        max_records: int = -1,
        seed: int | None = None,
    ) -> tf.data.Dataset:
        """Single examples: read, parsed, preprocessed, reversed and copied; not yet batched.

        Args:
            mode: one of `ModeKeys`.
            data_dir: directory of the shards.
            hparams: model hparams; None: the defaults.
            dataset_split: read this split instead of the mode's.
            shuffle_files: read files in random order and mixed; None: only in training.
            max_records: read no more examples than this; -1: all.
            seed: of the file order.

        Returns:
            Data set of dicts feature name -> tensor `[length]`, types as in the files (int64).
        """
        from t2t_keras.data import reading

        return reading.examples(
            self,
            mode,
            data_dir,
            hparams if hparams is not None else default_model_hparams(),
            dataset_split=dataset_split,
            shuffle_files=shuffle_files,
            max_records=max_records,
            seed=seed,
        )
