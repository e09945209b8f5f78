"""The hyperparameters that the flags of trainer, decoder and exporter ask for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from absl import flags

from t2t_keras import hparam_checks, hparams_lib
from t2t_keras.bin import flag_checks

if TYPE_CHECKING:
    from t2t_keras.hparam import HParams

FLAGS = flags.FLAGS


def create(run_directory: str, problem_name: str | None = None) -> HParams:
    """Those of the set, changed by the run's `hparams.json` and then by `--hparams`.

    Without TensorFlow, so that mistakes are told at once.

    Args:
        run_directory: where `hparams.json` may be.
        problem_name: attaches this problem; its vocabulary must be there.

    Raises:
        KeyError: unknown model, set or problem.
        ValueError: overrides that can't be parsed, or values that can't work.
    """
    flag_checks.require_model(FLAGS.model)
    hparams = hparams_lib.create_hparams(
        FLAGS.hparams_set,
        FLAGS.hparams,
        data_dir=FLAGS.data_dir,
        problem_name=problem_name,
        hparams_path=os.path.join(run_directory, hparams_lib.HPARAMS_FILE),
    )
    if FLAGS.gpu_automatic_mixed_precision:
        hparams.gpu_automatic_mixed_precision = True
    hparam_checks.check_hparams(hparams)
    return hparams
