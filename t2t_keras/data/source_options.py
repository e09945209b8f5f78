"""Where problems are to take their text from: archives or TensorFlow Datasets (TFDS).

The commands set it from their flags for the time of generating data:

    with source_options.use(SourceOptions(text_source="tfds", tfds_data_dir="/data/tfds")):
        problem.generate_data(data_dir, tmp_dir)
"""

import contextlib
import contextvars
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from t2t_keras import names

AUTO: Final = "auto"
ARCHIVES: Final = "archives"
TFDS: Final = "tfds"
TEXT_SOURCES: Final = (AUTO, ARCHIVES, TFDS)


@dataclass(frozen=True)
class SourceOptions:
    """Where text comes from.

    Attributes:
        text_source: of problems that can have it from both: "archives", "tfds", or "auto": from
            the archives, unless they are not in tmp_dir and the TFDS data set is already prepared.
        tfds_data_dir: directory of prepared TFDS data sets; None: TFDS's own, see
            `tfds_directory`.
        tfds_manual_dir: directory where TFDS looks for archives before it downloads them; None:
            `<tfds_data_dir>/downloads/manual`.

    Raises:
        ValueError: another `text_source`.
    """

    text_source: str = AUTO
    tfds_data_dir: str | None = None
    tfds_manual_dir: str | None = None

    def __post_init__(self) -> None:
        if self.text_source not in TEXT_SOURCES:
            raise ValueError(
                f"The source of text must be one of {', '.join(TEXT_SOURCES)}."
                f"{names.did_you_mean(self.text_source, TEXT_SOURCES)} "
                f"Received: {self.text_source!r}"
            )

    @property
    def tfds_directory(self) -> str:
        """`tfds_data_dir`, else `$TFDS_DATA_DIR`, else `~/tensorflow_datasets`."""
        directory = self.tfds_data_dir or os.environ.get("TFDS_DATA_DIR") or "~/tensorflow_datasets"
        return os.path.expanduser(directory)

    @property
    def manual_directory(self) -> str:
        """`tfds_manual_dir`, else TFDS's own."""
        if self.tfds_manual_dir:
            return os.path.expanduser(self.tfds_manual_dir)
        return os.path.join(self.tfds_directory, "downloads", "manual")


_CURRENT: contextvars.ContextVar[SourceOptions] = contextvars.ContextVar(
    "source_options",
    default=SourceOptions(),  # noqa: B039 (it is frozen)
)


def current() -> SourceOptions:
    """The options in force."""
    return _CURRENT.get()


@contextlib.contextmanager
def use(options: SourceOptions) -> Iterator[None]:
    """Puts options in force within a `with` block."""
    token = _CURRENT.set(options)
    try:
        yield
    finally:
        _CURRENT.reset(token)
