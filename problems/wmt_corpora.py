"""Corpora of the WMT translation tasks, as entries of `TranslateProblem.source_data_files`.

Every entry is `[address, (English file, other file)]`; the language is given by its code. Corpora
exist for some languages only. "The paper" is "Attention Is All You Need".
"""

from collections.abc import Sequence
from typing import Any

Source = Sequence[Any]

_STATMT = "http://www.statmt.org"
_WMT18 = "http://data.statmt.org/wmt18/translation-task"
_PARACRAWL = "https://s3.amazonaws.com/web-language-models/paracrawl"


def _pair(address: str, stem: str, language: str) -> Source:
    """Files `<stem>.en` and `<stem>.<language>` of an archive."""
    return [address, (f"{stem}.en", f"{stem}.{language}")]


def common_crawl(language: str) -> Source:
    """Common Crawl (2013): cs, de, es, fr, ru."""
    address = f"{_STATMT}/wmt13/training-parallel-commoncrawl.tgz"
    return _pair(address, f"commoncrawl.{language}-en", language)


def europarl7(language: str) -> Source:
    """Europarl 7 (2013): cs, de, es, fr."""
    address = f"{_STATMT}/wmt13/training-parallel-europarl-v7.tgz"
    return _pair(address, f"training/europarl-v7.{language}-en", language)


def europarl8(language: str) -> Source:
    """Europarl 8 (2018): et, fi."""
    address = f"{_WMT18}/training-parallel-ep-v8.tgz"
    return _pair(address, f"training/europarl-v8.{language}-en", language)


def news_commentary9(language: str) -> Source:
    """News Commentary 9 (2014): cs, de, fr, ru."""
    address = f"{_STATMT}/wmt14/training-parallel-nc-v9.tgz"
    return _pair(address, f"training/news-commentary-v9.{language}-en", language)


def news_commentary13(language: str) -> Source:
    """News Commentary 13 (2018): cs, de, ru, zh."""
    address = f"{_WMT18}/training-parallel-nc-v13.tgz"
    stem = f"training-parallel-nc-v13/news-commentary-v13.{language}-en"
    return _pair(address, stem, language)


def united_nations(language: str) -> Source:
    """Documents of the United Nations of 2000: es, fr."""
    address = f"{_STATMT}/wmt13/training-parallel-un.tgz"
    return _pair(address, f"un/undoc.2000.{language}-en", language)


def giga_french() -> Source:
    """The 10^9 corpus, English and French from Canadian and European web sites."""
    address = f"{_STATMT}/wmt10/training-giga-fren.tar"
    return [address, ("giga-fren.release2.fixed.en.gz", "giga-fren.release2.fixed.fr.gz")]


def rapid2016(stem: str, language: str) -> Source:
    """Press releases of the European Union (2016); `stem` names the pair, as in "de-en"."""
    return _pair(f"{_WMT18}/rapid2016.tgz", f"rapid2016.{stem}", language)


def paracrawl1(language: str) -> Source:
    """ParaCrawl 1 (2018), cleaned: es, et and others."""
    stem = f"paracrawl-release1.en-{language}.zipporah0-dedup-clean"
    return _pair(f"{_PARACRAWL}/release1/{stem}.tgz", stem, language)


def paracrawl4(language: str) -> Source:
    """ParaCrawl 4, a translation memory."""
    name = f"en-{language}.bicleaner07.tmx.gz"
    return [f"{_PARACRAWL}/release4/{name}", ("tmx", name)]


def newstest2013(language: str) -> Source:
    """The news test set of 2013, the paper's development set: cs, de, es, fr."""
    address = "http://data.statmt.org/wmt17/translation-task/dev.tgz"
    return _pair(address, "dev/newstest2013", language)


def newstest2014(stem: str, language: str) -> Source:
    """The whole news test set of 2014 (3,003 sentences), the paper's test set.

    Args:
        stem: name of the pair, "deen" or "fren".
        language: code of the other language.
    """
    names = (f"newstest2014-{stem}-src.en.sgm", f"newstest2014-{stem}-ref.{language}.sgm")
    address = f"{_STATMT}/wmt14/test-full.tgz"
    return [address, tuple(f"test-full/{name}" for name in names)]
