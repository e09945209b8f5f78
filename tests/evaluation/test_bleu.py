"""BLEU: worked examples, tensor2tensor's recorded scores, and files of unequal length."""

import math

import numpy as np
import pytest

from t2t_keras.evaluation import bleu
from tests.reference_data import golden_path, load_golden_json


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello, world. 1,000.5 in 2013.", ["Hello", ",", "world", ".", "1,000.5", "in", "2013."]),
        ("a,,b", ["a", ",", ",", "b"]),
        ("$5.00 ^_^", ["$", "5.00", "^", "_", "^"]),
        ("\\x y\\z", ["\\x", "y\\z"]),
        ("[a] b-c", ["[", "a", "]", "b", "-", "c"]),
        ("", []),
    ],
)
def test_tokenize_examples(text, tokens):
    assert bleu.bleu_tokenize(text) == tokens


@pytest.mark.parametrize(
    ("references", "translations", "score"),
    [
        ([[5, 6, 7, 8, 9]], [[5, 6, 7, 8, 9]], 1.0),
        ([[1, 2, 3, 4, 5]], [[1, 2, 9, 4]], 0.2753477),
        ([[1, 2]], [[1, 2]], 1.0),
        ([[1, 2, 3, 4, 5, 6]], [[7, 8, 9, 10]], 0.0484423),
        ([[1, 2]], [[]], 0.0),
        (
            ["the cat sat on the mat".split(), "a b c d e".split()],
            ["the cat the cat on the mat".split(), "a b c x".split()],
            0.3277851,
        ),
    ],
)
def test_compute_bleu_examples(references, translations, score):
    result = bleu.compute_bleu(references, translations)
    assert result == pytest.approx(score, abs=1e-7)  # printed with seven decimals
    assert isinstance(result, np.float32)


def test_brevity_penalty_is_exponential_and_can_be_left_out():
    reference, translation = [[1, 2, 3, 4, 5, 6, 7, 8]], [[1, 2, 3, 4]]
    assert bleu.compute_bleu(reference, translation, use_bp=False) == 1.0
    assert bleu.compute_bleu(reference, translation) == pytest.approx(math.exp(1 - 8 / 4))


def test_different_number_of_sentences_is_an_error_with_both_numbers():
    with pytest.raises(ValueError, match="2 references, 1 translations"):
        bleu.compute_bleu([[1], [2]], [[1]])


def test_files_case_and_unequal_lines(tmp_path):
    reference, translation = tmp_path / "ref.txt", tmp_path / "hyp.txt"
    reference.write_text("The cat sat on the mat .\nA B C D\n", encoding="utf-8")
    translation.write_text("the cat sat on the mat .\na b c d\n", encoding="utf-8")
    assert bleu.bleu_wrapper(reference, translation) == 1.0
    assert bleu.bleu_wrapper(reference, translation, case_sensitive=True) < 1.0
    # A missing newline at the very end does not make the files differ in length.
    translation.write_text("the cat sat on the mat .\na b c d", encoding="utf-8")
    assert bleu.bleu_wrapper(reference, translation) == 1.0
    translation.write_text("the cat sat on the mat .\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"2 lines in .*ref.txt, 1 in .*hyp.txt"):
        bleu.bleu_wrapper(reference, translation)


@pytest.mark.reference
def test_recorded_tokenisation():
    for case in load_golden_json("bleu", "bleu.json.gz")["tokenize"]:
        assert bleu.bleu_tokenize(case["s"]) == case["tokens"], case["s"]


@pytest.mark.reference
def test_recorded_compute_bleu():
    for case in load_golden_json("bleu", "bleu.json.gz")["compute_bleu"]:
        result = bleu.compute_bleu(case["refs"], case["hyps"], **case["kw"])
        assert float(result) == case["bleu"], case


@pytest.mark.reference
def test_recorded_bleu_of_files():
    recorded = load_golden_json("bleu", "bleu.json.gz")["bleu_wrapper"]
    files = golden_path("bleu", "ref.txt"), golden_path("bleu", "hyp.txt")
    for case_sensitive, score in recorded.items():
        result = bleu.bleu_wrapper(*files, case_sensitive=case_sensitive == "True")
        assert float(result) == score
