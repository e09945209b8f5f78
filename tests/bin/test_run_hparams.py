"""Hyperparameters of a run that goes on, where the flags ask for another precision."""

import pytest
from absl import flags

from t2t_keras import hparams_lib
from t2t_keras.bin import flag_checks, run_hparams

AUTOMATIC = "gpu_automatic_mixed_precision"


@pytest.fixture
def create(tmp_path, monkeypatch):
    """Makes the hyperparameters by flags, in a directory that may have those of a run."""

    def make(*arguments, of_run=None):
        if of_run:
            hparams = hparams_lib.create_hparams("transformer_tiny", of_run)
            hparams_lib.save_hparams(hparams, str(tmp_path))
        values = flags.FlagValues()
        for name, default in (("hparams", ""), ("data_dir", ""), ("model", "transformer")):
            flags.DEFINE_string(name, default, "", flag_values=values)
        flags.DEFINE_string("hparams_set", "transformer_tiny", "", flag_values=values)
        flags.DEFINE_boolean(AUTOMATIC, False, "", flag_values=values)
        values(["program", *arguments])
        monkeypatch.setattr(run_hparams, "FLAGS", values)
        hparams = run_hparams.create(str(tmp_path))
        assert values[AUTOMATIC].value == hparams.gpu_automatic_mixed_precision
        return hparams

    return make


@pytest.mark.parametrize(
    ("arguments", "of_run", "expected"),
    [
        ((), None, False),
        ((f"--{AUTOMATIC}",), None, True),
        ((), f"{AUTOMATIC}=True", True),
        ((f"--no{AUTOMATIC}",), f"{AUTOMATIC}=True", False),
        ((f"--hparams={AUTOMATIC}=False",), f"{AUTOMATIC}=True", False),
        ((f"--hparams=num_heads=2,{AUTOMATIC}=True", f"--no{AUTOMATIC}"), None, True),
    ],
)
def test_the_flag_counts_where_it_is_given(create, arguments, of_run, expected):
    assert create(*arguments, of_run=of_run).gpu_automatic_mixed_precision is expected


def test_what_only_the_run_asks_for_is_told_with_the_way_out(create, tmp_path):
    other = "--hparams=activation_dtype=bfloat16"
    path = f"{tmp_path}/hparams.json"
    with pytest.raises(flag_checks.UsageError) as error:
        create(other, of_run=f"{AUTOMATIC}=True")
    way_out = f"--hparams={AUTOMATIC}=False,activation_dtype=bfloat16"
    assert f"{AUTOMATIC}=True, as in {path}. To change it: {way_out}" in str(error.value)
    assert create(way_out).activation_dtype == "bfloat16"
    assert create(other, f"--no{AUTOMATIC}").activation_dtype == "bfloat16"
    with pytest.raises(flag_checks.UsageError) as error:
        create(f"--{AUTOMATIC}", of_run="activation_dtype=bfloat16")
    way_out = f"--{AUTOMATIC} --hparams=activation_dtype=float32"
    assert f"activation_dtype=bfloat16, as in {path}. To change it: {way_out}" in str(error.value)
    assert create(*way_out.split()).gpu_automatic_mixed_precision


def test_both_given_at_once_contradict_each_other(create):
    with pytest.raises(ValueError, match="give one of them"):
        create(f"--{AUTOMATIC}", "--hparams=activation_dtype=bfloat16", of_run=f"{AUTOMATIC}=True")
