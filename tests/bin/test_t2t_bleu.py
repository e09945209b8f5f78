"""t2t-bleu: one file, a directory of files, and what it refuses."""

import os

import pytest

from t2t_keras.bin import t2t_bleu
from t2t_keras.evaluation import bleu, step_files
from tests.reference_data import golden_path

REFERENCE = "The cat sat on the mat .\nA dog sleeps in the small house .\n"
TRANSLATION = "the cat sat on a mat .\nA dog sleeps in the house .\n"


@pytest.fixture
def files(tmp_path):
    reference, translation = tmp_path / "ref.txt", tmp_path / "hyp.txt"
    reference.write_text(REFERENCE, encoding="utf-8")
    translation.write_text(TRANSLATION, encoding="utf-8")
    return str(reference), str(translation)


def test_lines_of_both_variants(files):
    lines = list(t2t_bleu.score_file(*files))
    expected = [100 * bleu.bleu_wrapper(*files, case_sensitive=cased) for cased in (False, True)]
    assert lines[0] == f"BLEU_uncased = {expected[0]:6.2f}"
    assert lines[1] == f"BLEU_cased = {expected[1]:6.2f}"
    assert expected[0] > expected[1]
    assert "case:lc" in lines[2] and "case:mixed" in lines[3]


def test_sacrebleu_equals_its_own_command(files):
    import sacrebleu

    expected = sacrebleu.corpus_bleu(TRANSLATION.splitlines(), [REFERENCE.splitlines()]).score
    (line,) = list(t2t_bleu.score_file(*files, bleu_variant="cased"))[1:]
    assert line.startswith(f"sacreBLEU_cased = {expected:6.2f} nrefs:1|case:mixed")


@pytest.mark.parametrize("variant", ["cased", "uncased"])
def test_one_variant(files, variant):
    names = [line.split(" = ")[0] for line in t2t_bleu.score_file(*files, bleu_variant=variant)]
    assert names == [f"BLEU_{variant}", f"sacreBLEU_{variant}"]


def test_files_of_unequal_length(files):
    with open(files[1], "a", encoding="utf-8") as stream:
        stream.write("one more\n")
    with pytest.raises(ValueError, match=r"2 lines in .*ref.txt, 3 in .*hyp.txt"):
        list(t2t_bleu.score_file(*files))


@pytest.mark.reference
def test_recorded_score_is_printed():
    files = golden_path("bleu", "ref.txt"), golden_path("bleu", "hyp.txt")
    score = 100 * bleu.bleu_wrapper(*files)
    assert next(t2t_bleu.score_file(*files)) == f"BLEU_uncased = {score:6.2f}"


def _decodes(directory, reference):
    """Three decodes with steps, one flag file; step 300 is perfect."""
    directory.mkdir()
    for step, text in ((100, TRANSLATION), (200, TRANSLATION), (300, reference)):
        path = directory / f"translate_x-{step}"
        path.write_text(text, encoding="utf-8")
        os.utime(path, (1000 + step, 1000 + step))
    (directory / "translate_x-flags.txt").write_text("--model=transformer\n", encoding="utf-8")
    os.utime(directory / "translate_x-flags.txt", (5000, 5000))


def _scalars(event_dir):
    """All (tag, step, value, time) written to a directory, in order."""
    import tensorflow as tf

    found = []
    for name in sorted(os.listdir(event_dir)):
        if "tfevents" not in name:
            continue
        for record in tf.data.TFRecordDataset(os.path.join(event_dir, name)):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                found.append((value.tag, event.step, value.simple_value, event.wall_time))
    return found


def test_directory_writes_events_and_the_last_step(files, tmp_path):
    decodes, events = tmp_path / "decodes", tmp_path / "events"
    _decodes(decodes, REFERENCE)
    t2t_bleu.score_directory(files[0], str(decodes), str(events), tag_suffix="_x")
    scalars = _scalars(events)
    uncased = [(step, time) for tag, step, _, time in scalars if tag == "BLEU_uncased_x"]
    assert uncased == [(0, 1100.0), (100, 1100.0), (200, 1200.0), (300, 1300.0)]
    values = {(tag, step): value for tag, step, value, _ in scalars}
    assert values["BLEU_cased_x", 0] == 0.0
    assert values["BLEU_cased_x", 300] == pytest.approx(100.0)
    assert 0.0 < values["BLEU_cased_x", 100] < 100.0
    assert (events / "last_evaluated_step.txt").read_text() == "300\n"


