"""Deciphering as an algorithmic problem (T2T's cipher): plain text in, cipher text out."""

from collections.abc import Iterator, Sequence

from t2t_keras import registry
from t2t_keras.problems.algorithmic import (
    AlgorithmicProblem,
    Sample,
    random_length,
    random_symbols,
)


def encipher(symbols: Sequence[int], key: Sequence[int], num_symbols: int) -> list[int]:
    """Vigenère's cipher: each symbol is moved on by the key's next number, round the alphabet.

    Args:
        symbols: plain text.
        key: shifts, used in turn; one number is Caesar's cipher.
        num_symbols: size of the alphabet.
    """
    return [
        (symbol + key[position % len(key)]) % num_symbols for position, symbol in enumerate(symbols)
    ]


class CipherProblem(AlgorithmicProblem):
    """Base class: a subclass gives key, alphabet and length."""

    KEY: Sequence[int] = ()

    def generator(self, nbr_symbols: int, max_length: int, nbr_cases: int) -> Iterator[Sample]:
        """Yields random plain texts and their cipher texts."""
        for _ in range(nbr_cases):
            plain = random_symbols(nbr_symbols, random_length(max_length))
            yield {"inputs": plain, "targets": encipher(plain, self.KEY, nbr_symbols)}


@registry.register_problem
class AlgorithmicCipherShift5(CipherProblem):
    """Shift an alphabet of 5 by one."""

    KEY = (1,)
    num_symbols = 5
    train_length = 100
    dev_length = 100


@registry.register_problem
class AlgorithmicCipherShift200(AlgorithmicCipherShift5):
    """Shift an alphabet of 200 by one."""

    num_symbols = 200


@registry.register_problem
class AlgorithmicCipherVigenere5(CipherProblem):
    """Vigenère's cipher with key 1, 3 over an alphabet of 5."""

    KEY = (1, 3)
    num_symbols = 5
    train_length = 200
    dev_length = 200


@registry.register_problem
class AlgorithmicCipherVigenere200(AlgorithmicCipherVigenere5):
    """Vigenère's cipher with key 1, 3 over an alphabet of 200."""

    num_symbols = 200
