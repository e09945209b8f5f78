"""Every command has tensor2tensor's flags, with their types and defaults."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from absl import flags as absl_flags

from t2t_keras.bin import flags, unsupported_flags
from t2t_keras.training.run_config import SCHEDULES
from tests.reference_data import load_golden_json

PROGRAMS = ("t2t_trainer", "t2t_decoder", "t2t_datagen", "t2t_avg_all", "t2t_bleu")
# What absl has come to call the types that the reference names; a choice is a string there.
RENAMED_TYPES = {"bool": "boolean", "multi string": "multi", "string enum": "string"}
_LIST_FLAGS = """
import importlib, json, sys
from absl import flags
importlib.import_module("t2t_keras.bin." + sys.argv[1]).define_flags()
heavy = sorted({"tensorflow", "keras"} & set(sys.modules))
listed = {name: [flags.FLAGS[name].flag_type(), flags.FLAGS[name].default] for name in flags.FLAGS}
json.dump({"flags": listed, "heavy": heavy}, sys.stdout)
"""


def flags_of(program):
    """Type and default of all flags of a program, and heavy modules that defining them loads."""
    environment = {k: v for k, v in os.environ.items() if k != "USER"}
    project = str(pathlib.Path(__file__).resolve().parents[2])
    environment["PYTHONPATH"] = os.pathsep.join([project, environment.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-c", _LIST_FLAGS, program],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.reference
@pytest.mark.parametrize("program", PROGRAMS)
def test_flags_equal_the_reference(program):
    golden = load_golden_json("cli_flags.json")[program]
    assert golden
    ours = flags_of(program)
    assert not ours["heavy"], "defining flags must not load TensorFlow"
    for name, wanted in golden.items():
        assert name in ours["flags"], f"{program} has no flag --{name}"
        kind, default = ours["flags"][name]
        assert RENAMED_TYPES.get(kind, kind) == wanted["type"], name
        assert default == wanted["default"] and type(default) is type(wanted["default"]), name


def test_defining_twice_is_harmless():
    flag_values = absl_flags.FlagValues()
    flags.define_shared_flags(flag_values)
    flags.define_trainer_flags(flag_values)
    flags.define_trainer_flags(flag_values)
    flags.define_data_generator_flags(flag_values)
    assert {spec.name for spec in flags.SHARED_FLAGS + flags.TRAINER_FLAGS} <= set(flag_values)


def parsed(*arguments):
    flag_values = absl_flags.FlagValues()
    flags.define_trainer_flags(flag_values)
    flag_values(["program", *arguments])
    return flag_values


@pytest.mark.parametrize("name", sorted(unsupported_flags.REFUSED))
def test_flags_that_change_the_result_are_refused(name):
    value = "" if parsed()[name].boolean else "=7"
    with pytest.raises(ValueError, match=f"--{name} can't be honoured"):
        unsupported_flags.report_unsupported_flags(parsed(f"--{name}{value}"))


def test_every_other_unsupported_flag_warns(caplog):
    flag_values = parsed()
    names = [*unsupported_flags.IGNORED, *(n for n in flag_values if n.startswith("wiki_revi"))]
    for name in names:
        caplog.clear()
        if flag_values[name].boolean:
            argument = f"--no{name}" if flag_values[name].default else f"--{name}"
        else:
            argument = f"--{name}=7"
        unsupported_flags.report_unsupported_flags(parsed(argument))
        assert f"--{name}" in caplog.text and "no effect" in caplog.text, name


def test_defaults_and_supported_flags_are_silent(caplog):
    unsupported_flags.report_unsupported_flags(
        parsed("--worker_gpu=2", "--xla_compile", "--nouse_tpu", "--ps_replicas=0", "--problem=x")
    )
    assert not caplog.records


def test_help_says_what_a_flag_can_not_do():
    flag_values = parsed()
    for name in unsupported_flags.REFUSED:
        assert "not available" in flag_values[name].help, name
    for name in unsupported_flags.IGNORED:
        assert "ignored" in flag_values[name].help.lower(), name


def test_help_names_every_schedule():
    for schedule in SCHEDULES:
        assert schedule in parsed()["schedule"].help


@pytest.mark.parametrize(
    ("program", "flag"),
    [("t2t_avg_all", "--min_steps"), ("t2t_bleu", "--event_dir"), ("t2t_datagen", "--task_id")],
)
def test_help_of_a_module_that_is_run_lists_its_flags(program, flag):
    result = subprocess.run(
        [sys.executable, "-m", f"t2t_keras.bin.{program}", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"  {flag}:" in result.stdout and "--helpfull" in result.stdout
