"""Samples of texts become samples of ids."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import Any

from t2t_keras.data import records
from t2t_keras.text import encoders

__all__ = ["Sample", "text2text_generate_encoded"]

Sample = dict[str, Any]


def text2text_generate_encoded(
    sample_generator: Iterable[Sample],
    vocab: Any,
    targets_vocab: Any = None,
    has_inputs: bool = True,
    inputs_prefix: str = "",
    targets_prefix: str = "",
) -> Iterator[Sample]:
    """Encode the texts of samples and append EOS; other keys pass unchanged.

    Args:
        sample_generator: samples with texts `targets` and, if `has_inputs`, `inputs`. The dicts
            are changed in place.
        vocab: encoder of inputs, and of targets if there is no `targets_vocab`.
        targets_vocab: encoder of targets.
        has_inputs: whether samples have inputs.
        inputs_prefix: text put before every input.
        targets_prefix: text put before every target.

    Returns:
        Iterator of the samples with lists of ids in place of texts.
    """
    sides = {"targets": (targets_vocab or vocab, targets_prefix)}
    if has_inputs:
        sides["inputs"] = (vocab, inputs_prefix)
    return records.EncodedSamples(sample_generator, functools.partial(_encode_sample, sides))


def _encode_sample(sides: dict[str, tuple[Any, str]], sample: Sample) -> Sample:
    """Encode the sides of a sample, each with its encoder and its prefix, in place."""
    for side, (encoder, prefix) in sides.items():
        ids = encoder.encode(prefix + sample[side] if prefix else sample[side])
        ids.append(encoders.EOS_ID)
        sample[side] = ids
    return sample
