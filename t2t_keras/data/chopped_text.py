"""Text problems for large corpora: long running text in pieces, and one task a shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from t2t_keras.data import records
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.text2text import Text2TextProblem
from t2t_keras.data.text_problem_kinds import Text2SelfProblem
from t2t_keras.metric_names import Metrics
from t2t_keras.text import encoders

Sample = dict[str, Any]


class ChoppedTextProblem(Text2SelfProblem):
    """Language modelling on pieces of equal length, cut from running text.

    Each shard is a task of its own (`t2t-datagen --num_concurrent_processes`, or `--task_id`):
    tasks 0 … num_train_shards − 1 make training shards, the rest dev shards.
    """

    def train_text_filepaths(self, tmp_dir: str) -> list[str]:
        """Files of the training text."""
        raise NotImplementedError(f"{type(self).__name__} does not define train_text_filepaths.")

    def dev_text_filepaths(self, tmp_dir: str) -> list[str]:
        """Files of the evaluation text."""
        raise NotImplementedError(f"{type(self).__name__} does not define dev_text_filepaths.")

    @property
    def sequence_length(self) -> int:
        """Length of a piece, in ids."""
        raise NotImplementedError(f"{type(self).__name__} does not define sequence_length.")

    @property
    def num_train_shards(self) -> int:
        """Number of training shards."""
        return self.dataset_splits[0]["shards"]

    @property
    def num_dev_shards(self) -> int:
        """Number of dev shards."""
        return self.dataset_splits[1]["shards"]

    @property
    def max_dev_chars(self) -> int:
        """The dev text is cut to so many characters."""
        return 10**7

    @property
    def max_chars_for_vocab(self) -> int:
        """The vocabulary is built from so many characters of the training text."""
        return 10**7

    @property
    def remainder_policy(self) -> str:
        """What happens to the last, shorter piece of a task: "pad" (with zeros) or "drop"."""
        return "pad"

    @property
    def multiprocess_generate(self) -> bool:
        """Shards are independent tasks."""
        return True

    @property
    def num_generate_tasks(self) -> int:
        """One task a shard."""
        return self.num_train_shards + self.num_dev_shards

    def max_length(self, model_hparams: Any) -> int:
        """The length of pieces."""
        return model_hparams.split_to_length or self.sequence_length

    def text_filepaths_for_task(self, tmp_dir: str, task_id: int) -> list[str]:
        """The files a task reads: every n-th of its split's files."""
        assert 0 <= task_id < self.num_generate_tasks
        if task_id < self.num_train_shards:
            return self.train_text_filepaths(tmp_dir)[task_id :: self.num_train_shards]
        return self.dev_text_filepaths(tmp_dir)[
            task_id - self.num_train_shards :: self.num_dev_shards
        ]

    def filepath_to_unicode_strings(self, filepath: str) -> Iterator[str]:
        """Yield the texts of a file: by default the whole of it, UTF-8, as one text."""
        with open(filepath, encoding="utf-8", newline="\n") as stream:
            yield stream.read()

    def file_generator(
        self,
        filepaths: Sequence[str],
        max_chars_per_file: int | None = None,
        max_chars_total: int | None = None,
    ) -> Iterator[str]:
        """Yield texts of files, up to a number of characters a file and in all."""
        total = 0
        for path in filepaths:
            in_file = 0
            for text in self.filepath_to_unicode_strings(path):
                if max_chars_per_file:
                    text = text[: max(0, max_chars_per_file - in_file)]
                if max_chars_total:
                    text = text[: max(0, max_chars_total - total)]
                in_file += len(text)
                total += len(text)
                if not text:
                    break
                yield text
            if max_chars_total and total >= max_chars_total:
                return

    def example_generator(self, encoder: Any, tmp_dir: str, task_id: int) -> Iterator[Sample]:
        """Yield the pieces of a task: `{"targets": [ids]}`, without EOS.

        Dev text is limited to `max_dev_chars` over all dev shards.
        """
        if self.remainder_policy not in ("pad", "drop"):
            raise ValueError(
                f"remainder_policy must be 'pad' or 'drop'. Received: {self.remainder_policy!r}"
            )
        is_dev = task_id >= self.num_train_shards
        max_chars = self.max_dev_chars if is_dev else None
        length = self.sequence_length
        buffer: list[int] = []
        paths = self.text_filepaths_for_task(tmp_dir, task_id)
        for text in self.file_generator(paths, max_chars_total=max_chars):
            buffer.extend(encoder.encode(text))
            end = len(buffer) - len(buffer) % length
            for start in range(0, end, length):
                yield {"targets": buffer[start : start + length]}
            del buffer[:end]
        if buffer and self.remainder_policy == "pad":
            yield {"targets": buffer + [encoders.PAD_ID] * (length - len(buffer))}

    def generate_text_for_vocab(self, data_dir: str, tmp_dir: str) -> Iterator[str]:
        """Yield the beginning of the training text."""
        return self.file_generator(
            self.train_text_filepaths(tmp_dir), max_chars_total=self.max_chars_for_vocab
        )

    def prepare_to_generate(self, data_dir: str, tmp_dir: str) -> None:
        """Build the vocabulary, which all tasks share."""
        self.get_or_create_vocab(data_dir, tmp_dir)

    def generate_data(self, data_dir: str, tmp_dir: str, task_id: int | None = -1) -> None:
        """Make and shuffle one shard.

        Args:
            data_dir: where shards and the vocabulary go.
            tmp_dir: where the text is.
            task_id: number of the shard, train shards first.
        """
        tasks = range(self.num_generate_tasks)
        if task_id is None or task_id not in tasks:
            raise ValueError(
                f"Problem {self.name} is generated in tasks; task_id must be in 0 … "
                f"{len(tasks) - 1}. Received: {task_id}"
            )
        encoder = self.get_or_create_vocab(data_dir, tmp_dir)
        train = self.training_filepaths(data_dir, self.num_train_shards, shuffled=False)
        dev = self.dev_filepaths(data_dir, self.num_dev_shards, shuffled=False)
        path = [*train, *dev][task_id]
        records.generate_files(self.example_generator(encoder, tmp_dir, task_id), [path])
        records.shuffle_dataset([path])

    def eval_metrics(self) -> list[str]:
        """Accuracy and perplexity; BLEU and ROUGE say nothing about running text."""
        return [Metrics.ACC, Metrics.NEG_LOG_PERPLEXITY]


