"""What T2T's utils.misc_utils has and this package has no place of its own for."""

from t2t_keras.hparam import HParams


def pprint_hparams(hparams: HParams) -> str:
    """Hyperparameters as indented JSON, sorted by name."""
    return hparams.to_json(indent=2, sort_keys=True)
