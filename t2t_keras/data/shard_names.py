"""Names of the files that hold a data set."""

from __future__ import annotations

import os

__all__ = ["UNSHUFFLED_SUFFIX", "shard_paths"]

# Ends the base name of shards whose examples are still in the order in which they were made.
UNSHUFFLED_SUFFIX = "-unshuffled"


def shard_paths(data_dir: str, base_name: str, split: str, num_shards: int) -> list[str]:
    """Paths `<data_dir>/<base_name>-<split>-<shard>-of-<total>`, five digits each."""
    return [
        os.path.join(data_dir, f"{base_name}-{split}-{shard:05d}-of-{num_shards:05d}")
        for shard in range(num_shards)
    ]
