"""What every command does around its own work, seen from outside."""

import json
import pathlib
import re
import subprocess
import sys

import pytest
from absl import flags

from t2t_keras.bin import command_line
from t2t_keras.bin import flags as t2t_flags
from t2t_keras.data import records
from tests.reference_data import golden_path

COMMAND = '''
"""A command for tests."""
import json
import os
import sys
import traceback
from absl import flags
from t2t_keras import registry
from t2t_keras.bin import command_line
from t2t_keras.bin import flags as t2t_flags

FLAGS = flags.FLAGS

def define_flags():
    t2t_flags.define_trainer_flags()

def main(argv):
    if FLAGS.output_dir:
        command_line.fill_from_output_dir()
        command_line.save_flags(os.path.join(FLAGS.output_dir, "saved"))
    if FLAGS.hparams_set:
        registry.hparams(FLAGS.hparams_set)
    if FLAGS.model == "bug":
        {}["absent"]
    if FLAGS.model == "damaged_data":
        raise type("DataLossError", (Exception,), {})("truncated record at 99")
    if FLAGS.model == "no_file":
        open("/absent/file")
    if FLAGS.model == "full":
        raise OSError(28, os.strerror(28))
    if FLAGS.model == "full_for_tensorflow":
        error = type("ResourceExhaustedError", (Exception,), {"__module__": "tensorflow.errors"})
        raise error("{{function_node __wrapped__SaveV2_device_/job:a}} out/part; "
                    "No space left on device [Op:SaveV2]")
    if FLAGS.model == "refused_connection":
        raise ConnectionRefusedError(111, "Connection refused", "somewhere")
    if FLAGS.model == "of_user":
        sys.modules["my_usr"].f()
    if FLAGS.model == "of_user_in_worker":
        try:
            sys.modules["my_usr"].f()
        except KeyError as error:
            text = traceback.format_exc()
            in_worker = error.with_traceback(None)
        raise in_worker from type("_RemoteTraceback", (Exception,), {})(text)
    if FLAGS.model == "generate":
        registry.problem("my_old").generation_passes()
    names = ("problem", "model", "hparams", "hparams_set", "data_dir", "train_steps", "verbosity")
    values = {name: FLAGS[name].value for name in names}
    environment = ("KERAS_BACKEND", "TF_ENABLE_ONEDNN_OPTS")
    values |= {name: os.environ.get(name) for name in environment}
    print(json.dumps({"argv": argv[1:], **values}))

if __name__ == "__main__":
    command_line.run(main, define_flags, hparam_arguments=True)
'''
PROJECT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def command(tmp_path):
    """Runs the command; gives status, what it printed as JSON or text, and its messages."""
    program = tmp_path / "toy-command"
    program.write_text(COMMAND)

    def run(*arguments, **environment):
        result = subprocess.run(
            [sys.executable, str(program), *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={"PYTHONPATH": str(PROJECT), "HOME": "/home/somebody", **environment},
        )
        return result

    return run


def printed(result):
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def one_message(result):
    """The message of a failed command, which must come without a traceback."""
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "toy-command: " in result.stderr
    return result.stderr


def test_flags_are_parsed(command):
    values = printed(command("--problem=p", "--train_steps", "7", "--data_dir=~/data"))
    assert values["problem"] == "p" and values["train_steps"] == 7
    assert values["data_dir"] == "/home/somebody/data"
    assert values["argv"] == [] and values["verbosity"] == 0


def test_environment_is_set_unless_the_user_did(command):
    values = printed(command())
    assert (values["KERAS_BACKEND"], values["TF_ENABLE_ONEDNN_OPTS"]) == ("tensorflow", "1")
    values = printed(command(KERAS_BACKEND="jax", TF_ENABLE_ONEDNN_OPTS="0"))
    assert (values["KERAS_BACKEND"], values["TF_ENABLE_ONEDNN_OPTS"]) == ("jax", "0")


def test_hparam_arguments(command):
    arguments = ["--hp_a", "3", "--hparams=c=1", "--hp_b=-4", "--hp_lr", "-0.5", "--problem=p"]
    values = printed(command(*arguments))
    assert values["hparams"] == "c=1,a=3,b=-4,lr=-0.5" and values["problem"] == "p"
    assert printed(command("--hp_a", "x=y"))["hparams"] == "a=x=y"
    assert "--hp_a needs a value" in one_message(command("--hp_a"))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--modle=x"], r"no flag --modle\. Did you mean: model"),
        (["--hparam_set=x"], r"no flag --hparam_set\. Did you mean: hparams_set"),
        (["--noxla_complie"], r"no flag --noxla_complie"),
        (["--train_steps=many"], r"--train_steps must be a whole number. Received: 'many'"),
        (["--problem=p", "extra"], r"Received: extra"),
        (["-", "problem=x"], r"Received: - problem=x"),
        (["--use_tpu_estimator"], r"--use_tpu_estimator can't be honoured"),
        (["--master=grpc://a:1"], r"--master can't be honoured.*t2t-make-tf-configs"),
        (["--hparams_set=transformer_bse"], r"Did you mean: transformer_base"),
        (["--t2t_usr_dir=nowhere"], r"not a directory. Received: nowhere"),
        (["--flagfile=nowhere"], r"--flagfile can't be read .*Received: nowhere"),
    ],
)
def test_mistakes_get_one_message(command, arguments, message):
    assert re.search(message, one_message(command(*arguments)))


