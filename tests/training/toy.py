"""A problem small enough to be generated and trained on in a test."""

import random

from t2t_keras import hparams_lib, registry
from t2t_keras.data import text_problems
from t2t_keras.training.run_config import RunConfig

TINY = (
    "num_hidden_layers=1,hidden_size=8,filter_size=16,num_heads=2,batch_size=128,max_length=32,"
    "learning_rate_warmup_steps=20,batch_shuffle_size=8,"
    # Dropout between layers will do: every further place of it takes time to be traced.
    "attention_dropout=0.0,relu_dropout=0.0"
)


def _register():
    @registry.register_problem("toy_reverse_words")
    class ToyReverseWords(text_problems.Text2TextProblem):
        """Letters, and the same letters backwards."""

        @property
        def vocab_type(self):
            return text_problems.VocabType.CHARACTER

        @property
        def is_generate_per_split(self):
            return False

        @property
        def dataset_splits(self):
            return [{"split": "train", "shards": 2}, {"split": "dev", "shards": 1}]

        def generate_samples(self, data_dir, tmp_dir, dataset_split):
            rng = random.Random(3)
            for _ in range(300):
                text = "".join(rng.choice("abcdef") for _ in range(rng.randint(2, 12)))
                yield {"inputs": text, "targets": text[::-1]}

    return ToyReverseWords


if "toy_reverse_words" not in registry.list_problems():
    _register()


def make_data(directory):
    registry.problem("toy_reverse_words").generate_data(str(directory), str(directory))
    return str(directory)


def make_hparams(data_dir, overrides=""):
    return hparams_lib.create_hparams(
        "transformer_tiny", TINY + overrides, data_dir=data_dir, problem_name="toy_reverse_words"
    )


def make_config(output_dir, data_dir, **settings):
    defaults = dict(
        train_steps=12,
        eval_steps=2,
        random_seed=1,
        iterations_per_loop=4,
        local_eval_frequency=4,
        save_summary_steps=2,
        log_step_count_steps=2,
    )
    return RunConfig(output_dir=str(output_dir), data_dir=data_dir, **{**defaults, **settings})
