import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.decoding.search import infer
from t2t_keras.training.precision import DynamicLossScale, describe_precision, loss_scale_for
from tests.training import replica_runs, runs, tiny_step

VOCAB_SIZE = 17


TRAINING = "hidden_size=16,filter_size=32,learning_rate_warmup_steps=8,learning_rate_constant=0.15"


def make_hparams(overrides=""):
    return tiny_step.make_hparams(TRAINING + overrides)


def make_step(overrides="", **options):
    keras.utils.set_random_seed(1)
    return tiny_step.make_step(
        TRAINING + overrides, vocab_size=VOCAB_SIZE, random_seed=3, **options
    )


def make_batch():
    """Rows of several lengths; one is padding only."""
    rng = np.random.default_rng(0)
    lengths = np.array([[6], [5], [2], [0]])
    ids = np.where(np.arange(6) < lengths, rng.integers(2, VOCAB_SIZE, (4, 6)), 0)
    return {"inputs": tf.constant(ids, tf.int32), "targets": tf.constant(ids, tf.int32)}


def losses_of(overrides, **options):
    step, model, _ = make_step(overrides, **options)
    results = [step(make_batch()) for _ in range(25)]
    assert {variable.dtype for variable in model.variables} == {"float32"}
    return [float(result.loss) for result in results], model, results


@pytest.fixture(scope="module")
def float32_losses():
    return losses_of("")[0]


@pytest.mark.parametrize(
    "overrides, jit_compile",
    [
        (",activation_dtype=bfloat16", False),
        (",activation_dtype=bfloat16", True),
        (",activation_dtype=bfloat16,factored_logits=True", False),
        (",activation_dtype=float16", False),
        (",activation_dtype=float16", True),
        (",gpu_automatic_mixed_precision=True", False),
    ],
)
def test_low_precision_trains_as_float32_does(float32_losses, overrides, jit_compile):
    losses, model, results = losses_of(overrides, jit_compile=jit_compile)
    assert float32_losses[-1] < 0.8 * float32_losses[0]
    np.testing.assert_allclose(losses, float32_losses, rtol=0.02)
    assert losses != float32_losses, "nothing was rounded"
    is_half = "bfloat16" not in overrides
    assert all((r.loss_scale is not None) == is_half for r in results)
    assert all(r.is_finite is None or bool(r.is_finite) for r in results)
    hidden = model.hidden(make_batch())
    assert hidden.dtype == (tf.float16 if is_half else tf.bfloat16)
    assert model(make_batch()).dtype == tf.float32


VARIANTS = [
    "self_attention_type=dot_product_relative,max_relative_position=3",
    "self_attention_type=local_mask_right,pos=emb",
    "ffn_layer=parameter_attention,norm_type=noam",
    "ffn_layer=conv_relu_conv,layer_postprocess_sequence=daz,norm_type=l2",
    "attention_variables_3d=True,shared_embedding_and_softmax_weights=False",
]


@pytest.mark.parametrize("overrides", VARIANTS)
def test_variants_of_the_model_train_and_decode_in_bfloat16(overrides):
    step, model, _ = make_step(f",activation_dtype=bfloat16,{overrides}")
    losses = [float(step(make_batch()).loss) for _ in range(10)]
    assert losses[-1] < losses[0]
    found = infer(
        model, make_batch()["inputs"], beam_size=2, alpha=0.6, decode_length=tf.fill([4], 4)
    )
    assert np.isfinite(found["scores"]).all()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_decoding_computes_in_the_type_of_the_activations(dtype):
    _, model, _ = make_step(f",activation_dtype={dtype}")
    cache = model.init_cache(2, 1, 3)
    memory = model.decoder_memory(model.encode(make_batch()["inputs"][:2]))
    logits, cache = model.decode_step(tf.fill([2, 1], 3), tf.constant(1), cache, memory)
    assert {x.dtype for x in tf.nest.flatten(cache)} == {tf.as_dtype(dtype)}
    assert logits.dtype == tf.float32 and np.isfinite(logits).all()


