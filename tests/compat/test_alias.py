"""The import alias: what resolves, what doesn't, and that it keeps out of the way."""

import importlib
import pathlib
import subprocess
import sys

import pytest

import t2t_keras.data.problem
from t2t_keras import compat, registry
from t2t_keras.compat import finder, table


@pytest.fixture(autouse=True)
def installed():
    compat.install()
    yield
    compat.uninstall()


@pytest.mark.parametrize("module", sorted(table.MODULES))
def test_every_name_of_the_table_resolves(module):
    alias = importlib.import_module(f"tensor2tensor.{module}")
    for source in table.MODULES[module]:
        if isinstance(source, table.Names):
            ours = importlib.import_module(source.module)
            for theirs, name in source.renamed().items():
                assert getattr(alias, theirs) is getattr(ours, name)
    names = finder.available_names(alias.__name__)
    assert set(names) <= set(dir(alias)) and alias.__all__ == names


def test_every_form_of_import():
    import tensor2tensor.data_generators.problem as imported_as
    from tensor2tensor import data_generators, problems
    from tensor2tensor.data_generators import problem
    from tensor2tensor.data_generators.problem import DatasetSplit, SpaceID

    assert imported_as is problem is data_generators.problem
    assert DatasetSplit is t2t_keras.data.problem.DatasetSplit is problem.DatasetSplit
    assert SpaceID.EN_CHR == 2
    assert problems.available() == registry.list_problems()
    namespace = {}
    exec("from tensor2tensor.utils.hparam import *", namespace)
    assert namespace["HParams"] is importlib.import_module("t2t_keras.hparam").HParams


def test_sets_and_problem_modules():
    from tensor2tensor.data_generators import algorithmic, translate_ende, wsj_parsing
    from tensor2tensor.models import transformer

    assert transformer.transformer_base().hidden_size == 512
    assert transformer.transformer_base_range is registry.ranged_hparams("transformer_base_range")
    assert translate_ende.TranslateEndeWmt32k is registry.base_problem("translate_ende_wmt32k")
    assert algorithmic.AlgorithmicAdditionBinary40.name == "algorithmic_addition_binary40"
    assert wsj_parsing.words_and_tags_from_wsj_tree("(TOP (S (A b)))") == ("b", "S A /S")
    assert not hasattr(transformer, "transformer_of_nobody")
    assert not hasattr(translate_ende, "registry")


@pytest.mark.parametrize(
    "statement, message",
    [
        ("import tensor2tensor.nothing", "tensor2tensor has: data_generators, layers, models"),
        ("from tensor2tensor import modells", "Did you mean: models"),
        ("from tensor2tensor.models import resnet", r"models\.resnet is not .* has: .*transformer"),
        ("from tensor2tensor.models.transformer import transformer_bas", "mean: transformer_base"),
        ("from tensor2tensor.utils.registry import register_modle", "mean: register_model"),
        ("import tensor2tensor.layers.common_layers", "build TensorFlow 1 graphs"),
        ("from tensor2tensor.rl.gym_utils import x", "Reinforcement learning is not supported"),
    ],
)
def test_what_is_missing_is_named(statement, message):
    with pytest.raises(ModuleNotFoundError, match=message):
        exec(statement, {})


def test_missing_attribute():
    from tensor2tensor.utils import metrics

    with pytest.raises(AttributeError, match=r"metrics\.Metrix is not .* mean: Metrics\?.* has: "):
        _ = metrics.Metrix


def test_without_installation_there_is_no_tensor2tensor():
    compat.uninstall()
    with pytest.raises(ModuleNotFoundError, match="No module named 'tensor2tensor'"):
        exec("import tensor2tensor.utils", {})
    script = "import t2t_keras.registry, t2t_keras.compat, tensor2tensor"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "No module named 'tensor2tensor'" in result.stderr


def test_an_installed_tensor2tensor_is_not_hidden(tmp_path, monkeypatch, caplog):
    (tmp_path / "tensor2tensor").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    # A directory without __init__.py is no installation.
    from tensor2tensor.utils import registry as alias

    assert alias.register_model is registry.register_model
    compat.uninstall()
    (tmp_path / "tensor2tensor" / "__init__.py").write_text("real = True")
    importlib.invalidate_caches()
    compat.install()
    assert importlib.import_module("tensor2tensor").real
    assert "tensor2tensor is installed" in caplog.text
    with pytest.raises(ModuleNotFoundError, match="^No module named 'tensor2tensor.utils'$"):
        importlib.import_module("tensor2tensor.utils")
    del sys.modules["tensor2tensor"]


def test_the_documentation_lists_the_table():
    text = (pathlib.Path(__file__).parents[2] / "docs" / "usr_dir.md").read_text()
    for module, sources in table.MODULES.items():
        if not sources:
            continue
        (line,) = [row for row in text.splitlines() if row.startswith(f"| `{module}` |")]
        listed = set(line.split("|")[2].replace("`", "").replace(",", " ").split())
        for source in sources:
            if isinstance(source, table.Names):
                assert set(source.renamed()) <= listed, f"{module} in docs/usr_dir.md"
    for module in table.LEFT_OUT:
        assert f"`{module}`" in text
