"""The small problems whose files tensor2tensor wrote, rebuilt from the recorded samples.

Settings that the recorded files show (shards, vocabulary sizes) are read from the files' names.
"""

import re
from collections.abc import Iterator
from typing import Any

from t2t_keras.data import records, text_problems
from tests import reference_data

# t2t-datagen's seed, set before every problem.
DATAGEN_SEED = 429459


def all_file_names() -> list[str]:
    return reference_data.load_golden_json("datagen", "records.json.gz")["all_file_names"]


def shards_by_split(problem_name: str) -> dict[str, int]:
    """Tag of a split -> number of shards, in the order of generation."""
    pattern = re.compile(rf"{problem_name}-(train|dev|test)-\d+-of-(\d+)$")
    found = {m[1]: int(m[2]) for m in map(pattern.match, all_file_names()) if m}
    return {split: found[split] for split in ("train", "dev", "test") if split in found}


def subword_vocab_size(problem_name: str) -> int:
    pattern = re.compile(rf"vocab\.{problem_name}\.(\d+)\.subwords$")
    return next(int(m[1]) for m in map(pattern.match, all_file_names()) if m)


class RecordedProblem(text_problems.Text2TextProblem):
    """Yields the recorded samples of `samples_of`."""

    samples_of = ""

    @property
    def dataset_splits(self) -> list[dict[str, Any]]:
        return [{"split": s, "shards": n} for s, n in shards_by_split(self.name).items()]

    @property
    def is_generate_per_split(self) -> bool:
        return True

    @property
    def approx_vocab_size(self) -> int:
        return subword_vocab_size(self.name)

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        recorded = reference_data.load_golden_json("datagen", "samples.json.gz")
        tag = {"train": "train", "dev": "eval", "test": "test"}[dataset_split]
        for sample in recorded[f"{self.samples_of}|{tag}"]:
            yield dict(sample)


class GoldenReverse(RecordedProblem):
    name = samples_of = "golden_reverse"


class GoldenReversePacked(GoldenReverse):
    name = "golden_reverse_packed"

    @property
    def use_vocab_from_other_problem(self) -> Any:
        return GoldenReverse()

    @property
    def packed_length(self) -> int:
        return 64


class GoldenReversePackedSpaced(GoldenReversePacked):
    name = "golden_reverse_packed_spaced"

    @property
    def packed_spacing(self) -> int:
        return 3


class GoldenChar(GoldenReverse):
    name = "golden_char"

    @property
    def vocab_type(self) -> str:
        return text_problems.VocabType.CHARACTER


class GoldenToken(GoldenReverse):
    name = "golden_token"

    @property
    def vocab_type(self) -> str:
        return text_problems.VocabType.TOKEN

    @property
    def oov_token(self) -> str:
        return "UNK"


class GoldenSingleSplit(GoldenReverse):
    name = "golden_single_split"

    @property
    def is_generate_per_split(self) -> bool:
        return False


class GoldenLm(RecordedProblem, text_problems.Text2SelfProblem):
    name = samples_of = "golden_lm"


class GoldenLmPacked(GoldenLm):
    name = "golden_lm_packed"

    @property
    def use_vocab_from_other_problem(self) -> Any:
        return GoldenLm()

    @property
    def packed_length(self) -> int:
        return 32


# Those whose vocabulary others use come first.
GOLDEN_PROBLEMS = {
    cls.name: cls
    for cls in (
        GoldenReverse,
        GoldenReversePacked,
        GoldenReversePackedSpaced,
        GoldenChar,
        GoldenToken,
        GoldenSingleSplit,
        GoldenLm,
        GoldenLmPacked,
    )
}


def recorded_problem_names() -> set[str]:
    """Names of all problems with recorded shards."""
    return {name.rsplit("-", 4)[0] for name in all_file_names() if "-of-" in name}


def generate(problem: text_problems.Text2TextProblem, data_dir: str, tmp_dir: str) -> None:
    """What t2t-datagen does for one problem."""
    records.seed_generators(DATAGEN_SEED)
    problem.generate_data(data_dir, tmp_dir)
