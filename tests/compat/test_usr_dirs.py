"""User directories written for tensor2tensor, imported unmodified."""

import pathlib
import random
import subprocess
import sys

import pytest

from t2t_keras import compat, registry, usr_dir
from t2t_keras.data.problem import ModeKeys
from t2t_keras.hparams_lib import create_hparams

USR_DIRS = pathlib.Path(__file__).parent / "usr_dirs"

REGISTERED = {
    "poetry": {"problems": ["poetry_line_to_line"]},
    "my_hparams": {
        "hparams": ["transformer_narrow", "from_the_ground", "made_by_hand"],
        "ranged_hparams": ["transformer_narrow_range"],
    },
    "reversals": {"problems": ["letters_to_words"], "hparams": ["transformer_letters"]},
    "nested": {"problems": ["counting_up", "mood_of_words"], "hparams": ["transformer_nested"]},
    "loud": {
        "problems": ["doubled_words"],
        "models": ["loud_transformer"],
        "hparams": ["loud_transformer_test"],
    },
}


@pytest.fixture(scope="module", autouse=True)
def import_all():
    """Imports all user directories, once; forgets them and the alias at the end."""
    before = set(sys.modules)
    for name in REGISTERED:
        usr_dir.import_usr_dir(str(USR_DIRS / name))
    yield
    compat.uninstall()
    for kinds in REGISTERED.values():
        for kind, names in kinds.items():
            for name in names:
                getattr(registry.Registries, kind).remove(name)
    for name in set(sys.modules) - before:
        if name.split(".")[0] in REGISTERED:
            del sys.modules[name]


@pytest.mark.parametrize("name", REGISTERED)
def test_everything_is_registered(name):
    for kind, names in REGISTERED[name].items():
        assert set(names) <= set(getattr(registry.Registries, kind).keys())


def test_there_are_no_traces_of_this_package():
    for path in USR_DIRS.rglob("*.py"):
        assert "t2t_keras" not in path.read_text()


