"""What `import tensorflow` means in a user's package."""

import sys

import pytest

from t2t_keras import compat

MODULE = """
import tensorflow
import tensorflow as tf
import tensorflow.compat.v1 as tf1
from tensorflow import gfile, keras


def later():
    import tensorflow as inside
    return inside.logging


def where():
    raise ValueError("line 14")
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    directory = tmp_path / "package_of_old"
    directory.mkdir()
    (directory / "__init__.py").write_text(MODULE)
    (directory / "other.py").write_text("import tensorflow as tf")
    monkeypatch.syspath_prepend(str(tmp_path))
    compat.import_as_user_package(str(directory))
    import package_of_old

    yield package_of_old
    compat.uninstall()
    for name in [name for name in sys.modules if name.startswith("package_of_old")]:
        del sys.modules[name]


def test_both_versions_names_are_there(package):
    import tensorflow as real

    v1 = real.compat.v1
    assert package.tf is package.tensorflow and package.tf is not real
    assert package.tf.gfile is package.gfile is v1.gfile
    assert package.tf.flags.FLAGS is v1.flags.FLAGS and package.later() is v1.logging
    assert package.tf.VarLenFeature is real.io.VarLenFeature
    # What TensorFlow 2 has is TensorFlow 2's.
    assert package.tf.data.Dataset is real.data.Dataset is not v1.data.Dataset
    assert package.keras is real.keras and package.tf.__version__ == real.__version__
    assert package.tf1.placeholder is v1.placeholder and package.tf1.data is v1.data
    with pytest.raises(AttributeError, match="'contrib'.*utils.hparam"):
        _ = package.tf.contrib
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = package.tf1.no_such_thing


def test_later_imports_and_line_numbers(package):
    from package_of_old import other

    assert other.tf is package.tf
    with pytest.raises(ValueError, match="line 14") as error:
        package.where()
    frame = error.traceback[-1]
    assert str(frame.path).endswith("__init__.py") and frame.lineno + 1 == 14


def test_elsewhere_tensorflow_is_tensorflow(package, tmp_path):
    (tmp_path / "not_in_the_package.py").write_text("import tensorflow as tf")
    import not_in_the_package

    assert not hasattr(not_in_the_package.tf, "gfile")
    del sys.modules["not_in_the_package"]
