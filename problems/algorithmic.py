"""Problems on symbol sequences whose solution is a short program (T2T's algorithmic, cipher).

Symbols are written directly as ids, shifted by 2 past padding and EOS; there is no vocabulary file.
Samples come from NumPy's global generator, number by number in T2T's order, so that the same seed
gives the same data.
"""

from collections.abc import Iterator

import numpy as np

from t2t_keras import registry
from t2t_keras.data import problem, records
from t2t_keras.data.problem import SpaceID
from t2t_keras.hparam import HParams
from t2t_keras.text import encoders

Sample = dict[str, list[int]]


def random_symbols(num_symbols: int, length: int) -> list[int]:
    """`length` random symbols from 0 to num_symbols - 1."""
    # One call draws the same numbers as `length` calls, and is much faster.
    return [int(symbol) for symbol in np.random.randint(num_symbols, size=length)]


def random_length(max_length: int) -> int:
    """A random length from 1 to max_length."""
    return int(np.random.randint(max_length)) + 1


class AlgorithmicProblem(problem.Problem):
    """Base class: a subclass says how many symbols there are and how samples are made."""

    @property
    def num_symbols(self) -> int:
        """Number of different symbols; the vocabulary has two more."""
        raise NotImplementedError(f"{type(self).__name__} does not define num_symbols.")

    @property
    def num_undeclared_symbols(self) -> int:
        """Symbols in the samples beyond `num_symbols`.

        T2T leaves them out of the declared vocabulary, and its models fail at them, or take them
        for zero vectors, depending on the device. Here models are made large enough.
        """
        return 0

    def generator(self, nbr_symbols: int, max_length: int, nbr_cases: int) -> Iterator[Sample]:
        """Yields samples of symbols, neither shifted nor ended by EOS.

        Args:
            nbr_symbols: number of different symbols.
            max_length: longest inputs.
            nbr_cases: number of samples.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define generator.")

    @property
    def train_length(self) -> int:
        """Longest inputs in training."""
        return 40

    @property
    def dev_length(self) -> int:
        """Longest inputs in evaluation: far longer, to measure generalisation."""
        return 400

    @property
    def train_size(self) -> int:
        """Number of training samples."""
        return 100000

    @property
    def dev_size(self) -> int:
        """Number of evaluation samples."""
        return 10000

    @property
    def num_shards(self) -> int:
        """Number of training shards; evaluation has one."""
        return 10

    def generate_data(self, data_dir: str, tmp_dir: str, task_id: int | None = -1) -> None:
        """Writes training and evaluation shards; there is no order to shuffle."""
        del tmp_dir, task_id
        parts = (
            (self.training_filepaths, self.num_shards, self.train_length, self.train_size),
            (self.dev_filepaths, 1, self.dev_length, self.dev_size),
        )
        for paths_of, num_shards, max_length, num_cases in parts:
            samples = self.generator(self.num_symbols, max_length, num_cases)
            paths = paths_of(data_dir, num_shards, True)
            records.generate_files(self.to_ids(samples), paths)

    def to_ids(self, samples: Iterator[Sample]) -> Iterator[Sample]:
        """Shifts symbols past the reserved ids and appends EOS."""
        for sample in samples:
            yield {
                feature: [
                    *(symbol + encoders.NUM_RESERVED_TOKENS for symbol in symbols),
                    encoders.EOS_ID,
                ]
                for feature, symbols in sample.items()
            }

    def hparams(self, defaults: HParams, model_hparams: HParams) -> None:
        """Symbols on both sides, in two digit spaces."""
        del model_hparams
        size = self.num_symbols + encoders.NUM_RESERVED_TOKENS
        defaults.modality = dict.fromkeys(("inputs", "targets"), problem.ModalityType.SYMBOL)
        defaults.vocab_size = dict.fromkeys(("inputs", "targets"), size)
        if self.num_undeclared_symbols:
            least = size + self.num_undeclared_symbols
            defaults.add_hparam("least_vocab_size", dict.fromkeys(("inputs", "targets"), least))
        defaults.input_space_id = SpaceID.DIGIT_0
        defaults.target_space_id = SpaceID.DIGIT_1


@registry.register_problem
class AlgorithmicIdentityBinary40(AlgorithmicProblem):
    """Copy binary sequences."""

    num_symbols = 2

    def generator(self, nbr_symbols: int, max_length: int, nbr_cases: int) -> Iterator[Sample]:
        """Yields random sequences, the same on both sides."""
        for _ in range(nbr_cases):
            symbols = random_symbols(nbr_symbols, random_length(max_length))
            yield {"inputs": symbols, "targets": symbols}


@registry.register_problem
class AlgorithmicIdentityDecimal40(AlgorithmicIdentityBinary40):
    """Copy decimal sequences."""

    num_symbols = 10


@registry.register_problem
class AlgorithmicIdentityVocab95Train20Eval30(AlgorithmicIdentityBinary40):
    """Copy sequences of 95 symbols, of up to 20 in training and 30 in evaluation."""

    num_symbols = 95
    train_length = 20
    dev_length = 30
    train_size = 1000000


@registry.register_problem
class AlgorithmicShiftDecimal40(AlgorithmicProblem):
    """Add 10 to each symbol: digits become the ten other symbols."""

    SHIFT = 10
    # Ten digits, and the ten symbols they become.
    num_symbols = 20
    dev_length = 80

    def generator(self, nbr_symbols: int, max_length: int, nbr_cases: int) -> Iterator[Sample]:
        """Yields random digits and the shifted ones."""
        for _ in range(nbr_cases):
            digits = random_symbols(nbr_symbols - self.SHIFT, random_length(max_length))
            yield {"inputs": digits, "targets": [digit + self.SHIFT for digit in digits]}


@registry.register_problem
class AlgorithmicReverseBinary40(AlgorithmicProblem):
    """Reverse binary sequences."""

    num_symbols = 2

    def generator(self, nbr_symbols: int, max_length: int, nbr_cases: int) -> Iterator[Sample]:
        """Yields random sequences and their reversals."""
        for _ in range(nbr_cases):
            symbols = random_symbols(nbr_symbols, random_length(max_length))
            yield {"inputs": symbols, "targets": symbols[::-1]}


@registry.register_problem
class AlgorithmicReverseBinary40Test(AlgorithmicReverseBinary40):
    """Reverse a few short binary sequences; for tests."""

    train_length = 10
    dev_length = 10
    train_size = 1000
    dev_size = 100
    num_shards = 1


@registry.register_problem
class AlgorithmicReverseDecimal40(AlgorithmicReverseBinary40):
    """Reverse decimal sequences."""

    num_symbols = 10


def zipf_table(num_symbols: int, alpha: float) -> np.ndarray:
    """Cumulative distribution of Zipf's law, P(k) proportional to k^-alpha.

    Args:
        num_symbols: number of different symbols.
        alpha: exponent.

    Returns:
        float64 [num_symbols + 1]: entry k is P(symbol <= k), entry 0 is 0.
    """
    weights = np.power(np.arange(1, num_symbols + 1, dtype=np.float64), -alpha)
    cumulative = np.concatenate([[0.0], np.cumsum(weights)])
    return cumulative / cumulative[-1]


@registry.register_problem
class AlgorithmicReverseNlplike8k(AlgorithmicProblem):
    """Reverse sequences with the lengths and frequencies of sentences, of 8,000 symbols."""

    ZIPF_ALPHA = 1.3
    num_symbols = 8000
    # Symbols begin with 1.
    num_undeclared_symbols = 1
    # Lengths are half of it on average.
    train_length = 70
    dev_length = 70

    def generator(self, nbr_symbols: int, max_length: int, nbr_cases: int) -> Iterator[Sample]:
        """Yields Zipf-distributed symbols and their reversals; lengths are normal-distributed.

        Symbols run from 1 to nbr_symbols, as in T2T.
        """
        table = zipf_table(nbr_symbols, self.ZIPF_ALPHA)
        for _ in range(nbr_cases):
            length = int(abs(np.random.normal(loc=max_length / 2, scale=max_length / 10)) + 1)
            symbols = np.searchsorted(table, np.random.random(length)).tolist()
            yield {"inputs": symbols, "targets": symbols[::-1]}


@registry.register_problem
class AlgorithmicReverseNlplike32k(AlgorithmicReverseNlplike8k):
    """The same with 32,000 symbols, less unevenly distributed."""

    ZIPF_ALPHA = 1.05
    num_symbols = 32000
