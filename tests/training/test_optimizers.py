import contextlib

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.training.gradient_descent import SGD, RMSProp
from t2t_keras.training.slots import slot_variables, state_scalars


def update(optimizer, gradients, start=(1.0, 2.0), path="w"):
    """The variable's values after each update."""
    *scopes, name = path.split("/")
    with contextlib.ExitStack() as stack:
        for scope in scopes:
            stack.enter_context(keras.name_scope(scope))
        variable = keras.Variable(np.array(start, np.float32), name=name)
    assert variable.path == path
    optimizer.build([variable])
    values = []
    for gradient in gradients:
        optimizer.apply([tf.constant(gradient, tf.float32)])
        values.append(variable.numpy().tolist())
    return values


GRADIENTS = [np.array([0.3, -0.6]) * (1 + s) for s in range(3)]


def make(name, learning_rate, overrides=""):
    hparams = registry.hparams("transformer_base")
    hparams.parse(overrides)
    return registry.optimizer(name)(learning_rate, hparams)


@pytest.mark.parametrize("name", ["adam", "true_adam"])
def test_adam_is_tensor2tensors(name):
    optimizer = make(name, 0.1, "optimizer_adam_beta1=0.9,optimizer_adam_beta2=0.997")
    expected = [[0.9, 2.1], [0.8035108, 2.1964891], [0.7077656, 2.2922342]]
    np.testing.assert_allclose(update(optimizer, GRADIENTS), expected, rtol=1e-6)


def test_adams_running_products_are_float32s():
    scalars = state_scalars(make("adam", 0.1, "optimizer_adam_beta1=0.9"), 400)
    products = {"training/beta1_power": np.float32(0.9), "training/beta2_power": np.float32(0.997)}
    for name, factor in products.items():
        product = np.float32(1.0)
        for _ in range(401):
            product *= factor
        assert scalars[name] == product and scalars[name].dtype == np.float32
    assert state_scalars(make("adam", 0.1), 5000)["training/beta1_power"] == 0.0


def test_multistep_adam_is_tensor2tensors():
    overrides = "optimizer_adam_beta1=0.9,optimizer_adam_beta2=0.997"
    optimizer = make("multistep_adam", 0.1, overrides + ",optimizer_multistep_accumulate_steps=3")
    values = update(optimizer, [np.array([0.3, -0.6]) * (1 + s) for s in range(7)])
    start, first, second = [1.0, 2.0], [0.9, 2.1], [0.8060633, 2.1939366]
    expected = [start, start, first, first, first, second, second]
    np.testing.assert_allclose(values, expected, rtol=1e-6)


def test_multistep_adam_of_one_step_is_adam():
    one = make("multistep_adam", 0.1, "optimizer_multistep_accumulate_steps=1")
    np.testing.assert_array_equal(update(one, GRADIENTS), update(make("adam", 0.1), GRADIENTS))


def test_multistep_adam_without_steps_is_refused():
    with pytest.raises(ValueError, match="optimizer_multistep_accumulate_steps.*Received: 0"):
        make("multistep_adam", 0.1)


def test_adam_w_decays_by_the_weights_not_by_the_rate():
    decayed = update(make("adam_w", 0.1, "weight_decay=0.5"), GRADIENTS[:1])
    plain = update(make("adam", 0.1), GRADIENTS[:1])
    np.testing.assert_allclose(np.subtract(plain, decayed), [[0.5, 1.0]], rtol=1e-6)


ADAFACTOR_MATRIX = [
    [[0.9900615, 2.0152187, -1.0183258], [0.4830488, -0.5162232, 3.0156283]],
    [[0.9797680, 2.0309811, -1.0373061], [0.4654922, -0.5330258, 3.0318148]],
    [[0.9694151, 2.0468342, -1.0563958], [0.4478342, -0.5499253, 3.0480945]],
]
ADAFACTOR_VECTOR = [
    [0.0978398, -0.2021603, 0.3021603],
    [0.0956661, -0.2043339, 0.3043339],
    [0.0934789, -0.2065212, 0.3065211],
]
MATRIX = [[1.0, 2.0, -1.0], [0.5, -0.5, 3.0]]
MATRIX_GRADIENTS = [np.array([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]]) * (1 + s) for s in range(3)]


def test_adafactor_is_tensor2tensors():
    values = update(make("adafactor", 0.01), MATRIX_GRADIENTS, MATRIX)
    np.testing.assert_allclose(values, ADAFACTOR_MATRIX, rtol=2e-6)
    gradients = [np.array([0.01, 0.02, -0.03])] * 3
    values = update(make("adafactor", 0.01), gradients, [0.1, -0.2, 0.3])
    np.testing.assert_allclose(values, ADAFACTOR_VECTOR, rtol=2e-6)


ADAFACTOR_OPTIONS = [
    "",
    "optimizer_adafactor_beta1=0.9",
    "optimizer_adafactor_decay_type=adam",
    "optimizer_adafactor_factored=False",
    "optimizer_adafactor_multiply_by_parameter_scale=False",
]


