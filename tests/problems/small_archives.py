"""Tiny archives with the names inside that problems expect."""

import gzip
import io
import pathlib
import tarfile
import zipfile
from collections.abc import Mapping

from t2t_keras.data import sources


def write_archive(path: pathlib.Path, members: Mapping[str, str]) -> None:
    """A zip or gzipped tar, by its name; members named *.gz are compressed."""
    contents = {
        name: gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
        for name, text in members.items()
    }
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in contents.items():
                archive.writestr(name, content)
        return
    with tarfile.open(path, "w:gz") as archive:
        for name, content in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def sentences(name: str, count: int) -> str:
    """Lines that look like sentences, and tell where they come from."""
    return "".join(f"Sentence {number} is from {name}.\n" for number in range(count))


def as_sgm(lines: str) -> str:
    """Lines as NIST markup."""
    segments = "".join(f'<seg id="1">{line}</seg>\n' for line in lines.splitlines())
    return f'<srcset setid="x">\n<doc>\n{segments}</doc>\n</srcset>\n'


def content_of(file_name: str, count: int) -> str:
    """Made-up content of a corpus file."""
    lines = sentences(file_name.replace("/", " "), count)
    return as_sgm(lines) if file_name.endswith("sgm") else lines


def write_sources(tmp_dir: pathlib.Path, source_list, count: int = 3) -> None:
    """The archives (or plain files) of `source_data_files`, each text file with `count` lines."""
    members: dict[str, dict[str, str]] = {}
    for address, files in source_list:
        found = members.setdefault(address, {})
        if files[0] == "tsv":
            table = "".join(f"{n}\t0.5\tDeutsch {n}.\tEnglish {n}.\n" for n in range(count))
            found[files[3].replace("*", "1")] = table
        elif files[0] == "tmx":
            found[files[1]] = "".join(
                f"<seg>English {n} is here.</seg>\n<seg>Deutsch {n}.</seg>\n" for n in range(count)
            )
        else:
            found.update({name: content_of(name, count) for name in files})
    for address, texts in members.items():
        path = tmp_dir / sources.file_name_of(address)
        if not address:
            for name, text in texts.items():
                (tmp_dir / name).write_text(text)
        elif list(texts) == [path.name]:
            path.write_bytes(gzip.compress(texts[path.name].encode()))
        else:
            write_archive(path, texts)
