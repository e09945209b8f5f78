"""Vocabularies that several problems share, and problems with one vocabulary a side."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from absl import logging

from t2t_keras import registry
from t2t_keras.data.modes import VocabType
from t2t_keras.text import encoders

if TYPE_CHECKING:
    from t2t_keras.text.subwords import SubwordTextEncoder

# What is reserved, and one more.
_LEAST_SIZE: Final = 3


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


def parse_size(text: str) -> int:
    """The number of subwords that a name's argument `vocab=` asks for.

    Raises:
        ValueError: it is no number, or too small.
    """
    if not text.isascii() or not text.isdecimal() or int(text) < _LEAST_SIZE:
        raise ValueError(
            f"A vocabulary's size must be a number of at least {_LEAST_SIZE}. Received: {text!r}"
        )
    return int(text)


def with_vocab_size(problem_class: Any, size: int) -> Any:
    """A variant of a problem class whose subword vocabulary has about `size` entries.

    Shards and vocabulary get names of their own if the variant is registered under one.

    Args:
        problem_class: a class of text problems that have a subword vocabulary of their own.
        size: number of subwords to aim at.

    Raises:
        ValueError: the class has another kind of vocabulary, or another problem's, or names its
            files in a way that does not tell the variant apart.
    """
    original = problem_class()
    if (
        original.vocab_type != VocabType.SUBWORD
        or original.use_vocab_from_other_problem is not None
    ):
        raise ValueError(
            f"Problem {original.name} has no subword vocabulary of its own, so that its size can't "
            f"be chosen. Received: vocab={size}"
        )
    variant = type(
        f"{problem_class.__name__}WithVocab{size}",
        (problem_class,),
        {
            "__module__": problem_class.__module__,
            "__doc__": f"{problem_class.__doc__} (Here: {size} subwords.)",
            "approx_vocab_size": size,
            "name": f"{original.name}:vocab={size}",
        },
    )
    if variant().dataset_filename() == original.dataset_filename():
        raise ValueError(
            f"Problem {original.name} has fixed file names; subclass it for another vocabulary. "
            f"Received: vocab={size}"
        )
    return variant


def load(path: str) -> SubwordTextEncoder:
    """The subword vocabulary of a file."""
    from t2t_keras.text import subwords

    vocabulary = subwords.SubwordTextEncoder(path)
    logging.info("Vocabulary: %s, %d subwords, made before", path, vocabulary.vocab_size)
    return vocabulary


def build(
    texts: Iterable[str],
    size: int,
    name: str,
    max_subtoken_length: int | None = None,
    additional_reserved_tokens: Iterable[str] = (),
) -> SubwordTextEncoder:
    """A subword vocabulary built from texts.

    Args:
        texts: the texts.
        size: number of subwords to aim at.
        name: what it is for, for the log.
        max_subtoken_length: longest subword considered.
        additional_reserved_tokens: tokens with ids from 2 on.

    Raises:
        ValueError: the texts have no words.
    """
    from t2t_keras.text import subword_builder

    logging.info("Building a vocabulary of about %d subwords for %s", size, name)
    return subword_builder.build_from_generator(
        texts,
        size,
        max_subtoken_length=max_subtoken_length,
        reserved_tokens=[*encoders.RESERVED_TOKENS, *additional_reserved_tokens],
    )


def store(vocabulary: SubwordTextEncoder, path: str) -> None:
    """Writes a vocabulary's file."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    vocabulary.store_to_file(path)
    logging.info("Wrote %s: %d subwords", path, vocabulary.vocab_size)


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
    if os.path.exists(path):
        return load(path)
    vocabulary = build(texts(), size, path, max_subtoken_length)
    store(vocabulary, path)
    return vocabulary


def making_command(problem_name: str, data_dir: str | None) -> str:
    """How a vocabulary that is missing is made, in words."""
    return f"make it with: t2t-datagen --problem={problem_name} --data_dir={data_dir}"


def existing_path(data_dir: str | None, filename: str, problem_name: str, way_out: str) -> str:
    """The path of a vocabulary that must be in data_dir.

    Args:
        data_dir: the directory.
        filename: the vocabulary's file there.
        problem_name: the problem whose vocabulary it is.
        way_out: how to get it, if it is missing.

    Raises:
        FileNotFoundError: if it is missing.
    """
    path = os.path.join(data_dir or "", filename)
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"The vocabulary of problem {problem_name} is missing: {path}. If --data_dir is right, "
            f"{way_out}"
        )
    return path


def load_existing(data_dir: str | None, filename: str, problem_name: str) -> SubwordTextEncoder:
    """The subword vocabulary of a file in data_dir.

    Raises:
        FileNotFoundError: if it is missing; the message says how to make it.
    """
    from t2t_keras.text import subwords

    way_out = making_command(problem_name, data_dir)
    return subwords.SubwordTextEncoder(existing_path(data_dir, filename, problem_name, way_out))
