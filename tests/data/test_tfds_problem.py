# Fixtures are imported, and arguments of the same name ask for them.
# ruff: noqa: F401, F811
import os

import pytest

from t2t_keras import registry
from t2t_keras.data import records, source_options, translate
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.problem import Problem
from t2t_keras.data.vocabularies import vocabulary_of
from tests.data.tiny_tfds import (
    ENGLISH,
    GERMAN,
    PAIRS,
    archive,
    prepared,
    wmt_manual_dir,
)


def texts(problem, data_dir, split):
    """Pairs of the generated shards, decoded."""
    encoder = problem.feature_encoders(data_dir)["inputs"]
    names = sorted(os.listdir(data_dir))
    shards = [name for name in names if name.startswith(f"{problem.dataset_filename()}-{split}")]
    found = []
    import tensorflow as tf

    for serialized in tf.data.TFRecordDataset([os.path.join(data_dir, name) for name in shards]):
        example = records.parse_example(serialized.numpy())
        found.append(tuple(encoder.decode(example[side][:-1]) for side in ("inputs", "targets")))
    return found


def test_any_data_set_is_a_problem(prepared, tmp_path):
    name = "tfds:tiny_pairs:source=en:vocab=300"
    data_dir = str(tmp_path / "data")
    registry.problem(name).generate_data(data_dir, str(tmp_path / "tmp"))
    # The trainer and the decoder need the name and data_dir only.
    with source_options.use(source_options.SourceOptions(tfds_data_dir="/nowhere")):
        problem = registry.problem(f"{name}_rev")
        assert problem.was_reversed and problem.name == name
        assert problem.vocab_filename == "vocab.tfds_tiny_pairs_source-en_vocab-300.300.subwords"
        assert os.path.exists(os.path.join(data_dir, problem.vocab_filename))
        training = texts(problem, data_dir, "train")
        assert len(training) == 40
        assert set(training) <= {(english, german) for german, english in [*PAIRS, ("a b", "x  y")]}
        assert texts(problem, data_dir, "test") == [("u", "t")]
        assert len(texts(problem, data_dir, "dev")) == 1
    assert not os.path.exists(tmp_path / "tmp")


@pytest.mark.parametrize(
    "name, message",
    [
        ("tfds:", "Received: ''"),
        ("tfds:a b", "a b"),
        ("tfds:a:vocab=x", "Received: 'x'"),
        ("tfds:a:vocab=", "Received: ''"),
        ("tfds:a:langs=x", "langs=x"),
    ],
)
def test_malformed_names(name, message):
    with pytest.raises(ValueError, match=message):
        registry.problem(name)


