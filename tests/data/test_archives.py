import gzip
import io
import os
import stat
import tarfile
import zipfile

import pytest

from t2t_keras.data import archives


def make_tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return str(path)


MEMBERS = {"dev/a.en": b"hello\n", "./dev/a.de": b"hallo\n", "top.txt": b""}


def read_tree(directory):
    return {
        os.path.relpath(os.path.join(folder, name), directory): open(
            os.path.join(folder, name), "rb"
        ).read()
        for folder, _, names in os.walk(directory)
        for name in names
    }


EXPECTED = {"dev/a.en": b"hello\n", "dev/a.de": b"hallo\n", "top.txt": b""}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_unpacks_tar_whatever_its_name(tmp_path, mode):
    archive = make_tar(tmp_path / "archive.tgz", MEMBERS, mode)
    assert archives.is_archive(archive)
    written = archives.unpack(archive, str(tmp_path / "out"))
    assert written == ["dev/a.en", "dev/a.de", "top.txt"]
    assert read_tree(tmp_path / "out") == EXPECTED


def test_unpacks_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.mkdir("dev") if hasattr(archive, "mkdir") else None
        for name, content in EXPECTED.items():
            archive.writestr(name, content)
    assert archives.is_archive(str(tmp_path / "archive.zip"))
    archives.unpack(str(tmp_path / "archive.zip"), str(tmp_path / "out"))
    assert read_tree(tmp_path / "out") == EXPECTED


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "dev/../../evil", "..\\evil", "C:/evil"])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_refuses_to_leave_the_directory(tmp_path, name, kind):
    path = str(tmp_path / "archive")
    if kind == "tar":
        make_tar(path, {name: b"x"})
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(zipfile.ZipInfo(name), b"x")
    out = tmp_path / "a" / "out"
    with pytest.raises(ValueError, match="outside the target directory"):
        archives.unpack(path, str(out))
    assert set(read_tree(tmp_path)) == {"archive"}


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_pipes_are_left_out(tmp_path, kind):
    path = str(tmp_path / "archive")
    with tarfile.open(path, "w") as archive:
        link = tarfile.TarInfo("link")
        link.type = kind
        link.linkname = "/etc/passwd"
        archive.addfile(link)
        # Through the link, this would be a file elsewhere.
        info = tarfile.TarInfo("link/file")
        info.size = 1
        archive.addfile(info, io.BytesIO(b"x"))
    assert archives.unpack(path, str(tmp_path / "out")) == ["link/file"]
    assert read_tree(tmp_path / "out") == {"link/file": b"x"}


def test_zip_links_are_left_out(tmp_path):
    path = str(tmp_path / "archive")
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("link")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    assert archives.unpack(path, str(tmp_path / "out")) == []


def test_total_size_is_bounded(tmp_path):
    archive = make_tar(tmp_path / "archive", {"a": b"0" * 600, "b": b"0" * 600})
    with pytest.raises(ValueError, match="more than 1000 bytes"):
        archives.unpack(archive, str(tmp_path / "out"), max_bytes=1000)
    assert read_tree(tmp_path / "out") == {"a": b"0" * 600}
    archives.unpack(archive, str(tmp_path / "out"), max_bytes=1200)
    assert set(read_tree(tmp_path / "out")) == {"a", "b"}


@pytest.mark.parametrize("kept", [0.2, 0.6, 0.95])
def test_cut_archive_leaves_no_half_file(tmp_path, kept):
    whole = make_tar(tmp_path / "whole", {"a": os.urandom(50_000), "b": os.urandom(50_000)})
    content = open(whole, "rb").read()
    cut = tmp_path / "cut.tgz"
    cut.write_bytes(content[: int(len(content) * kept)])
    with pytest.raises(ValueError, match="damaged"):
        archives.unpack(str(cut), str(tmp_path / "out"))
    sizes = [len(data) for data in read_tree(tmp_path / "out").values()]
    assert sizes == [50_000] * int(kept * 2)


def test_text_is_no_archive(tmp_path):
    (tmp_path / "a").write_text("some text\n" * 200)
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"some text\n" * 200))
    assert not archives.is_archive(str(tmp_path / "a"))
    assert not archives.is_archive(str(tmp_path / "b.gz"))
    with pytest.raises(ValueError, match="no archive"):
        archives.unpack(str(tmp_path / "a"), str(tmp_path / "out"))


@pytest.mark.parametrize("name", ["corpus.en.gz", "giga.z.gz", "g.gz"])
def test_gunzip_removes_exactly_the_suffix(tmp_path, name):
    (tmp_path / name).write_bytes(gzip.compress(b"text"))
    target = archives.gunzip(str(tmp_path / name))
    assert target == str(tmp_path / name)[:-3]
    assert open(target, "rb").read() == b"text"


def test_gunzip_of_damaged_or_misnamed_files(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(os.urandom(9000))[:5000])
    with pytest.raises(ValueError, match="damaged"):
        archives.gunzip(str(path))
    assert os.listdir(tmp_path) == ["a.gz"]
    with pytest.raises(ValueError, match=r"\*\.gz"):
        archives.gunzip(str(tmp_path / "a"))
