"""Sets of T2T's model transformer_block_parallel, which predicts several symbols at once.

`block_size` is how many (Stern et al., 2018, "Blockwise Parallel Decoding"). The model isn't
available here; `transformer` refuses these sets.
"""

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import extended
from t2t_keras.hparams.transformer import transformer_base, transformer_big, transformer_tiny


@registry.register_hparams
def transformer_tiny_bs1() -> HParams:
    """Blocks of 1 symbol on transformer_tiny."""
    return extended(transformer_tiny(), block_size=1)


@registry.register_hparams
def transformer_tiny_bs2() -> HParams:
    """Blocks of 2 symbols on transformer_tiny."""
    return extended(transformer_tiny(), block_size=2)


@registry.register_hparams
def transformer_tiny_bs3() -> HParams:
    """Blocks of 3 symbols on transformer_tiny."""
    return extended(transformer_tiny(), block_size=3)


@registry.register_hparams
def transformer_base_bs1() -> HParams:
    """Blocks of 1 symbol on transformer_base."""
    return extended(transformer_base(), block_size=1)


@registry.register_hparams
def transformer_base_bs2() -> HParams:
    """Blocks of 2 symbols on transformer_base."""
    return extended(transformer_base(), block_size=2)


@registry.register_hparams
def transformer_base_bs3() -> HParams:
    """Blocks of 3 symbols on transformer_base."""
    return extended(transformer_base(), block_size=3)


@registry.register_hparams
def transformer_base_bs4() -> HParams:
    """Blocks of 4 symbols on transformer_base."""
    return extended(transformer_base(), block_size=4)


@registry.register_hparams
def transformer_base_bs5() -> HParams:
    """Blocks of 5 symbols on transformer_base."""
    return extended(transformer_base(), block_size=5)


@registry.register_hparams
def transformer_base_bs6() -> HParams:
    """Blocks of 6 symbols on transformer_base."""
    return extended(transformer_base(), block_size=6)


@registry.register_hparams
def transformer_base_bs7() -> HParams:
    """Blocks of 7 symbols on transformer_base."""
    return extended(transformer_base(), block_size=7)


@registry.register_hparams
def transformer_base_bs8() -> HParams:
    """Blocks of 8 symbols on transformer_base."""
    return extended(transformer_base(), block_size=8)


@registry.register_hparams
def transformer_base_bs9() -> HParams:
    """Blocks of 9 symbols on transformer_base."""
    return extended(transformer_base(), block_size=9)


@registry.register_hparams
def transformer_base_bs10() -> HParams:
    """Blocks of 10 symbols on transformer_base."""
    return extended(transformer_base(), block_size=10)


@registry.register_hparams
def transformer_big_bs1() -> HParams:
    """Blocks of 1 symbol on transformer_big."""
    return extended(transformer_big(), block_size=1)
