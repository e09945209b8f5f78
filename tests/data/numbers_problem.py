"""A problem of made-up examples that are told apart by their ids, and its batches."""

from t2t_keras import hparam
from t2t_keras.data import pipeline, records, text_problems
from t2t_keras.data.modes import ModeKeys
from t2t_keras.text import encoders

NUM_SHARDS = 3
# Enough for several epochs within a test.
NUM_EXAMPLES = 150


class Numbers(text_problems.Text2TextProblem):
    """Example k: inputs are k ids long (modulo 40) and begin with k + 2; targets are shorter."""

    name = "numbers"

    def feature_encoders(self, data_dir):
        words = [f"word{number}" for number in range(300)]
        encoder = encoders.TokenTextEncoder(None, vocab_list=words)
        return {"inputs": encoder, "targets": encoder}


class SkipsNothing(Numbers):
    @property
    def skip_random_fraction_when_training(self):
        return False


def example(number):
    length = number % 40 + 2
    inputs = [number + 2] * (length - 1) + [1]
    return {"inputs": inputs, "targets": inputs[: length // 2] + [1]}


def make_hparams(**values):
    defaults = {
        "batch_size": 64,
        "max_length": 64,
        "min_length": 0,
        "min_length_bucket": 8,
        "length_bucket_step": 1.5,
        "batch_shuffle_size": 8,
        "use_fixed_batch_size": False,
        "eval_drop_long_sequences": False,
        "max_input_seq_length": 0,
        "max_target_seq_length": 0,
        "prepend_mode": "none",
        "split_to_length": 0,
        "pack_dataset": False,
        "data_dir": None,
    }
    return hparam.HParams(**{**defaults, **values})


def write_shards(data_dir, split, num_shards=NUM_SHARDS, count=NUM_EXAMPLES):
    problem = Numbers()
    paths = problem.data_filepaths(split, str(data_dir), num_shards, shuffled=True)
    records.generate_files((example(number) for number in range(count)), paths)


def dataset(data_dir, mode=ModeKeys.TRAIN, problem=None, seed=5, hparams=None, **arguments):
    return pipeline.input_dataset(
        problem or Numbers(), mode, hparams or make_hparams(), data_dir, seed=seed, **arguments
    )


def as_lists(batches):
    return [{name: value.numpy().tolist() for name, value in batch.items()} for batch in batches]


def first_ids(batches):
    return [row[0] for batch in as_lists(batches) for row in batch["inputs"]]
