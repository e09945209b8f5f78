from tensor2tensor.data_generators import text_problems
from tensor2tensor.utils import registry


@registry.register_problem
class DoubledWords(text_problems.Text2textTmpdir):
    """Lines of inputs.*.txt and targets.*.txt."""

    @property
    def approx_vocab_size(self):
        return 2**6

    @property
    def dataset_splits(self):
        return [{"split": "train", "shards": 2}, {"split": "dev", "shards": 1}]