def test_looking_a_name_up_needs_no_tfds():
    import subprocess
    import sys

    program = (
        "import sys; from t2t_keras import registry; "
        "print(registry.problem('tfds:wmt19_translate/de-en_rev').vocab_filename); "
        "assert not {'tensorflow', 'tensorflow_datasets'} & set(sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert printed == "vocab.tfds_wmt19_translate_de-en.32768.subwords\n"


# ---- Problems that have their text from archives or from TFDS ----


class Wmt(translate.CorporaProblem):
    """The corpora of TFDS's tiny set, as archives."""

    name = "tiny_wmt"
    train_sources = [["http://h/a.tgz", ("a.en", "a.de")], ["http://h/b.tgz", ("b.en", "b.de")]]
    dev_sources = [["http://h/dev.tgz", ("dev.en", "dev.de")]]
    tfds_data_set = "wmt_t2t_translate/de-en:source=en:target=de"


class SameText(Wmt):
    approx_vocab_size = 100


class OtherText(Wmt):
    additional_training_datasets = [["", ("c.en", "c.de")]]


class OtherTextFromTfds(OtherText):
    tfds_data_set = "wmt14_translate/de-en"


@pytest.mark.parametrize(
    "problem_class, expected",
    [
        (Wmt, Wmt.tfds_data_set),
        (SameText, Wmt.tfds_data_set),
        (OtherText, None),
        (OtherTextFromTfds, "wmt14_translate/de-en"),
        (translate.TranslateProblem, None),
    ],
)
def test_data_set_is_not_inherited_with_other_text(problem_class, expected):
    assert problem_class().equal_tfds_data_set() == expected


def put_archives(folder):
    folder.mkdir()
    for name, part in (("a", slice(0, 15)), ("b", slice(15, 30)), ("dev", slice(30, 35))):
        content = archive({f"{name}.en": ENGLISH[part], f"{name}.de": GERMAN[part]})
        (folder / f"{name}.tgz").write_bytes(content)


def samples(problem, tmp_dir, split=DatasetSplit.TRAIN):
    found = problem.generate_samples("", str(tmp_dir), split)
    return [(sample["inputs"], sample["targets"]) for sample in found]


ENGLISH_FIRST = [(english, german) for german, english in PAIRS]


def test_tfds_has_the_text_of_the_archives(tmp_path, wmt_manual_dir):
    put_archives(tmp_path / "archives")
    options = source_options.SourceOptions("tfds", str(tmp_path / "tfds"), wmt_manual_dir)
    for split, part in ((DatasetSplit.TRAIN, slice(0, 30)), (DatasetSplit.EVAL, slice(30, 35))):
        assert samples(Wmt(), tmp_path / "archives", split) == ENGLISH_FIRST[part]
        with source_options.use(options):
            assert sorted(samples(Wmt(), tmp_path / "none", split)) == sorted(ENGLISH_FIRST[part])
    with source_options.use(options):
        vocabulary = list(Wmt().generate_text_for_vocab("", str(tmp_path / "none")))
    assert sorted(vocabulary) == sorted(text for pair in PAIRS[:30] for text in pair)
    assert not os.path.exists(tmp_path / "none")


def test_auto_takes_archives_then_prepared_sets_then_downloads(
    tmp_path,
    wmt_manual_dir,
    monkeypatch,
):
    tfds_dir = str(tmp_path / "tfds")
    put_archives(tmp_path / "archives")

    def uses_tfds(text_source, tmp_dir):
        with source_options.use(source_options.SourceOptions(text_source, tfds_dir)):
            return Wmt()._tfds_corpus(str(tmp_path / tmp_dir)) is not None

    assert not uses_tfds("auto", "none")
    assert uses_tfds("tfds", "archives")
    with source_options.use(source_options.SourceOptions("tfds", tfds_dir, wmt_manual_dir)):
        samples(Wmt(), tmp_path / "none")
    assert uses_tfds("auto", "none")
    assert not uses_tfds("auto", "archives")
    assert not uses_tfds("archives", "none")
    os.remove(tmp_path / "archives" / "dev.tgz")
    assert uses_tfds("auto", "archives")
    for name in ("dev.en", "dev.de"):
        (tmp_path / "archives" / name).touch()
    assert not uses_tfds("auto", "archives")


def test_problem_without_tfds_data_set(tmp_path):
    options = source_options.SourceOptions("tfds", str(tmp_path))
    with source_options.use(options), pytest.raises(ValueError, match="no TFDS data set"):
        samples(OtherText(), tmp_path)


def test_unknown_text_source():
    with pytest.raises(ValueError, match="Did you mean: archives.*Received: 'archive'"):
        source_options.SourceOptions("archive")


def test_vocabulary_of_another_problem_comes_from_tfds_too(
    tmp_path,
    wmt_manual_dir,
    monkeypatch,
):
    monkeypatch.setitem(registry.Registries.problems._entries, "tiny_wmt", SameText)
    monkeypatch.setattr(SameText, "name", "tiny_wmt")

    class Packed(Wmt):
        name = "tiny_wmt_packed"
        use_vocab_from_other_problem = vocabulary_of("tiny_wmt")

    with source_options.use(
        source_options.SourceOptions("tfds", str(tmp_path / "tfds"), wmt_manual_dir)
    ):
        problem: Problem = Packed()
        problem.generate_data(str(tmp_path / "data"), str(tmp_path / "none"))
    assert os.path.exists(tmp_path / "data" / "vocab.tiny_wmt.100.subwords")
    assert sorted(texts(problem, str(tmp_path / "data"), "train")) == sorted(ENGLISH_FIRST[:30])
