"""t2t-datagen as a user runs it."""

import gzip
import hashlib
import io
import pathlib
import signal
import subprocess
import tarfile
import textwrap
import time

import pytest

from t2t_keras import registry
from t2t_keras.data import records, shard_sizes
from tests import reference_data
from tests.end_to_end import commands

pytestmark = pytest.mark.end_to_end

PROJECT = pathlib.Path(__file__).resolve().parents[2]


def run(*flags, expect=0):
    return commands.run("t2t-datagen", *flags, status=expect)


def archive(path, members):
    with tarfile.open(path, "w:gz") as tar:
        for name, text in members.items():
            content = text.encode("utf-8")
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))


def sentences(prefix, count):
    return "".join(f"{prefix} sentence number {number} .\n" for number in range(count))


def read_texts(problem, data_dir, split):
    """All (inputs, targets) texts of a split, sorted."""
    encoder = problem.get_feature_encoders(str(data_dir))["inputs"]
    found = []
    for path in sorted(pathlib.Path(data_dir).glob(f"{problem.name}-{split}-*")):
        for record in records.read_records(str(path)):
            example = records.parse_example(record)
            assert example["inputs"][-1] == example["targets"][-1] == 1
            found.append(
                tuple(encoder.decode(example[side][:-1]) for side in ("inputs", "targets"))
            )
    return sorted(found)


def write_user_package(folder, body):
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import my_problems\n")
    (folder / "my_problems.py").write_text(textwrap.dedent(body))
    return folder


def test_wmt_from_archives_in_tmp_dir(tmp_path):
    tmp_dir, data_dir = tmp_path / "tmp", tmp_path / "data"
    tmp_dir.mkdir()
    expected = {"train": [], "dev": []}
    problem = registry.problem("translate_ende_wmt32k")
    for split, tag in (("train", "train"), ("dev", "dev")):
        for number, (url, (first, second)) in enumerate(problem.source_data_files(split)):
            texts = {first: sentences(f"english {number}", 30), second: sentences("deutsch", 30)}
            archive(tmp_dir / url.rsplit("/", 1)[1], texts)
            sides = [text.splitlines() for text in texts.values()]
            expected[tag] += list(zip(*sides, strict=True))
    arguments = (f"--problem={problem.name}", f"--data_dir={data_dir}", f"--tmp_dir={tmp_dir}")
    run(*arguments)
    names = sorted(path.name for path in data_dir.iterdir())
    assert names == sorted(
        [
            shard_sizes.FILE_NAME,
            problem.vocab_filename,
            f"{problem.name}-dev-00000-of-00001",
            *(f"{problem.name}-train-{shard:05d}-of-00100" for shard in range(100)),
        ]
    )
    for tag in ("train", "dev"):
        assert read_texts(problem, data_dir, tag) == sorted(expected[tag])
    before = {path.name: path.stat().st_mtime_ns for path in data_dir.iterdir()}
    run(*arguments)
    assert {path.name: path.stat().st_mtime_ns for path in data_dir.iterdir()} == before


def test_missing_network_is_explained(tmp_path):
    done = run(
        "--problem=translate_ende_wmt8k",
        f"--data_dir={tmp_path}/d",
        f"--tmp_dir={tmp_path}/t",
        f"--t2t_usr_dir={write_user_package(tmp_path / 'no_network', NO_NETWORK)}",
        expect=1,
    )
    assert "Traceback" not in done.stderr
    for part in ("training-parallel-nc-v13.tgz", f"{tmp_path}/t/training-parallel-nc-v13.tgz"):
        assert part in done.stderr


# Makes every download fail at once, so that the test neither waits nor uses the network.
NO_NETWORK = """
    from t2t_keras.data import downloads

    def refuse(*args, **kwargs):
        raise OSError("no network in tests")

    downloads.urllib.request.urlopen = refuse
    downloads.time.sleep = lambda seconds: None
"""


def test_unknown_and_listed_problems(tmp_path):
    done = run("--problem=translate_ende_wmt33k", expect=1)
    assert "Did you mean: translate_ende_wmt32k" in done.stderr
    assert "  * algorithmic_identity_binary40" in done.stderr
    done = run("--problem=translate_ende_wmt*", "--exclude_problems=8k,packed,char", "--only_list")
    assert "  * translate_ende_wmt32k\n" in done.stdout
    assert "8k" not in done.stdout
    done = run("--problem=translate_ende_wmt32k", "--num_shards=3", expect=1)
    assert "--num_shards=3" in done.stderr


SLOW = """
    import time

    from t2t_keras import registry
    from t2t_keras.data import text_problems


    @registry.register_problem
    class SlowText(text_problems.Text2TextProblem):
        is_generate_per_split = False
        vocab_type = text_problems.VocabType.CHARACTER
        dataset_splits = [{"split": "train", "shards": 3}, {"split": "dev", "shards": 1}]

        def generate_samples(self, data_dir, tmp_dir, dataset_split):
            for number in range(40):
                yield {"inputs": f"a{number}", "targets": f"b{number}"}
                if number == 30 and not open(f"{tmp_dir}/mark", "a").tell():
                    open(f"{tmp_dir}/mark", "a").write("x")
                    time.sleep(60)
"""


