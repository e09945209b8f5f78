"""What `t2t-trainer` says to command lines that can't work, before anything is written."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

from t2t_keras.bin import command_line
from tests.training import toy

WORKING = {
    "problem": "toy_reverse_words",
    "model": "transformer",
    "hparams_set": "transformer_tiny",
    "data_dir": "data",
    "output_dir": "out/below",
}
EVALUATING = {"schedule": "train_and_evaluate"}
TRANSLATING = {**EVALUATING, "translate_every_evaluations": 1}
MULTISTEP = "optimizer=multistep_adam,optimizer_multistep_accumulate_steps=2"

REFUSED = [
    ({"output_dir": ""}, "not given: --output_dir"),
    ({"output_dir": "file"}, "--output_dir: .*file is a file, not a directory"),
    ({"output_dir": "file/sub"}, "--output_dir: .*file is a file, not a directory"),
    ({"job-dir": "file"}, "--output_dir: .*file is a file, not a directory"),
    ({"schedule": "continuous_train_and_evaluate"}, "Did you mean: continuous_train_and_eval"),
    ({"schedule": "decode"}, "t2t-decoder"),
    ({"schedule": "evaluate"}, "--output_dir doesn't exist"),
    ({"schedule": "evaluate", "output_dir": "folder"}, "no checkpoint in this directory"),
    ({"problem": "translate_ende_wmt32"}, "Did you mean: translate_ende_wmt32k"),
    ({"problem": "toy_reverse_words_rev_rev"}, "multiple instances of _rev"),
    ({"model": "transfomer"}, "Did you mean: transformer"),
    ({"hparams_set": "transformer_tyny"}, "Did you mean: transformer_tiny"),
    ({"hparams": "hiden_size=4"}, "Did you mean: hidden_size"),
    ({"hparams": "hidden_size=-4"}, "hidden_size must be 1 or more. Received: -4"),
    ({"hparams": "activation_dtype=bf16"}, r"Did you mean: bfloat16\? Received: 'bf16'"),
    ({"hparams": "weight_dtype=bfloat16"}, "weight_dtype must be float32.*'bfloat16'"),
    (
        {"gpu_automatic_mixed_precision": True, "hparams": "activation_dtype=bfloat16"},
        "give one of them",
    ),
    ({"hparams": "optimizer=adm"}, "Did you mean: adam, adam_w"),
    ({"hparams": "optimizer=multistep_adam"}, "optimizer_multistep_accumulate_steps"),
    ({"hparams": MULTISTEP, "effective_batch_tokens": 4096}, "both accumulate gradients"),
    ({"effective_batch_tokens": -1}, "--effective_batch_tokens must be 0 or more"),
    ({"data_dir": "absent"}, "t2t-datagen"),
    ({"data_dir": "file", "generate_data": True}, "--data_dir can't be made"),
    (
        {"problem": "text2text_tmpdir", "generate_data": True, "data_dir": "new", "tmp_dir": "t"},
        "Missing: t/inputs.train.txt",
    ),
    ({"text_source": "x"}, "one of auto, archives, tfds"),
    ({"train_step": "4"}, "Did you mean: train_steps"),
    ({"train_steps": -4}, "--train_steps must be 0 or more. Received: -4"),
    ({"train_steps": 1.5}, "--train_steps must be a whole number. Received: '1.5'"),
    ({"xla_compile": "maybe"}, "--xla_compile must be true or false. Received: 'maybe'"),
    ({"flagfile": "absent"}, r"--flagfile can't be read \(No such file.*Received: absent"),
    ({"worker_gpu": -1}, "--worker_gpu must be 0 or more"),
    ({"intra_op_parallelism_threads": -1}, "--intra_op_parallelism_threads must be 0 or more"),
    ({"eval_timeout_mins": -2}, "--eval_timeout_mins must be -1 or more"),
    ({"eval_steps": 0}, "--eval_steps must be 1 or more, or -1"),
    ({"on_nan": "ignore"}, "--on_nan must be stop or skip. Received: 'ignore'"),
    ({"warm_start_from": "absent"}, "--warm_start_from .*absent.index doesn't exist"),
    ({"warm_start_from": "folder"}, "--warm_start_from: there is no checkpoint"),
    ({"use_tpu": True}, "A TPU trains only"),
    # The evaluations of a run, and what they are for.
    ({"best_checkpoint_metric": "acuracy"}, r"Did you mean: accuracy, .*available: loss, acc"),
    (
        {"best_checkpoint_metric": "BLEU_cased"},
        "'BLEU_cased'; available: loss.*need --translate_every_evaluations=1",
    ),
    ({**TRANSLATING, "best_checkpoint_metric": "BLUE_cased"}, "mean: BLEU_cased.*chrF"),
    (
        {"schedule": "test", "best_checkpoint_metric": "loss"},
        "--schedule=test keeps no best checkpoint",
    ),
    ({"best_checkpoints_to_keep": 0}, "at least 1"),
    ({"eval_early_stopping_steps": 0}, "--eval_early_stopping_steps must be at least 1"),
    (
        {"eval_early_stopping_steps": 9, "eval_early_stopping_metric": "los"},
        "--eval_early_stopping_metric: .*Did you mean: loss",
    ),
    ({"eval_early_stopping_metric_delta": "nan"}, "0 or more. Received: nan"),
    ({**TRANSLATING, "decode_hparams": "beam_sise=4"}, "Did you mean: beam_size"),
    ({**TRANSLATING, "decode_from_file": "file"}, "give both"),
    (
        {**EVALUATING, "decode_from_file": "file", "decode_reference": "absent"},
        "--decode_reference doesn't exist. Received: absent",
    ),
    (
        {**EVALUATING, "decode_from_file": "file", "decode_reference": "shorter"},
        "2 lines in file, 1 in shorter",
    ),
    # What evaluations read is missed before training starts.
    ({}, "nothing to evaluate on: no file matches data/toy_reverse_words-dev.*--schedule=train"),
    ({"eval_use_test_set": True, "schedule": "test"}, "matches data/toy_reverse_words-test"),
    (
        {**TRANSLATING, "problem": "toy_reverse_words_rev"},
        "no file matches .*toy_reverse_words-dev",
    ),
]


def arguments(**changes):
    return [f"--{name}={value}" for name, value in {**WORKING, **changes}.items()]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("changes", "message"), REFUSED)
def test_mistakes_are_named_at_once_and_nothing_is_written(refusal, changes, message):
    assert re.search(message, refusal("t2t_trainer", *arguments(**changes)))


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("changes", "idle"),
    [
        ({"max_xla_shapes": 2}, ["--max_xla_shapes has no effect without --xla_compile."]),
        ({"max_xla_shapes": 2, "xla_compile": True}, []),
        (
            {"xla_compile_first": True, "best_checkpoints_to_keep": 2},
            [
                "--xla_compile_first has no effect without --xla_compile.",
                "--best_checkpoints_to_keep has no effect without --best_checkpoint_metric.",
            ],
        ),
    ],
)
def test_flags_without_effect_are_told(refusal, caplog, changes, idle):
    refusal("t2t_trainer", *arguments(hparams="hidden_size=-4", **changes))
    assert [message for message in caplog.messages if "no effect" in message] == idle


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "changes",
    [
        {"schedule": "train"},
        {"schedule": "train_and_evaluate", "local_eval_frequency": 0},
        {"schedule": "continuous_train_and_eval", "worker": 1},
    ],
)
def test_data_that_nothing_evaluates_on_may_be_absent(in_process, monkeypatch, changes, files):
    monkeypatch.chdir(files)
    workers = json.dumps(
        {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}
    )
    monkeypatch.setenv("TF_CONFIG", workers if changes.pop("worker", 0) else "")
    # What comes next is TensorFlow, which can't be imported here.
    with pytest.raises(ImportError, match="tensorflow must not be imported"):
        in_process("t2t_trainer", *arguments(**changes))


@pytest.mark.usefixtures("files")
def test_a_best_checkpoint_of_plain_training_gets_one_message(refusal, caplog):
    message = refusal(
        "t2t_trainer", *arguments(schedule="train", best_checkpoint_metric="BLEU_cased")
    )
    assert "\n" not in message
    assert "--schedule=train keeps no best checkpoint" in message
    assert "--schedule=continuous_train_and_eval" in message
    assert "--translate_every_evaluations=1" in message
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


def run(folder, **changes):
    (folder / "my_problems").mkdir()
    (folder / "my_problems" / "__init__.py").write_text("from tests.training import toy\n")
    project = pathlib.Path(__file__).resolve().parents[2]
    return subprocess.run(
        [
            sys.executable, "-m", "t2t_keras.bin.t2t_trainer",
            *arguments(t2t_usr_dir="my_problems", **changes),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={"PYTHONPATH": str(project), "TF_CPP_MIN_LOG_LEVEL": "2"},
    )  # fmt: skip


@pytest.mark.parametrize("exists", [False, True])
def test_what_only_the_model_can_refuse_leaves_nothing_either(tmp_path, exists):
    (tmp_path / "data").mkdir()
    toy.make_data(tmp_path / "data")
    output_dir = tmp_path / "out" / "below"
    if exists:
        output_dir.mkdir(parents=True)
    done = run(tmp_path, hparams=f"{toy.TINY},ffn_layer=dense")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "ffn_layer" in done.stderr
    if exists:
        assert list(output_dir.iterdir()) == []
    else:
        assert not (tmp_path / "out").exists()


def test_registry_help_needs_no_output_dir(in_process, capsys):
    assert in_process("t2t_trainer", "--registry_help") == 0
    printed = capsys.readouterr().out
    assert "transformer_base" in printed and "adam" in printed


def test_a_run_is_not_gone_on_with_as_another(refusal, tmp_path, files):
    command_line.write_text(str(tmp_path / "run" / "flags.txt"), "--problem=wsj_parsing\n")
    message = refusal("t2t_trainer", *arguments(output_dir="run"))
    assert "holds a run with --problem=wsj_parsing" in message


def test_workers_of_a_cluster_are_told_of_a_bad_configuration(refusal, files, monkeypatch):
    for config, message in (("{", "no JSON"), (json.dumps({"cluster": {"ps": ["a"]}}), "ps")):
        monkeypatch.setenv("TF_CONFIG", config)
        assert message in refusal("t2t_trainer", *arguments())
