"""Targets that are classes: models, loss, metrics and what is decoded."""

import types

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.decoding.classification import classify
from t2t_keras.decoding.decode_hparams import decode_hparams
from t2t_keras.decoding.scoring import read_pairs, score_pairs
from t2t_keras.decoding.translator import Translator
from t2t_keras.models.transformer_support import UnsupportedHparams
from t2t_keras.serving.served_model import ServedModel
from t2t_keras.text.encoders import ByteTextEncoder, ClassLabelEncoder
from t2t_keras.training.evaluator import Evaluator
from t2t_keras.training.schedules import learning_rate_schedule
from t2t_keras.training.step import TrainStep

MODELS = ["transformer_encoder", "transformer"]


def make_hparams(overrides="", labels=("no", "yes", "maybe")):
    hparams = registry.hparams("transformer_tiny")
    hparams.parse(
        "num_hidden_layers=1,hidden_size=8,filter_size=16,num_heads=2,"
        "learning_rate_schedule=constant,learning_rate_constant=0.02,attention_dropout=0.0,"
        "layer_prepostprocess_dropout=0.0,relu_dropout=0.0"
    )
    hparams.parse(overrides)
    vocabulary = {"inputs": ByteTextEncoder(), "targets": ClassLabelEncoder(labels)}
    problem_hparams = types.SimpleNamespace(
        modality={"inputs": "symbol", "targets": "class_label"},
        vocab_size={name: encoder.vocab_size for name, encoder in vocabulary.items()},
        vocabulary=vocabulary,
        input_space_id=0,
        target_space_id=0,
        loss_multiplier=1.0,
    )
    hparams.add_hparam("problem_hparams", problem_hparams)
    return hparams


def features_of(texts, classes, length=6):
    rows = [ByteTextEncoder().encode(text) + [1] for text in texts]
    inputs = np.zeros([len(rows), length], np.int32)
    for row, ids in zip(inputs, rows, strict=True):
        row[: len(ids)] = ids
    return {"inputs": tf.constant(inputs), "targets": tf.constant(classes, tf.int32)[:, None]}


@pytest.mark.parametrize("name", MODELS)
def test_logits_of_classes_are_those_of_the_text_alone(name):
    model = registry.model(name).from_hparams(make_hparams("vocab_divisor=8"))
    tables = [v.path for v in model.variables if "modality" in v.path]
    assert tables == [
        f"{name}/symbol_modality_264_8/input_emb/weights",
        f"{name}/class_label_modality_3_8/softmax/kernel",
        f"{name}/class_label_modality_3_8/softmax/bias",
    ]
    short = features_of(["ab", "c"], [0, 2], length=3)
    long = features_of(["ab", "c"], [1, 1], length=9)
    logits = model(short)
    assert logits.shape == (2, 1, 3) and logits.dtype == tf.float32
    # Neither padding nor, of course, the targets make a difference.
    np.testing.assert_allclose(model(long), logits, rtol=1e-5, atol=1e-6)
    assert np.abs(logits[0] - logits[1]).max() > 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_classes_are_learned_evaluated_decoded_scored_and_served(name, tmp_path):
    hparams = make_hparams()
    problem_hparams = hparams.problem_hparams
    model = registry.model(name).from_hparams(hparams)
    optimizer = registry.optimizer(hparams.optimizer)(learning_rate_schedule(hparams), hparams)
    step = TrainStep(model, optimizer, hparams)
    texts, labels = ["aa", "ba", "ab", "bb", "cc"], ["no", "yes", "no", "yes", "maybe"]
    encoder = problem_hparams.vocabulary["targets"]
    features = features_of(texts, [encoder.encode(label) for label in labels])
    problem = types.SimpleNamespace(
        name="answers",
        was_reversed=False,
        eval_metrics=lambda: ["accuracy", "accuracy_top5", "accuracy_per_sequence",
                              "neg_log_perplexity", "approx_bleu_score"],
    )  # fmt: skip
    evaluator = Evaluator(model, hparams, problem)
    prefix = "metrics-answers/targets/"
    first = step(features)
    # Class 0 counts, too.
    assert float(first.token_count) == 5.0
    for _ in range(80):
        step(features)
    results = evaluator.evaluate([features])
    assert results[prefix + "accuracy"] == results[prefix + "accuracy_per_sequence"] == 1.0
    assert results[prefix + "accuracy_top5"] == 1.0
    assert results["loss"] < 0.3 < float(first.loss)
    assert results[prefix + "neg_log_perplexity"] == pytest.approx(-results["loss"], rel=1e-5)

    options = decode_hparams("beam_size=4,return_beams=True")
    decoded = Translator(model, problem_hparams, options).translate(texts)
    assert [best.text for (best,) in decoded] == labels
    (tmp_path / "pairs").write_text("aa\tno\ncc\tno\n")
    scores = score_pairs(model, read_pairs(str(tmp_path / "pairs"), problem_hparams.vocabulary))
    assert scores[0] == pytest.approx(-decoded[0][0].score, rel=1e-4)
    assert scores[1] > 1.0

    served = ServedModel(model, problem_hparams, options)
    answer = served(tf.constant([*texts, "", "b" * 40]))
    assert [text.decode() for text in answer["outputs"].numpy()][:6] == [*labels, ""]
    np.testing.assert_allclose(
        answer["scores"][:5], [best.score for (best,) in decoded], rtol=1e-4, atol=1e-6
    )


def test_a_wrong_class_lowers_the_accuracy():
    """Also where it is 0, which is padding elsewhere."""
    hparams = make_hparams()
    model = registry.model("transformer_encoder").from_hparams(hparams)
    features = features_of(["aa", "bb"], [0, 0])
    chosen = classify(model, features["inputs"])["outputs"].numpy()[:, 0]
    wrong = (chosen + 1) % 3
    problem = types.SimpleNamespace(
        name="answers", was_reversed=False, eval_metrics=lambda: ["accuracy"]
    )
    evaluator = Evaluator(model, hparams, problem)
    for classes, accuracy in (
        (chosen, 1.0),
        (wrong, 0.0),
        ([chosen[0], wrong[1]], 0.5),
    ):
        results = evaluator.evaluate([features_of(["aa", "bb"], classes)])
        assert results["metrics-answers/targets/accuracy"] == accuracy


def test_the_number_of_a_class_is_the_first_of_a_padded_row():
    """Where compilation wants few shapes, all features are padded to the length of the inputs."""
    hparams = make_hparams()
    model = registry.model("transformer").from_hparams(hparams)
    optimizer = registry.optimizer(hparams.optimizer)(learning_rate_schedule(hparams), hparams)
    step = TrainStep(model, optimizer, hparams)
    features = features_of(["aa", "bb"], [2, 0])
    padded = {**features, "targets": tf.pad(features["targets"], [[0, 0], [0, 5]])}
    result = step(padded)
    assert float(result.token_count) == 2.0


def test_what_means_nothing_for_classes_is_refused():
    for overrides in ("factored_logits=True", "scheduled_sampling_prob=1.0"):
        with pytest.raises(UnsupportedHparams, match="class labels"):
            registry.model("transformer").from_hparams(make_hparams(overrides))
    hparams = make_hparams()
    del hparams.problem_hparams.modality["inputs"]
    with pytest.raises(ValueError, match="need inputs"):
        registry.model("transformer").from_hparams(hparams)
