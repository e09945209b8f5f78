"""A program that generates a small problem's data, to be killed at any moment."""

import random
import sys

from t2t_keras import parallel
from t2t_keras.data import records, seeding, text_problems
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.text import tokenizer


class Letters(text_problems.Text2TextProblem):
    """Made-up pairs, which draw from the same generator as the order of the shards."""

    name = "letters"
    is_generate_per_split = True
    approx_vocab_size = 200
    dataset_splits = [
        {"split": DatasetSplit.TRAIN, "shards": 7},
        {"split": DatasetSplit.EVAL, "shards": 2},
    ]

    def generate_samples(self, data_dir, tmp_dir, dataset_split):
        for number in range(1000 if dataset_split == DatasetSplit.TRAIN else 100):
            words = ["".join(random.choices("abcdefgh", k=3)) for _ in range(4)]
            yield {"inputs": f"{number} {' '.join(words)}", "targets": " ".join(words[::-1])}


def generate(data_dir):
    seeding.seed_generators(11)
    Letters().generate_data(data_dir, data_dir)


if __name__ == "__main__":
    # Small enough for several processes to take part.
    records._SERIAL_WEIGHT = records._BLOCK_WEIGHT = 2500
    tokenizer._SERIAL_WEIGHT = tokenizer._BLOCK_SIZE = 2500
    with parallel.processes(2):
        generate(sys.argv[1])
