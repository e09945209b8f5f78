"""tf.train.Example messages without TensorFlow, which takes seconds to load.

The message types are defined here a second time, field for field, in a descriptor pool of their
own, so that they do not collide with TensorFlow's. The bytes are the same.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

Example = dict[str, Any]

_PACKAGE = "tensorflow"


def serialize(sample: Example) -> bytes:
    """A sample as the bytes of a tf.train.Example; a value's first element decides its type.

    Args:
        sample: feature name -> non-empty sequence of ints, floats, strings (UTF-8) or bytes.

    Raises:
        ValueError: if a value is empty or of another type.
    """
    message = _example_class()()
    features = message.features.feature
    for name, values in sample.items():
        if len(values) == 0:
            raise ValueError(f"Feature {name!r} is empty. Received the sample: {sample!r}")
        _fill(features[name], name, values)
    # In the order of names: else the order changes from process to process.
    return message.SerializeToString(deterministic=True)


def parse(serialized: bytes) -> Example:
    """The inverse of `serialize`: feature name -> list; strings come back as bytes."""
    result = {}
    for name, feature in _example_class().FromString(serialized).features.feature.items():
        kind = feature.WhichOneof("kind")
        result[name] = list(getattr(feature, kind).value) if kind else []
    return result


def list_kind(name: str, values: Sequence[Any]) -> str:
    """The member of `Feature` for values: "int64_list", "float_list" or "bytes_list".

    Raises:
        ValueError: if the first element is neither int, float, str nor bytes.
    """
    first = values[0]
    if isinstance(first, int):
        return "int64_list"
    if isinstance(first, float):
        return "float_list"
    if isinstance(first, (str, bytes)):
        return "bytes_list"
    import numpy as np

    if isinstance(first, np.integer):
        return "int64_list"
    if isinstance(first, np.floating):
        return "float_list"
    raise ValueError(
        f"Feature {name!r} must hold ints, floats, strings or bytes. Received: {first!r} of type "
        f"{type(first).__name__}"
    )


def list_values(kind: str, values: Sequence[Any]) -> Sequence[Any]:
    """The values as the list of that kind takes them: strings become UTF-8."""
    if kind == "bytes_list":
        return [value.encode("utf-8") if isinstance(value, str) else value for value in values]
    return values


def _fill(feature: Any, name: str, values: Sequence[Any]) -> None:
    kind = list_kind(name, values)
    getattr(feature, kind).value.extend(list_values(kind, values))


@functools.cache
def _example_class() -> Any:
    """The class of Example messages."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="t2t_keras/example.proto", package=_PACKAGE, syntax="proto3"
    )
    kinds = {"Bytes": field.TYPE_BYTES, "Float": field.TYPE_FLOAT, "Int64": field.TYPE_INT64}
    for kind, value_type in kinds.items():
        file.message_type.add(name=f"{kind}List").field.add(
            name="value", number=1, type=value_type, label=field.LABEL_REPEATED
        )
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, kind in enumerate(kinds, start=1):
        feature.field.add(
            name=f"{kind.lower()}_list",
            number=number,
            type=field.TYPE_MESSAGE,
            type_name=f".{_PACKAGE}.{kind}List",
            label=field.LABEL_OPTIONAL,
            oneof_index=0,
        )
    features = file.message_type.add(name="Features")
    entry = features.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=field.TYPE_STRING, label=field.LABEL_OPTIONAL)
    _add_message_field(entry, "value", 2, "Feature", field.LABEL_OPTIONAL)
    _add_message_field(features, "feature", 1, "Features.FeatureEntry", field.LABEL_REPEATED)
    example = file.message_type.add(name="Example")
    _add_message_field(example, "features", 1, "Features", field.LABEL_OPTIONAL)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Example"))


def _add_message_field(message: Any, name: str, number: int, type_name: str, label: Any) -> None:
    from google.protobuf import descriptor_pb2

    message.field.add(
        name=name,
        number=number,
        type=descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE,
        type_name=f".{_PACKAGE}.{type_name}",
        label=label,
    )
