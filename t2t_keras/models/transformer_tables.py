"""Which tables of symbols' vectors a Transformer has, and which of them are one."""

from typing import Any, NamedTuple

from t2t_keras.layers.embedding import SymbolModality, SymbolTable
from t2t_keras.layers.initializers import initializer_factory
from t2t_keras.models.class_labels import ClassLabelModality


class Tables(NamedTuple):
    """Tables of a model.

    Attributes:
      modalities: the layers that own the variables, by name.
      inputs: embeds the inputs; None without inputs.
      targets: embeds the targets; None if they are class labels.
      softmax: turns what the model computes into logits.
    """

    modalities: dict[str, Any]
    inputs: SymbolTable | None
    targets: SymbolTable | None
    softmax: SymbolTable | ClassLabelModality


def make_tables(
    hparams: Any, input_vocab_size: int | None, target_vocab_size: int, predicts_class: bool
) -> Tables:
    """Chooses which tables are one: inputs and targets, or those and the softmax.

    Args:
      hparams: the model's hyperparameters.
      input_vocab_size: number of rows for the inputs, None without inputs.
      target_vocab_size: number of rows for the targets, or of classes.
      predicts_class: whether the targets are class labels.
    """
    # T2T drops the three-way sharing when the vocabularies differ in size, but not the two-way
    # one: there, tables of different size are simply different tables.
    same_size = input_vocab_size in (None, target_vocab_size) and not predicts_class
    share_all = hparams.shared_embedding_and_softmax_weights and same_size
    share_embeddings = share_all or hparams.shared_embedding
    modalities: dict[str, Any] = {}

    def table(vocab_size: int, name: str) -> SymbolTable:
        multiply = hparams.multiply_embedding_mode == "sqrt_depth"
        modality = SymbolModality(vocab_size, hparams.hidden_size, multiply)
        found: SymbolModality = modalities.setdefault(modality.name, modality)
        return found.table(name)

    inputs = None
    if input_vocab_size is not None:
        inputs = table(input_vocab_size, "shared" if share_embeddings else "input_emb")
    if predicts_class:
        initializer = initializer_factory(hparams.initializer, hparams.initializer_gain)
        classes = ClassLabelModality(target_vocab_size, hparams.hidden_size, initializer)
        return Tables({**modalities, classes.name: classes}, inputs, None, classes)
    targets = table(target_vocab_size, "shared" if share_embeddings else "target_emb")
    softmax = table(target_vocab_size, "shared" if share_all else "softmax")
    return Tables(modalities, inputs, targets, softmax)
