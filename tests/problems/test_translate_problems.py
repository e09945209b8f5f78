import os

import pytest

from t2t_keras import registry
from t2t_keras.data import records, translate
from t2t_keras.data.modes import DatasetSplit, ModeKeys
from t2t_keras.data.sources import SourceError
from t2t_keras.problems import translate_enro
from tests.problems import small_archives

NAMES = [
    name
    for name in registry.list_problems()
    if isinstance(registry.problem(name), translate.TranslateProblem) and "demo" not in name
]
SPLITS = (DatasetSplit.TRAIN, DatasetSplit.EVAL, DatasetSplit.TEST)


def pairs(problem, tmp_path, split):
    found = problem.generate_samples("", str(tmp_path), split)
    return [(sample["inputs"], sample["targets"]) for sample in found]


def write_all(problem, tmp_path, count=3):
    files = [source for split in SPLITS for source in problem.source_data_files(split)]
    small_archives.write_sources(tmp_path, files, count)
    for number, block in enumerate(getattr(problem, "synthetic_files", ())):
        for name in block:
            (tmp_path / name).write_text(f"block {number}\n\n" if number == 0 else f"{number}\n")


@pytest.mark.parametrize("name", NAMES)
def test_pairs_of_all_corpora(name, tmp_path, monkeypatch):
    problem = registry.problem(name)
    write_all(problem, tmp_path)
    # As if the whole corpus had so many, of which some are drawn: as many are read to draw them.
    monkeypatch.setattr(translate_enro, "_NUM_PAIRS", 8000)
    blocks = len(getattr(problem, "synthetic_files", ()))
    for split in SPLITS:
        found = pairs(problem, tmp_path, split)
        files = problem.source_data_files(split)
        if split == DatasetSplit.TRAIN and hasattr(problem, "num_sampled_pairs"):
            assert len(found) == problem.num_sampled_pairs
            continue
        authentic = 3 * len(files)
        is_train = split == DatasetSplit.TRAIN
        assert len(found) == (blocks * (authentic + 1) if blocks and is_train else authentic)
        for files_of_source in (files for _, files in files):
            if isinstance(files_of_source[0], str) and files_of_source[0] not in ("tsv", "tmx"):
                first, second = (
                    f"Sentence 1 is from {f.replace('/', ' ')}." for f in files_of_source
                )
                assert (first, second) in found


def test_languages_of_every_pair():
    for name in NAMES:
        problem = registry.problem(name)
        other = name.removeprefix("translate_en")[:2]
        for split in SPLITS:
            for _, files in problem.source_data_files(split):
                if len(files) == 2 and files[0] != "tmx":
                    stems = [file.lower() for file in files]
                    assert "en" in stems[0] and other in stems[1], (name, files)


@pytest.mark.parametrize("name", ["translate_encs_wmt32k", "translate_enzh_wmt8k"])
def test_vocabularies_of_their_own_way(name, tmp_path, monkeypatch):
    problem = registry.problem(name)
    monkeypatch.setattr(type(problem), "approx_vocab_size", 300)
    monkeypatch.setattr(type(problem), "train_shards", 1)
    write_all(problem, tmp_path, count=40)
    records.seed_generators(1)
    problem.generate_data(str(tmp_path / "data"), str(tmp_path))
    encoders = problem.get_feature_encoders(str(tmp_path / "data"))
    (shard,) = (tmp_path / "data").glob(f"{name}-dev-*")
    example = records.parse_example(records.read_records(str(shard))[0])
    texts = [encoders[side].decode(example[side][:-1]) for side in ("inputs", "targets")]
    dev = problem.source_data_files(DatasetSplit.EVAL)[0][1]
    for text, file in zip(texts, dev, strict=True):
        assert text.endswith(f"is from {file.replace('/', ' ')}.")
    assert (encoders["inputs"] is encoders["targets"]) == ("enzh" not in name)


def test_compiled_czeng_is_in_the_vocabulary_text(tmp_path):
    problem = registry.problem("translate_encs_wmt32k")
    write_all(problem, tmp_path)
    lines = list(problem.generate_text_for_vocab("", str(tmp_path)))
    assert "English 2." in lines and "Deutsch 2." in lines


