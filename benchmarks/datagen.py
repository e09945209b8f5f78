"""Time and memory of t2t-datagen beside tensor2tensor's.

    python benchmarks/datagen.py --data=../shared/data [--corpus=debian_mt] [--processes=2]

Each run is a whole process, from its start to the last file. CPU time says more than wall time on a
shared machine. tensor2tensor 1.15.7 was measured once, on one core of an AMD EPYC. Vocabulary and
records are compared with tensor2tensor's by their SHA-256.
"""

import argparse
import gzip
import hashlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from t2t_keras.data import example_proto, tfrecord


class Corpus(NamedTuple):
    """A corpus, and what tensor2tensor made of it."""

    files: dict[str, str]
    vocab_size: int
    shards: int
    t2t_seconds: float
    vocabulary_sha256: str
    train_sha256: str


CORPORA = {
    "multi30k": Corpus(
        {"train": "train.{}.gz", "eval": "val.{}.gz"},
        8192,
        10,
        49.0,
        "b3ecbd8ce28c0d46322d8c1f8084ea1ca71bc85c337155e1e9db82f459f91084",
        "6f95a95035a59832114e9db7b9d94489ffc799b1dcd94d42d95490e42b3c83a0",
    ),
    "debian_mt": Corpus(
        {"train": "train.en-de.{}.gz", "eval": "dev.en-de.{}.gz"},
        32768,
        100,
        397.0,
        "e407ee55461a80f142f8d543099a212a351b9bc3ae2f82ad6b4b95070cfc7986",
        "99c5b4f24b1b9e41d91c2b9a460105e2728f15feda8a55a41f1d74b01e0f10ff",
    ),
}

USER_PACKAGE = """
from t2t_keras import registry
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.tmpdir_problems import Text2textTmpdir


@registry.register_problem("benchmark_corpus")
class BenchmarkCorpus(Text2textTmpdir):
    approx_vocab_size = {vocab_size}
    dataset_splits = [
        {{"split": DatasetSplit.TRAIN, "shards": {shards}}},
        {{"split": DatasetSplit.EVAL, "shards": 1}},
    ]
"""


def unpack(corpus: Corpus, source: str, folder: str, times: int) -> None:
    for split, pattern in corpus.files.items():
        for side, language in (("inputs", "en"), ("targets", "de")):
            with gzip.open(os.path.join(source, pattern.format(language))) as stream:
                text = stream.read()
            with open(os.path.join(folder, f"{side}.{split}.txt"), "wb") as output:
                output.write(text * times)


def digests(folder: str, vocab_size: int) -> tuple[str, str, int]:
    """SHA-256 of the vocabulary and of the training records, number of records."""
    path = os.path.join(folder, f"vocab.benchmark_corpus.{vocab_size}.subwords")
    with open(path, "rb") as stream:
        vocabulary = hashlib.sha256(stream.read()).hexdigest()
    records = hashlib.sha256()
    count = 0
    for name in sorted(os.listdir(folder)):
        if name.startswith("benchmark_corpus-train-"):
            for record in tfrecord.iterate(os.path.join(folder, name)):
                example = example_proto.parse(record)
                sides = [",".join(map(str, example[side])) for side in ("inputs", "targets")]
                records.update(("|".join(sides) + "\n").encode())
                count += 1
    return vocabulary, records.hexdigest(), count


def measure(name: str, data: str, processes: int, times: int) -> None:
    corpus = CORPORA[name]
    folder = tempfile.mkdtemp(prefix="t2t_benchmark_")
    try:
        package, raw, out = (os.path.join(folder, part) for part in ("user", "raw", "out"))
        os.mkdir(package)
        os.mkdir(raw)
        with open(os.path.join(package, "__init__.py"), "w", encoding="utf-8") as stream:
            stream.write(USER_PACKAGE.format(**corpus._asdict()))
        unpack(corpus, os.path.join(data, name), raw, times)
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(
            [
                *(sys.executable, "-m", "t2t_keras.bin.t2t_datagen", "--problem=benchmark_corpus"),
                *(f"--t2t_usr_dir={package}", f"--data_dir={out}", f"--tmp_dir={raw}"),
                *(f"--num_concurrent_processes={processes}", "--verbosity=-1"),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        vocabulary, train, count = digests(out, corpus.vocab_size)
        same = "-"
        if times == 1:
            wanted = corpus.vocabulary_sha256, corpus.train_sha256
            same = "yes" if (vocabulary, train) == wanted else "NO"
        title = f"{name} × {times}" if times > 1 else name
        print(
            f"{title:<14}{count:>9,}{wall:>9.1f}{cpu:>9.1f}{after.ru_maxrss / 1024:>9.0f}"
            f"{times * corpus.t2t_seconds:>9.0f}{times * corpus.t2t_seconds / wall:>9.1f}"
            f"{times * corpus.t2t_seconds / cpu:>9.1f}{same:>8}",
            flush=True,
        )
    finally:
        shutil.rmtree(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="../shared/data", help="folder of the corpora")
    parser.add_argument("--corpus", choices=[*CORPORA, "all"], default="all")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--times", type=int, default=1, help="repeat the corpus so many times")
    arguments = parser.parse_args()
    print(
        f"{'corpus':<14}{'pairs':>9}{'wall s':>9}{'CPU s':>9}{'RSS MB':>9}{'T2T s':>9}"
        f"{'× wall':>9}{'× CPU':>9}{'same':>8}"
    )
    for name in CORPORA if arguments.corpus == "all" else [arguments.corpus]:
        measure(name, arguments.data, arguments.processes, arguments.times)


if __name__ == "__main__":
    main()
