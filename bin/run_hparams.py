"""The hyperparameters that the flags of trainer, decoder and exporter ask for."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from absl import flags

from t2t_keras import hparam_checks, hparams_lib
from t2t_keras.bin import flag_checks

if TYPE_CHECKING:
    from t2t_keras.hparam import HParams

FLAGS = flags.FLAGS

_AUTOMATIC = "gpu_automatic_mixed_precision"


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
    _heed_precision_flag(hparams)
    _refuse_remembered_precision(hparams, os.path.join(run_directory, hparams_lib.HPARAMS_FILE))
    hparam_checks.check_hparams(hparams)
    return hparams


def _is_override(name: str) -> bool:
    """Whether `--hparams` has a value of this name."""
    return re.search(rf"(^|,)\s*{name}\s*=", FLAGS.hparams or "") is not None


def _heed_precision_flag(hparams: HParams) -> None:
    """Sets the hparam as the flag says, if it is given; `--hparams` takes precedence."""
    flag = FLAGS[_AUTOMATIC]
    if flag.present and not _is_override(_AUTOMATIC):
        setattr(hparams, _AUTOMATIC, flag.value)
    # So that flags.txt says the same as hparams.json.
    flag.value = bool(getattr(hparams, _AUTOMATIC, False))


def _refuse_remembered_precision(hparams: HParams, path: str) -> None:
    """Raises `UsageError` if the user asks for one mixed precision and the run has the other."""
    dtype = getattr(hparams, "activation_dtype", None) or "float32"
    is_automatic = getattr(hparams, _AUTOMATIC, False)
    if not is_automatic or dtype == "float32" or not os.path.isfile(path):
        return
    remembered = hparams_lib.read_hparams_file(path)
    given = {
        _AUTOMATIC: FLAGS[_AUTOMATIC].present or _is_override(_AUTOMATIC),
        "activation_dtype": _is_override("activation_dtype"),
    }
    ways_out = {
        _AUTOMATIC: f"--hparams={_AUTOMATIC}=False,activation_dtype={dtype}",
        "activation_dtype": f"--{_AUTOMATIC} --hparams=activation_dtype=float32",
    }
    for name, way_out in ways_out.items():
        value = getattr(hparams, name)
        if not given[name] and remembered.get(name) == value:
            raise flag_checks.UsageError(
                f"{_AUTOMATIC} takes the place of activation_dtype, and the run goes on with "
                f"{name}={value}, as in {path}. To change it: {way_out}"
            )