def test_chinese_corpora_are_taken_if_they_are_there(tmp_path):
    problem = registry.problem("translate_enzh_wmt32k")
    write_all(problem, tmp_path)
    small_archives.write_archive(
        tmp_path / "cwmt.tgz",
        {
            "cwmt/a/x_en.txt": "A\n",
            "cwmt/a/x_ch.txt": "甲\n",
            "cwmt/b/y_en.txt": "B\n",
            "cwmt/b/y_cn.txt": "乙\n",
            "cwmt/b/alone_en.txt": "C\n",
        },
    )
    small_archives.write_archive(
        tmp_path / "UNv1.0.en-zh.tar.gz",
        {"en-zh/UNv1.0.en-zh.en": "U\n", "en-zh/UNv1.0.en-zh.zh": "丙\n"},
    )
    for _ in range(2):
        found = pairs(problem, tmp_path, DatasetSplit.TRAIN)
        assert found[3:] == [("A", "甲"), ("B", "乙"), ("U", "丙")]
    assert len(pairs(problem, tmp_path, DatasetSplit.EVAL)) == 3


def test_blocks_alternate(tmp_path):
    problem = registry.problem("translate_enfr_wmt32k_with_backtranslate_en")
    write_all(problem, tmp_path)
    found = pairs(problem, tmp_path, DatasetSplit.TRAIN)
    authentic = found[1 : len(found) // 3]
    expected = [("block 0", "block 0"), *authentic, ("1", "1"), *authentic, ("2", "2"), *authentic]
    assert found == expected
    os.remove(tmp_path / "en_mono_fr.txt2")
    with pytest.raises(FileNotFoundError, match=r"back-translated.*en_mono_fr\.txt2"):
        pairs(problem, tmp_path, DatasetSplit.TRAIN)


def test_random_sample_of_an_empty_corpus_ends(tmp_path):
    problem = registry.problem("translate_enro_wmt_multi_tiny64k")
    for _, files in problem.source_data_files(DatasetSplit.TRAIN):
        for name in files:
            (tmp_path / name).write_text("\n")
    with pytest.raises(ValueError, match="hold no pairs"):
        pairs(problem, tmp_path, DatasetSplit.TRAIN)


@pytest.mark.parametrize(
    "name, language",
    [("translate_ende_wmt14_bpe37k", "de"), ("translate_enfr_wmt14_wordpiece32k", "fr")],
)
def test_the_papers_test_set_is_a_split(name, language, tmp_path, monkeypatch):
    problem = registry.problem(name)
    monkeypatch.setattr(type(problem), "approx_vocab_size", 300)
    write_all(problem, tmp_path, count=5)
    records.seed_generators(1)
    problem.generate_data(str(tmp_path / "data"), str(tmp_path))
    encoder = problem.get_feature_encoders(str(tmp_path / "data"))["targets"]
    for mode, part in ((DatasetSplit.TEST, "newstest2014"), (ModeKeys.EVAL, "newstest2013")):
        pattern = os.path.basename(problem.filepattern(str(tmp_path / "data"), mode))
        (shard,) = (tmp_path / "data").glob(pattern)
        found = records.read_records(str(shard))
        assert len(found) == 5
        for record in found:
            text = encoder.decode(records.parse_example(record)["targets"][:-1])
            assert part in text and text.endswith((f".{language}.", f".{language}.sgm."))


def bpe_archive(tmp_path):
    bases = registry.problem("translate_ende_wmt_bpe32k").BASE_NAMES.values()
    texts = {
        f"{base}.{language}": f"{base[:5]} {language} un@@ known\n"
        for base in bases
        for language in ("en", "de")
    }
    tokens = {token for text in texts.values() for token in text.split()} - {"un@@"}
    vocabulary = "".join(f"{token}\n" for token in sorted(tokens))
    archive = tmp_path / "wmt16_en_de.tar.gz"
    small_archives.write_archive(archive, {**texts, "vocab.bpe.32000": vocabulary})


def test_googles_byte_pairs(tmp_path):
    problem = registry.problem("translate_ende_wmt_bpe32k")
    with pytest.raises(SourceError, match="drive.google.com"):
        problem.generate_data(str(tmp_path / "data"), str(tmp_path))
    bpe_archive(tmp_path)
    problem.generate_data(str(tmp_path / "data"), str(tmp_path))
    lines = (tmp_path / "data" / "vocab.bpe.32000").read_text().splitlines()
    assert lines[:2] == ["<pad>", "<EOS>"] and lines[-1] == "UNK"
    encoder = problem.get_feature_encoders(str(tmp_path / "data"))["inputs"]
    (shard,) = (tmp_path / "data").glob("translate_ende_wmt_bpe32k-test-*")
    (record,) = records.read_records(str(shard))
    example = records.parse_example(record)
    assert encoder.decode(example["targets"][:-1]) == "newst de UNK known"
    assert example["inputs"][-1] == example["targets"][-1] == 1
