"""Fresh variables are drawn from the distributions that tensor2tensor draws them from."""

import collections

import keras
import numpy as np
import pytest

from t2t_keras import registry
from t2t_keras.models.transformer import Transformer
from tests.reference_data import load_golden_json

pytestmark = pytest.mark.reference


def recorded_sets() -> list[str]:
    try:
        return sorted(load_golden_json("init_stats.json"))
    except pytest.skip.Exception:
        return ["absent"]


def whole_tables(stats):
    """Statistics by our names: the shards of a table become a list of their statistics."""
    by_name = collections.defaultdict(list)
    for name, entry in stats.items():
        head, _, number = name.rpartition("_")
        by_name[head if number.isdigit() and "symbol_modality" in name else name].append(entry)
    return by_name


@pytest.mark.parametrize("key", recorded_sets())
def test_initial_values(key: str) -> None:
    recorded = whole_tables(load_golden_json("init_stats.json")[key])
    hparams_set, overrides = key.split("|")
    hparams = registry.hparams(hparams_set)
    hparams.parse(overrides)
    keras.utils.set_random_seed(1)
    model = Transformer(hparams, input_vocab_size=1000, target_vocab_size=1000)
    variables = {variable.path: variable.numpy() for variable in model.trainable_variables}
    assert set(variables) == set(recorded)
    for name, entries in recorded.items():
        values = variables[name]
        assert values.size == sum(int(np.prod(entry["shape"])) for entry in entries), name
        sizes = np.array([np.prod(entry["shape"]) for entry in entries], float)
        deviation = np.sqrt(np.average([e["std"] ** 2 for e in entries], weights=sizes))
        if deviation == 0.0:
            assert np.all(values == entries[0]["mean"]), name
            continue
        # Both are samples; five standard errors of their difference.
        error = 5 * deviation * np.sqrt(2 / values.size)
        mean = np.average([entry["mean"] for entry in entries], weights=sizes)
        assert abs(values.mean() - mean) < error, name
        # The variance of a sample variance is at most that of the normal distribution.
        assert abs(values.std() - deviation) < error, name
        lowest, highest = min(e["min"] for e in entries), max(e["max"] for e in entries)
        assert values.size >= 1000, f"{name} is too small to tell the bounds"
        # A uniform distribution ends at sqrt(3) deviations, and of so many values some lie near
        # that. A normal one doesn't end: its extremes differ from sample to sample.
        is_uniform = max(highest, -lowest) < 1.8 * deviation
        below, above = (0.98, 1.02) if is_uniform else (0.7, 1.45)
        assert below * highest < values.max() < above * highest, name
        assert above * lowest < values.min() < below * lowest, name


def test_variables_of_one_shape_differ() -> None:
    hparams = registry.hparams("transformer_tiny")
    model = Transformer(hparams, input_vocab_size=20, target_vocab_size=20)
    kernels = [v.numpy() for v in model.trainable_variables if v.path.endswith("q/kernel")]
    assert len(kernels) > 1
    assert not np.allclose(kernels[0], kernels[1])