class DistributedText2TextProblem(Text2TextProblem):
    """Pairs from many files, one output shard a task; the vocabulary must exist.

    A subclass defines `generate_samples(data_dir, tmp_dir, dataset_split, input_files)` and
    `input_files`; tasks 0 … make the shards of the first split, then those of the next.
    """

    def input_files(self, dataset_split: str = DatasetSplit.TRAIN) -> list[str]:
        """The source files of a split, in order."""
        raise NotImplementedError(f"{type(self).__name__} does not define input_files.")

    def generate_samples(  # type: ignore[override]
        self, data_dir: str, tmp_dir: str, dataset_split: str, input_files: Sequence[str]
    ) -> Iterator[Sample]:
        """Yield the samples of some of the source files of a split."""
        raise NotImplementedError(f"{type(self).__name__} does not define generate_samples.")

    @property
    def multiprocess_generate(self) -> bool:
        """Shards are independent tasks."""
        return True

    @property
    def num_generate_tasks(self) -> int:
        """One task a shard."""
        return sum(split["shards"] for split in self.dataset_splits)

    def prepare_to_generate(self, data_dir: str, tmp_dir: str) -> None:
        """Check that the vocabulary is there: tasks can't build it.

        Raises:
            FileNotFoundError: if it is missing.
        """
        self.get_or_create_vocab(data_dir, tmp_dir, force_get=True)

    def generate_data(self, data_dir: str, tmp_dir: str, task_id: int | None = -1) -> None:
        """Make and shuffle one shard from a contiguous slice of its split's files."""
        if task_id is None or task_id not in range(self.num_generate_tasks):
            raise ValueError(
                f"Problem {self.name} is generated in tasks; task_id must be in 0 … "
                f"{self.num_generate_tasks - 1}. Received: {task_id}"
            )
        split, shard = self._split_and_shard(task_id)
        name, num_shards = split["split"], split["shards"]
        files = _contiguous_slice(self.input_files(name), shard, num_shards)
        path = self.data_filepaths(name, data_dir, num_shards, shuffled=False)[shard]
        encoder = self.get_or_create_vocab(data_dir, tmp_dir, force_get=True)
        samples = self.generate_samples(data_dir, tmp_dir, name, files)
        records.generate_files(self.encoded(samples, encoder), [path])
        records.shuffle_dataset([path], extra_fn=self.pack_fn(), shuffle=not self.already_shuffled)

    def _split_and_shard(self, task_id: int) -> tuple[dict[str, Any], int]:
        for split in self.dataset_splits:
            if task_id < split["shards"]:
                return split, task_id
            task_id -= split["shards"]
        raise AssertionError("task_id was checked")


def _contiguous_slice(items: Sequence[str], index: int, num_slices: int) -> list[str]:
    """Slice `index` of `num_slices`; the first `remainder` slices get one item more."""
    size, remainder = divmod(len(items), num_slices)
    start = index * size + min(index, remainder)
    return list(items[start : start + size + (index < remainder)])
