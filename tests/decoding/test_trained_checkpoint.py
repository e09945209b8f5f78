"""A translation model trained by T2T on real data translates as it did there."""

import gzip

import pytest

from t2t_keras.decoding.decode_hparams import decode_hparams
from t2t_keras.decoding.translator import Translator
from tests.decoding.t2t_checkpoint import load_run
from tests.reference_data import data_path, golden_path


@pytest.mark.reference
def test_translations_equal_t2ts():
    folder = golden_path("multi30k_ckpt")
    source = data_path("multi30k", "test_2016_flickr.en.gz")
    texts = gzip.decompress(source.read_bytes()).decode().splitlines()
    expected = (folder / "test_2016_flickr.decodes.de").read_text(encoding="utf-8").splitlines()
    options = decode_hparams("beam_size=4,alpha=0.6,extra_length=50")
    translator = Translator(*load_run(folder), options)
    results = translator.translate(texts)
    assert [best.text for (best,) in results] == expected
