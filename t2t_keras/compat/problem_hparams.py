"""A problem made of two vocabulary sizes, for tests of models (T2T's problem_hparams)."""

from typing import Any

from t2t_keras.data.modes import ModalityType
from t2t_keras.data.problem import Problem
from t2t_keras.hparam import HParams


class TestProblem(Problem):
    """Symbols on both sides; there are no data.

    Args:
        input_vocab_size: number of input symbols; None or 0: the problem has no inputs.
        target_vocab_size: number of target symbols.
    """

    # Tells pytest that it isn't a test.
    __test__ = False

    def __init__(self, input_vocab_size: int | None, target_vocab_size: int) -> None:
        super().__init__(was_reversed=False, was_copy=False)
        self.input_vocab_size = input_vocab_size
        self.target_vocab_size = target_vocab_size

    @property
    def has_inputs(self) -> bool:
        """Whether a size of the input vocabulary was given."""
        return bool(self.input_vocab_size)

    def hparams(self, defaults: HParams, model_hparams: HParams) -> None:
        """The given vocabulary sizes."""
        del model_hparams
        sizes = {"inputs": self.input_vocab_size, "targets": self.target_vocab_size}
        defaults.vocab_size = {side: size for side, size in sizes.items() if size}
        defaults.modality = dict.fromkeys(defaults.vocab_size, ModalityType.SYMBOL)


def test_problem_hparams(
    input_vocab_size: int | None = None,
    target_vocab_size: int | None = None,
    model_hparams: Any = None,
) -> HParams:
    """The problem hparams of a `TestProblem`.

    Args:
        input_vocab_size: number of input symbols.
        target_vocab_size: number of target symbols.
        model_hparams: the model's hparams; None: the defaults.

    Raises:
        ValueError: there's no target vocabulary size.
    """
    if not target_vocab_size:
        raise ValueError(
            f"A problem needs targets: give target_vocab_size. Received: {target_vocab_size}"
        )
    return TestProblem(input_vocab_size, target_vocab_size).get_hparams(model_hparams)


# Neither is this function.
test_problem_hparams.__test__ = False  # type: ignore[attr-defined]
