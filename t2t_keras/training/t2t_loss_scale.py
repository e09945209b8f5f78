"""T2T's names of what training in float16 stores beside model and slots.

T2T's own loss scaling (hparam `activation_dtype=float16`) and TensorFlow 1's graph rewrite (hparam
`gpu_automatic_mixed_precision`) keep the same state under different names. Both update in a branch
of the graph, whose name stands before those of Adam's scalars.
"""

import re
from collections.abc import Mapping

import numpy as np

__all__ = ["BAD_STEPS", "GOOD_STEPS", "LOSS_SCALE", "own_name", "t2t_values"]

# Name of the loss scale in this package's checkpoints; those of its counters begin with it.
LOSS_SCALE = "training/loss_scale"
GOOD_STEPS = f"{LOSS_SCALE}_good_steps"
BAD_STEPS = f"{LOSS_SCALE}_bad_steps"

_BY_LOSS_SCALING = {LOSS_SCALE: "loss_scale", GOOD_STEPS: "good_steps", BAD_STEPS: "bad_steps"}
# One bad step halves this scale, so they aren't counted.
_BY_GRAPH_REWRITE = {LOSS_SCALE: "current_loss_scale", GOOD_STEPS: "good_steps"}
_OWN_NAMES = {
    theirs: ours
    for names in (_BY_LOSS_SCALING, _BY_GRAPH_REWRITE)
    for ours, theirs in names.items()
}
_BRANCH = re.compile(r"^training/cond(_\d+)?/")
_SCALARS = re.compile(r"^training/(?=beta1_power$|beta2_power$|iter$)")


def own_name(name: str) -> str:
    """The name that a variable of T2T's checkpoints has here; of all others the same."""
    return _OWN_NAMES.get(name) or _BRANCH.sub("training/", name)


def t2t_values(
    values: Mapping[str, np.ndarray], *, is_scaled: bool, is_automatic: bool
) -> dict[str, np.ndarray]:
    """The values of a checkpoint by the names that T2T's graph has for them.

    Args:
        values: by this package's names.
        is_scaled: whether the run scales its loss; if not, there is no state of it.
        is_automatic: whether it is the graph rewrite that does.
    """
    renamed = _BY_GRAPH_REWRITE if is_automatic else _BY_LOSS_SCALING
    branch = "training/cond_1/" if is_automatic else "training/cond/"
    result = {}
    for name, value in values.items():
        if not name.startswith(LOSS_SCALE):
            result[_SCALARS.sub(branch, name) if is_scaled else name] = value
        elif is_scaled and name in renamed:
            # The graph rewrite counts in 64 bits.
            is_long = is_automatic and name == GOOD_STEPS
            result[renamed[name]] = value.astype(np.int64) if is_long else value
    return result
