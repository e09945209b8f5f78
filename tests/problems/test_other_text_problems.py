"""Language models, sentiment, summaries, mathematics: their files and samples."""

import bz2
import hashlib
import itertools
import re

import numpy as np
import pytest

from t2t_keras import registry
from t2t_keras.data import records
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.sources import SourceError
from t2t_keras.problems import language_model_ptb, language_model_wiki, summarize_cnn_dailymail
from tests.problems import small_archives

TRAIN, EVAL, TEST = DatasetSplit.TRAIN, DatasetSplit.EVAL, DatasetSplit.TEST


def samples(problem, tmp_path, split):
    return list(problem.generate_samples("", str(tmp_path), split))


def targets(problem, tmp_path, split):
    return [sample["targets"] for sample in samples(problem, tmp_path, split)]


# ---- Penn Treebank ----


def write_ptb(tmp_path):
    texts = {"train": " b a a \n\n a <unk> b \n", "valid": " a b \n", "test": " b \n"}
    members = {f"./simple-examples/data/ptb.{part}.txt": text for part, text in texts.items()}
    small_archives.write_archive(tmp_path / "simple-examples.tgz", members)


def test_treebank_in_words(tmp_path):
    write_ptb(tmp_path)
    problem = registry.problem("languagemodel_ptb10k")
    assert targets(problem, tmp_path, TRAIN) == ["b a a", "a <unk> b"]
    assert targets(problem, tmp_path, EVAL) == ["a b"]
    problem.generate_data(str(tmp_path), str(tmp_path))
    lines = (tmp_path / "vocab.lmptb.10000").read_text().splitlines()
    # The padding and the end have ids of their own.
    assert lines == ["<pad>", "<EOS>", "a", "b", "<unk>"]
    (shard,) = tmp_path.glob("languagemodel_ptb10k-dev-*")
    assert [records.parse_example(r) for r in records.read_records(str(shard))] == [
        {"targets": [2, 3, 1]}
    ]


def test_treebank_with_t2ts_vocabulary(tmp_path):
    write_ptb(tmp_path)
    (tmp_path / "vocab.lmptb.10000").write_text("a\nb\n<unk>\n")
    problem = registry.problem("languagemodel_ptb10k")
    encoded = problem.generate_encoded_samples(str(tmp_path), str(tmp_path), EVAL)
    assert list(encoded) == [{"targets": [0, 1, 1]}]


def test_treebank_in_bytes_needs_no_vocabulary(tmp_path):
    write_ptb(tmp_path)
    problem = registry.problem("languagemodel_ptb_characters")
    encoded = problem.generate_encoded_samples(str(tmp_path), str(tmp_path), EVAL)
    assert list(encoded) == [{"targets": [*(byte + 2 for byte in b"a b"), 1]}]
    assert not (tmp_path / "vocab.lmptb.10000").exists()


def test_most_frequent_words_are_few_and_ordered():
    words = language_model_ptb.most_frequent_words(iter(["c b a", "b c", "d c"]), 3)
    assert words == ["c", "b", "a"]


# ---- One Billion Word Benchmark ----


def test_billion_words(tmp_path):
    top = "1-billion-word-language-modeling-benchmark-r13output"
    train = f"{top}/training-monolingual.tokenized.shuffled"
    heldout = f"{top}/heldout-monolingual.tokenized.shuffled"
    small_archives.write_archive(
        tmp_path / f"{top}.tar.gz",
        {
            f"{train}/news.en-00002-of-00100": "third\n",
            f"{train}/news.en-00001-of-00100": "first\n\nsecond\n",
            f"{heldout}/news.en.heldout-00000-of-00050": "held out\n",
            f"{heldout}/news.en.heldout-00001-of-00050": "not used\n",
        },
    )
    for name in ("languagemodel_lm1b32k", "languagemodel_lm1b_characters_packed"):
        problem = registry.problem(name)
        assert targets(problem, tmp_path, TRAIN) == ["first", "second", "third"]
        assert targets(problem, tmp_path, EVAL) == ["held out"]


# ---- Wikipedia ----


def test_languages_take_turns(tmp_path):
    for language, text in {"de": "d1\nd2\n", "en": "e1\n\ne3\n", "fr": "f1\n", "ro": ""}.items():
        (tmp_path / f"wiki_{language}.txt").write_text(text)
    problem = registry.problem("languagemodel_de_en_fr_ro_wiki64k")
    assert targets(problem, tmp_path, TRAIN) == ["d1", "e1", "f1", "d2", "e3"]
    with pytest.raises(FileNotFoundError, match="wiki_en"):
        list(registry.problem("languagemodel_en_wiki32k").generate_samples("", "none", TRAIN))


@pytest.mark.parametrize("compress", [False, True])
def test_pages_are_dealt_out_to_shards(tmp_path, compress, monkeypatch):
    problem = registry.problem("languagemodel_wiki_xml_v8k_l1k")
    splits = [{"split": TRAIN, "shards": 2}, {"split": EVAL, "shards": 1}]
    monkeypatch.setattr(type(problem), "dataset_splits", splits)
    pages = [f"  <page>\n    <text>page {number}</text>\n  </page>\n" for number in range(4)]
    text = "".join(pages).encode()
    name = "enwiki-x-pages-articles.xml" + (".bz2" if compress else "")
    (tmp_path / name).write_bytes(bz2.compress(text) if compress else text)
    train = problem.train_text_filepaths(str(tmp_path))
    dev = problem.dev_text_filepaths(str(tmp_path))
    assert [open(path).read() for path in train] == [pages[0] + pages[3], pages[1]]
    assert [open(path).read() for path in dev] == [pages[2]]
    assert not list(tmp_path.glob("*incomplete*"))


