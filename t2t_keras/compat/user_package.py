"""Loading a user's package so that what it calls TensorFlow has TensorFlow 1's names, too.

Packages for tensor2tensor say `import tensorflow as tf` and mean TensorFlow 1 (`tf.gfile`,
`tf.logging`, `tf.VarLenFeature`), or `import tensorflow.compat.v1 as tf`. In the files of a user's
package, and only there, these imports are taken as imports of `tensorflow_names` and
`tensorflow_v1_names`: TensorFlow itself, completed by what only its first version had, and loaded
when it is first used, so that listing what a package registers needn't wait for it.
"""

from __future__ import annotations

import ast
import pathlib
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

_STAND_INS = {
    "tensorflow": "t2t_keras.compat.tensorflow_names",
    "tensorflow.compat.v1": "t2t_keras.compat.tensorflow_v1_names",
}


class UserPackageFinder(MetaPathFinder):
    """Finds the modules of one package, below one directory.

    Args:
        directory: the package's directory; its name is the package's.
    """

    def __init__(self, directory: pathlib.Path) -> None:
        self.directory = directory

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        package = self.directory.name
        if fullname == package:
            path = [str(self.directory.parent)]
        elif not fullname.startswith(f"{package}.") or not self._is_inside(path):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = UserModuleLoader(spec.loader.name, spec.loader.path)
        return spec

    def _is_inside(self, path: Sequence[str] | None) -> bool:
        return any(pathlib.Path(entry).is_relative_to(self.directory) for entry in path or ())


class UserModuleLoader(SourceFileLoader):
    """Compiles a file with its imports of TensorFlow replaced; bypasses the byte code cache."""

    def get_code(self, fullname: str) -> CodeType:
        """See `importlib.abc.InspectLoader`."""
        path = self.get_filename(fullname)
        tree = _TensorFlowImports().visit(ast.parse(self.get_data(path), path))
        return compile(tree, path, "exec", dont_inherit=True)


class _TensorFlowImports(ast.NodeTransformer):
    """Replaces the imports that have a stand-in; line numbers stay."""

    def visit_Import(self, node: ast.Import) -> ast.Import:
        for alias in node.names:
            if alias.name == "tensorflow":
                alias.asname = alias.asname or "tensorflow"
            if alias.asname and alias.name in _STAND_INS:
                alias.name = _STAND_INS[alias.name]
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        if node.level == 0 and node.module in _STAND_INS and node.names[0].name != "*":
            node.module = _STAND_INS[node.module]
        return node