def test_traceback_on_demand_and_for_bugs(command):
    asked = command("--hparams_set=transformer_bse", "--verbosity=1")
    assert asked.returncode == 1 and "Traceback" in asked.stderr
    bug = command("--model=bug")
    assert bug.returncode == 1 and "Traceback" in bug.stderr and "KeyError: 'absent'" in bug.stderr


def test_what_the_file_system_refuses_is_one_message(command):
    message = one_message(command("--model=no_file"))
    assert "toy-command: No such file or directory: /absent/file\n(--verbosity=1" in message
    assert "toy-command: No space left on device" in one_message(command("--model=full"))
    message = one_message(command("--model=full_for_tensorflow"))
    assert "toy-command: out/part; No space left on device\n" in message
    # Not about files, or not told by the system: a bug of the program.
    assert "Traceback" in command("--model=refused_connection").stderr


def test_errors_of_the_users_code_are_told_by_place(command, tmp_path):
    code = "def f():\n  g()\ndef g():\n  {}['absent']\n"
    usr_dir = user_directory(tmp_path, __init__="from .mine import f", mine=code)
    message = one_message(command(usr_dir, "--model=of_user"))
    assert f"toy-command: {tmp_path}/my_usr/mine.py, line 4, in g: KeyError: 'absent'" in message
    assert [int(n) for n in re.findall(r"^ +File .*, line (\d+), in", message, re.M)] == [2, 4]
    assert 'toy-command", line' not in message
    # In a worker process, whose traceback comes as text.
    message = one_message(command(usr_dir, "--model=of_user_in_worker"))
    assert "mine.py, line 4, in g: KeyError: 'absent'" in message


def test_errors_while_the_users_code_is_imported(command, tmp_path):
    usr_dir = user_directory(tmp_path, __init__="import os\n1 / 0\n")
    message = one_message(command(usr_dir))
    assert "__init__.py, line 2, in <module>: ZeroDivisionError: division by zero" in message


def test_what_the_users_problem_leaves_undefined(command, tmp_path):
    text = (
        "from t2t_keras import registry\nfrom t2t_keras.data import text_problems\n"
        "@registry.register_problem\nclass MyOld(text_problems.Text2TextProblem):\n"
        "  def generate_samples(self, data_dir, tmp_dir, dataset_split):\n    return iter(())\n"
    )
    message = one_message(command(user_directory(tmp_path, __init__=text), "--model=generate"))
    assert "toy-command: MyOld does not define is_generate_per_split" in message


