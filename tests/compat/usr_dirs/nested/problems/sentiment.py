from __future__ import absolute_import, division, print_function

from tensor2tensor.data_generators import problem
from tensor2tensor.data_generators import text_problems
from tensor2tensor.data_generators.text_problems import VocabType
from tensor2tensor.utils import registry


@registry.register_problem("mood_of_words")
class Mood(text_problems.Text2ClassProblem):
    @property
    def is_generate_per_split(self):
        return True

    @property
    def dataset_splits(self):
        return [
            {"split": problem.DatasetSplit.TRAIN, "shards": 1},
            {"split": problem.DatasetSplit.EVAL, "shards": 1},
        ]

    @property
    def vocab_type(self):
        return VocabType.CHARACTER

    @property
    def num_classes(self):
        return 2

    def class_labels(self, data_dir):
        del data_dir
        return ["sad", "glad"]

    def generate_samples(self, data_dir, tmp_dir, dataset_split):
        for text, label in (("what a day", 1), ("oh dear", 0)):
            yield {"inputs": text, "label": label}
