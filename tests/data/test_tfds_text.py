# Fixtures are imported, and arguments of the same name ask for them.
# ruff: noqa: F401, F811
import os

import pytest

from t2t_keras.data import source_options, source_report, tfds_text
from t2t_keras.data.modes import DatasetSplit
from tests.data.tiny_tfds import PAIRS, prepared, tfds, wmt_manual_dir


def pairs(name, split=DatasetSplit.TRAIN):
    return list(tfds_text.TfdsCorpus(tfds_text.parse_name(name)).pairs(split))


@pytest.mark.parametrize(
    "text, expected",
    [
        ("wmt19_translate/de-en", ("wmt19_translate/de-en", None, None)),
        ("a_b", ("a_b", None, None)),
        ("a/b.c-d:1.0.*", ("a/b.c-d:1.0.*", None, None)),
        ("a:source=en:target=pt-br", ("a", "en", "pt-br")),
        ("a/b:1.2.3:target=x", ("a/b:1.2.3", None, "x")),
    ],
)
def test_names(text, expected):
    name = tfds_text.parse_name(text)
    assert (name.builder, name.source, name.target) == expected


@pytest.mark.parametrize("text", ["", "/a", "a/b/c", "a:", "a:x", "a:sorce=en", "a:source=", "a b"])
def test_names_of_another_form(text):
    with pytest.raises(ValueError, match="Received"):
        tfds_text.parse_name(text)


def test_wmt_builder_reads_archives_of_the_manual_directory(tmp_path, wmt_manual_dir):
    options = source_options.SourceOptions(
        tfds_data_dir=str(tmp_path / "tfds"), tfds_manual_dir=wmt_manual_dir
    )
    name = "wmt_t2t_translate/de-en"
    with source_options.use(options):
        report = source_report.describe_tfds(tfds_text.parse_name(name))
        assert report.count(": there") == 4 and "not prepared" in report
        assert not os.path.exists(tmp_path / "tfds")
        assert sorted(pairs(name)) == sorted(PAIRS[:30])
        for archive in os.listdir(wmt_manual_dir):
            os.remove(os.path.join(wmt_manual_dir, archive))
        # From now on the prepared data set is all that is needed.
        assert sorted(pairs(name, DatasetSplit.EVAL)) == sorted(PAIRS[30:35])
        english_first = pairs(f"{name}:source=en", DatasetSplit.TEST)
        assert sorted(english_first) == sorted(pair[::-1] for pair in PAIRS[35:])
        report = source_report.describe_tfds(tfds_text.parse_name(name))
        assert "train 30" in report and "validation 5" in report and "test 5" in report


def test_changed_archive_is_named_with_both_checksums(tmp_path, wmt_manual_dir):
    path = os.path.join(wmt_manual_dir, "dev.tgz")
    with open(path, "ab") as stream:
        stream.write(b"x")
    options = source_options.SourceOptions(
        tfds_data_dir=str(tmp_path / "tfds"), tfds_manual_dir=wmt_manual_dir
    )
    with source_options.use(options), pytest.raises(tfds_text.TfdsError) as caught:
        pairs("wmt_t2t_translate/de-en")
    assert "dev.tgz" in str(caught.value) and str(caught.value).count("checksum=") == 2
    assert "--tfds_manual_dir" in str(caught.value)


def test_prepared_set(prepared):
    assert ("a b", "x  y") in pairs("tiny_pairs")
    assert pairs("tiny_pairs:1.0.0", DatasetSplit.TEST) == [("t", "u")]


def test_empty_sides_are_left_out(prepared):
    everything = pairs("tiny_pairs") + pairs("tiny_pairs", DatasetSplit.EVAL)
    assert sorted(everything) == sorted([("a b", "x  y"), *PAIRS])


def test_end_of_training_split_serves_as_dev(prepared):
    held_out = pairs("tiny_pairs", DatasetSplit.EVAL)
    training = pairs("tiny_pairs")
    assert len(held_out) == 1
    assert not set(held_out) & set(training)


