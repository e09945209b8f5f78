"""Looks into shards: decoded examples, lengths, how many are longer than a limit."""

from __future__ import annotations

import array
import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from t2t_keras.data import example_proto, tfrecord
from t2t_keras.data.packing import AUXILIARY_SUFFIXES

Example = dict[str, Any]

_HISTOGRAM_ROWS = 16
_BAR_WIDTH = 50


@dataclasses.dataclass
class Lengths:
    """Lengths of the sides of all examples.

    Attributes:
        by_side: feature name -> `[examples]` lengths in ids, padding at the end left out.
        num_examples: their number.
        num_padding: ids 0 at the ends of all sequences.
    """

    by_side: dict[str, array.array[int]] = dataclasses.field(default_factory=dict)
    num_examples: int = 0
    num_padding: int = 0

    def add(self, example: Example) -> None:
        """Counts one example."""
        self.num_examples += 1
        for name, values in example.items():
            if is_sequence(name, values):
                length = len(values)
                while length and values[length - 1] == 0:
                    length -= 1
                self.num_padding += len(values) - length
                self.by_side.setdefault(name, array.array("L")).append(length)

    def side(self, name: str) -> np.ndarray:
        """`[examples]` lengths of a side."""
        return np.asarray(self.by_side[name])


def is_sequence(name: str, values: Any) -> bool:
    """Whether a feature is a sequence of ids: not a segment or position, not floats or texts."""
    return not name.endswith(AUXILIARY_SUFFIXES) and all(isinstance(item, int) for item in values)


def examples(paths: Iterable[str]) -> Iterator[Example]:
    """Yields the examples of files, as dicts of lists."""
    for path in paths:
        yield from map(example_proto.parse, tfrecord.iterate(path))


def describe_example(example: Example, names: Iterable[str], decoders: dict[str, Any]) -> str:
    """Text of one example: every named feature decoded, or as numbers if there is no encoder.

    Args:
        example: feature name -> values.
        names: features to show.
        decoders: feature name -> encoder.
    """
    lines = []
    for name in names:
        values = example.get(name, [])
        if name in decoders and is_sequence(name, values):
            shown = decoders[name].decode([item for item in values if item != 0])
        else:
            shown = " ".join(
                item.decode("utf-8", "replace") if isinstance(item, bytes) else str(item)
                for item in values
            )
        lines.append(f"{name} ({len(values)}): {shown}")
    return "\n".join(lines)


def summary(lengths: Lengths, max_length: int) -> str:
    """Number of examples and ids, lengths, and the share that is longer than a limit.

    Args:
        lengths: the lengths.
        max_length: the limit, as the hparam of that name.
    """
    if not lengths.num_examples:
        return "There are no examples."
    lines = [f"{lengths.num_examples:,} examples"]
    for name in sorted(lengths.by_side):
        side = lengths.side(name)
        percentiles = np.percentile(side, [50, 90, 99]).astype(int)
        lines.append(
            f"{name}: {side.sum():,} ids; length {side.min()} to {side.max()}, mean "
            f"{side.mean():.1f}, median {percentiles[0]}, 90 % up to {percentiles[1]}, 99 % up to "
            f"{percentiles[2]}; longer than {max_length}: {np.mean(side > max_length):.2%}"
        )
    longest = np.max([lengths.side(name) for name in _complete(lengths)], axis=0)
    lines.append(
        f"With max_length={max_length} training drops {np.mean(longest > max_length):.2%} of the "
        "examples (their longest side counts)"
    )
    if lengths.num_padding:
        lines.append(f"{lengths.num_padding:,} ids of padding at the ends are not counted")
    return "\n".join(lines)


def _complete(lengths: Lengths) -> list[str]:
    """The sides that every example has."""
    return [name for name, values in lengths.by_side.items() if len(values) == lengths.num_examples]


def histogram(lengths: np.ndarray, rows: int = _HISTOGRAM_ROWS) -> str:
    """Bars of `#`, one a range of lengths; the last range has everything above the 99.5 %.

    Args:
        lengths: `[examples]`.
        rows: number of ranges.
    """
    top = max(int(np.percentile(lengths, 99.5)), 1)
    width = -(-top // rows)
    edges = np.arange(0, top + width, width)
    bins = np.minimum(lengths // width, len(edges) - 1)
    counts = np.bincount(bins, minlength=len(edges))
    lines = []
    for start, count in zip(edges, counts, strict=True):
        is_last = start == edges[-1]
        limits = f"{start:>6} …" if is_last else f"{start:>6} – {start + width - 1}"
        bar = "#" * int(np.ceil(_BAR_WIDTH * count / counts.max()))
        lines.append(f"{limits:<16}{count:>10,}  {bar}".rstrip())
    return "\n".join(lines)


def plot(lengths: Lengths, max_length: int, path: str) -> None:
    """Draws the distribution of lengths of every side into a picture.

    Args:
        lengths: the lengths.
        max_length: limit to mark.
        path: file of the picture; its ending decides the format.

    Raises:
        ValueError: if matplotlib is not installed.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise ValueError(
            "A picture needs matplotlib. Install it with: pip install 't2t_keras[plot]'"
        ) from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    for name in sorted(lengths.by_side):
        side = lengths.side(name)
        bins = np.linspace(0, np.percentile(side, 99.9), 60)
        axes.hist(side, bins=bins, histtype="step", label=name)
    axes.axvline(max_length, color="grey", linestyle=":", label=f"max_length {max_length}")
    axes.set(xlabel="length in ids, end of sequence included", ylabel="examples")
    axes.legend()
    figure.savefig(path)
    pyplot.close(figure)
