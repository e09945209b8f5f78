"""The Transformer's sets hold tensor2tensor's values."""

import inspect

import pytest

from t2t_keras import registry
from t2t_keras.hparams import basic, transformer
from tests.reference_data import load_golden_json

SETS = sorted(
    name
    for module in (basic, transformer)
    for name in registry.list_hparams()
    if registry.Registries.hparams.registered(name).__module__ == module.__name__
)


def shown(value):
    """A value as the reference files show it."""
    return value if isinstance(value, (int, float, str, list, dict, type(None))) else "<value>"


@pytest.mark.reference
@pytest.mark.parametrize("name", SETS)
def test_set_equals_the_reference(name):
    golden = load_golden_json("hparams_transformer.json.gz") | load_golden_json(
        "hparams_other.json.gz"
    )
    values = registry.hparams(name).values()
    assert {key: shown(value) for key, value in values.items()} == golden[name]
    # 1 == 1.0 == True, but the type decides which overrides are accepted.
    assert {k: type(v) for k, v in values.items()} == {k: type(v) for k, v in golden[name].items()}


@pytest.mark.reference
def test_basic_params1_equals_the_reference():
    assert basic.basic_params1().values() == load_golden_json("hparams_basic_params1.json")


@pytest.mark.parametrize("name", SETS)
def test_sets_are_fresh_objects_and_documented(name):
    first, second = registry.hparams(name), registry.hparams(name)
    first.hidden_size = -1
    first.bottom["inputs"] = "changed"
    assert second.hidden_size != -1 and second.bottom == {}
    function = registry.Registries.hparams.registered(name)
    assert inspect.getdoc(function)


def test_undeclared_attribute_is_lost_by_copying():
    hparams = registry.hparams("transformer_base")
    assert hparams.num_sampled_classes == 0
    assert "num_sampled_classes" not in hparams
    assert not hasattr(hparams.copy(), "num_sampled_classes")


def test_changed_refuses_misspelt_names():
    with pytest.raises(KeyError, match="hidden_size"):
        transformer.changed(transformer.transformer_base(), hiden_size=1)
