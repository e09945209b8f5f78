"""Generators of samples from text files.

Lines are stripped; `.gz` files are not unpacked here. Two files whose lines correspond must have
the same number of lines, else ValueError is raised at the end of the shorter one (T2T silently
leaves the rest out).
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from typing import Any

from t2t_keras.data import text_lines

Sample = dict[str, Any]


def txt_line_iterator(txt_path: str) -> Iterator[str]:
    """Yield the stripped lines of a UTF-8 file; see `text_lines.stripped_lines`."""
    return text_lines.stripped_lines(txt_path)


def text2text_txt_iterator(source_txt_path: str, target_txt_path: str) -> Iterator[Sample]:
    """Yield `{"inputs", "targets"}` from two files with corresponding lines."""
    for inputs, targets in text_lines.parallel_lines(source_txt_path, target_txt_path):
        yield {"inputs": inputs, "targets": targets}


def text2text_distill_iterator(
    source_txt_path: str, target_txt_path: str, distill_txt_path: str
) -> Iterator[Sample]:
    """Yield `{"inputs", "targets", "dist_targets"}` from three files with corresponding lines."""
    distilled = txt_line_iterator(distill_txt_path)
    for (inputs, targets), line in zip(
        text_lines.parallel_lines(source_txt_path, target_txt_path), distilled, strict=True
    ):
        yield {"inputs": inputs, "targets": targets, "dist_targets": line}


def text2self_txt_iterator(txt_path: str) -> Iterator[Sample]:
    """Yield `{"targets"}` from the lines of a file."""
    for line in txt_line_iterator(txt_path):
        yield {"targets": line}


def text2class_txt_iterator(
    source_txt_path: str, label_txt_path: str, class_strs: Sequence[str] | None = None
) -> Iterator[Sample]:
    """Yield `{"inputs", "label"}` from two files with corresponding lines.

    Args:
        source_txt_path: file of texts.
        label_txt_path: file of labels: numbers, or names from `class_strs`.
        class_strs: names of the classes; a label becomes its index.
    """
    numbers = {name: number for number, name in enumerate(class_strs or [])}
    for inputs, label in text_lines.parallel_lines(source_txt_path, label_txt_path):
        if class_strs and label not in numbers:
            raise ValueError(
                f"{label_txt_path}: a label must be one of {list(class_strs)}. Received: {label!r}"
            )
        yield {"inputs": inputs, "label": numbers[label] if class_strs else int(label)}


def text2real_txt_iterator(source_txt_path: str, target_txt_path: str) -> Iterator[Sample]:
    """Yield `{"inputs", "targets": [floats]}` from two files with corresponding lines."""
    for inputs, targets in text_lines.parallel_lines(source_txt_path, target_txt_path):
        yield {"inputs": inputs, "targets": [float(number) for number in targets.split()]}


def txt_tab_iterator(txt_path: str) -> Iterator[Sample]:
    """Yield `{"inputs", "targets"}` from the lines with a tab, cut at the first one."""
    for line in txt_line_iterator(txt_path):
        inputs, tab, targets = line.partition("\t")
        if tab:
            yield {"inputs": inputs.strip(), "targets": targets.strip()}


def text2text_txt_tab_iterator(txt_path: str) -> Iterator[Sample]:
    """`txt_tab_iterator` over one file, or over all files of a pattern with a `*`, in order."""
    paths = sorted(glob.glob(txt_path)) if "*" in txt_path else [txt_path]
    if not paths:
        raise FileNotFoundError(f"No file matches {txt_path}")
    for path in paths:
        yield from txt_tab_iterator(path)
