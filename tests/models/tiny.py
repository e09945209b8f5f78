"""Small Transformers for tests."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from t2t_keras import registry
from t2t_keras.models.transformer import Transformer

TINY = (
    "hidden_size=8,filter_size=16,num_heads=2,num_hidden_layers=2,max_length=32,"
    "symbol_modality_num_shards=1"
)
VOCAB = 11


def tiny_hparams(
    hparams_set: str = "transformer_base",
    overrides: str = "",
    declare: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Hparams of a small model; `declare` are ones that the set does not have."""
    hparams = registry.hparams(hparams_set)
    for name, value in declare.items():
        hparams.add_hparam(name, value)
    hparams.parse(TINY)
    hparams.parse(overrides)
    return hparams


def tiny_model(
    hparams_set: str = "transformer_base",
    overrides: str = "",
    input_vocab_size: int | None = VOCAB,
    target_vocab_size: int = VOCAB,
    declare: Mapping[str, Any] = MappingProxyType({}),
) -> Transformer:
    """A model whose variables follow a fixed formula, so that results are reproducible."""
    model = Transformer(
        tiny_hparams(hparams_set, overrides, declare),
        input_vocab_size=input_vocab_size,
        target_vocab_size=target_vocab_size,
    )
    fill_by_formula(model)
    return model


def fill_by_formula(model: Transformer) -> None:
    """Element i of variable j, in the order of names, is 0.3·sin(0.37·i + 1.3·j); norms about 1."""
    for j, variable in enumerate(sorted(model.weights, key=lambda v: v.path)):
        size = int(np.prod(variable.shape))
        values = 0.3 * np.sin(0.37 * np.arange(size) + 1.3 * j).reshape(variable.shape)
        if variable.path.endswith("norm_scale"):
            values += 1.0
        variable.assign(values.astype(np.float32))


FEATURES = {
    "inputs": np.array([[3, 5, 7, 4, 1], [6, 2, 9, 1, 0]], np.int32),
    "targets": np.array([[4, 8, 3, 1], [10, 1, 0, 0]], np.int32),
}

PACKED_FEATURES = {
    "inputs": np.array([[3, 5, 1, 7, 1]], np.int32),
    "targets": np.array([[4, 1, 10, 8, 1]], np.int32),
    "inputs_segmentation": np.array([[1, 1, 1, 2, 2]], np.int32),
    "inputs_position": np.array([[0, 1, 2, 0, 1]], np.int32),
    "targets_segmentation": np.array([[1, 1, 2, 2, 2]], np.int32),
    "targets_position": np.array([[0, 1, 0, 1, 2]], np.int32),
}
