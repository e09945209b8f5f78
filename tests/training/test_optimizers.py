import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.training.optimizers import slot_variables


def update(optimizer, gradients, start=(1.0, 2.0)):
    """The variable's values after each update."""
    variable = keras.Variable(np.array(start, np.float32), name="w")
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
    other = keras.optimizers.RMSprop(0.1)
    other.build([variable])
    slots = slot_variables(other, [variable])
    assert slots and all(v is not other.iterations for v in slots.values())


def test_unknown_optimizer_offers_near_matches():
    with pytest.raises(KeyError, match="adam"):
        registry.optimizer("adm")
