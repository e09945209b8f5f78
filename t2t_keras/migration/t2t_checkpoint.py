"""tensor2tensor's checkpoints brought here, and this package's taken back to tensor2tensor.

Trainer, decoder and exporter read tensor2tensor's checkpoints as they are. Importing one makes a
run of its own of it, with everything checked beforehand.
"""

import os
import pathlib
import re
import shutil
from collections.abc import Sequence
from typing import Any

import numpy as np
from absl import logging

from t2t_keras import registry
from t2t_keras.hparams_lib import HPARAMS_FILE
from t2t_keras.models.t2t_names import split_tables
from t2t_keras.training import checkpoints, run_vocabulary
from t2t_keras.training.precision import loss_scale_for
from t2t_keras.training.retention import CheckpointKeeper
from t2t_keras.training.slots import slot_variables, state_scalars
from t2t_keras.training.stored_variables import (
    BOOKKEEPING,
    GLOBAL_STEP,
    StoredVariables,
    values_by_path,
)
from t2t_keras.training.t2t_loss_scale import GOOD_STEPS, LOSS_SCALE, t2t_values

__all__ = ["export_checkpoint", "import_checkpoint", "make_model"]

# What belongs to a run beside its checkpoints.
_RUN_FILES = ("flags.txt", "flags_t2t.txt", HPARAMS_FILE, run_vocabulary.FILE)
_TABLE = re.compile(r"symbol_modality_(?P<size>\d+)_\d+/(?P<table>[^/]+)/weights$")
# T2T's graph of a training step has these, too, and never changes them.
_CONSTANTS = {
    "losses_avg/problem_0/total_loss": np.array(100.0, np.float32),
    "losses_avg/problem_0/extra_loss": np.array(100.0, np.float32),
    "losses_avg/problem_0/training_loss": np.array(100.0, np.float32),
    "train_stats/problem_0_steps": np.array(0, np.int32),
}


def import_checkpoint(
    source: str, output_dir: str, model: Any, optimizer: Any, *, optimizer_state: bool = True
) -> str:
    """Makes a run of this package of a checkpoint of tensor2tensor's.

    Every variable is taken over: the model's, the optimizer's slots, the loss scale, the global
    step, and what only tensor2tensor uses, so that it can go back unchanged. `flags.txt`,
    `flags_t2t.txt` and `hparams.json` are copied.

    Args:
        source: prefix of a checkpoint, or its directory, whose newest is meant then.
        output_dir: the new run's directory; must not have a checkpoint yet.
        model: a built model as the checkpoint's, see `make_model`.
        optimizer: the run's.
        optimizer_state: whether the checkpoint must have the optimizer's slots, if it has any; if
            not, they are left behind.

    Returns:
        The prefix of the checkpoint written.

    Raises:
        CheckpointError: there is no checkpoint, or a variable is missing, left over or misshapen;
            all are listed.
        ValueError: `output_dir` already has a checkpoint.
    """
    _refuse_used_directory(output_dir)
    stored = StoredVariables(checkpoints.resolve(source))
    variables = values_by_path(model.variables)
    ignored = BOOKKEEPING if optimizer_state else ("training/", *BOOKKEEPING)
    if optimizer_state and stored.slot_names:
        optimizer.build(model.trainable_variables)
        variables |= slot_variables(optimizer, model.trainable_variables)
    elif optimizer_state:
        logging.warning("%s has no optimizer state: training would start it anew.", stored.prefix)
    stored.refuse_misfits(variables, ignored)
    values = {
        name: value
        for name, value in stored.read_all().items()
        if optimizer_state or not name.startswith("training/")
    }
    if GOOD_STEPS in values:  # Of 32 or 64 bits.
        values[GOOD_STEPS] = values[GOOD_STEPS].astype(np.int32)
    return _write_run(stored, output_dir, values)


