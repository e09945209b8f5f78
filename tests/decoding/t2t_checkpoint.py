"""T2T's recorded training directories as models of this package."""

import json
import pathlib
from types import SimpleNamespace
from typing import Any

from t2t_keras.hparam import HParams
from t2t_keras.models.transformer import Transformer
from t2t_keras.text.subwords import SubwordTextEncoder
from t2t_keras.training import checkpoints


def load_run(folder: pathlib.Path) -> tuple[Transformer, Any]:
    """The newest checkpoint's model, and problem hparams with the vocabulary of the folder."""
    hparams = HParams(**json.loads((folder / "hparams.json").read_text()))
    (vocabulary,) = folder.glob("*.subwords")
    encoder = SubwordTextEncoder(str(vocabulary))
    model = Transformer(
        hparams, input_vocab_size=encoder.vocab_size, target_vocab_size=encoder.vocab_size
    )
    checkpoints.load_model_variables(model, str(folder))
    problem_hparams = SimpleNamespace(
        vocabulary={"inputs": encoder, "targets": encoder},
        modality={"inputs": "symbol", "targets": "symbol"},
    )
    return model, problem_hparams
