"""A problem only: a line of verse to the next one."""

import os

import tensorflow.compat.v1 as tf
from tensor2tensor.data_generators import generator_utils, problem, text_problems
from tensor2tensor.utils import registry


@registry.register_problem
class PoetryLineToLine(text_problems.Text2TextProblem):
    """Predict the next line from the last one."""

    @property
    def approx_vocab_size(self):
        return 2**7

    @property
    def is_generate_per_split(self):
        # generate_data will shard the data into TRAIN and EVAL for us.
        return False

    @property
    def dataset_splits(self):
        return [
            {"split": problem.DatasetSplit.TRAIN, "shards": 3},
            {"split": problem.DatasetSplit.EVAL, "shards": 1},
        ]

    def generate_samples(self, data_dir, tmp_dir, dataset_split):
        del data_dir, dataset_split
        source = os.path.join(tmp_dir, "verse.txt")
        path = generator_utils.maybe_download(tmp_dir, "copied_verse.txt", source)
        tf.logging.info("Reading %s", path)
        previous = None
        with tf.gfile.GFile(path) as stream:
            for line in stream:
                line = line.strip()
                if previous and line:
                    yield {"inputs": previous, "targets": line}
                previous = line
