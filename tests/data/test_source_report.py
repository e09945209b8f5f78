import hashlib

import pytest

from t2t_keras.data import known_files, source_report, translate
from t2t_keras.data.modes import DatasetSplit

URL = "http://h/corpus.tgz"


class Described(translate.CorporaProblem):
    name = "described"
    train_sources = [
        [URL, ("a.en", "a.de")],
        [URL, ("b.en.gz", "b.de.gz")],
        ["", ("mine.en", "mine.de")],
        ["http://h/t.tar", ("tsv", 3, 2, "t/*train")],
    ]
    dev_sources = [["http://h/m.tmx.gz", ("tmx", "m.tmx.gz")]]

    def vocab_data_files(self):
        return self.train_sources[:1]


@pytest.fixture
def known(monkeypatch):
    digest = hashlib.sha256(b"content").hexdigest()
    monkeypatch.setitem(known_files.KNOWN_FILES, URL, known_files.KnownFile(7, digest))
    return digest


def test_nothing_there(tmp_path, known):
    tmp_dir = tmp_path / "none"
    assert Described().describe_sources(str(tmp_dir)).split("\n") == [
        "  train:",
        f"    {URL} (7 bytes)",
        f"      looked for as {tmp_dir}/corpus.tgz: absent",
        "      file a.en: not unpacked",
        "      file a.de: not unpacked",
        "      file b.en.gz: not unpacked",
        "      file b.de.gz: not unpacked",
        f"    files that you put into {tmp_dir}:",
        "      file mine.en: absent",
        "      file mine.de: absent",
        "    http://h/t.tar (size unknown)",
        f"      looked for as {tmp_dir}/t.tar: absent",
        "      files t/*train, columns 3 and 2: 0 unpacked",
        "  dev:",
        "    http://h/m.tmx.gz (size unknown)",
        f"      looked for as {tmp_dir}/m.tmx.gz: absent",
        "      file m.tmx.gz: not unpacked",
        "  vocabulary:",
        f"    {URL} (7 bytes)",
        f"      looked for as {tmp_dir}/corpus.tgz: absent",
        "      file a.en: not unpacked",
        "      file a.de: not unpacked",
    ]
    assert not tmp_dir.exists()


def test_what_is_there(tmp_path, known):
    (tmp_path / "corpus.tgz").write_bytes(b"content")
    (tmp_path / "t.tar.incomplete").write_bytes(b"12345")
    (tmp_path / "m.tmx.gz").write_bytes(b"1234")
    (tmp_path / "b.en").touch()
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "1train").touch()
    before = sorted(tmp_path.rglob("*"))
    lines = Described().describe_sources(str(tmp_path)).split("\n")
    for line in (
        f"      looked for as {tmp_path}/corpus.tgz: there, 7 bytes, checksum is right",
        f"      looked for as {tmp_path}/t.tar: download begun, 5 bytes",
        f"      looked for as {tmp_path}/m.tmx.gz: there, 4 bytes, checksum not known",
        "      file b.en.gz: there",
        "      file b.de.gz: not unpacked",
        "      files t/*train, columns 3 and 2: 1 unpacked",
    ):
        assert line in lines
    assert sorted(tmp_path.rglob("*")) == before


def test_changed_archive_is_named_with_both_checksums(tmp_path, known):
    (tmp_path / "corpus.tgz").write_bytes(b"other")
    report = source_report.describe_archives(
        str(tmp_path), {DatasetSplit.TRAIN: Described.train_sources[:1]}
    )
    assert "there, but changed" in report and known in report
    assert hashlib.sha256(b"other").hexdigest() in report