def test_killed_run_leaves_nothing_that_looks_finished(tmp_path):
    package = write_user_package(tmp_path / "slow_package", SLOW)
    data_dir = tmp_path / "data"
    arguments = (
        "--problem=slow_text",
        f"--data_dir={data_dir}",
        f"--tmp_dir={tmp_path}",
        f"--t2t_usr_dir={package}",
    )
    process = subprocess.Popen(
        commands.line("t2t-datagen", *arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "mark").exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert list(data_dir.iterdir()), "killed before anything was written"
    assert list(data_dir.glob("slow_text-*")) == []
    run(*arguments)
    shards = sorted(path.name for path in data_dir.glob("slow_text-*"))
    assert shards == [
        "slow_text-dev-00000-of-00001",
        *(f"slow_text-train-{shard:05d}-of-00003" for shard in range(3)),
    ]
    assert [records.count_records(str(data_dir / name)) for name in shards] == [10, 10, 10, 10]


TASKS = """
    import os
    import random

    import numpy as np

    from t2t_keras import registry
    from t2t_keras.data import problem


    @registry.register_problem
    class InTasks(problem.Problem):
        multiprocess_generate = True
        num_generate_tasks = 4

        def prepare_to_generate(self, data_dir, tmp_dir):
            open(f"{data_dir}/prepared", "a").write("once ")

        def generate_data(self, data_dir, tmp_dir, task_id=-1):
            assert os.path.exists(f"{data_dir}/prepared")
            if task_id == 3 and os.path.exists(f"{tmp_dir}/fail"):
                raise ValueError("task three fails")
            with open(f"{data_dir}/task{task_id}", "w") as stream:
                stream.write(f"{os.getpid()} {random.random()} {np.random.random()}")
"""


def test_tasks_in_several_processes(tmp_path):
    package = write_user_package(tmp_path / "task_package", TASKS)
    data_dir = tmp_path / "data"
    arguments = (
        "--problem=in_tasks",
        f"--data_dir={data_dir}",
        f"--tmp_dir={tmp_path}",
        f"--t2t_usr_dir={package}",
    )
    run(*arguments, "--num_concurrent_processes=2")
    assert (data_dir / "prepared").read_text() == "once "
    tasks = [(data_dir / f"task{task}").read_text().split() for task in range(4)]
    assert sorted(path.name for path in data_dir.iterdir())[1:] == [f"task{n}" for n in range(4)]
    # Numbers do not depend on the process that made them; a task alone makes the same.
    assert len({tuple(numbers) for _, *numbers in tasks}) == 1
    (data_dir / "task2").unlink()
    run(*arguments, "--task_id=2")
    assert (data_dir / "task2").read_text().split()[1:] == tasks[2][1:]
    (tmp_path / "fail").write_text("")
    done = run(*arguments, "--task_id_start=2", "--task_id_end=4", expect=1)
    assert "task three fails" in done.stderr


@pytest.mark.reference
def test_multi30k_as_tensor2tensor_makes_it(tmp_path):
    """Vocabulary and every record; figures recorded from T2T with its default seed."""
    recorded = {
        "train": "6f95a95035a59832114e9db7b9d94489ffc799b1dcd94d42d95490e42b3c83a0",
        "dev": "7846fd4c32bfdc4256385c9d256159deef4a581bb52e242c6d987d9d230094c1",
    }
    vocabulary = "vocab.translate_ende_multi30k8k.8192.subwords"
    expected_vocabulary = reference_data.golden_path("multi30k_ckpt", vocabulary)
    tmp_dir, data_dir = tmp_path / "tmp", tmp_path / "data"
    tmp_dir.mkdir()
    for name in ("train.en", "train.de", "val.en", "val.de"):
        with gzip.open(reference_data.data_path("multi30k", f"{name}.gz")) as stream:
            (tmp_dir / name).write_bytes(stream.read())
    run(
        "--problem=translate_ende_multi30k8k",
        f"--data_dir={data_dir}",
        f"--tmp_dir={tmp_dir}",
        f"--t2t_usr_dir={PROJECT / 'examples' / 'multi30k'}",
    )
    assert (data_dir / vocabulary).read_bytes() == expected_vocabulary.read_bytes()
    for split, checksum in recorded.items():
        digest = hashlib.sha256()
        for path in sorted(data_dir.glob(f"translate_ende_multi30k8k-{split}-*")):
            for record in records.read_records(str(path)):
                example = records.parse_example(record)
                sides = (",".join(map(str, example[side])) for side in ("inputs", "targets"))
                digest.update(("|".join(sides) + "\n").encode())
        assert digest.hexdigest() == checksum, split
