"""Variable initialisers by T2T's names.

A variable without an initialiser of its own takes the model's, chosen by the hparams
`initializer` and `initializer_gain` (T2T's `utils.optimize.get_variable_initializer`).
"""

import difflib
from collections.abc import Callable

import keras

InitializerFactory = Callable[[], keras.initializers.Initializer]

# The gain multiplies the variance of the unit-scaling pair, but the range or the values themselves
# of the others: that is T2T's convention.
_FACTORIES: dict[str, Callable[[float], keras.initializers.Initializer]] = {
    "uniform_unit_scaling": lambda gain: keras.initializers.VarianceScaling(
        scale=gain, mode="fan_avg", distribution="uniform"
    ),
    "normal_unit_scaling": lambda gain: keras.initializers.VarianceScaling(
        scale=gain, mode="fan_avg", distribution="truncated_normal"
    ),
    "uniform": lambda gain: keras.initializers.RandomUniform(-0.1 * gain, 0.1 * gain),
    "orthogonal": lambda gain: keras.initializers.Orthogonal(gain=gain),
    "xavier": lambda gain: keras.initializers.GlorotUniform(),
}

NAMES = tuple(_FACTORIES)


def initializer_factory(name: str, gain: float = 1.0) -> InitializerFactory:
    """A function that makes one fresh initialiser per call.

    A Keras initialiser returns the same values whenever it is called with the same shape, so
    every variable needs its own.

    Args:
      name: one of `NAMES`. `uniform_unit_scaling` draws from ±sqrt(3·gain / mean(fan_in, fan_out)),
        `normal_unit_scaling` from a truncated normal of the same variance, `uniform` from
        ±0.1·gain, `orthogonal` makes gain·Q, `xavier` is Glorot's uniform and ignores the gain.
      gain: the hparam `initializer_gain`.

    Raises:
      ValueError: unknown name.
    """
    if name not in _FACTORIES:
        near = difflib.get_close_matches(name, NAMES)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"Unknown initializer; known ones: {', '.join(NAMES)}.{hint} Received: {name!r}"
        )
    return lambda: _FACTORIES[name](gain)


def default_initializer() -> keras.initializers.Initializer:
    """Glorot's uniform, what the layers use when no factory is given."""
    return _FACTORIES["uniform_unit_scaling"](1.0)