@pytest.mark.parametrize("options", ADAFACTOR_OPTIONS)
def test_adafactor_treats_each_shard_of_a_table_as_a_variable(options):
    rng = np.random.default_rng(1)
    table = rng.normal(size=[5, 4])
    gradients = [rng.normal(size=[5, 4]) * scale for scale in (1, 3, 2)]
    overrides = "symbol_modality_num_shards=3" + ("," + options if options else "")
    path = "transformer/symbol_modality_5_4/shared/weights"
    optimizer = make("adafactor", 0.01, overrides)
    whole = update(optimizer, gradients, table, path)
    rows = np.split(np.arange(5), [2, 4])
    for part in rows:
        alone = make("adafactor", 0.01, overrides)
        values = update(alone, [g[part] for g in gradients], table[part])
        np.testing.assert_allclose(np.array(whole)[:, part], values, rtol=1e-6)
    # Elsewhere the shards play no part.
    assert not np.allclose(whole, update(make("adafactor", 0.01, overrides), gradients, table))


def test_more_shards_than_rows():
    optimizer = make("adafactor", 0.01, "symbol_modality_num_shards=16")
    path = "transformer/symbol_modality_2_3/shared/weights"
    values = update(optimizer, MATRIX_GRADIENTS, MATRIX, path)
    assert np.all(np.isfinite(values))


def test_adafactor_refuses_other_decays():
    with pytest.raises(ValueError, match="pow or adam. Received: 'linear'"):
        make("adafactor", 0.01, "optimizer_adafactor_decay_type=linear")


def test_adagrad_and_rms_prop_have_tensorflow_1s_defaults():
    np.testing.assert_allclose(
        update(make("adagrad", 0.5), [np.ones(1)] * 2, [0.0]),
        [[-0.5 / np.sqrt(1.1)], [-0.5 / np.sqrt(1.1) - 0.5 / np.sqrt(2.1)]],
        rtol=1e-6,
    )
    np.testing.assert_allclose(
        update(make("rms_prop", 0.5), [np.full(1, 2.0)], [0.0]), [[-1.0 / np.sqrt(1.3)]], rtol=1e-6
    )


def test_ftrl_starts_from_zero():
    # a = 1.1, z = 1 - (sqrt(1.1) - sqrt(0.1)) * 3 / 0.5
    z = 1 - (np.sqrt(1.1) - np.sqrt(0.1)) * 6
    values = update(make("ftrl", 0.5), [np.ones(1)], [3.0])
    np.testing.assert_allclose(values, [[-z * 0.5 / np.sqrt(1.1)]], rtol=1e-5)


def test_nesterovs_momentum():
    overrides = "optimizer_momentum_momentum=0.5,optimizer_momentum_nesterov=True"
    # a = 1, 1.5; steps of 0.5 (1 + 0.5 a)
    values = update(make("momentum", 0.5, overrides), [np.ones(1)] * 2, [0.0])
    assert values == [[-0.75], [-1.625]]


def test_yellow_fin_says_that_it_is_not_there():
    with pytest.raises(ValueError, match="yellow_fin isn't available"):
        make("yellow_fin", 0.1)


def test_class_names_are_taken_for_optimizers_names():
    assert isinstance(make("RMSProp", 0.1), RMSProp) and isinstance(make("SGD", 0.1), SGD)


def test_adam_equals_keras_adam():
    ours = make("adam", 0.01, "optimizer_adam_epsilon=0.1")
    keras_adam = keras.optimizers.Adam(0.01, beta_1=ours.beta_1, beta_2=ours.beta_2, epsilon=0.1)
    np.testing.assert_allclose(update(ours, GRADIENTS), update(keras_adam, GRADIENTS), rtol=1e-5)


def test_learning_rate_is_taken_before_the_step_counts():
    class Step(keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return tf.cast(step, tf.float32)

    values = update(make("sgd", Step()), [np.ones(2)] * 3)
    assert values == [[1.0, 2.0], [0.0, 1.0], [-2.0, -1.0]]


def test_momentum_accumulates_gradients_not_steps():
    optimizer = make("momentum", 0.5, "optimizer_momentum_momentum=0.5")
    # a = 1, 1.5, 1.75
    assert update(optimizer, [np.ones(1)] * 3, [0.0]) == [[-0.5], [-1.25], [-2.125]]


def test_slots_have_tensorflow_1s_names():
    variable = keras.Variable(np.zeros(2), name="w")
    optimizer = make("adam", 0.1)
    optimizer.build([variable])
    assert set(slot_variables(optimizer, [variable])) == {"training/w/Adam", "training/w/Adam_1"}
    rows = keras.Variable(np.zeros([2, 3]), name="rows")
    expected = {
        "multistep_adam": {"Adam", "Adam_1", "Adam_2"},
        "adafactor": {"Adafactor", "Adafactor_1"},
        "adam_w": {"AdamW", "AdamW_1"},
        "momentum": {"Momentum"},
        "adagrad": {"Adagrad"},
        "rms_prop": {"RMSProp", "RMSProp_1"},
        "ftrl": {"Ftrl", "Ftrl_1"},
        "sgd": set(),
    }
    for name, slots in expected.items():
        optimizer = make(name, 0.1, "optimizer_multistep_accumulate_steps=2")
        optimizer.build([rows])
        assert set(slot_variables(optimizer, [rows])) == {f"training/rows/{s}" for s in slots}
    other = keras.optimizers.RMSprop(0.1)
    other.build([variable])
    slots = slot_variables(other, [variable])
    assert slots and all(v is not other.iterations for v in slots.values())


def test_unknown_optimizer_offers_near_matches():
    with pytest.raises(KeyError, match="adam"):
        registry.optimizer("adm")
