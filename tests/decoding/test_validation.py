import logging
import pathlib

import pytest
import sacrebleu

from t2t_keras import hparams_lib, registry
from t2t_keras.decoding import validation
from t2t_keras.decoding.decode_hparams import decode_hparams
from t2t_keras.decoding.translator import Translator
from t2t_keras.evaluation import bleu
from tests.training import toy

TRANSLATIONS = ["The cat sat on the mat .", "a dog barks at Night", "one , two"]
REFERENCES = ["the cat sat on the mat .", "a dog barks at night", "one , two , three"]


def test_scores_are_those_of_t2t_bleu_and_of_sacrebleu(tmp_path):
    scores, signature = validation.score_translations(TRANSLATIONS, REFERENCES)
    assert tuple(scores) == validation.SCORES
    files = tmp_path / "reference", tmp_path / "translation"
    for path, lines in zip(files, (REFERENCES, TRANSLATIONS), strict=True):
        path.write_text("\n".join(lines), encoding="utf-8")
    assert scores["BLEU_uncased"] == pytest.approx(100 * bleu.bleu_wrapper(*files))
    cased = 100 * bleu.bleu_wrapper(*files, case_sensitive=True)
    assert scores["BLEU_cased"] == pytest.approx(cased)
    assert scores["BLEU_cased"] < scores["BLEU_uncased"]
    expected = sacrebleu.corpus_bleu(TRANSLATIONS, [REFERENCES]).score
    assert scores["sacreBLEU"] == expected
    assert scores["chrF"] == sacrebleu.corpus_chrf(TRANSLATIONS, [REFERENCES]).score
    assert "tok:13a" in signature


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return toy.make_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def hparams(data_dir):
    return toy.make_hparams(data_dir)


@pytest.fixture(scope="module")
def model(hparams):
    return registry.model("transformer").from_hparams(hparams)


def test_dev_split_is_read_with_its_targets_as_references(hparams, data_dir):
    text = validation.text_of_split(hparams, data_dir, num_samples=7)
    assert len(text.sources) == len(text.references) == len(text.ids) == 7
    assert [source[::-1] for source in text.sources] == text.references
    encoder = hparams.problem_hparams.vocabulary["inputs"]
    assert [encoder.encode(source) + [1] for source in text.sources] == text.ids


@pytest.mark.parametrize(
    "overrides",
    [
        "prepend_mode=prepend_inputs_full_attention",
        "prepend_mode=prepend_inputs_masked_attention,max_target_seq_length=3",
        "split_to_length=2",
    ],
)
def test_references_are_whole_and_never_the_source(overrides, hparams, data_dir):
    expected = validation.text_of_split(hparams, data_dir, num_samples=7)
    changed = toy.make_hparams(data_dir, f",{overrides}")
    assert validation.text_of_split(changed, data_dir, num_samples=7) == expected


@pytest.mark.parametrize("name", ["translate_ende_wmt32k_packed", "translate_ende_wmt32k"])
def test_a_packed_problem_is_translated_as_the_one_of_single_sentences(name):
    problem = validation.problem_to_translate(registry.problem(name))
    assert problem.name == "translate_ende_wmt32k" and not problem.packed_length


def write(path: pathlib.Path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def test_files_must_be_parallel(tmp_path):
    source, reference = write(tmp_path / "s", "a", "b"), write(tmp_path / "r", "c", "d", "e")
    with pytest.raises(ValueError, match="2 lines in .*, 3 in "):
        validation.text_of_files(source, reference)
    with pytest.raises(FileNotFoundError, match="--decode_reference"):
        validation.text_of_files(source, str(tmp_path / "none"))
    text = validation.text_of_files(source, write(tmp_path / "r", "c", "d"), num_samples=1)
    assert text[:3] == (["a"], ["c"], None)


def scorer(hparams, data_dir, output_dir, overrides="beam_size=3,alpha=0.8,extra_length=4"):
    return validation.TranslationScorer(
        hparams,
        decode_hparams(overrides),
        lambda: validation.text_of_split(hparams, data_dir, num_samples=20),
        str(output_dir),
    )


def test_translations_are_the_decoders(hparams, model, data_dir, tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="absl")
    check = scorer(hparams, data_dir, tmp_path)
    scores = check(model, 70)
    assert set(scores) == set(check.metric_names)
    text = validation.text_of_split(hparams, data_dir, num_samples=20)
    options = decode_hparams("beam_size=3,alpha=0.8,extra_length=4")
    decoder = Translator(model, hparams.problem_hparams, options)
    expected = [hypotheses[0].text for hypotheses in decoder.translate(text.sources)]
    assert len(set(expected)) > 1
    written = (tmp_path / "translations" / "70.txt").read_text(encoding="utf-8")
    assert written.split("\n") == [*expected, ""]
    assert scores == validation.score_translations(expected, text.references)[0]
    assert "beam 3, alpha 0.8" in caplog.text and "tok:13a" in caplog.text
    assert caplog.text.count("SOURCE: ") == 3
    assert f"TRANSLATION: {expected[2]}" in caplog.text


def test_the_search_is_traced_once(hparams, model, data_dir, tmp_path):
    check = scorer(hparams, data_dir, tmp_path)
    check(model, 1)
    translator = check._translator
    traces = []
    original = translator._model.encode
    translator._model.encode = lambda *args, **kwargs: traces.append(1) or original(*args, **kwargs)
    try:
        check(model, 2)
    finally:
        del translator._model.encode
    assert check._translator is translator and not traces


def test_what_cannot_be_scored_is_refused(hparams, data_dir, tmp_path):
    with pytest.raises(ValueError, match="return_beams"):
        scorer(hparams, data_dir, tmp_path, "return_beams=True")
    no_inputs = hparams_lib.copy_hparams(hparams)
    no_inputs.problem_hparams = hparams_lib.copy_hparams(hparams.problem_hparams)
    no_inputs.problem_hparams.modality = {"targets": "symbol"}
    with pytest.raises(ValueError, match="no inputs"):
        scorer(no_inputs, data_dir, tmp_path)
    no_inputs.problem_hparams.modality = {"inputs": "symbol", "targets": "class_label"}
    with pytest.raises(ValueError, match="labels"):
        scorer(no_inputs, data_dir, tmp_path)