def user_directory(tmp_path, **files):
    directory = tmp_path / "my_usr"
    directory.mkdir()
    for name, text in files.items():
        (directory / f"{name}.py").write_text(text)
    return f"--t2t_usr_dir={directory}"


def registering(name, result="transformer.transformer_tiny()"):
    return (
        "from t2t_keras import registry\nfrom t2t_keras.hparams import transformer\n"
        f"@registry.register_hparams\ndef {name}():\n  {result}\n"
    )


def test_user_directory(command, tmp_path):
    usr_dir = user_directory(
        tmp_path,
        __init__="from . import sets",
        sets=registering("my_set", "return transformer.transformer_tiny()"),
    )
    assert printed(command(usr_dir, "--hparams_set=my_set"))["hparams_set"] == "my_set"


def test_set_without_return_is_named(command, tmp_path):
    usr_dir = user_directory(
        tmp_path, __init__="from . import sets", sets=registering("forgetful_set")
    )
    message = one_message(command(usr_dir, "--hparams_set=forgetful_set"))
    assert "'forgetful_set' gave None" in message and "return hparams" in message


def test_module_that_is_not_imported_is_named(command, tmp_path):
    usr_dir = user_directory(tmp_path, __init__="", sets=registering("hidden_set"))
    message = one_message(command(usr_dir, "--hparams_set=hidden_set"))
    assert "'hidden_set' is not registered" in message
    # At the end, after the long list of names, where it is seen.
    assert "from . import sets" in message.split("'hidden_set' is not registered")[1]


def test_registry_help(command, tmp_path):
    usr_dir = user_directory(
        tmp_path, __init__="from . import sets", sets=registering("my_listed_set")
    )
    result = command("--registry_help", usr_dir)
    assert result.returncode == 0
    assert result.stdout.startswith("Registry contents:")
    assert "* my_listed_set" in result.stdout and "* transformer_base\n" in result.stdout


def test_help(command):
    result = command("--help")
    assert result.returncode == 0
    assert "A command for tests." in result.stdout
    assert "--hparams_set: " in result.stdout and "--[no]xla_compile" in result.stdout


def test_saved_flags_are_a_flag_file(command, tmp_path):
    out = tmp_path / "run"
    values = printed(
        command(f"--output_dir={out}", "--problem=p", "--hparams=a=1,b=x y", "--data_dir=data")
    )
    assert values["data_dir"] == "data"
    saved = command_line.read_flags_file(str(out / "saved" / "flags.txt"))
    assert saved["problem"] == "p" and saved["hparams"] == "a=1,b=x y"
    assert saved["data_dir"] == str(tmp_path / "data") and "model" not in saved
    again = printed(command(f"--flagfile={out / 'saved' / 'flags.txt'}", "--problem=q"))
    assert again["problem"] == "q" and again["hparams"] == "a=1,b=x y"
    assert sorted(path.name for path in (out / "saved").iterdir()) == [
        "flags.txt",
        "flags_t2t.txt",
    ]


@pytest.mark.reference
def test_shared_flags_are_written_as_the_reference_writes_them(command, tmp_path):
    """Names, order and notation of flags_t2t.txt, for the reference's own flag values."""
    flag_file = golden_path("toy_ckpt", "flags.txt")
    arguments = without_names(flag_file, "t2t_usr_dir", "hparams_set", "data_dir")
    printed(command(*arguments, f"--output_dir={tmp_path}"))
    written = (tmp_path / "saved" / "flags_t2t.txt").read_text().split("\n")
    wanted = golden_path("toy_ckpt", "flags_t2t.txt").read_text().split("\n")
    unset = ("--hparams_set=", "--data_dir=")
    assert [line for line in written if not line.startswith(unset)] == [
        line for line in wanted if not line.startswith(unset)
    ]
    assert [line.split("=")[0] for line in written] == [line.split("=")[0] for line in wanted]


def without_names(flag_file, *names):
    """The lines of a flag file, as arguments, without some flags."""
    lines = flag_file.read_text().split("\n")
    prefixes = tuple(f"--{name}=" for name in names)
    return [line for line in lines if line and not line.startswith(prefixes)]