@pytest.mark.parametrize("name", sorted(set(REGISTERED) - {"reversals", "loud"}))
def test_import_does_not_load_tensorflow(name):
    # The other two use it while they are imported: tf.flags, a base class.
    script = (
        "import sys; from t2t_keras import registry, usr_dir; "
        f"usr_dir.import_usr_dir({str(USR_DIRS / name)!r}); registry.help_string(); "
        "sys.exit('tensorflow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0


def test_sets():
    narrow = registry.hparams("transformer_narrow")
    assert (narrow.hidden_size, narrow.my_own_parameter) == (24, 7)
    assert (
        narrow.learning_rate_constant == registry.hparams("transformer_base").learning_rate_constant
    )
    assert registry.hparams("from_the_ground").hidden_size == 72
    assert registry.hparams("made_by_hand").names == ["a", "b"]
    assert registry.hparams("transformer_nested").batch_size == 256


def test_poetry(tmp_path):
    words = "the moon is up and all the night is still while owls and cats go hunting".split()
    rng = random.Random(1)
    lines = [" ".join(rng.choices(words, k=6)) for _ in range(80)]
    (tmp_path / "verse.txt").write_text("\n".join(lines))
    problem = registry.problem("poetry_line_to_line")
    problem.generate_data(str(tmp_path / "data"), str(tmp_path))
    assert len(list((tmp_path / "data").glob("poetry_line_to_line-train-*-of-00003"))) == 3
    assert (tmp_path / "data" / "vocab.poetry_line_to_line.128.subwords").exists()
    encoders = problem.get_feature_encoders(str(tmp_path / "data"))
    dataset = problem.dataset(ModeKeys.EVAL, str(tmp_path / "data"))
    pairs = list(zip(lines, lines[1:], strict=False))
    for example in dataset.as_numpy_iterator():
        texts = [
            encoders[side].decode(example[side], strip_extraneous=True)
            for side in ("inputs", "targets")
        ]
        assert tuple(texts) in pairs


@pytest.fixture
def letters(tmp_path):
    for tag, number in (("train", 60), ("dev", 5)):
        words = [f"word{i % 7} number{i % 11}" for i in range(number)]
        (tmp_path / f"words.{tag}.txt").write_text("\n".join(words) + "\n")
        spelt = [" ".join(word.replace(" ", "")) for word in words]
        (tmp_path / f"letters.{tag}.txt").write_text("\n".join(spelt) + "\n")
    data_dir = str(tmp_path / "data")
    registry.problem("letters_to_words").generate_data(data_dir, str(tmp_path))
    return data_dir


def test_overrides_of_a_problem_are_honoured(letters):
    files = {path.name for path in pathlib.Path(letters).iterdir()}
    assert files == {
        "vocab.letters_to_words.64", "shard_sizes.json",
        "letters-train-00000-of-00002", "letters-train-00001-of-00002",
        "letters-dev-00000-of-00001",
    }  # fmt: skip
    hparams = create_hparams("transformer_letters", "", letters, "letters_to_words")
    problem_hparams = hparams.problem_hparams
    assert problem_hparams.vocab_size["inputs"] == 258 != problem_hparams.vocab_size["targets"]
    assert (problem_hparams.input_space_id, problem_hparams.target_space_id) == (2, 3)
    assert problem_hparams.loss_multiplier == 1.5
    assert hparams.problem.eval_metrics() == ["accuracy", "neg_log_perplexity"]
    assert hparams.problem.approx_vocab_size == 64
    decode = problem_hparams.vocabulary["inputs"].decode
    inputs = [
        example["inputs"]
        for example in hparams.problem.dataset("eval", letters, hparams).as_numpy_iterator()
    ]
    assert {ids[-1] for ids in inputs} == {1}
    assert {decode(ids[:-1]) for ids in inputs} == {f" o r d {i} n u m b e r {i}" for i in range(5)}
    reversed_hparams = registry.problem("letters_to_words_rev").get_hparams(hparams)
    assert reversed_hparams.vocab_size["targets"] == 258
    assert reversed_hparams.target_space_id == 2


def test_sub_packages(tmp_path):
    for name in REGISTERED["nested"]["problems"]:
        problem = registry.problem(name)
        problem.generate_data(str(tmp_path / name), str(tmp_path))
        example = next(problem.dataset("train", str(tmp_path / name)).as_numpy_iterator())
        assert sorted(example) == (["inputs", "targets"] if problem.has_inputs else ["targets"])
    encoders = registry.problem("mood_of_words").get_feature_encoders(str(tmp_path))
    assert encoders["targets"].decode([1]) == "glad"


def test_derived_model():
    import numpy as np

    from t2t_keras.data.problem import ModalityType, default_problem_hparams

    features = {"inputs": np.int32([[5, 6, 7, 1]]), "targets": np.int32([[8, 9, 1]])}
    logits = {}
    for loudness in (1.0, 2.0):
        hparams = registry.hparams("loud_transformer_test")
        hparams.loudness = loudness
        hparams.problem_hparams = default_problem_hparams()
        hparams.problem_hparams.vocab_size = {"inputs": 20, "targets": 20}
        hparams.problem_hparams.modality = dict.fromkeys(["inputs", "targets"], ModalityType.SYMBOL)
        model = registry.model("loud_transformer").from_hparams(hparams)
        for number, variable in enumerate(model.variables):
            values = np.random.default_rng(number).normal(size=variable.shape)
            variable.assign(values.astype("float32"))
        assert all(v.path.startswith("loud_transformer/") for v in model.variables)
        logits[loudness] = model(features).numpy()
    np.testing.assert_allclose(logits[2.0], 2 * logits[1.0], rtol=1e-5, atol=1e-5)


def test_overrides_that_would_never_be_called_are_refused():
    from tensor2tensor.models import transformer

    with pytest.raises(TypeError, match=r"Mine overrides .* top\. Override body\(features\)"):

        class Mine(transformer.Transformer):
            def top(self, body_output, features):
                return body_output

    with pytest.raises(TypeError, match="target_space"):

        class Other(transformer.Transformer):
            def encode(self, inputs, target_space, hparams, features=None, losses=None):
                return inputs
