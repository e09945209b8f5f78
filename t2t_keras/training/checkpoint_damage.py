"""Whether the files of a checkpoint are whole: a full disk or a torn copy can leave half of one."""

import math
import pathlib
import re

import tensorflow as tf

__all__ = ["READ_ERRORS", "escape_glob", "find_damage", "find_damaged_values"]

# What TensorFlow raises for a file that is cut or altered; which of them depends on the place.
READ_ERRORS = (tf.errors.OpError, IndexError, RuntimeError, ValueError)


def escape_glob(name: str) -> str:
    """The name as a glob pattern that matches only itself."""
    return re.sub(r"([*?\[])", r"[\1]", name)


def find_damage(prefix: str) -> str | None:
    """What is wrong with the files of a checkpoint, naming the file; None if they are whole.

    Reads the index only: it tells how large the data files must be. Altered bytes of the data are
    found when they are read.
    """
    index = pathlib.Path(f"{prefix}.index")
    if not index.is_file():
        return f"{index} is absent"
    shards = list(index.parent.glob(f"{escape_glob(index.stem)}.data-*-of-*"))
    expected = int(shards[0].name.rsplit("-", 1)[1]) if shards else 1
    if len(shards) < expected:
        return f"{expected - len(shards)} of {expected} data files {prefix}.data-* are absent"
    try:
        needed = _data_bytes(prefix)
    except READ_ERRORS as error:
        return f"{index} is damaged ({error})"
    size = sum(shard.stat().st_size for shard in shards)
    if size < needed:
        named = shards[0] if expected == 1 else f"{prefix}.data-*"
        return f"{named} is cut off ({size} bytes instead of {needed})"
    return None


def find_damaged_values(prefix: str) -> str | None:
    """As `find_damage`, but reads all of the data, whose check sums tell altered bytes."""
    return find_damage(prefix) or _unreadable_value(prefix)


def _unreadable_value(prefix: str) -> str | None:
    """The first value that can't be read, in words; reads everything."""
    name = ""
    try:
        reader = tf.train.load_checkpoint(prefix)
        for name in sorted(reader.get_variable_to_shape_map()):
            reader.get_tensor(name)
    except READ_ERRORS as error:
        return f"{prefix} is damaged at {name} ({str(error).splitlines()[0]})"
    return None


def _data_bytes(prefix: str) -> int:
    """Bytes of all values of fixed size, by the index."""
    reader = tf.train.load_checkpoint(prefix)
    dtypes = reader.get_variable_to_dtype_map()
    shapes = reader.get_variable_to_shape_map()
    sizes = {name: 0 if dtype == tf.string else dtype.size for name, dtype in dtypes.items()}
    return sum(math.prod(shape) * sizes[name] for name, shape in shapes.items())
