"""Arithmetic and sorting of random symbols (part of T2T's algorithmic)."""

from collections.abc import Callable, Iterator

import numpy as np

from t2t_keras import registry
from t2t_keras.metric_names import Metrics
from t2t_keras.problems.algorithmic import (
    AlgorithmicIdentityBinary40,
    AlgorithmicProblem,
    Sample,
    random_length,
    random_symbols,
)


def number_of(digits: list[int], base: int) -> int:
    """Value of a number written lowest digit first."""
    value = 0
    for digit in reversed(digits):
        value = value * base + digit
    return value


def digits_of(value: int, base: int) -> list[int]:
    """A number written lowest digit first; 0 is one digit."""
    digits: list[int] = []
    while value or not digits:
        value, digit = divmod(value, base)
        digits.append(digit)
    return digits


def random_number(length: int, base: int) -> list[int]:
    """A random number of `length` digits, lowest first; the highest is not 0 unless it is alone."""
    if length == 1:
        return random_symbols(base, 1)
    return [*random_symbols(base, length - 1), int(np.random.randint(base - 1)) + 1]


def arithmetic_samples(
    base: int, max_length: int, num_cases: int, operation: Callable[[int, int], int]
) -> Iterator[Sample]:
    """Yields two numbers and the result of an operation, all lowest digit first.

    Args:
        base: number of different digits.
        max_length: longest inputs: both numbers and the separator between them.
        num_cases: number of samples.
        operation: function of the two values.

    Yields:
        Samples with inputs `number, separator, number`. The separator is symbol `base`, which
        comes after the declared ones.

    Raises:
        ValueError: if max_length is below 3.
    """
    if max_length < 3:
        raise ValueError(f"Two numbers and a separator need length 3. Received: {max_length}")
    for _ in range(num_cases):
        first_length = int(np.random.randint(max_length // 2)) + 1
        second_length = int(np.random.randint(max_length - first_length - 1)) + 1
        first = random_number(first_length, base)
        second = random_number(second_length, base)
        result = operation(number_of(first, base), number_of(second, base))
        yield {"inputs": [*first, base, *second], "targets": digits_of(result, base)}


class ArithmeticProblem(AlgorithmicProblem):
    """Base class of addition and multiplication."""

    # The separator of the two numbers.
    num_undeclared_symbols = 1


@registry.register_problem
class AlgorithmicAdditionBinary40(ArithmeticProblem):
    """Add two binary numbers."""

    num_symbols = 2

    def generator(self, nbr_symbols: int, max_length: int, nbr_cases: int) -> Iterator[Sample]:
        """Yields two numbers and their sum."""
        return arithmetic_samples(nbr_symbols, max_length, nbr_cases, lambda a, b: a + b)


@registry.register_problem
class AlgorithmicAdditionDecimal40(AlgorithmicAdditionBinary40):
    """Add two decimal numbers."""

    num_symbols = 10


@registry.register_problem
class AlgorithmicMultiplicationBinary40(ArithmeticProblem):
    """Multiply two binary numbers."""

    num_symbols = 2

    def generator(self, nbr_symbols: int, max_length: int, nbr_cases: int) -> Iterator[Sample]:
        """Yields two numbers and their product."""
        return arithmetic_samples(nbr_symbols, max_length, nbr_cases, lambda a, b: a * b)


@registry.register_problem
class AlgorithmicMultiplicationDecimal40(AlgorithmicMultiplicationBinary40):
    """Multiply two decimal numbers."""

    num_symbols = 10


@registry.register_problem
class AlgorithmicSortProblem(AlgorithmicProblem):
    """Sort sequences of 20 symbols, of up to 10 in training and 20 in evaluation."""

    num_symbols = 20
    train_length = 10
    dev_length = 20

    def generator(self, nbr_symbols: int, max_length: int, nbr_cases: int) -> Iterator[Sample]:
        """Yields random sequences and the sorted ones."""
        for _ in range(nbr_cases):
            symbols = random_symbols(nbr_symbols, random_length(max_length))
            yield {"inputs": symbols, "targets": sorted(symbols)}

    def eval_metrics(self) -> list[str]:
        """Those of every problem, and the edit distance."""
        return [*super().eval_metrics(), Metrics.EDIT_DISTANCE]


@registry.register_problem
class TinyAlgo(AlgorithmicIdentityBinary40):
    """A hundred binary sequences, for tests. As in T2T: neither shifted nor ended by EOS."""

    train_size = 100
    dev_size = 100
    num_shards = 1

    def to_ids(self, samples: Iterator[Sample]) -> Iterator[Sample]:
        """Yields the samples as they are."""
        return samples
