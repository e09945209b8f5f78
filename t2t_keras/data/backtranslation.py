"""Training on blocks of back-translated and of authentic text in turn (block back-translation).

Popel et al. (2020), "Transforming machine translation: a deep learning system reaches news
translation quality comparable to human professionals", call the system CUBBITT: checkpoints
averaged over the change from one block to the next are better than those of mixed training.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from t2t_keras.data import text_lines
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.translate import CorporaProblem


class BacktranslationProblem(CorporaProblem):
    """A translation problem with blocks: a synthetic corpus, all authentic ones, the next, ….

    The order is kept: one training shard, neither shuffled nor read from a random place. Shuffle
    the corpora yourself.
    """

    # Pairs of files in tmp_dir, (first language, second language).
    synthetic_files: ClassVar[Sequence[tuple[str, str]]] = ()
    train_shards: ClassVar[int] = 1

    @property
    def already_shuffled(self) -> bool:
        """The order of samples stays."""
        return True

    @property
    def skip_random_fraction_when_training(self) -> bool:
        """Training begins with the first block."""
        return False

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields the blocks for training; other splits are those of every translation problem.

        Raises:
            FileNotFoundError: if a synthetic corpus is not in tmp_dir.
        """
        if dataset_split != DatasetSplit.TRAIN:
            yield from super().generate_samples(data_dir, tmp_dir, dataset_split)
            return
        blocks = [[os.path.join(tmp_dir, name) for name in pair] for pair in self.synthetic_files]
        missing = [path for block in blocks for path in block if not os.path.exists(path)]
        if missing:
            raise FileNotFoundError(
                f"Problem {self.name} needs these line-aligned, back-translated texts, made by "
                f"you: {', '.join(missing)}"
            )
        for first_path, second_path in blocks:
            for first, second in text_lines.parallel_lines(first_path, second_path):
                if first and second:
                    yield {"inputs": first, "targets": second}
            yield from super().generate_samples(data_dir, tmp_dir, dataset_split)
