"""Language modelling on Wikipedia: paragraphs in one or several languages, or the raw XML.

The names are T2T's (wiki_lm, wiki); T2T read preprocessed files of Google's. Here the text is put
into tmp_dir by the user.
"""

import bz2
import glob
import itertools
import os
import shutil
from collections.abc import Iterator, Sequence
from typing import IO, Any, ClassVar

from absl import logging

from t2t_keras import registry
from t2t_keras.data import text_lines, text_problems
from t2t_keras.data.progress import progress

_PAGE_END = b"</page>"


class WikiParagraphs(text_problems.Text2SelfProblem):
    """Base class: paragraphs from `wiki_<language>.txt` in tmp_dir, one a line.

    Languages take turns, so that the vocabulary and every shard hold all of them.
    """

    languages: ClassVar[Sequence[str]] = ()
    approx_vocab_size = 32000
    is_generate_per_split = False
    max_samples_for_vocab = 200000

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields the paragraphs of all languages in turn; empty lines are left out."""
        del data_dir, dataset_split
        paths = [os.path.join(tmp_dir, f"wiki_{language}.txt") for language in self.languages]
        missing = [path for path in paths if not os.path.exists(path)]
        if missing:
            raise FileNotFoundError(
                f"Problem {self.name} needs Wikipedia's text, one paragraph a line, without "
                f"markup: {', '.join(missing)}"
            )
        for group in itertools.zip_longest(*map(text_lines.stripped_lines, paths)):
            yield from ({"targets": paragraph} for paragraph in group if paragraph)


@registry.register_problem
class LanguagemodelEnWiki32k(WikiParagraphs):
    """English, about 32,000 subwords."""

    languages = ("en",)


@registry.register_problem
class LanguagemodelDeWiki32k(WikiParagraphs):
    """German, about 32,000 subwords."""

    languages = ("de",)


@registry.register_problem
class LanguagemodelFrWiki32k(WikiParagraphs):
    """French, about 32,000 subwords."""

    languages = ("fr",)


@registry.register_problem
class LanguagemodelRoWiki32k(WikiParagraphs):
    """Romanian, about 32,000 subwords."""

    languages = ("ro",)


@registry.register_problem
class LanguagemodelEnWiki64k(LanguagemodelEnWiki32k):
    """English, about 64,000 subwords."""

    approx_vocab_size = 64000


@registry.register_problem
class LanguagemodelDeWiki64k(LanguagemodelDeWiki32k):
    """German, about 64,000 subwords."""

    approx_vocab_size = 64000


@registry.register_problem
class LanguagemodelFrWiki64k(LanguagemodelFrWiki32k):
    """French, about 64,000 subwords."""

    approx_vocab_size = 64000


@registry.register_problem
class LanguagemodelRoWiki64k(LanguagemodelRoWiki32k):
    """Romanian, about 64,000 subwords."""

    approx_vocab_size = 64000


@registry.register_problem
class LanguagemodelDeEnFrRoWiki64k(WikiParagraphs):
    """German, English, French and Romanian together, about 64,000 subwords.

    Its vocabulary is that of the problems named `…_multi64k`.
    """

    languages = ("de", "en", "fr", "ro")
    approx_vocab_size = 64000


@registry.register_problem
class LanguagemodelWikiXmlV8kL1k(text_problems.ChoppedTextProblem):
    """Wikipedia's XML as it is, in pieces of 1,024 ids, about 8,192 subwords.

    One dump, `*-pages-articles*.xml` or `.xml.bz2`, must be in tmp_dir. Its pages are dealt out to
    as many files as there are shards, `wiki_xml_pages/…`, first.
    """

    approx_vocab_size = 2**13
    sequence_length = 1024

    def train_text_filepaths(self, tmp_dir: str) -> list[str]:
        """The files of all training shards."""
        return self._page_files(tmp_dir)[: self.num_train_shards]

    def dev_text_filepaths(self, tmp_dir: str) -> list[str]:
        """The files of the dev shards."""
        return self._page_files(tmp_dir)[self.num_train_shards :]

    def _page_files(self, tmp_dir: str) -> list[str]:
        """One file a shard, made now if need be."""
        folder = os.path.join(tmp_dir, "wiki_xml_pages")
        count = self.num_generate_tasks
        names = [f"pages-{number:05d}-of-{count:05d}" for number in range(count)]
        if not os.path.isdir(folder):
            dump = self._dump(tmp_dir)
            temporary = f"{folder}.incomplete.{os.getpid()}"
            os.makedirs(temporary)
            try:
                deal_out_pages(dump, [os.path.join(temporary, name) for name in names])
                os.replace(temporary, folder)
            finally:
                shutil.rmtree(temporary, ignore_errors=True)
        return [os.path.join(folder, name) for name in names]

    def _dump(self, tmp_dir: str) -> str:
        pattern = os.path.join(glob.escape(tmp_dir), "*-pages-articles*.xml*")
        found = sorted(path for path in glob.glob(pattern) if path.endswith((".xml", ".xml.bz2")))
        if len(found) == 1:
            return found[0]
        raise FileNotFoundError(
            f"Problem {self.name} needs one dump of Wikipedia, such as enwiki-latest-pages-"
            f"articles.xml.bz2 of https://dumps.wikimedia.org, in {tmp_dir}. Found: {found}"
        )


@registry.register_problem
class LanguagemodelWikiXmlV8kL4k(LanguagemodelWikiXmlV8kL1k):
    """The same in pieces of 4,096 ids."""

    sequence_length = 4096


def deal_out_pages(dump: str, paths: Sequence[str]) -> None:
    """Writes the pages of a dump to several files in turn.

    Args:
        dump: XML file, or `.bz2`, whose pages end with a line `</page>`.
        paths: files to write.
    """
    logging.info("Dealing the pages of %s out to %d files", dump, len(paths))
    outputs: list[IO[bytes]] = [open(path, "wb") for path in paths]
    page = 0
    try:
        with bz2.open(dump, "rb") if dump.endswith(".bz2") else open(dump, "rb") as stream:
            for line in progress(stream, f"Reading {os.path.basename(dump)}", "line"):
                outputs[page % len(outputs)].write(line)
                page += line.strip() == _PAGE_END
    finally:
        for output in outputs:
            output.close()