def test_steps_that_overflow_are_skipped_until_the_scale_fits():
    step, model, optimizer = make_step(
        f",activation_dtype=float16,mixed_precision_optimizer_init_loss_scale={2**26}"
    )
    before = tiny_step.state_of(model, optimizer)
    finite, scales = [], []
    for number in range(40):
        result = step(make_batch())
        finite.append(bool(result.is_finite))
        scales.append(float(result.loss_scale))
        assert np.isfinite(result.loss), "the loss is told without its scale"
        assert int(optimizer.iterations.numpy()) == number + 1, "a skipped step counts"
        after = tiny_step.state_of(model, optimizer)
        changed = [name for name, value in after.items() if not np.array_equal(before[name], value)]
        if not finite[-1]:
            assert not changed
        before = after
    assert not finite[0] and not finite[1] and finite[-1]
    skipped = finite.index(True)
    # Two bad steps halve it.
    assert scales[:skipped] == [2.0**26 / 2 ** (number // 2) for number in range(skipped)]


def test_finite_steps_double_the_scale_and_bad_ones_halve_it():
    scale = DynamicLossScale(4.0, good_steps_to_double=3, bad_steps_to_halve=2)
    steps = "ggg gg b ggg b b b b b b".replace(" ", "")
    seen = []
    for step in steps:
        scale.update(tf.constant(step == "g"))
        seen.append(float(scale.value()))
    #       g  g  g  g  g  b  g  g   g   b   b   b   b   b   b
    assert seen == [4, 4, 8, 8, 8, 8, 8, 8, 16, 16, 8, 8, 4, 4, 2]
    for _ in range(6):
        scale.update(tf.constant(False))
    assert float(scale.value()) == 1.0, "never below 1"


def test_the_automatic_scale_halves_after_every_overflow():
    scale = loss_scale_for(make_hparams(",gpu_automatic_mixed_precision=True"))
    assert float(scale.value()) == 2.0**15
    scale.update(tf.constant(False))
    assert float(scale.value()) == 2.0**14


def test_no_loss_scale_without_float16_or_where_it_is_turned_off():
    assert loss_scale_for(make_hparams(",activation_dtype=bfloat16")) is None
    off = ",activation_dtype=float16,mixed_precision_optimizer_loss_scaler="
    assert loss_scale_for(make_hparams(off)) is None


@pytest.mark.parametrize(
    "overrides, match",
    [
        (",activation_dtype=float64", "activation_dtype.*Received: 'float64'"),
        (",weight_dtype=bfloat16", "weight_dtype.*activation_dtype=bfloat16.*Received: 'bfloat16'"),
        (",activation_dtype=bfloat16,gpu_automatic_mixed_precision=True", "give one of"),
        (",activation_dtype=float16,mixed_precision_optimizer_loss_scaler=linear", "exponential"),
        (",activation_dtype=float16,mixed_precision_optimizer_init_loss_scale=0", "at least 1"),
    ],
)
def test_what_is_not_available_is_refused(overrides, match):
    with pytest.raises(ValueError, match=match):
        make_step(overrides)


def test_precision_is_described():
    assert describe_precision(make_hparams()) == "float32 throughout"
    assert "bfloat16" in describe_precision(make_hparams(",activation_dtype=bfloat16"))


@pytest.mark.parametrize("dtype, compiler", [("bfloat16", "plain"), ("float16", "jit")])
def test_two_replicas_train_as_one(dtype, compiler, on_logical_cpus):
    report = on_logical_cpus(replica_runs.compare, f",activation_dtype={dtype}", compiler)
    assert report["losses"][-1] < report["losses"][0]
    assert report["differences"][2]["loss"] < 0.02 * report["losses"][0]


def train(output_dir, data_dir, overrides, steps):
    runs.train(output_dir, data_dir, overrides, train_steps=steps)
    return runs.values_of(output_dir)


# The third step is the fourth bad one's half: the counters matter to what follows.
HALF = ",activation_dtype=float16,mixed_precision_optimizer_init_loss_scale=1073741824"


def test_a_resumed_run_has_the_loss_scale_it_would_have_had(tmp_path, data_dir):
    whole = train(tmp_path / "whole", data_dir, HALF, 6)
    interrupted = train(tmp_path / "parts", data_dir, HALF, 3)
    assert interrupted["training/loss_scale_bad_steps"] == 1
    assert interrupted["training/loss_scale"] == 2.0**29
    resumed = train(tmp_path / "parts", data_dir, HALF, 6)
    assert set(whole) == set(resumed)
    for name, value in whole.items():
        np.testing.assert_array_equal(value, resumed[name], err_msg=name)


def test_a_run_may_go_on_in_another_precision(tmp_path, data_dir):
    first = train(tmp_path, data_dir, "", 2)
    assert not any("loss_scale" in name for name in first)
    second = train(tmp_path, data_dir, ",activation_dtype=float16", 4)
    assert second["training/loss_scale"] == 2.0**15
    assert second["training/loss_scale_good_steps"] == 2
    third = train(tmp_path, data_dir, "", 6)
    assert set(third) == set(first)