@pytest.mark.parametrize("arguments", [":source=en:target=de", ":source=en", ":target=de"])
def test_chosen_direction(prepared, arguments):
    assert pairs(f"tiny_pairs{arguments}", DatasetSplit.TEST) == [("u", "t")]


def test_two_of_many_languages(prepared):
    assert sorted(pairs("tiny_many:source=en:target=fr")) == [("one", "un"), ("two", "deux")]
    assert pairs("tiny_many:source=pt-br:target=en") == [("um", "one")]
    expected = [("trois", "tres")]
    assert pairs("tiny_many:source=fr:target=pt-br", DatasetSplit.EVAL) == expected


def test_sentence_features(prepared):
    assert pairs("tiny_sentences", DatasetSplit.EVAL) == [("s", "t")]
    assert pairs("tiny_sentences:source=id:target=source_sentence", "dev") == [("1", "s")]


@pytest.mark.parametrize(
    "name, split, message",
    [
        ("tiny_pairs:source=fr", DatasetSplit.TRAIN, "It has: de, en"),
        ("tiny_pairs:source=en:target=en", DatasetSplit.TRAIN, "source=en target=en"),
        ("tiny_many", DatasetSplit.TRAIN, "It has: en, fr, pt-br"),
        ("tiny_many:source=en", DatasetSplit.TRAIN, "It has: en, fr, pt-br"),
        ("tiny_sentences", DatasetSplit.TRAIN, "no split to train on. It has: validation"),
        ("tiny_sentences", DatasetSplit.TEST, "no test split"),
        ("wmt_t2t_translat/de-en", DatasetSplit.TRAIN, "Did you mean: wmt_t2t_translate"),
        ("wmt_t2t_translate/de-xx", DatasetSplit.TRAIN, "de-xx"),
    ],
)
def test_what_can_not_be_read(prepared, name, split, message):
    with pytest.raises(tfds_text.TfdsError, match=message):
        pairs(name, split)


def test_vocabulary_is_sampled_evenly(prepared):
    corpus = tfds_text.TfdsCorpus(tfds_text.parse_name("tiny_pairs"))
    everything = list(corpus.vocabulary_lines(1e9))
    assert sorted(everything) == sorted(text for pair in pairs("tiny_pairs") for text in pair)
    size = corpus.builder.info.splits["train"].num_bytes
    third = list(corpus.vocabulary_lines(size / 2.5))
    assert len(third) == -(-len(everything) // 6) * 2
    assert set(third) < set(everything)


@pytest.mark.parametrize("name", ["para_crawl/ende", "wmt14_translate/fr-en", "mtnt/en-fr"])
def test_tfds_mock_data(tmp_path, name):
    options = source_options.SourceOptions(tfds_data_dir=str(tmp_path))
    with source_options.use(options), tfds.testing.mock_data(num_examples=4):
        for split in (DatasetSplit.TRAIN, DatasetSplit.EVAL, DatasetSplit.TEST):
            assert len(pairs(name, split)) == 4


@pytest.mark.parametrize("version", ["1.0.0", "1.*.*", ""])
def test_newest_prepared_version_is_found_without_tfds(tmp_path, version):
    for number in ("1.0.0", "1.10.0", "1.9.0"):
        (tmp_path / "a/b" / number).mkdir(parents=True)
        (tmp_path / "a/b" / number / "dataset_info.json").touch()
    (tmp_path / "a/b/2.0.0").mkdir()
    name = tfds_text.TfdsName(f"a/b:{version}" if version else "a/b")
    with source_options.use(source_options.SourceOptions(tfds_data_dir=str(tmp_path))):
        found = tfds_text.prepared_directory(name)
    assert os.path.basename(found) == ("1.0.0" if version == "1.0.0" else "1.10.0")
