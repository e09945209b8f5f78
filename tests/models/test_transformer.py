import types

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.models.transformer import Transformer
from t2t_keras.models.transformer_support import UnsupportedHparams
from tests.models.tiny import FEATURES, VOCAB, tiny_hparams, tiny_model

SEED = np.array([7, 1], np.int32)


def test_is_registered_and_a_keras_model(capsys) -> None:
    assert registry.model("transformer") is Transformer
    model = tiny_model()
    model.summary()
    assert "body" in capsys.readouterr().out


def test_paths_are_t2t_names() -> None:
    paths = {variable.path for variable in tiny_model().weights}
    assert "transformer/symbol_modality_11_8/shared/weights" in paths
    assert "transformer/body/target_space_embedding/kernel" in paths
    assert (
        "transformer/body/decoder/layer_1/encdec_attention/multihead_attention/"
        "output_transform/kernel" in paths
    )


@pytest.mark.parametrize(
    ("overrides", "tables"),
    [
        ("", {"shared"}),
        ("shared_embedding_and_softmax_weights=False", {"input_emb", "target_emb", "softmax"}),
        (
            "shared_embedding_and_softmax_weights=False,shared_embedding=True",
            {"shared", "softmax"},
        ),
    ],
)
def test_sharing_of_tables(overrides, tables) -> None:
    paths = [v.path for v in tiny_model(overrides=overrides).weights if "symbol_modality" in v.path]
    assert len(paths) == len(tables)
    assert {path.split("/")[-2] for path in paths} == tables


def test_vocab_divisor_rounds_up() -> None:
    assert tiny_model(overrides="vocab_divisor=8")(FEATURES).shape == (2, 4, 16)


def test_no_target_space_embedding() -> None:
    paths = [v.path for v in tiny_model(overrides="use_target_space_embedding=False").weights]
    assert paths
    assert not any("target_space" in path for path in paths)


def test_decoder_is_causal_unless_told_otherwise() -> None:
    changed = {**FEATURES, "targets": FEATURES["targets"].copy()}
    changed["targets"][0, 2] = 9
    causal = tiny_model()
    np.testing.assert_allclose(causal(changed)[0, :3], causal(FEATURES)[0, :3], atol=1e-6)
    free = tiny_model(overrides="causal_decoder_self_attention=False")
    assert np.abs(free(changed)[0, 0] - free(FEATURES)[0, 0]).max() > 1e-3


def test_unidirectional_encoder_sees_no_later_input() -> None:
    changed = FEATURES["inputs"].copy()
    changed[0, 3] = 9
    for overrides, sees in (("unidirectional_encoder=True", False), ("", True)):
        model = tiny_model(overrides=overrides)
        before, after = model.encode(FEATURES["inputs"]), model.encode(changed)
        difference = np.abs(before.output[0, :3] - after.output[0, :3]).max()
        assert (difference > 1e-4) == sees


def test_encoder_output_shapes() -> None:
    encoded = tiny_model().encode(FEATURES["inputs"])
    assert encoded.output.shape == (2, 5, 8)
    assert encoded.bias.shape == (2, 1, 1, 5)
    assert encoded.bias[1, 0, 0, 4] == -1e9


def test_learned_positions_end_at_max_length() -> None:
    model = tiny_model(overrides="pos=emb,max_length=3")
    assert model(FEATURES).shape == (2, 4, VOCAB)


def test_dropout_depends_on_the_seed_alone() -> None:
    model = tiny_model()
    first = model(FEATURES, training=True, dropout_seed=SEED)
    np.testing.assert_array_equal(first, model(FEATURES, training=True, dropout_seed=SEED))
    other = model(FEATURES, training=True, dropout_seed=SEED + [0, 1])
    assert np.abs(first - other).max() > 1e-3
    drawn = [model(FEATURES, training=True) for _ in range(2)]
    assert np.abs(drawn[0] - drawn[1]).max() > 1e-3


