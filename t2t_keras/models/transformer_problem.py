"""What the hparams of a problem say about a model's inputs and targets."""

from typing import Any

from t2t_keras.data.modes import ModalityType
from t2t_keras.models.transformer_support import UnsupportedHparams


def problem_hparams_of(hparams: Any) -> Any:
    """The hparams of the problem; raises `ValueError` if there are none."""
    problem_hparams = getattr(hparams, "problem_hparams", None)
    if problem_hparams is None:
        raise ValueError(
            "hparams.problem_hparams is missing: create the hparams with a problem name "
            "(hparams_lib.create_hparams(…, problem_name=…))."
        )
    return problem_hparams


def check_modality(problem_hparams: Any, feature: str, supported: str) -> None:
    """Raises `UnsupportedHparams` unless a problem's feature has the `ModalityType` supported."""
    kind = problem_hparams.modality.get(feature)
    if kind != supported:
        raise UnsupportedHparams(
            {f"modality[{feature!r}]": f"supported is {supported!r}. Received: {kind!r}"}
        )


def symbol_vocab_size(problem_hparams: Any, feature: str) -> int | None:
    """Vocabulary size of a feature, None if the problem has no such feature.

    A problem whose declared `vocab_size` is too small for its data says so in `least_vocab_size`.

    Raises:
      UnsupportedHparams: the feature is no sequence of symbols.
    """
    if feature not in problem_hparams.modality:
        return None
    check_modality(problem_hparams, feature, ModalityType.SYMBOL)
    least = getattr(problem_hparams, "least_vocab_size", {}).get(feature, 0)
    return max(int(problem_hparams.vocab_size[feature]), least)


def check_one_vocabulary(input_vocab_size: int | None, target_vocab_size: int) -> None:
    """Raises `ValueError` unless inputs can be read as targets."""
    if input_vocab_size not in (None, target_vocab_size):
        raise ValueError(
            "A prepend_mode needs one vocabulary for inputs and targets. "
            f"Received: {input_vocab_size} input symbols, {target_vocab_size} target symbols"
        )
