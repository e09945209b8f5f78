"""Running code written for tensor2tensor: `tensor2tensor.…` as other names for this package.

`install()` makes `import tensor2tensor.data_generators.text_problems` and the like lead to this
package's modules. `--t2t_usr_dir` does so before it imports the user's package; nobody else does.
An installed tensor2tensor is never hidden.

Which modules and names there are is said by `table`, and nowhere else.
"""

from __future__ import annotations

import pathlib
import sys

from t2t_keras.compat.finder import AliasFinder
from t2t_keras.compat.user_package import UserPackageFinder

__all__ = ["import_as_user_package", "install", "uninstall"]


def install() -> None:
    """Makes `tensor2tensor.…` importable; does nothing if it is so already.

    If a tensor2tensor is installed, imports go on leading to it, and a warning says so.
    """
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        # In front: a directory that happens to be called tensor2tensor is no module. The finder
        # itself steps back if there is a real one.
        sys.meta_path.insert(0, AliasFinder())


def uninstall() -> None:
    """Undoes all of this and forgets the modules `tensor2tensor.…` (for notebooks and tests)."""
    ours = (AliasFinder, UserPackageFinder)
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, ours)]
    AliasFinder.forget_modules()


def import_as_user_package(directory: str) -> None:
    """Prepares the import of a directory, by its name, as a package written for tensor2tensor.

    Installs the alias; and lets `import tensorflow as tf` in the package's files mean TensorFlow
    with the names that only TensorFlow 1 had, loaded when first used (see `user_package`).

    Args:
        directory: path of the package.
    """
    install()
    path = pathlib.Path(directory)
    if not any(
        isinstance(finder, UserPackageFinder) and finder.directory == path
        for finder in sys.meta_path
    ):
        sys.meta_path.insert(0, UserPackageFinder(path))
