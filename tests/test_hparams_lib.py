"""Hyperparameters of a run: precedence, saving, problems."""

import json
import logging as python_logging

import pytest

from t2t_keras import hparams_lib, registry
from t2t_keras.hparam import HParams
from tests.reference_data import golden_path, load_golden_json


class ToyProblem:
    def __init__(self, was_reversed=False, was_copy=False):
        self.was_reversed = was_reversed

    def get_hparams(self, model_hparams):
        return HParams(width=model_hparams.hidden_size, where=model_hparams.data_dir)


@pytest.fixture
def toy_problem():
    registry.register_problem("toy_for_hparams_lib")(ToyProblem)
    yield "toy_for_hparams_lib"
    registry.Registries.problems.remove("toy_for_hparams_lib")


def saved_run(tmp_path, **values):
    path = tmp_path / "hparams.json"
    path.write_text(json.dumps(values))
    return str(path)


@pytest.mark.reference
def test_create_hparams_equals_the_reference():
    golden = load_golden_json("create_hparams_example.json")
    assert hparams_lib.create_hparams(*golden["call"]).values() == golden["values"]


def test_overrides_before_file_before_set(tmp_path, caplog):
    path = saved_run(
        tmp_path, hidden_size=64, num_heads=2, filter_size=2048, unknown=3, bottom={"a": 1}
    )
    with caplog.at_level(python_logging.INFO, logger="absl"):
        hparams = hparams_lib.create_hparams("transformer_base", "num_heads=1", hparams_path=path)
    assert (hparams.hidden_size, hparams.num_heads, hparams.filter_size) == (64, 1, 2048)
    assert hparams.bottom == {} and not hasattr(hparams, "unknown")
    [line] = [record.getMessage() for record in caplog.records if "Overwrite" in record.msg]
    assert "transformer_base" in line and path in line and "hidden_size=64 (not 512)" in line
    assert "filter_size" not in line


def test_absent_file_is_no_error(tmp_path):
    hparams = hparams_lib.create_hparams(
        "transformer_base", hparams_path=str(tmp_path / "hparams.json")
    )
    assert hparams.values() == registry.hparams("transformer_base").values()


@pytest.mark.parametrize("text", ["", "{", "[1]"])
def test_broken_file_is_named(tmp_path, text):
    path = tmp_path / "hparams.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=str(path)):
        hparams_lib.create_hparams("transformer_base", hparams_path=str(path))


def test_problem_is_attached_after_the_overrides(toy_problem):
    hparams = hparams_lib.create_hparams(
        "transformer_base", "hidden_size=8", data_dir="~/data", problem_name=f"{toy_problem}_rev"
    )
    assert hparams.problem.was_reversed
    assert hparams.problem_hparams.width == 8
    assert not hparams.data_dir.startswith("~") and hparams.data_dir.endswith("/data")
    assert hparams.problem_hparams.where == hparams.values()["data_dir"]


def test_copy_keeps_the_problem(toy_problem):
    hparams = hparams_lib.create_hparams(
        "transformer_base", data_dir="/data", problem_name=toy_problem
    )
    duplicate = hparams_lib.copy_hparams(hparams)
    assert duplicate.problem is hparams.problem
    assert duplicate.problem_hparams is hparams.problem_hparams
    duplicate.hidden_size = 3
    assert hparams.hidden_size == 512
    assert not hasattr(hparams_lib.copy_hparams(HParams(a=1)), "problem")


def test_saved_run_gives_the_same_values(tmp_path):
    hparams = hparams_lib.create_hparams("transformer_base", "hidden_size=8,learning_rate=0.25")
    hparams.add_hparam("modality", {"inputs": "symbol"})
    hparams.top["targets"] = print
    hparams_lib.save_hparams(hparams, str(tmp_path / "run"))
    path = tmp_path / "run" / "hparams.json"
    lines = path.read_text().splitlines()
    saved = json.loads(path.read_text())
    assert lines[0] == "{" and list(saved) == sorted(saved) and '"hidden_size": 8,' in lines
    assert "modality" not in saved and saved["top"] == {}
    assert [entry.name for entry in path.parent.iterdir()] == ["hparams.json"]
    again = hparams_lib.create_hparams("transformer_base", hparams_path=str(path))
    assert again.values() | {"modality": 0, "top": 0} == hparams.values() | {
        "modality": 0,
        "top": 0,
    }
    assert hparams_lib.create_hparams_from_json(str(path)).values() == saved


@pytest.mark.reference
def test_a_run_of_tensor2tensor_can_be_continued():
    path = str(golden_path("toy_ckpt", "hparams.json"))
    saved = hparams_lib.read_hparams_file(path)
    values = hparams_lib.create_hparams("transformer_base", hparams_path=path).values()
    assert set(saved) >= set(values)
    assert values == {name: saved[name] for name in values}
