import gzip
import hashlib
import http.server
import io
import os
import socket
import tarfile
import threading

import pytest

from t2t_keras.data import downloads, known_files, sources

CONTENT = os.urandom(700_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves CONTENT; `faults` says what goes wrong with the next answers."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = CONTENT
        self.etag = '"version 1"'
        self.faults = []
        self.ranges = []  # The Range header of each request.

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/path/corpus.tgz?x=1"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *args):
        pass

    def do_GET(self):
        server = self.server
        wanted = self.headers.get("Range")
        server.ranges.append(wanted)
        fault = server.faults.pop(0) if server.faults else None
        if isinstance(fault, int):
            return self.send_error(fault)
        content, offset = server.content, 0
        if wanted and fault != "no ranges" and self.headers.get("If-Range") in (None, server.etag):
            offset = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if offset >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                return self.end_headers()
            self.send_response(206)
            last = len(content) - 1
            self.send_header("Content-Range", f"bytes {offset}-{last}/{len(content)}")
        else:
            self.send_response(200)
        if server.etag:
            self.send_header("ETag", server.etag)
        self.send_header("Content-Length", str(len(content) - offset))
        self.end_headers()
        body = content[offset:]
        self.wfile.write(body[: len(body) // 2] if fault == "cut" else body)


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def get(server, path, **arguments):
    arguments.setdefault("first_wait_seconds", 0.0)
    return downloads.download(server.url, str(path), **arguments)


def test_download_arrives_whole_and_alone(server, tmp_path):
    assert get(server, tmp_path / "f", sha256=SHA256.upper()) == str(tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == CONTENT
    assert os.listdir(tmp_path) == ["f"]


def test_existing_file_is_not_fetched_again(server, tmp_path):
    (tmp_path / "f").write_text("mine")
    get(server, tmp_path / "f", sha256=SHA256)
    assert (tmp_path / "f").read_text() == "mine"
    assert server.ranges == []


@pytest.mark.parametrize("status", [503, 429, 500])
def test_passing_troubles_are_retried(server, tmp_path, status):
    server.faults = [status, status]
    get(server, tmp_path / "f", attempts=3)
    assert (tmp_path / "f").read_bytes() == CONTENT
    assert len(server.ranges) == 3


def test_missing_file_is_not_retried(server, tmp_path):
    server.faults = [404]
    with pytest.raises(downloads.DownloadError, match="404"):
        get(server, tmp_path / "f")
    assert len(server.ranges) == 1
    assert os.listdir(tmp_path) == []


def test_cut_connections_are_continued_where_they_broke(server, tmp_path):
    server.faults = ["cut", "cut"]
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=350000-", "bytes=525000-"]


def test_later_process_continues(server, tmp_path):
    server.faults = ["cut"]
    with pytest.raises(downloads.DownloadError, match="350000 of 700000 bytes"):
        get(server, tmp_path / "f", attempts=1)
    assert not (tmp_path / "f").exists()
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=350000-"]
    assert os.listdir(tmp_path) == ["f"]


def test_file_changed_on_the_server_starts_again(server, tmp_path):
    server.faults = ["cut"]
    with pytest.raises(downloads.DownloadError):
        get(server, tmp_path / "f", attempts=1)
    server.content, server.etag = CONTENT[::-1], '"version 2"'
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == CONTENT[::-1]


def test_without_version_mark_or_checksum_nothing_is_continued(server, tmp_path):
    server.etag = None
    server.faults = ["cut"]
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == CONTENT
    assert server.ranges == [None, None]


def test_server_without_ranges(server, tmp_path):
    server.faults = ["cut", "no ranges"]
    get(server, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == CONTENT


@pytest.mark.parametrize("checksum", [None, SHA256], ids=["unchecked", "checked"])
def test_incomplete_file_that_is_complete_already(server, tmp_path, checksum):
    (tmp_path / "f.incomplete").write_bytes(CONTENT)
    get(server, tmp_path / "f", sha256=checksum)
    assert (tmp_path / "f").read_bytes() == CONTENT
    assert os.listdir(tmp_path) == ["f"]


def test_foreign_incomplete_file_is_noticed_by_the_checksum(server, tmp_path):
    (tmp_path / "f.incomplete").write_bytes(b"other" * 1000)
    get(server, tmp_path / "f", sha256=SHA256)
    assert (tmp_path / "f").read_bytes() == CONTENT


def test_longer_incomplete_file_is_dropped(server, tmp_path):
    (tmp_path / "f.incomplete").write_bytes(CONTENT + b"x")
    get(server, tmp_path / "f", sha256=SHA256)
    assert (tmp_path / "f").read_bytes() == CONTENT


def test_wrong_checksum_is_an_error_and_leaves_nothing(server, tmp_path):
    with pytest.raises(downloads.DownloadError, match=f"{SHA256}, expected {'0' * 64}"):
        get(server, tmp_path / "f", sha256="0" * 64)
    assert os.listdir(tmp_path) == []
    assert len(server.ranges) == 1


def test_downloads_of_one_file_at_a_time_fetch_it_once(server, tmp_path):
    threads = [threading.Thread(target=get, args=(server, tmp_path / "f")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "f").read_bytes() == CONTENT
    assert len(server.ranges) == 1


def closed_port_url(name="corpus.tgz"):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/{name}"


@pytest.fixture
def no_waiting(monkeypatch):
    monkeypatch.setattr(downloads.time, "sleep", lambda seconds: None)


def test_offline_says_what_to_put_where(tmp_path, no_waiting):
    url = closed_port_url()
    with pytest.raises(sources.SourceError) as caught:
        sources.fetch_members(str(tmp_path), url, ["dev/a.en", "dev/a.de"])
    message = str(caught.value)
    for part in (url, tmp_path / "corpus.tgz", tmp_path / "dev/a.en", tmp_path / "dev/a.de"):
        assert str(part) in message
    assert isinstance(caught.value, FileNotFoundError)


def archive_bytes(members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def test_members_of_a_downloaded_archive(server, tmp_path):
    server.content = archive_bytes({"dev/a.en": b"hi\n", "dev/a.de": b"da\n", "more": b""})
    tmp_dir = str(tmp_path / "new")
    paths = sources.fetch_members(tmp_dir, server.url, ["dev/a.en", "dev/a.de"])
    assert paths == [f"{tmp_dir}/dev/a.en", f"{tmp_dir}/dev/a.de"]
    assert open(paths[1]).read() == "da\n"
    assert sorted(os.listdir(tmp_dir)) == ["corpus.tgz", "dev", "more"]


def test_archive_in_tmp_dir_needs_no_network(tmp_path):
    (tmp_path / "corpus.tgz").write_bytes(archive_bytes({"a": b"1", "b.gz": gzip.compress(b"2")}))
    paths = sources.fetch_members(str(tmp_path), closed_port_url(), ["a", "b.gz"])
    assert [open(path).read() for path in paths] == ["1", "2"]
    assert paths == [str(tmp_path / "a"), str(tmp_path / "b")]


@pytest.mark.parametrize("url", ["", "http://127.0.0.1:9/corpus.tgz"])
def test_files_in_tmp_dir_need_no_archive(tmp_path, url):
    (tmp_path / "a").write_text("1")
    (tmp_path / "b").write_text("2")
    paths = sources.fetch_members(str(tmp_path), url, ["a", "b.gz"])
    assert paths == [str(tmp_path / "a"), str(tmp_path / "b")]


def test_user_files_that_are_absent_are_listed(tmp_path):
    with pytest.raises(sources.SourceError, match="must be put there") as caught:
        sources.fetch_members(str(tmp_path), "", ["train.en"])
    assert str(tmp_path / "train.en") in str(caught.value)


def test_archive_without_the_member_names_near_ones(tmp_path):
    (tmp_path / "corpus.tgz").write_bytes(archive_bytes({"dev/news2013.en": b""}))
    with pytest.raises(sources.SourceError, match=r"does not hold dev/news2012\.en.*news2013"):
        sources.fetch_members(str(tmp_path), "http://h/corpus.tgz", ["dev/news2012.en"])


def test_single_compressed_file_as_source(server, tmp_path):
    server.content = gzip.compress(b"text")
    url = server.url.replace("corpus.tgz?x=1", "train.en.gz")
    assert sources.fetch_members(str(tmp_path), url, ["train.en"]) == [str(tmp_path / "train.en")]
    assert (tmp_path / "train.en").read_text() == "text"


def test_local_sources_are_copied(tmp_path):
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "a b.txt").write_text("1")
    for number, url in enumerate([str(origin / "a b.txt"), f"file://{origin}/a b.txt"]):
        path = sources.fetch(str(tmp_path / str(number)), url)
        assert path == str(tmp_path / str(number) / "a b.txt")
        assert open(path).read() == "1"
    with pytest.raises(sources.SourceError, match="Could not copy"):
        sources.fetch(str(tmp_path), str(origin / "none"))


def test_glob_over_an_archive(tmp_path):
    (tmp_path / "corpus.tgz").write_bytes(
        archive_bytes({"d/2train.gz": gzip.compress(b"2"), "d/1train": b"1", "d/dev": b""})
    )
    paths = sources.fetch_matching(str(tmp_path), "http://h/corpus.tgz", "d/*train*")
    assert paths == [str(tmp_path / "d/1train"), str(tmp_path / "d/2train")]
    (tmp_path / "d/3train.incomplete.77").write_text("left by a killed process")
    # The second time the compressed and the plain file both match: one path each.
    assert sources.fetch_matching(str(tmp_path), "", "d/*train*") == paths
    with pytest.raises(sources.SourceError, match="does not hold"):
        sources.fetch_matching(str(tmp_path), "http://h/corpus.tgz", "e/*")


@pytest.mark.parametrize(
    "url, name",
    [
        ("http://h/a/corpus.tgz", "corpus.tgz"),
        ("https://h/a%20b.zip?download=1", "a b.zip"),
        ("http://h/download.php?f=SETIMES/v2/en-ro.txt.zip", "en-ro.txt.zip"),
        ("/data/x.txt", "x.txt"),
        ("http://h/", ""),
    ],
)
def test_file_name_of(url, name):
    assert sources.file_name_of(url) == name


def test_known_checksums_are_well_formed():
    for url, known in known_files.KNOWN_FILES.items():
        assert url.startswith("http") and len(bytes.fromhex(known.sha256)) == 32
        assert known.sha256 == known.sha256.lower() and known.num_bytes > 0


@pytest.fixture
def whole_archive(monkeypatch):
    content = archive_bytes({"a": os.urandom(50_000)})
    known = known_files.KnownFile(len(content), hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(known_files.KNOWN_FILES, "http://h/corpus.tgz", known)
    return content


def test_cut_archive_placed_by_hand_is_named_with_both_checksums(tmp_path, whole_archive):
    cut = whole_archive[:30_000]
    (tmp_path / "corpus.tgz").write_bytes(cut)
    with pytest.raises(ValueError, match="damaged") as caught:
        sources.fetch_members(str(tmp_path), "http://h/corpus.tgz", ["a"])
    for content in (cut, whole_archive):
        assert hashlib.sha256(content).hexdigest() in str(caught.value)
        assert f"{len(content)} bytes" in str(caught.value)
    assert not (tmp_path / "a").exists()


def test_other_archive_placed_by_hand_is_used_with_a_warning(tmp_path, whole_archive, caplog):
    other = archive_bytes({"a": b"mine"})
    (tmp_path / "corpus.tgz").write_bytes(other)
    (path,) = sources.fetch_members(str(tmp_path), "http://h/corpus.tgz", ["a"])
    assert open(path).read() == "mine"
    for content in (other, whole_archive):
        assert hashlib.sha256(content).hexdigest() in caplog.text
    with pytest.raises(sources.SourceError, match=hashlib.sha256(whole_archive).hexdigest()):
        sources.fetch_members(str(tmp_path), "http://h/corpus.tgz", ["b"])


def test_right_archive_placed_by_hand_is_used_silently(tmp_path, whole_archive, caplog):
    (tmp_path / "corpus.tgz").write_bytes(whole_archive)
    sources.fetch_members(str(tmp_path), "http://h/corpus.tgz", ["a"])
    assert "SHA-256" not in caplog.text
