"""English-German image captions of Multi30K (task 1): 29,000 training and 1,014 validation pairs.

Put `train.en`, `train.de`, `val.en` and `val.de`, one sentence a line, into `--tmp_dir`.
"""

from t2t_keras import registry
from t2t_keras.data import problem, translate


@registry.register_problem
class TranslateEndeMulti30k8k(translate.TranslateProblem):
    """Multi30K English-German, shared vocabulary of about 8,192 subwords."""

    @property
    def approx_vocab_size(self) -> int:
        """2^13; the vocabulary built from Multi30K has 8,079 entries."""
        return 2**13

    @property
    def dataset_splits(self) -> list[dict[str, object]]:
        """Ten training shards: the corpus is small."""
        return [
            {"split": problem.DatasetSplit.TRAIN, "shards": 10},
            {"split": problem.DatasetSplit.EVAL, "shards": 1},
        ]

    @property
    def vocab_file_byte_budget(self) -> float:
        """More than the files hold: the vocabulary is built from every line."""
        return 1e8

    def source_data_files(self, dataset_split: str) -> list[translate.Source]:
        """Files that the user puts into tmp_dir, hence no address."""
        part = "train" if dataset_split == problem.DatasetSplit.TRAIN else "val"
        return [["", (f"{part}.en", f"{part}.de")]]