def export_checkpoint(source: str, output_dir: str, optimizer: Any, hparams: Any) -> str:
    """Writes a checkpoint under the names that tensor2tensor's program restores it by.

    Embedding tables and their slots are split into shards, and the loss scale is named as its
    hparams make tensor2tensor name it; what tensor2tensor stores beside model and slots is added
    where it isn't kept. There is no `.meta` file: tensor2tensor's programs build their graph anew.
    The run's files are copied.

    Args:
        source: prefix of a checkpoint, or its directory, whose newest is meant then.
        output_dir: must not have a checkpoint yet.
        optimizer: the run's.
        hparams: the run's.

    Returns:
        The prefix of the checkpoint written.

    Raises:
        CheckpointError: there is no checkpoint.
        ValueError: `output_dir` already has a checkpoint.
    """
    _refuse_used_directory(output_dir)
    stored = StoredVariables(checkpoints.resolve(source))
    extra: dict[str, np.ndarray] = {**_CONSTANTS, GLOBAL_STEP: np.array(stored.step, np.int64)}
    if stored.slot_names:
        extra |= state_scalars(optimizer, stored.step)
    loss_scale = loss_scale_for(hparams)
    if loss_scale is not None and (stored.slot_names or LOSS_SCALE in stored.shapes):
        extra |= {name: variable.numpy() for name, variable in loss_scale.variables.items()}
    values = split_tables({**extra, **stored.read_all()}, hparams.symbol_modality_num_shards)
    values = t2t_values(
        values,
        is_scaled=loss_scale is not None,
        is_automatic=bool(hparams.get("gpu_automatic_mixed_precision")),
    )
    return _write_run(stored, output_dir, values)


def _refuse_used_directory(output_dir: str) -> None:
    if checkpoints.complete_checkpoints(output_dir):
        raise ValueError(
            "output_dir already has checkpoints; name a new directory. "
            f"Received: output_dir={output_dir!r}"
        )


def _write_run(stored: StoredVariables, output_dir: str, values: dict[str, np.ndarray]) -> str:
    prefix = checkpoints.prefix_of_step(output_dir, stored.step)
    checkpoints.write_values(prefix, values)
    CheckpointKeeper(output_dir, max_to_keep=0).add(prefix)
    source_dir = pathlib.Path(stored.prefix).parent
    for name in _RUN_FILES:
        if (source_dir / name).is_file():
            shutil.copyfile(source_dir / name, os.path.join(output_dir, name))
    return prefix


def make_model(model_name: str, hparams: Any, source: str) -> Any:
    """A model as a checkpoint's, with the vocabulary sizes that its tables have.

    Args:
        model_name: a registered model.
        hparams: the run's. With a problem attached, the model is that problem's instead.
        source: prefix of a checkpoint, or its directory.

    Raises:
        CheckpointError: the checkpoint has no table of target symbols, so the problem must tell.
    """
    model_class = registry.model(model_name)
    if getattr(hparams, "problem_hparams", None) is not None:
        return model_class.from_hparams(hparams)
    names = StoredVariables(checkpoints.resolve(source)).model_names
    inputs, targets = _vocab_sizes(names)
    if targets is None:
        raise checkpoints.CheckpointError(
            f"{source} has no table of target symbols (…/symbol_modality_<size>_<depth>/…), so the "
            "problem must tell the sizes of this model: give problem and data_dir. "
            f"Received variables: {', '.join(sorted(names)[:3])}, …"
        )
    return model_class(hparams, input_vocab_size=inputs, target_vocab_size=targets)


def _vocab_sizes(names: Sequence[str]) -> tuple[int | None, int | None]:
    """Numbers of input and target symbols, as tables are named; None where there is no table."""
    tables = [match for match in map(_TABLE.search, names) if match]

    def size_of(*candidates: str) -> int | None:
        sizes = {int(match["size"]) for match in tables if match["table"] in candidates}
        return sizes.pop() if len(sizes) == 1 else None

    # One of these belongs to the targets alone, unless everything is shared.
    targets = size_of("softmax") or size_of("target_emb") or size_of("shared")
    if not any("/encoder/" in name for name in names):
        return None, targets
    sizes = {int(match["size"]) for match in tables}
    others = sizes - {targets}
    inputs = size_of("input_emb") or (others.pop() if len(others) == 1 else targets)
    return inputs, targets
