"""Mathematics as text, read and written in bytes (T2T's algorithmic_math_…)."""

import os
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from t2t_keras import registry
from t2t_keras.data import sources, text_lines, text_problems
from t2t_keras.data.modes import DatasetSplit

_NAME = "mathematics_dataset-v1.0"
_ARCHIVE = f"https://storage.googleapis.com/mathematics-dataset/{_NAME}.tar.gz"
_VARIABLES = "abcdefghijklmnopqrstuvwxyz"
_OPERATIONS = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}


@registry.register_problem
class AlgorithmicMathDeepmindAll(text_problems.Text2TextProblem):
    """School mathematics of all kinds and difficulties, question to answer.

    Saxton et al. (2019), "Analysing Mathematical Reasoning Abilities of Neural Models"; evaluated
    on its interpolation set.
    """

    is_generate_per_split = True
    vocab_type = text_problems.VocabType.CHARACTER
    dataset_splits = [
        {"split": DatasetSplit.TRAIN, "shards": 128},
        {"split": DatasetSplit.EVAL, "shards": 1},
    ]

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields questions and answers, which are alternate lines of the files."""
        del data_dir
        folder = "train-*" if dataset_split == DatasetSplit.TRAIN else "interpolate"
        for path in sources.fetch_matching(tmp_dir, _ARCHIVE, os.path.join(_NAME, folder, "*.txt")):
            lines = text_lines.stripped_lines(path)
            for question in lines:
                answer = next(lines, None)
                if answer is None:
                    raise ValueError(f"{path}: the last question has no answer: {question!r}")
                yield {"inputs": question, "targets": answer}


@registry.register_problem
class AlgorithmicMathTwoVariables(text_problems.Text2TextProblem):
    """The value of a sum, difference or product of two variables: `x=85,y=-523,x*y` to `-44455`.

    After Wangperawong (2018), "Attending to Mathematical Language with Transformers". T2T reads a
    published corpus; here the expressions are drawn from NumPy's generator.
    """

    is_generate_per_split = False
    vocab_type = text_problems.VocabType.CHARACTER
    dataset_splits = [
        {"split": DatasetSplit.TRAIN, "shards": 10},
        {"split": DatasetSplit.EVAL, "shards": 1},
    ]
    num_expressions: ClassVar[int] = 1_000_000
    largest_value: ClassVar[int] = 1000

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields random expressions and their values."""
        del data_dir, tmp_dir, dataset_split
        for _ in range(self.num_expressions):
            first, second = np.random.choice(len(_VARIABLES), size=2, replace=False)
            values = np.random.randint(-self.largest_value, self.largest_value + 1, size=2)
            x, y = (int(value) for value in values)
            sign = "+-*"[np.random.randint(3)]
            name_x, name_y = _VARIABLES[first], _VARIABLES[second]
            yield {
                "inputs": f"{name_x}={x},{name_y}={y},{name_x}{sign}{name_y}",
                "targets": str(_OPERATIONS[sign](x, y)),
            }