def test_there_must_be_one_dump(tmp_path):
    problem = registry.problem("languagemodel_wiki_xml_v8k_l4k")
    for files in ([], ["a-pages-articles.xml", "b-pages-articles1.xml.bz2"]):
        for name in files:
            (tmp_path / name).write_text("")
        with pytest.raises(FileNotFoundError, match="one dump"):
            problem.train_text_filepaths(str(tmp_path))
    assert not list(tmp_path.glob("wiki_xml_pages*"))
    with pytest.raises(IsADirectoryError):
        language_model_wiki.deal_out_pages(str(tmp_path), [str(tmp_path / "out")])


# ---- Sentiment ----


def test_reviews_and_labels(tmp_path):
    texts = {"train/neg/0_1": "Bad.<br /><br />Very\nbad.", "train/neg/1_2": "Poor."}
    texts |= {"train/pos/0_9": "Good.", "test/neg/0_1": "No.", "test/pos/0_7": "Yes."}
    texts |= {"train/unsup/0_0": "Unknown."}
    small_archives.write_archive(
        tmp_path / "aclImdb_v1.tar.gz",
        {f"aclImdb/{name}.txt": text for name, text in texts.items()},
    )
    problem = registry.problem("sentiment_imdb")
    assert samples(problem, tmp_path, TRAIN) == [
        {"inputs": "Bad. Very bad.", "label": 0},
        {"inputs": "Good.", "label": 1},
        {"inputs": "Poor.", "label": 0},
    ]
    assert [sample["inputs"] for sample in samples(problem, tmp_path, EVAL)] == ["No.", "Yes."]
    assert problem.class_labels("") == ["neg", "pos"]
    encoded = registry.problem("sentiment_imdb_characters").generate_encoded_samples(
        str(tmp_path), str(tmp_path), EVAL
    )
    assert next(iter(encoded)) == {"inputs": [*(b + 2 for b in b"No."), 1], "targets": [0]}


# ---- Summaries ----

STORY = "First line.\n\nSecond line.\n\n@highlight\n\nOne thing\n\n@highlight\n\nAnother thing!\n"


def test_article_and_highlights(tmp_path):
    (tmp_path / "a.story").write_text(STORY)
    found = summarize_cnn_dailymail.article_and_summary(str(tmp_path / "a.story"))
    assert found == ("First line. Second line.", "One thing . Another thing!")


def test_stories_of_the_lists(tmp_path, caplog):
    problem = registry.problem("summarize_cnn_dailymail32k")
    addresses = [f"http://news/{number}" for number in range(5)]
    names = [f"{hashlib.sha1(address.encode()).hexdigest()}.story" for address in addresses]
    for part, numbers in (("train", (3, 0)), ("val", (1, 4)), ("test", (2,))):
        (tmp_path / f"all_{part}.txt").write_text("".join(f"{addresses[n]}\n" for n in numbers))
    with pytest.raises(SourceError, match=r"cnn_stories\.tgz.*drive\.google\.com"):
        samples(problem, tmp_path, TRAIN)
    stories = [STORY.replace("First", f"{number}") for number in range(4)]
    for archive, folder, numbers in (("cnn", "cnn", (0, 1)), ("dailymail", "dailymail", (2, 3))):
        small_archives.write_archive(
            tmp_path / f"{archive}_stories.tgz",
            {f"{folder}/stories/{names[n]}": stories[n] for n in numbers},
        )
    found = {split: samples(problem, tmp_path, split) for split in (TRAIN, EVAL, TEST)}
    first_words = {s: [x["inputs"].split()[0] for x in found[s]] for s in found}
    assert first_words == {TRAIN: ["3", "0"], EVAL: ["1"], TEST: ["2"]}
    assert found[TEST][0]["targets"] == "One thing . Another thing!"


# ---- Mathematics ----


def test_deepminds_questions(tmp_path):
    top = "mathematics_dataset-v1.0"
    small_archives.write_archive(
        tmp_path / f"{top}.tar.gz",
        {
            f"{top}/train-easy/algebra__a.txt": "What is 1+1?\n2\nWhat is 1-1?\n0\n",
            f"{top}/train-hard/algebra__a.txt": "What is 11*11?\n121\n",
            f"{top}/interpolate/algebra__a.txt": "What is 2+2?\n4\n",
            f"{top}/extrapolate/algebra__b.txt": "What is 222+2?\n224\n",
        },
    )
    problem = registry.problem("algorithmic_math_deepmind_all")
    assert targets(problem, tmp_path, TRAIN) == ["2", "0", "121"]
    assert samples(problem, tmp_path, EVAL) == [{"inputs": "What is 2+2?", "targets": "4"}]
    (tmp_path / top / "interpolate" / "algebra__a.txt").write_text("What is 2+2?\n")
    with pytest.raises(ValueError, match="no answer"):
        samples(problem, tmp_path, EVAL)


def test_expressions_of_two_variables():
    problem = registry.problem("algorithmic_math_two_variables")
    np.random.seed(1)
    found = list(itertools.islice(problem.generate_samples("", "", TRAIN), 500))
    signs = set()
    for sample in found:
        parts = re.fullmatch(r"([a-z])=(-?\d+),([a-z])=(-?\d+),(.)([-+*])(.)", sample["inputs"])
        x, first, y, second, *operation = parts.groups()
        assert x != y and operation[0] == x and operation[2] == y
        signs.add(operation[1])
        values = {"+": int(first) + int(second), "-": int(first) - int(second)}
        values["*"] = int(first) * int(second)
        assert sample["targets"] == str(values[operation[1]])
    assert signs == set("+-*")
