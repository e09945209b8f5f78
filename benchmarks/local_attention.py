"""Time and memory of self-attention by length: full attention beside local attention.

    python benchmarks/local_attention.py [--lengths=512,1024,2048,4096] [--block_length=128]
    python benchmarks/local_attention.py --quick    # 256 and 512 only

Prints a table: milliseconds of a forward pass through one multi-head attention (512 wide, 8 heads,
batch 1), best of three. Doubling the length should double the time of local attention, while that
of full attention grows up to fourfold; local attention's logits are length · 3 · block_length
numbers a head, full attention's length².
"""

import argparse
import time

import numpy as np
import tensorflow as tf

from t2t_keras.layers.attention import MultiHeadAttention
from t2t_keras.layers.local_attention import NEIGHBOURHOODS, LocalAttention

SIZE, HEADS = 512, 8


def milliseconds(layer: MultiHeadAttention, length: int) -> float:
    """Best time of three forward passes, after one that traces."""
    x = tf.constant(np.random.default_rng(0).normal(size=(1, length, SIZE)).astype(np.float32))
    function = tf.function(layer)
    function(x)
    times = []
    for _ in range(3):
        start = time.perf_counter()
        function(x).numpy()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lengths", default="512,1024,2048,4096")
    parser.add_argument("--block_length", type=int, default=128)
    parser.add_argument("--quick", action="store_true", help="lengths 256 and 512 only")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.lengths = "256,512"
    full = MultiHeadAttention(SIZE, HEADS)
    inner = LocalAttention(NEIGHBOURHOODS["local_unmasked"], arguments.block_length)
    local = MultiHeadAttention(SIZE, HEADS, inner=inner)
    for layer in (full, local):
        layer.build()
    print(f"{'length':>8}{'full ms':>12}{'local ms':>12}{'full MB':>12}{'local MB':>12}")
    for length in map(int, arguments.lengths.split(",")):
        logits = [HEADS * length * keys * 4 / 1e6 for keys in (length, 3 * arguments.block_length)]
        times = [milliseconds(layer, length) for layer in (full, local)]
        print(f"{length:8}" + "".join(f"{number:12.1f}" for number in (*times, *logits)))


if __name__ == "__main__":
    main()
