"""The Transformer's sets hold tensor2tensor's values."""

import inspect

import pytest

from t2t_keras import registry
from t2t_keras.hparams import basic, transformer
from tests.reference_data import load_golden_json

PREFIXES = ("transformer_", "basic_")
SETS = [name for name in registry.list_hparams() if name.startswith(PREFIXES)]


def shown(value):
    """A value as the reference files show it: functions and classes by their names."""
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    return f"<{value.__name__}>" if callable(value) else value


def typed(values):
    """Values with their types: 1 == 1.0 == True, but a saved run would differ."""
    return {key: (type(value), value) for key, value in values.items()}


@pytest.mark.reference
def test_all_sets_equal_the_reference():
    files = ("hparams_transformer.json.gz", "hparams_other.json.gz")
    golden = {name: values for file in files for name, values in load_golden_json(file).items()}
    golden = {name: values for name, values in golden.items() if name.startswith(PREFIXES)}
    assert golden
    different = {}
    for name, wanted in golden.items():
        if name not in SETS:
            different[name] = "not registered"
            continue
        values, wanted = typed(shown(registry.hparams(name).values())), typed(wanted)
        keys = {key for key in values.keys() | wanted.keys() if values.get(key) != wanted.get(key)}
        if keys:
            different[name] = {key: (values.get(key), wanted.get(key)) for key in sorted(keys)}
    print(f"\nsets equal to tensor2tensor's: {len(golden) - len(different)} / {len(golden)}")
    assert not different


@pytest.mark.reference
def test_every_registered_transformer_set_of_the_reference_exists():
    names = set(load_golden_json("registry_names.json")["hparams"])
    names |= set(load_golden_json("last_commit_delta.json")["hparams_added"])
    assert {name for name in names if name.startswith(PREFIXES)} - set(SETS) == set()


@pytest.mark.reference
def test_basic_params1_equals_the_reference():
    assert basic.basic_params1().values() == load_golden_json("hparams_basic_params1.json")


@pytest.mark.parametrize("name", SETS)
def test_sets_are_fresh_objects_and_documented(name):
    first, second = registry.hparams(name), registry.hparams(name)
    first.hidden_size = -1
    assert second.values().get("hidden_size") != -1
    if "bottom" in first:
        first.bottom["inputs"] = "changed"
        assert second.bottom.get("inputs") != "changed"
    function = registry.Registries.hparams.registered(name)
    assert inspect.getdoc(function)


@pytest.mark.parametrize("name", SETS)
def test_sets_can_be_copied_and_saved(name):
    hparams = registry.hparams(name)
    assert hparams.copy().values() == hparams.values()
    assert hparams.to_json()


def test_cubbitt():
    """Recorded by name only: it came after the release that the reference was made with."""
    ours = registry.hparams("transformer_cubbitt").values()
    parent = registry.hparams("transformer_big_single_gpu").values()
    assert {key: ours[key] for key in ours if ours[key] != parent[key]} == {
        "learning_rate_schedule": "rsqrt_decay",
        "batch_size": 2900,
        "learning_rate_warmup_steps": 8000,
        "max_length": 150,
        "layer_prepostprocess_dropout": 0.0,
        "optimizer": "Adafactor",
    }


def test_undeclared_attribute_is_lost_by_copying():
    hparams = registry.hparams("transformer_base")
    assert hparams.num_sampled_classes == 0
    assert "num_sampled_classes" not in hparams
    assert not hasattr(hparams.copy(), "num_sampled_classes")


def test_changed_refuses_misspelt_names():
    with pytest.raises(KeyError, match="hidden_size"):
        transformer.changed(transformer.transformer_base(), hiden_size=1)
    with pytest.raises(ValueError, match="'hidden_size' is taken"):
        basic.extended(transformer.transformer_base(), hidden_size=1)
