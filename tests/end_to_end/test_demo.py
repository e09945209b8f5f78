"""t2t-demo: the order of its commands, what is done again and what not, a whole run in small."""

import os
import subprocess
import sys

import numpy as np
import pytest

from t2t_keras.bin import t2t_demo
from t2t_keras.bin.t2t_demo import Job, Layout, jobs
from t2t_keras.problems.demo_grammar import corpus
from t2t_keras.training import checkpoints


def _touch(path, time):
    path.touch()
    os.utime(path, (time, time))
    return str(path)


def test_commands_in_order(tmp_path):
    commands = [job.command[0] for job in jobs(Layout(str(tmp_path)), 2000)]
    assert commands == [
        "t2t-datagen",
        "t2t-trainer",
        "t2t-avg-all",
        "t2t-decoder",
        "t2t-bleu",
        "t2t-exporter",
    ]


def _flag(job, name):
    (value,) = [a.split("=", 1)[1] for a in job.command if a.startswith(f"--{name}=")]
    return int(value)


@pytest.mark.parametrize(
    ("train_steps", "averaged"), [(4, 1), (250, 1), (500, 2), (1600, 4), (9999, 4)]
)
def test_no_more_is_averaged_than_there_are_checkpoints(tmp_path, train_steps, averaged):
    _, trainer, average, *_ = jobs(Layout(str(tmp_path)), train_steps)
    assert _flag(average, "n") == averaged
    assert averaged == 1 or train_steps // _flag(trainer, "local_eval_frequency") >= averaged


def test_what_is_finished_is_not_done_again(tmp_path):
    source = _touch(tmp_path / "source", 100)
    assert not Job("score", ("t2t-bleu",)).done()
    assert not Job("a", ("x",), (source,), (str(tmp_path / "result-*"),)).done()
    result = _touch(tmp_path / "result-1", 200)
    assert Job("a", ("x",), (source,), (str(tmp_path / "result-*"),)).done()
    assert not Job("a", ("x",), (source,), (result, str(tmp_path / "missing"))).done()
    _touch(tmp_path / "source", 300)
    assert not Job("a", ("x",), (source,), (result,)).done()


def test_generation_itself_decides_what_is_to_be_done(tmp_path):
    assert not jobs(Layout(str(tmp_path)), 10)[0].outputs


@pytest.mark.parametrize("ending", ["index", "data-00000-of-00001"])
@pytest.mark.parametrize("size", [0, 100])
def test_damaged_checkpoints_are_set_aside(tmp_path, ending, size, capsys):
    t2t_demo.set_damaged_checkpoints_aside(str(tmp_path / "absent"))
    for step in (1, 2):
        values = {"w": np.arange(1000.0), "global_step": np.int64(step)}
        checkpoints.write_values(str(tmp_path / f"model.ckpt-{step}"), values)
    (tmp_path / "model.ckpt-2.input.index").touch()
    t2t_demo.set_damaged_checkpoints_aside(str(tmp_path))
    assert capsys.readouterr().out == ""
    os.truncate(tmp_path / f"model.ckpt-2.{ending}", size)
    t2t_demo.set_damaged_checkpoints_aside(str(tmp_path))
    assert "model.ckpt-2 is damaged" in capsys.readouterr().out
    assert checkpoints.complete_checkpoints(str(tmp_path)) == [str(tmp_path / "model.ckpt-1")]
    assert (tmp_path / f"damaged-model.ckpt-2.{ending}").exists()


def test_asked_sentences_are_in_no_split():
    known = {english for pairs in corpus.splits().values() for english, _ in pairs}
    assert known.isdisjoint(t2t_demo._NEW_SENTENCES)


def test_shown_commands_make_the_test_files_too(tmp_path, capsys):
    layout = Layout(str(tmp_path / "work"))
    t2t_demo.show_commands(layout, jobs(layout, 10))
    shown = capsys.readouterr().out.splitlines()
    code = next(line for line in shown if line.startswith("python -c "))
    code = code.removeprefix('python -c "').removesuffix('"')
    subprocess.run([sys.executable, "-c", code], check=True)
    assert len((tmp_path / "work" / "test.en").read_text().splitlines()) == corpus.NUM_TEST
    for side, language in (("src", "en"), ("ref", "de")):
        assert any(f"--echo={side} > wmt_run/newstest2014.{language}" in line for line in shown)


def test_a_failing_command_ends_the_demo_with_its_status(tmp_path, monkeypatch):
    monkeypatch.setattr(t2t_demo, "script", lambda name: [sys.executable, "-c", "exit(7)"])
    with pytest.raises(SystemExit) as ended:
        t2t_demo.run_job(Job("fails", ("t2t-x", "--flag=1")))
    assert ended.value.code == 7


def test_a_job_that_ends_well_without_its_outputs_stops_the_demo(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(t2t_demo, "script", lambda name: [sys.executable, "-c", ""])
    job = Job("train", ("t2t-trainer",), (), (str(tmp_path / "model.ckpt-9.index"),))
    with pytest.raises(SystemExit) as stop:
        t2t_demo.run_job(job)
    assert stop.value.code == 1
    assert "model.ckpt-9.index" in capsys.readouterr().err


def test_held_out_sentences_are_written_once(tmp_path):
    layout = Layout(str(tmp_path))
    t2t_demo.write_test_files(layout)
    assert (tmp_path / "test.en").read_text().splitlines()[0] == corpus.splits()["test"][0][0]
    (tmp_path / "test.en").write_text("mine\n")
    t2t_demo.write_test_files(layout)
    assert (tmp_path / "test.en").read_text() == "mine\n"


@pytest.mark.end_to_end
def test_small_run_and_its_repetition(tmp_path):
    work = tmp_path / "demo run"
    work.mkdir()
    pairs = corpus.splits()["test"][:6]
    for side, language in enumerate(("en", "de")):
        text = "".join(pair[side] + "\n" for pair in pairs)
        (work / f"test.{language}").write_text(text, encoding="utf-8")
    command = [
        *t2t_demo.script("t2t-demo"),
        f"--work_dir={work}",
        "--train_steps=4",
    ]
    first = subprocess.run(command, capture_output=True, text=True, check=False)
    assert first.returncode == 0, first.stdout[-3000:] + first.stderr[-3000:]
    assert "BLEU_cased = " in first.stdout
    assert f"reference {pairs[0][1]}" in first.stdout
    assert len((work / "test.output.de").read_text(encoding="utf-8").splitlines()) == len(pairs)
    assert "translate_ende_wmt32k" in first.stdout
    assert first.stdout.count("  -> ") == 3
    assert "done before" not in first.stdout

    checkpoint = work / "avg1" / "model.ckpt-4.index"
    written = checkpoint.stat().st_mtime
    second = subprocess.run(command, capture_output=True, text=True, check=False)
    assert second.returncode == 0, second.stderr[-3000:]
    # Everything but scoring was there; generation itself says so.
    assert second.stdout.count("done before") == len(jobs(Layout(str(work)), 4)) - 2
    assert "Shards of translate_ende_demo exist" in second.stderr
    assert checkpoint.stat().st_mtime == written
