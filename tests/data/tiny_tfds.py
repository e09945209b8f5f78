"""Small TFDS data sets for tests: made here, and WMT's own builders on tiny archives."""

import hashlib
import io
import tarfile

import pytest

from t2t_keras.data import source_options

tfds = pytest.importorskip("tensorflow_datasets")

PAIRS = [(f"Satz {number} ist hier.", f"Sentence {number} is here.") for number in range(40)]
GERMAN, ENGLISH = ([pair[side] for pair in PAIRS] for side in range(2))

_TRAINING_ARCHIVES = {
    "http://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz": "training/europarl-v7.de-en",
    "http://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz": "commoncrawl.de-en",
    "http://data.statmt.org/wmt18/translation-task/training-parallel-nc-v13.tgz": (
        "training-parallel-nc-v13/news-commentary-v13.de-en"
    ),
}
_DEV_ARCHIVE = "http://data.statmt.org/wmt19/translation-task/dev.tgz"


class _Builder(tfds.core.GeneratorBasedBuilder):
    """Base of the sets: `SPLITS` maps names to lists of examples."""

    VERSION = tfds.core.Version("1.0.0")
    SPLITS: dict = {}

    def _split_generators(self, dl_manager):
        return {split: self._generate_examples(split) for split in self.SPLITS}

    def _generate_examples(self, split):
        yield from enumerate(self.SPLITS[split])


class TinyPairs(_Builder):
    """German and English; no validation split; odd white space, one empty side."""

    SPLITS = {
        "train": [
            {"de": "  a\n b ", "en": "x  y"},
            {"de": "", "en": "lost"},
            *({"de": german, "en": english} for german, english in PAIRS),
        ],
        "test": [{"de": "t", "en": "u"}],
    }

    def _info(self):
        return self.dataset_info_from_configs(
            features=tfds.features.Translation(languages=("de", "en")),
            supervised_keys=("de", "en"),
        )


class TinyMany(_Builder):
    """Several languages, not all in every example, under another feature."""

    SPLITS = {
        "train": [
            {"talk": "1", "texts": {"en": "one", "pt-br": ["um", "uma"], "fr": "un"}},
            {"talk": "2", "texts": {"en": "two", "fr": "deux"}},
        ],
        "validation": [{"talk": "3", "texts": {"fr": "trois", "pt-br": "tres"}}],
    }

    def _info(self):
        languages = tfds.features.TranslationVariableLanguages(languages=["en", "fr", "pt-br"])
        return self.dataset_info_from_configs(
            features=tfds.features.FeaturesDict({"talk": tfds.features.Text(), "texts": languages})
        )


class TinySentences(_Builder):
    """Texts named as sentences, without supervised keys and without a split to train on."""

    SPLITS = {"validation": [{"source_sentence": "s", "target_sentence": "t", "id": "1"}]}

    def _info(self):
        text = tfds.features.Text
        return self.dataset_info_from_configs(
            features=tfds.features.FeaturesDict(
                {"id": text(), "target_sentence": text(), "source_sentence": text()}
            )
        )


def archive(members):
    """Bytes of a tgz with texts by name."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, lines in members.items():
            content = "".join(f"{line}\n" for line in lines).encode()
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def _segments(lines):
    return [
        "<srcset>",
        *(f'<seg id="{n}">{line}</seg>' for n, line in enumerate(lines)),
        "</srcset>",
    ]


def wmt_archives():
    """Tiny archives of the data set wmt_t2t_translate/de-en, by address."""
    found = {}
    for number, (url, stem) in enumerate(_TRAINING_ARCHIVES.items()):
        part = slice(10 * number, 10 * number + 10)
        found[url] = archive({f"{stem}.de": GERMAN[part], f"{stem}.en": ENGLISH[part]})
    found[_DEV_ARCHIVE] = archive(
        {
            "dev/newstest2013.de": GERMAN[30:35],
            "dev/newstest2013.en": ENGLISH[30:35],
            "dev/newstest2014-deen-src.de.sgm": _segments(GERMAN[35:]),
            "dev/newstest2014-deen-ref.en.sgm": _segments(ENGLISH[35:]),
        }
    )
    return found


@pytest.fixture
def wmt_manual_dir(tmp_path, monkeypatch):
    """Directory with the tiny archives, whose checksums TFDS takes for the right ones."""
    from tensorflow_datasets.core.download import checksums
    from tensorflow_datasets.translate import wmt_t2t

    folder = tmp_path / "manual"
    folder.mkdir()
    infos = {}
    for url, content in wmt_archives().items():
        name = url.rsplit("/", 1)[1]
        (folder / name).write_bytes(content)
        infos[url] = checksums.UrlInfo(
            size=len(content), checksum=hashlib.sha256(content).hexdigest(), filename=name
        )
    monkeypatch.setattr(wmt_t2t.WmtT2tTranslate, "url_infos", infos)
    return str(folder)


@pytest.fixture
def prepared(tmp_path):
    """Options under which the sets defined here are prepared; as after copying them."""
    directory = tmp_path / "tfds"
    for builder_class in (TinyPairs, TinyMany, TinySentences):
        builder_class(data_dir=str(directory)).download_and_prepare()
    options = source_options.SourceOptions(tfds_data_dir=str(directory))
    with source_options.use(options):
        yield options
