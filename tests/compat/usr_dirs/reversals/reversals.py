"""A problem and its hyperparameters; most of what can be overridden is, in TensorFlow 1's words."""

import os

import tensorflow as tf
from tensor2tensor.data_generators import (
    generator_utils,
    problem,
    text_encoder,
    text_problems,
    translate,
)
from tensor2tensor.layers import modalities
from tensor2tensor.models import transformer
from tensor2tensor.utils import metrics, registry

FLAGS = tf.flags.FLAGS

EOS = text_encoder.EOS_ID


@registry.register_problem
class LettersToWords(translate.TranslateProblem):
    """Letters (bytes) to the words that they spell (a vocabulary of its own)."""

    @property
    def targeted_vocab_size(self):
        return 2**6

    @property
    def vocab_filename(self):
        return "vocab.letters_to_words.%d" % self.targeted_vocab_size

    @property
    def source_vocab_size(self):
        return 258

    def dataset_filename(self):
        return "letters"

    @property
    def dataset_splits(self):
        return [
            {"split": problem.DatasetSplit.TRAIN, "shards": 2},
            {"split": problem.DatasetSplit.EVAL, "shards": 1},
        ]

    def source_data_files(self, dataset_split):
        train = dataset_split == problem.DatasetSplit.TRAIN
        tag = "train" if train else "dev"
        return [["", ("letters.%s.txt" % tag, "words.%s.txt" % tag)]]

    def get_target_vocab(self, data_dir, tmp_dir):
        def words():
            for line in text_problems.txt_line_iterator(os.path.join(tmp_dir, "words.train.txt")):
                yield text_encoder.native_to_unicode(line)

        return generator_utils.get_or_generate_vocab_inner(
            data_dir, self.vocab_filename, self.approx_vocab_size, words()
        )

    def generate_encoded_samples(self, data_dir, tmp_dir, dataset_split):
        source_vocab = text_encoder.ByteTextEncoder()
        target_vocab = self.get_target_vocab(data_dir, tmp_dir)
        return text_problems.text2text_generate_encoded(
            self.generate_samples(data_dir, tmp_dir, dataset_split), source_vocab, target_vocab
        )

    def feature_encoders(self, data_dir):
        path = os.path.join(data_dir, self.vocab_filename)
        if not tf.gfile.Exists(path):
            raise ValueError("No vocabulary: %s" % path)
        return {
            "inputs": text_encoder.ByteTextEncoder(),
            "targets": text_encoder.SubwordTextEncoder(path),
        }

    def hparams(self, defaults, unused_model_hparams):
        super().hparams(defaults, unused_model_hparams)
        p = defaults
        p.modality = {
            "inputs": modalities.ModalityType.SYMBOL,
            "targets": modalities.ModalityType.SYMBOL,
        }
        p.vocab_size = {
            "inputs": self.source_vocab_size,
            "targets": self._encoders["targets"].vocab_size,
        }
        p.input_space_id = problem.SpaceID.EN_CHR
        p.target_space_id = problem.SpaceID.EN_TOK
        p.loss_multiplier = 1.5

    def example_reading_spec(self):
        data_fields = {
            "inputs": tf.VarLenFeature(tf.int64),
            "targets": tf.VarLenFeature(tf.int64),
        }
        data_items_to_decoders = None
        return data_fields, data_items_to_decoders

    def preprocess_example(self, example, mode, hparams):
        example = super().preprocess_example(example, mode, hparams)
        # Without the first letter.
        example["inputs"] = tf.concat([example["inputs"][1:-1], [EOS]], axis=0)
        return example

    def eval_metrics(self):
        return [metrics.Metrics.ACC, metrics.Metrics.NEG_LOG_PERPLEXITY]


@registry.register_hparams
def transformer_letters():
    hparams = transformer.transformer_tiny()
    hparams.batch_size = 512
    return hparams