def test_compiled_by_xla_the_results_are_the_same() -> None:
    model = tiny_model(overrides="symbol_dropout=0.2")
    function = tf.function(
        lambda features, seed: model(features, training=True, dropout_seed=seed), jit_compile=True
    )
    features = {name: tf.constant(value) for name, value in FEATURES.items()}
    np.testing.assert_allclose(
        function(features, tf.constant(SEED)),
        model(FEATURES, training=True, dropout_seed=SEED),
        atol=1e-5,
    )


def test_evaluation_ignores_dropout() -> None:
    model = tiny_model(overrides="symbol_dropout=0.5,attention_dropout=0.5")
    np.testing.assert_array_equal(model(FEATURES, dropout_seed=SEED), model(FEATURES))


def test_symbol_dropout_zeroes_ids() -> None:
    overrides = "layer_prepostprocess_dropout=0.0,attention_dropout=0.0,relu_dropout=0.0"
    model = tiny_model(overrides=overrides + ",symbol_dropout=0.5")
    outputs = [
        model(FEATURES, training=True, dropout_seed=np.array([n, 0], np.int32)) for n in range(8)
    ]
    assert np.std(outputs, axis=0).max() > 1e-3


def test_unsupported_values_are_refused_together() -> None:
    overrides = "self_attention_type=memory_efficient,ffn_layer=sru,activation_dtype=int8"
    with pytest.raises(UnsupportedHparams, match="memory_efficient") as caught:
        tiny_model(overrides=overrides)
    assert set(caught.value.names) == {"self_attention_type", "ffn_layer", "activation_dtype"}


@pytest.mark.parametrize(
    "overrides",
    [
        "scheduled_sampling_prob=0.5",
        "norm_type=group",
        "initializer=he",
        "relu_dropout=1.0",
        "layer_preprocess_sequence=an",
        "layer_postprocess_sequence=dax",
        "num_area_layers=1,max_area_width=3",
        "eval_run_autoregressive=True",
        "no_data_parallelism=True",
        "split_targets_chunk_length=4",
        "weight_dtype=bfloat16",
    ],
)
def test_unsupported_value(overrides: str) -> None:
    with pytest.raises(UnsupportedHparams, match=overrides.split("=")[0]):
        tiny_model(overrides=overrides)


def test_heads_must_divide_the_depth() -> None:
    with pytest.raises(ValueError, match="3 heads"):
        tiny_model(overrides="num_heads=3")


def test_encode_needs_inputs() -> None:
    with pytest.raises(ValueError, match="has no inputs"):
        tiny_model(input_vocab_size=None).encode(FEATURES["inputs"])


def problem_hparams(**changes):
    values = {
        "modality": {"inputs": "symbol", "targets": "symbol"},
        "vocab_size": {"inputs": 12, "targets": 13},
        "input_space_id": 3,
        "target_space_id": 4,
    }
    return types.SimpleNamespace(**(values | changes))


def with_problem(**changes):
    hparams = tiny_hparams()
    hparams.add_hparam("problem_hparams", problem_hparams(**changes))
    return hparams


def test_from_hparams() -> None:
    model = Transformer.from_hparams(with_problem())
    assert model(FEATURES).shape == (2, 4, 13)
    language_model = Transformer.from_hparams(with_problem(modality={"targets": "symbol"}))
    assert language_model({"targets": FEATURES["targets"]}).shape == (2, 4, 13)


def test_from_hparams_refuses() -> None:
    with pytest.raises(ValueError, match="problem_hparams is missing"):
        Transformer.from_hparams(tiny_hparams())
    with pytest.raises(ValueError, match="targets"):
        Transformer.from_hparams(with_problem(modality={"inputs": "symbol"}))
    with pytest.raises(UnsupportedHparams, match="image"):
        Transformer.from_hparams(with_problem(modality={"inputs": "symbol", "targets": "image"}))
