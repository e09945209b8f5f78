"""TensorFlow's error messages without what only TensorFlow understands; loads nothing."""

import re

__all__ = ["without_nodes"]

# Places in a graph, at the beginning and the end of a message.
_NODES = re.compile(r"\{\{[^}]*\}\}\s*|\s*\[Op:\w+\]")


def without_nodes(text: str) -> str:
    """A message without the names of nodes and operations."""
    return _NODES.sub("", text).strip()