def flag_values(**values):
    result = flags.FlagValues()
    t2t_flags.define_trainer_flags(result)
    flags.DEFINE_string("checkpoint_path", None, "", flag_values=result)
    result(["program", *(f"--{name}={value}" for name, value in values.items())])
    return result


@pytest.mark.parametrize("by_checkpoint", [False, True])
def test_output_directory_fills_in_what_is_not_given(tmp_path, by_checkpoint):
    (tmp_path / "flags.txt").write_text(
        f"--problem=p\n--model=m\n--hparams_set=s\n--data_dir={tmp_path}\n--train_steps=3\n"
        "--nosync\n"
    )
    where = (
        {"checkpoint_path": tmp_path / "model.ckpt-1"}
        if by_checkpoint
        else {"output_dir": tmp_path}
    )
    values = flag_values(problem="mine", **where)
    command_line.fill_from_output_dir(values)
    assert (values.problem, values.model, values.hparams_set) == ("mine", "m", "s")
    assert values.data_dir == str(tmp_path) and values.train_steps == 250000


def test_data_directory_that_has_gone_is_named_if_it_is_needed(tmp_path):
    (tmp_path / "flags.txt").write_text("--model=m\n--data_dir=DATA_DIR\n")
    with pytest.raises(command_line.UsageError, match="--data_dir=DATA_DIR.*Give the present one"):
        command_line.fill_from_output_dir(flag_values(output_dir=tmp_path))
    given = flag_values(output_dir=tmp_path, data_dir="here")
    command_line.fill_from_output_dir(given)
    assert given.data_dir == "here"
    values = flag_values()
    command_line.fill_from_directory(str(tmp_path), values, needs_problem=False)
    assert values.model == "m" and not values.data_dir


@pytest.mark.parametrize("hparams_set, is_known", [("transformer_base", True), ("gone", False)])
def test_user_directory_that_has_gone_matters_if_its_names_are_needed(
    tmp_path, hparams_set, is_known
):
    (tmp_path / "flags.txt").write_text(f"--hparams_set={hparams_set}\n--t2t_usr_dir=USR_DIR\n")
    values = flag_values(output_dir=tmp_path)
    if is_known:
        command_line.fill_from_output_dir(values)
        assert not values.t2t_usr_dir
    else:
        with pytest.raises(command_line.UsageError, match="USR_DIR.*--hparams_set=gone"):
            command_line.fill_from_output_dir(values)


def test_output_directory_without_flags(tmp_path):
    values = flag_values(output_dir=tmp_path)
    command_line.fill_from_output_dir(values)
    command_line.fill_from_output_dir(flag_values())
    assert values.problem is None


def test_user_directory_of_the_run_is_imported(command, tmp_path):
    usr_dir = user_directory(
        tmp_path,
        __init__="from . import sets",
        sets=registering("set_of_run", "return transformer.transformer_tiny()"),
    )
    run_dir = tmp_path / "run"
    run_dir.mkdir()
    (run_dir / "flags.txt").write_text(f"{usr_dir}\n--hparams_set=set_of_run\n")
    assert printed(command(f"--output_dir={run_dir}"))["hparams_set"] == "set_of_run"


def test_damaged_shard_is_named(command, tmp_path):
    records.generate_files(
        ({"inputs": [2, 1], "targets": [2, 1]} for _ in range(9)),
        [str(tmp_path / f"translate_ende_demo-train-0000{k}-of-00002") for k in range(2)],
    )
    shard = tmp_path / "translate_ende_demo-train-00001-of-00002"
    shard.write_bytes(shard.read_bytes()[:-3])
    result = command(
        "--problem=translate_ende_demo", f"--data_dir={tmp_path}", "--model=damaged_data"
    )
    assert result.returncode == 1
    errors = result.stderr
    assert f"{shard} is cut off within record 3" in errors
    assert "t2t-datagen --problem=translate_ende_demo" in errors
    assert "Traceback" not in errors
