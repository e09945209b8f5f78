"""What the suffixes `_rev` and `_copy` of a problem's name do to features."""

from __future__ import annotations

from typing import Any

__all__ = ["reversed_and_copied"]

# What goes with inputs and targets: packed data have all three.
_COMPANIONS = ("", "_segmentation", "_position")


def reversed_and_copied(
    by_feature: dict[str, Any], was_reversed: bool, was_copy: bool
) -> dict[str, Any]:
    """Swaps inputs and targets, then copies inputs to targets; without inputs, does nothing.

    Args:
        by_feature: feature name -> anything. `inputs_segmentation` and `inputs_position` go with
            `inputs`.
        was_reversed: whether to swap.
        was_copy: whether to copy.
    """
    result = dict(by_feature)
    if "inputs" not in result:
        return result
    if was_reversed:
        result = {_other_side(name): value for name, value in result.items()}
    if was_copy:
        for suffix in _COMPANIONS:
            if f"inputs{suffix}" in result:
                result[f"targets{suffix}"] = result[f"inputs{suffix}"]
    return result


def _other_side(feature: str) -> str:
    """`targets…` for `inputs…` and the reverse; other names stay."""
    for suffix in _COMPANIONS:
        if feature == f"inputs{suffix}":
            return f"targets{suffix}"
        if feature == f"targets{suffix}":
            return f"inputs{suffix}"
    return feature
