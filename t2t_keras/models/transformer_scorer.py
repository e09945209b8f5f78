"""A Transformer that says how likely it finds given targets."""

from typing import Any

from keras import ops

from t2t_keras import registry
from t2t_keras.models.transformer import Features, Transformer


@registry.register_model("transformer_scorer")
class TransformerScorer(Transformer):
    """The Transformer, with the log probability of whole targets in the place of decoding.

    It reads the checkpoints of `transformer`: its variables have the same names.
    """

    # Its variables' names begin like those of the model whose checkpoints it reads.
    scope = "transformer"

    def score(self, features: Features, count_padding: bool = False) -> Any:
        """Σ log p(target) of every row.

        Args:
          features: see `Transformer`.
          count_padding: also counts the log probabilities of the padding after the targets, as T2T
            does, by which a score depends on the longest targets of the batch.

        Returns:
          float32 `[batch]`.
        """
        targets = ops.convert_to_tensor(features["targets"], dtype="int32")
        log_probabilities = ops.log_softmax(self(features), axis=-1)
        of_targets = ops.take_along_axis(log_probabilities, targets[..., None], axis=-1)[..., 0]
        if not (count_padding or self.predicts_class):
            of_targets = of_targets * ops.cast(ops.not_equal(targets, 0), of_targets.dtype)
        return ops.sum(of_targets, axis=1)
