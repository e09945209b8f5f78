import pytest

from t2t_keras.decoding.decode_hparams import decode_hparams
from tests.reference_data import load_golden_json

ADDED = {"limit_by_longest_input": False, "keep_pad_ids": False, "order_of_batches": False}


@pytest.mark.reference
def test_defaults_are_t2ts():
    recorded = load_golden_json("decode_hparams_defaults.json")
    values = decode_hparams().values()
    assert values == recorded | ADDED
    assert {name: type(values[name]) for name in recorded} == {
        name: type(value) for name, value in recorded.items()
    }


def test_overrides():
    options = decode_hparams("beam_size=2,alpha=1.5,return_beams=True,limit_by_longest_input=True")
    assert (options.beam_size, options.alpha) == (2, 1.5)
    assert options.return_beams and options.limit_by_longest_input


@pytest.mark.parametrize(
    "text", ["beam_size=0", "batch_size=-1", "delimiter=", "extra_length=-100"]
)
def test_senseless_values_are_refused(text):
    with pytest.raises(ValueError, match="Received"):
        decode_hparams(text)
