"""The hparams of a problem, and those of a model that it looks at, before anything is known."""

from __future__ import annotations

from t2t_keras.data.modes import SpaceID
from t2t_keras.hparam import HParams

__all__ = ["default_model_hparams", "default_problem_hparams"]


def default_model_hparams() -> HParams:
    """The model hparams a problem looks at, for callers that have no model."""
    return HParams(
        max_input_seq_length=0,
        max_target_seq_length=0,
        prepend_mode="none",
        split_to_length=0,
        data_dir=None,
    )


def default_problem_hparams() -> HParams:
    """Problem hparams before `Problem.hparams` fills them in (T2T's defaults)."""
    return HParams(
        # The loss is multiplied by it, and so is the learning signal of one problem among several.
        loss_multiplier=1.0,
        # Unit of the batch size: lengths of this problem count as length / multiplier.
        batch_size_multiplier=1,
        # Whether decoding ends at the end-of-sequence id.
        stop_at_eos=False,
        modality={},
        vocab_size={},
        input_space_id=SpaceID.GENERIC,
        target_space_id=SpaceID.GENERIC,
    )