def test_directory_goes_on_after_the_last_step(files, tmp_path):
    decodes, events = tmp_path / "decodes", tmp_path / "events"
    _decodes(decodes, REFERENCE)
    events.mkdir()
    (events / "last_evaluated_step.txt").write_text("200\n")
    t2t_bleu.score_directory(files[0], str(decodes), str(events), "cased")
    assert [(tag, step) for tag, step, _, _ in _scalars(events)] == [("BLEU_cased", 300)]


@pytest.mark.parametrize(
    ("min_steps", "report_zero", "steps"),
    [(150, None, [200, 300]), (0, None, [0, 100, 200, 300]), (0, False, [100, 200, 300])],
)
def test_min_steps_and_report_zero(files, tmp_path, min_steps, report_zero, steps):
    decodes, events = tmp_path / "decodes", tmp_path / "events"
    _decodes(decodes, REFERENCE)
    t2t_bleu.score_directory(
        files[0], str(decodes), str(events), "uncased", "", min_steps, 0, report_zero
    )
    assert [step for _, step, _, _ in _scalars(events)] == steps


@pytest.mark.parametrize("missing", [0, 1])
def test_a_missing_file_is_named_with_its_flag(files, missing):
    given = list(files)
    given[missing] = "nofile"
    flag = ("--reference", "--translation")[missing]
    with pytest.raises(FileNotFoundError, match=f"{flag} doesn't exist. Received: nofile"):
        list(t2t_bleu.score_file(*given))


def test_missing_directory(files, tmp_path):
    with pytest.raises(FileNotFoundError, match="wait_minutes"):
        t2t_bleu.score_directory(files[0], str(tmp_path / "none"), str(tmp_path / "events"))


def test_step_files_come_oldest_first_and_once(tmp_path):
    for step, modified in ((20, 100), (5, 200), (30, 300), (7, 150)):
        path = tmp_path / f"model.ckpt-{step}.index"
        path.touch()
        os.utime(path, (modified, modified))
    prefix = str(tmp_path / "model.ckpt")
    existing = step_files.existing_step_files(prefix, ".index", min_steps=6)
    assert [found.step for found in existing] == [20, 7, 30]
    assert existing[0].filename == f"{prefix}-20"
    assert [found.step for found in step_files.step_files(prefix, ".index")] == [20, 7, 5, 30]


def test_step_files_wait_for_the_next(tmp_path):
    (tmp_path / "x-1").touch()
    waiting = step_files.step_files(str(tmp_path), wait_minutes=0.02, poll_seconds=0.05)
    assert next(waiting).step == 1
    (tmp_path / "x-2").touch()
    assert [found.step for found in waiting] == [2]


def test_empty_files_are_nothing_to_score(files):
    for path in files:
        open(path, "w").close()
    with pytest.raises(ValueError, match=r"nothing to score: .*ref.txt and .*hyp.txt are empty"):
        list(t2t_bleu.score_file(*files))


def test_text_that_is_not_utf8_is_named_with_its_line(files):
    with open(files[1], "wb") as stream:
        stream.write("größer\n".encode() + "größer\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"hyp.txt, line 2: byte 0xf6 is not UTF-8"):
        list(t2t_bleu.score_file(*files))


def test_a_translation_that_can_not_be_scored_leaves_no_events(files, tmp_path):
    decodes, events = tmp_path / "decodes", tmp_path / "events"
    decodes.mkdir()
    (decodes / "translate_x-100").write_text("one line\n", encoding="utf-8")
    with pytest.raises(ValueError, match="2 lines in"):
        t2t_bleu.score_directory(files[0], str(decodes), str(events))
    assert not events.exists()
