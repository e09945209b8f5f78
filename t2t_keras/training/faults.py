"""What can go wrong around a training step that isn't the model's fault, told in the user's words.

TensorFlow tells of a missing file, a full memory or a full disk in terms of its own. Here these
errors get the cause, what is lost (nothing: the run goes on from its last checkpoint), and the
way out.
"""

import contextlib
import errno
import glob
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf

from t2t_keras import hparams_lib
from t2t_keras.data import batching, bucketing, shard_sizes
from t2t_keras.training.checkpoint_damage import escape_glob
from t2t_keras.training.tensorflow_messages import without_nodes

__all__ = [
    "BatchTooLargeError",
    "InputLostError",
    "SavingError",
    "StepFaults",
    "explain_saving",
    "explain_writing",
]

_MEGABYTE = 1 << 20
_LONGEST_GIST = 300
# What only writing meets with.
_WRITE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class InputLostError(ValueError):
    """Training data that can't be read any more."""


class BatchTooLargeError(ValueError):
    """A batch for which the memory doesn't suffice."""


class SavingError(OSError):
    """Output that can't be written."""


class StepFaults:
    """Explains errors of reading a batch and of training on it.

    Args:
        hparams: with `problem`.
        data_dir: directory of the shards.
        num_replicas: among which a batch is divided.

    Attributes:
        scheme: the batching scheme, if the input has one of its own; else None.
    """

    def __init__(
        self,
        hparams: Any,
        data_dir: str,
        num_replicas: int,
    ) -> None:
        self._hparams = hparams
        self._data_dir = data_dir
        self._num_replicas = num_replicas
        self.scheme: bucketing.BatchingScheme | None = None
        self._largest_done = 0  # tokens of one replica and side, padding included

    @contextlib.contextmanager
    def of_reading(self, step: int, last_checkpoint: str | None) -> Iterator[None]:
        """Explains what is raised while a batch is read.

        Args:
            step: steps done.
            last_checkpoint: from which training can go on.

        Raises:
            InputLostError: a shard is damaged, gone or unreadable.
        """
        try:
            yield
        except (tf.errors.DataLossError, tf.errors.NotFoundError, OSError, ValueError) as error:
            cause = self._cause(error)
            if not cause:
                raise
            problem = self._hparams.problem
            raise InputLostError(
                f"The training data can't be read after step {step}: {cause} "
                f"{_goes_on(last_checkpoint)} once the data are whole again: delete what is "
                f"damaged, then t2t-datagen --problem={problem.name} --data_dir={self._data_dir} "
                "--tmp_dir=<directory of the source files>"
            ) from error

    def _cause(self, error: Exception) -> str:
        """File, record and kind of damage; "" if the error isn't about the data's files."""
        if isinstance(error, FileNotFoundError) and not error.strerror:
            return ""  # Our own, which says all there is to say.
        if not os.path.isdir(self._data_dir):
            return f"data_dir {self._data_dir} is gone."
        shards = sorted(glob.glob(self._hparams.problem.filepattern(self._data_dir, "train")))
        if not shards:
            return f"there are no shards in {self._data_dir} any more."
        found = shard_sizes.wrong_size(shards) or shard_sizes.unreadable(shards)
        if found:
            return found if found.endswith(".") else f"{found}."
        # Words of Python's own; of ours, the message says all there is to say.
        return f"{_gist(error)}." if isinstance(error, (OSError, tf.errors.OpError)) else ""

    @contextlib.contextmanager
    def of_training(
        self, batches: Sequence[Mapping[str, Any]], step: int, last_checkpoint: str | None
    ) -> Iterator[None]:
        """Explains what is raised by a training step.

        Args:
            batches: the global batch, or the micro-batches; features `[batch, length]` each.
            step: steps done.
            last_checkpoint: from which training can go on.

        Raises:
            BatchTooLargeError: the memory doesn't suffice.
        """
        try:
            yield
        except (tf.errors.OpError, MemoryError) as error:
            if not _is_out_of_memory(error):
                raise
            # Which of several micro-batches it was isn't known.
            largest = max(batches, key=self._tokens)
            raise BatchTooLargeError(
                self._memory_message(largest, step, last_checkpoint, error)
            ) from error
        self._largest_done = max(self._largest_done, *map(self._tokens, batches))

    def _tokens(self, features: Mapping[str, Any]) -> int:
        """Tokens of one replica's part of the longer side, padding included."""
        shapes = [value.shape for value in features.values() if len(value.shape) > 1]
        sizes = [int(shape[0]) * int(shape[1]) for shape in shapes]
        return -(-max(sizes) // self._num_replicas)

    def _memory_message(
        self,
        features: Mapping[str, Any],
        step: int,
        last_checkpoint: str | None,
        error: BaseException,
    ) -> str:
        scheme = self.scheme or self._scheme_for(self._hparams.batch_size)
        shapes = ", ".join(f"{n} {list(v.shape)}" for n, v in sorted(features.items()))
        rows = max(scheme.batch_sizes[-1] // self._num_replicas, 1)
        tokens = self._tokens(features)
        limit = tokens // 2
        basis = "about half the memory"
        if 0 < self._largest_done < tokens:
            limit = self._largest_done
            basis = f"batches of at most {limit} tokens, as those that did fit"
        fitting = self._fitting_batch_size(limit)
        advice = f"batch_size={fitting} needs {basis}"
        if fitting < self._hparams.batch_size and scheme.longest > limit:
            advice += f", but a sentence of {scheme.longest} doesn't fit into it: lower max_length"
        return (
            f"Out of memory in step {step + 1} (batch: {shapes}; {self._num_replicas} replica(s), "
            f"{tokens} tokens each with padding). Longest bucket of a replica: {scheme.longest} x "
            f"{rows} (length x sentences). Lower hparam batch_size: {advice}; "
            "optimizer_multistep_accumulate_steps keeps the number of tokens of an update. "
            f"{_goes_on(last_checkpoint)} with it. "
            f"Received: batch_size={self._hparams.batch_size}; {_gist(error)}"
        )

    def _scheme_for(self, batch_size: int) -> bucketing.BatchingScheme:
        hparams = hparams_lib.copy_hparams(self._hparams)
        hparams.batch_size = batch_size
        scheme = bucketing.hparams_to_batching_scheme(
            hparams,
            drop_long_sequences=True,
            shard_multiplier=self._num_replicas,
            length_multiplier=batching.problem_multiplier(hparams.problem, hparams),
        )
        return scheme.with_limit(hparams.problem.max_length(hparams), True)

    def _fitting_batch_size(self, limit: int) -> int:
        """The largest eighth of the present one (or of its half, …) with no batch above `limit`."""
        present = whole = int(self._hparams.batch_size)
        while whole > 1:
            for eighths in range(7, 3, -1):
                candidate = max(whole * eighths // 8, 1)
                scheme = self._scheme_for(candidate)
                lengths, sizes = scheme.bucket_lengths, scheme.batch_sizes
                # A batch of one sentence can't get smaller.
                tokens = [
                    size // self._num_replicas * length
                    for size, length in zip(sizes, lengths, strict=True)
                    if size > self._num_replicas
                ]
                if max(tokens, default=0) <= limit:
                    return candidate
            whole //= 2
        return max(present // 2, 1)


@contextlib.contextmanager
def explain_saving(directory: str, last_checkpoint: str | None, prefix: str = "") -> Iterator[None]:
    """Explains what is raised by writing into the output directory, and removes half a checkpoint.

    Args:
        directory: the output directory.
        last_checkpoint: the last one that is whole.
        prefix: of the checkpoint being written.

    Raises:
        SavingError: the disk is full, the directory read-only, gone, ….
    """
    try:
        yield
    except SavingError:
        raise
    except (tf.errors.OpError, OSError) as error:
        if prefix:
            _remove_half_written(prefix)
        what = os.path.basename(prefix) or "Output"
        raise SavingError(
            f"{what} can't be written into {directory} ({_gist(error)}; {_space_left(directory)}). "
            "The checkpoints before are as they were. Make room, or the directory writable. "
            f"{_goes_on(last_checkpoint)}."
        ) from error


@contextlib.contextmanager
def explain_writing(directory: str, last_checkpoint: str | None) -> Iterator[None]:
    """Explains errors of writing where much else is done, too; all others stay as they are.

    Args:
        directory: the output directory.
        last_checkpoint: the last one that is whole.

    Raises:
        SavingError: the disk is full, or the directory read-only, gone, ….
    """
    try:
        yield
    except (tf.errors.OpError, OSError) as error:
        if isinstance(error, SavingError) or not _is_of_writing(error, directory):
            raise
        with explain_saving(directory, last_checkpoint):
            raise


def _is_of_writing(error: tf.errors.OpError | OSError, directory: str) -> bool:
    if isinstance(error, OSError):
        inside = os.path.join(os.path.abspath(directory), "")
        path = os.path.abspath(str(error.filename)) if error.filename else ""
        return path.startswith(inside) or error.errno in _WRITE_ERRORS
    return any(os.strerror(number) in str(error) for number in _WRITE_ERRORS)


def _remove_half_written(prefix: str) -> None:
    """Removes what belongs to a checkpoint that has no index: it isn't one, and takes space."""
    if os.path.exists(f"{prefix}.index"):
        return
    for path in glob.glob(f"{escape_glob(prefix)}.*"):
        with contextlib.suppress(OSError):
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.remove(path)


def _space_left(directory: str) -> str:
    try:
        return f"{shutil.disk_usage(directory).free / _MEGABYTE:.1f} MB are free there"
    except OSError:
        return "the directory can't be looked at"


def _goes_on(last_checkpoint: str | None) -> str:
    where = f"goes on from {last_checkpoint}" if last_checkpoint else "starts anew"
    return f"Nothing saved is lost: the same command {where}"


def _is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, (tf.errors.ResourceExhaustedError, MemoryError)):
        return True
    text = str(error).lower()
    return "out of memory" in text or "resource_exhausted" in text


def _gist(error: BaseException) -> str:
    """An error's first sentence, without TensorFlow's list of graph nodes."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    text = str(getattr(error, "message", None) or error or type(error).__name__)
    return without_nodes(text).split("\n")[0].strip()[:_LONGEST_GIST].rstrip(".")
