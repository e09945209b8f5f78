import pytest

from t2t_keras.decoding.reference import report_bleu
from t2t_keras.training.event_files import read_events


def test_bleu_is_logged_and_written_for_tensorboard(tmp_path, caplog):
    (tmp_path / "ref").write_text("the cat sat on the mat\na b c d e\n")
    (tmp_path / "out").write_text("The cat the cat on the mat\na b c x\n")
    with caplog.at_level("INFO", logger="absl"):
        score = report_bleu(
            str(tmp_path / "out"), str(tmp_path / "ref"), str(tmp_path / "decode"), step=7
        )
    # tensor2tensor gives 0.3277851 for these.
    assert score == pytest.approx(32.77851, rel=1e-5)
    assert f"BLEU_uncased = {score:.2f}" in caplog.text and "sacreBLEU" in caplog.text
    assert read_events(str(tmp_path / "decode")) == [(7, "BLEU", pytest.approx(score, rel=1e-6))]


def test_other_number_of_lines_is_refused(tmp_path):
    (tmp_path / "ref").write_text("a\nb\n")
    (tmp_path / "out").write_text("a\n")
    with pytest.raises(ValueError, match="one line per sentence"):
        report_bleu(str(tmp_path / "out"), str(tmp_path / "ref"))


def test_nothing_to_score(tmp_path):
    (tmp_path / "ref").touch()
    (tmp_path / "out").touch()
    with pytest.raises(ValueError, match=r"nothing to score: .*ref and .*out are empty"):
        report_bleu(str(tmp_path / "out"), str(tmp_path / "ref"), str(tmp_path / "decode"))
    assert not (tmp_path / "decode").exists()
