"""ROUGE and edit distance: worked examples and tensor2tensor's recorded scores."""

import numpy as np
import pytest

from t2t_keras.evaluation import rouge
from tests.reference_data import golden_path, load_golden_json


def test_examples():
    assert rouge.rouge_n([[1, 2, 3, 0, 0]], [[1, 2, 4, 0, 0]], n=2) == pytest.approx(0.5)
    assert rouge.rouge_l_sentence_level([[1, 2, 3, 0]], [[1, 3, 4, 0]]) == pytest.approx(0.75)


def test_empty_rows_score_zero():
    assert rouge.rouge_n([[]], [[1, 2]]) == 0.0
    assert rouge.rouge_n([[1, 2]], [[1]]) == 0.0
    assert rouge.rouge_l_sentence_level([[]], [[1, 2]]) == 0.0


@pytest.mark.parametrize("score", [rouge.rouge_n, rouge.rouge_l_sentence_level])
def test_unequal_numbers_of_rows(score):
    with pytest.raises(ValueError, match="1 references, 2 hypotheses"):
        score([[1], [2]], [[1]])


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("abc", "abc", 0), ("ab", "ba", 2)],
)
def test_edit_distance(first, second, distance):
    assert rouge.edit_distance(first, second) == distance


@pytest.mark.reference
def test_recorded_rouge():
    for case in load_golden_json("metrics.json")["rouge"]:
        hypotheses, references = case["eval"], case["ref"]
        for n in (1, 2):
            if f"rouge_{n}" in case:
                result = rouge.rouge_n(hypotheses, references, n)
                np.testing.assert_allclose(result, case[f"rouge_{n}"], rtol=1e-6)
        result = rouge.rouge_l_sentence_level(hypotheses, references)
        np.testing.assert_allclose(result, case["rouge_l"], rtol=1e-6)


@pytest.mark.reference
def test_recorded_metrics_on_padded_rows():
    compared = 0
    with np.load(golden_path("metrics.npz")) as arrays:
        for entry in load_golden_json("metrics.json")["metrics"]:
            if not entry["metric"].startswith("rouge") or "mean" not in entry:
                continue
            prefix = f"case{entry['case']}|"
            labels = _rows(arrays[prefix + "labels"])
            hypotheses = _rows(arrays[prefix + "logits"].argmax(-1))
            if entry["metric"] == "rouge_2_fscore":
                result = rouge.rouge_n(hypotheses, labels)
            else:
                result = rouge.rouge_l_sentence_level(hypotheses, labels)
            np.testing.assert_allclose(result, entry["mean"], rtol=1e-6)
            compared += 1
    assert compared


def _rows(ids):
    """`[batch, length, 1, 1]` -> rows of ids, padding included."""
    return ids.reshape(ids.shape[:2]).tolist()
