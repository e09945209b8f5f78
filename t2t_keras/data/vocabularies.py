"""Vocabularies that several problems share, and problems with one vocabulary a side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from absl import logging

from t2t_keras import registry
from t2t_keras.text import encoders

if TYPE_CHECKING:
    from t2t_keras.text.subwords import SubwordTextEncoder


def vocabulary_of(problem_name: str) -> Any:
    """Value for a class's `use_vocab_from_other_problem`: the registered problem of that name.

        @registry.register_problem
        class TranslateEndeWmt32kPacked(TranslateEndeWmt32k):
            use_vocab_from_other_problem = vocabulary_of("translate_ende_wmt32k")

    The problem is looked up when it is asked for, so it may be defined anywhere.

    Args:
        problem_name: name of the problem whose vocabulary is shared.
    """

    def other_problem(self: Any) -> Any:
        del self
        return registry.problem(problem_name)

    return property(other_problem, doc=f"The problem {problem_name}.")


def load_or_build(
    path: str, texts: Callable[[], Iterable[str]], size: int, max_subtoken_length: int | None = None
) -> SubwordTextEncoder:
    """The subword vocabulary of a file; built from texts and stored if there is none.

    Args:
        path: the vocabulary's file.
        texts: called to get the texts if they are needed.
        size: number of subwords to aim at.
        max_subtoken_length: longest subword considered.
    """
    from t2t_keras.text import subword_builder, subwords

    if os.path.exists(path):
        logging.info("Vocabulary: %s", path)
        return subwords.SubwordTextEncoder(path)
    logging.info("Building a vocabulary of about %d subwords: %s", size, path)
    vocabulary = subword_builder.build_from_generator(
        texts(),
        size,
        max_subtoken_length=max_subtoken_length,
        reserved_tokens=encoders.RESERVED_TOKENS,
    )
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    vocabulary.store_to_file(path)
    return vocabulary


def load_existing(data_dir: str | None, filename: str, problem_name: str) -> SubwordTextEncoder:
    """The subword vocabulary of a file in data_dir.

    Raises:
        FileNotFoundError: if it is missing; the message says how to make it.
    """
    from t2t_keras.text import subwords

    path = os.path.join(data_dir or "", filename)
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"The vocabulary of problem {problem_name} is missing: {path}. If --data_dir is right, "
            f"make it with: t2t-datagen --problem={problem_name} --data_dir={data_dir}"
        )
    return subwords.SubwordTextEncoder(path)
