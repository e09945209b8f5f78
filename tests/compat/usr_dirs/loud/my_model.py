"""A model derived from the Transformer."""

import tensorflow as tf
from tensor2tensor.models import transformer
from tensor2tensor.utils import registry


@registry.register_model
class LoudTransformer(transformer.Transformer):
    """The Transformer with its output turned up."""

    def __init__(self, *args, **kwargs):
        super(LoudTransformer, self).__init__(*args, **kwargs)

    def body(self, features):
        output = super(LoudTransformer, self).body(features)
        tf.logging.info("Features: %s", sorted(features))
        return output * self.hparams.loudness


@registry.register_hparams
def loud_transformer_test():
    hparams = transformer.transformer_test()
    hparams.add_hparam("loudness", 1.5)
    hparams.batch_size = 256
    return hparams
