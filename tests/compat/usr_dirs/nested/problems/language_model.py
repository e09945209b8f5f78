from tensor2tensor.data_generators import text_problems
from tensor2tensor.data_generators.problem import DatasetSplit
from tensor2tensor.utils import registry


@registry.register_problem()
class CountingUp(text_problems.Text2SelfProblem):
    """Numbers, one after the other."""

    @property
    def vocab_type(self):
        return text_problems.VocabType.CHARACTER

    @property
    def dataset_splits(self):
        return [
            {"split": DatasetSplit.TRAIN, "shards": 1},
            {"split": DatasetSplit.EVAL, "shards": 1},
        ]

    @property
    def is_generate_per_split(self):
        return True

    def generate_samples(self, data_dir, tmp_dir, dataset_split):
        del data_dir, tmp_dir
        first = 0 if dataset_split == DatasetSplit.TRAIN else 100
        for number in range(first, first + 50):
            yield {"targets": " ".join(str(n) for n in range(number, number + 5))}
