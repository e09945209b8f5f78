"""t2t-demo: the main job from beginning to end, on a corpus that needs no download.

    t2t-demo --work_dir=demo_run

Generates the data of translate_ende_demo, trains a small Transformer, averages its checkpoints,
translates held-out sentences, scores them, exports the model and asks the exported model for
translations, each by its own command, as one would by hand. Run again, it does what is missing:
finished data are reused, an interrupted training goes on. Damaged files are made again.
"""

import dataclasses
import glob
import os
import shutil
import subprocess
import sys
import time

from absl import flags

from t2t_keras.bin import command_line, flag_checks

FLAGS = flags.FLAGS

PROBLEM = "translate_ende_demo"
MODEL = "transformer"
HPARAMS_SET = "transformer_demo"
_NAMES = (f"--problem={PROBLEM}", f"--model={MODEL}", f"--hparams_set={HPARAMS_SET}")
_CHECKPOINT_INTERVAL = 200
_AVERAGED = 4
_SAMPLES = 5

# What stands in a large run's commands in place of the demo's names.
_WMT = {
    PROBLEM: "translate_ende_wmt32k",
    HPARAMS_SET: "transformer_base_single_gpu",
    "test.en": "newstest2014.en",
    "test.de": "newstest2014.de",
    "test.output.de": "newstest2014.output.de",
}
_WMT_STEPS = 250_000
_WMT_TEST_FILES = "sacrebleu --test-set=wmt14/full --language-pair=en-de --echo={side} > {path}"
_ONLY_FOR_THE_DEMO = ("--local_eval_frequency", "--random_seed")

# As a user would type them: they are in no split of the corpus.
_NEW_SENTENCES = (
    "The teacher gives the girl a red book.",
    "Does your sister know the new doctor?",
    "My brother does not buy the old car.",
)

# Runs in a process of its own: what a client needs is TensorFlow and its text operations.
_CLIENT = """
import sys
import tensorflow as tf
import tensorflow_text  # Brings the operations that split text into subwords.

model = tf.saved_model.load(sys.argv[1])
answer = model.signatures["serving_default"](inputs=tf.constant(sys.argv[2:]))
for source, output in zip(sys.argv[2:], answer["outputs"].numpy()):
    print(f"  {source}\\n  -> {output.decode()}")
"""


@dataclasses.dataclass(frozen=True)
class Job:
    """One command of the demo.

    Attributes:
        title: what it does.
        command: name of the console script and its arguments.
        inputs: files it reads.
        outputs: files it writes, may be patterns. Without any it is always run.
    """

    title: str
    command: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    def done(self) -> bool:
        """Whether all outputs exist and none is older than an input."""
        written = [glob.glob(pattern) for pattern in self.outputs]
        if not written or not all(written):
            return False
        newest = [max(os.path.getmtime(path) for path in paths) for paths in written]
        read = [os.path.getmtime(path) for path in self.inputs if os.path.exists(path)]
        return min(newest) >= max(read, default=0.0)


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where the demo keeps its files."""

    work_dir: str

    def path(self, *parts: str) -> str:
        """A path below the working directory."""
        return os.path.join(self.work_dir, *parts)

    def checkpoint(self, directory: str, step: int) -> str:
        """The index file of a checkpoint."""
        return self.path(directory, f"model.ckpt-{step}.index")


def define_flags() -> None:
    """Defines the flags of ``t2t-demo``."""
    flags.DEFINE_string("work_dir", "demo_run", "Where data, checkpoints and results go.")
    flags.DEFINE_integer("train_steps", 1600, "Training steps in all.", lower_bound=1)


def _num_averaged(train_steps: int) -> int:
    """A short run has fewer checkpoints than are averaged otherwise."""
    return max(1, min(_AVERAGED, train_steps // _CHECKPOINT_INTERVAL))


def average_directory(train_steps: int) -> str:
    """Where the averages go: averages of different numbers don't share a directory."""
    number = _num_averaged(train_steps)
    return "avg" if number == _AVERAGED else f"avg{number}"


def jobs(layout: Layout, train_steps: int) -> list[Job]:
    """The commands in order.

    Args:
        layout: where the files are.
        train_steps: training steps in all.

    Returns:
        Generation, training, averaging, decoding, scoring and export.
    """
    averages = average_directory(train_steps)
    data, run, average = layout.path("data"), layout.path("run"), layout.path(averages)
    source, reference = layout.path("test.en"), layout.path("test.de")
    output = layout.path("test.output.de")
    trained = layout.checkpoint("run", train_steps)
    averaged = layout.checkpoint(averages, train_steps)
    num_averaged = _num_averaged(train_steps)
    return [
        Job(
            "generate the data",
            (
                "t2t-datagen",
                f"--problem={PROBLEM}",
                f"--data_dir={data}",
                f"--tmp_dir={layout.path('tmp')}",
            ),
        ),
        Job(
            "train",
            (
                "t2t-trainer",
                *_NAMES,
                f"--data_dir={data}",
                f"--output_dir={run}",
                "--schedule=train",
                f"--train_steps={train_steps}",
                "--random_seed=1",
                f"--local_eval_frequency={_CHECKPOINT_INTERVAL}",
            ),
            outputs=(trained,),
        ),
        Job(
            f"average the last {num_averaged} checkpoints",
            ("t2t-avg-all", f"--model_dir={run}", f"--output_dir={average}", f"--n={num_averaged}"),
            inputs=(trained,),
            outputs=(averaged,),
        ),
        Job(
            "translate the held-out sentences",
            (
                "t2t-decoder",
                *_NAMES,
                f"--data_dir={data}",
                f"--output_dir={average}",
                "--decode_hparams=beam_size=4,alpha=0.6",
                f"--decode_from_file={source}",
                f"--decode_to_file={output}",
            ),
            inputs=(averaged, source),
            outputs=(output,),
        ),
        Job("score", ("t2t-bleu", f"--translation={output}", f"--reference={reference}")),
        Job(
            "export",
            (
                "t2t-exporter",
                *_NAMES,
                f"--data_dir={data}",
                f"--output_dir={average}",
                "--decode_hparams=beam_size=4,alpha=0.6",
            ),
            inputs=(averaged,),
            outputs=(layout.path(averages, "export", "*", "saved_model.pb"),),
        ),
    ]


def script(name: str) -> list[str]:
    """How to start a console script: that of this Python if it is installed there."""
    beside = os.path.join(os.path.dirname(sys.executable), name)
    if os.access(beside, os.X_OK):
        return [beside]
    found = shutil.which(name)
    return [found] if found else [sys.executable, "-m", f"t2t_keras.bin.{name.replace('-', '_')}"]


def _announce(text: str) -> None:
    print(f"\n== {text}", flush=True)


def run_job(job: Job) -> None:
    """Runs a command unless its results are there.

    Args:
        job: what to run.

    Raises:
        SystemExit: the command failed, with its exit status, or was stopped early.
    """
    _announce(job.title)
    if job.done():
        print(f"done before: {', '.join(job.outputs[:1])}", flush=True)
        return
    print("$ " + " ".join(job.command), flush=True)
    started = time.time()
    name, *arguments = job.command
    status = subprocess.run([*script(name), *arguments], check=False).returncode
    if status:
        print(f"t2t-demo: {name} failed with exit status {status}", file=sys.stderr)
        raise SystemExit(status)
    missing = [pattern for pattern in job.outputs if not glob.glob(pattern)]
    if missing:
        # The trainer, for one, ends well when a signal stops it early.
        print(
            f"t2t-demo: {name} ended without {', '.join(missing)}; start t2t-demo again to go on",
            file=sys.stderr,
        )
        raise SystemExit(1)
    print(f"({time.time() - started:.0f} s)", flush=True)


def set_damaged_checkpoints_aside(directory: str) -> None:
    """Renames checkpoints that can't be read, so that they are made again.

    Args:
        directory: where the checkpoints are; may be absent.
    """
    indices = glob.glob(os.path.join(glob.escape(directory), "model.ckpt-*.index"))
    if not indices:
        return
    # Loaded only for this: it takes seconds.
    import tensorflow as tf

    for index in sorted(indices):
        if index.endswith(".input.index"):
            continue  # The input's position: the trainer itself does without a damaged one.
        prefix = index.removesuffix(".index")
        try:
            reader = tf.train.load_checkpoint(prefix)
            for name in reader.get_variable_to_shape_map():
                reader.get_tensor(name)
        except (tf.errors.OpError, ValueError, RuntimeError, LookupError):
            print(f"{prefix} is damaged; its files are now called damaged-*", flush=True)
            for path in [index, *glob.glob(f"{glob.escape(prefix)}.data-*")]:
                folder, name = os.path.split(path)
                os.replace(path, os.path.join(folder, f"damaged-{name}"))


def write_test_files(layout: Layout) -> None:
    """Writes the held-out sentences once; a newer date would make the decoding run again."""
    if all(os.path.exists(layout.path(name)) for name in ("test.en", "test.de")):
        return
    from t2t_keras import registry
    from t2t_keras.problems.translate_ende_demo import TranslateEndeDemo

    problem = registry.problem(PROBLEM)
    assert isinstance(problem, TranslateEndeDemo)
    problem.write_test_files(layout.work_dir)


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8") as stream:
        return stream.read().splitlines()


def show_samples(layout: Layout) -> None:
    """Prints some held-out sentences with reference and output."""
    columns = [_lines(layout.path(n)) for n in ("test.en", "test.de", "test.output.de")]
    _announce(f"{_SAMPLES} of the {len(columns[0])} held-out sentences")
    stride = max(1, len(columns[0]) // _SAMPLES)
    for number in range(0, min(len(columns[0]), stride * _SAMPLES), stride):
        for label, column in zip(("source", "reference", "output"), columns, strict=True):
            print(f"  {label:10}{column[number]}")
        print()


def query_export(layout: Layout, train_steps: int) -> None:
    """Asks the newest exported model, in a process that knows TensorFlow only."""
    averages = average_directory(train_steps)
    versions = glob.glob(layout.path(averages, "export", "*", "saved_model.pb"))
    newest = os.path.dirname(max(versions, key=os.path.getmtime))
    _announce(f"ask the exported model {newest}")
    # A directory without this package, so that nothing of it can be imported by chance.
    client = subprocess.run(
        [sys.executable, "-c", _CLIENT, os.path.abspath(newest), *_NEW_SENTENCES],
        stderr=subprocess.PIPE,
        cwd=layout.work_dir,
    )
    if client.returncode:
        # Otherwise there are only TensorFlow's start-up notes.
        sys.stderr.buffer.write(client.stderr)
        sys.stderr.flush()
        sys.exit(
            f"t2t-demo: {newest} gave no answer. If its files are damaged, delete this directory "
            "and run t2t-demo again."
        )


def _test_files_command(layout: Layout) -> str:
    """What `write_test_files` does, for the shell."""
    return (
        'python -c "from t2t_keras import registry; '
        f"registry.problem('{PROBLEM}').write_test_files('{layout.work_dir}')\""
    )


def show_commands(layout: Layout, all_jobs: list[Job]) -> None:
    """Prints the commands that were run, and how to repeat them on a large corpus."""
    _announce("the commands of this run")
    print(_test_files_command(layout))
    for job in all_jobs:
        print(" ".join(job.command))
    print(f"\nThe same on WMT, where PROBLEM={PROBLEM} is PROBLEM={_WMT[PROBLEM]}")
    print(f"and HPARAMS={HPARAMS_SET} is HPARAMS={_WMT[HPARAMS_SET]}:\n")
    wmt = Layout("wmt_run")
    print(f"mkdir -p {wmt.work_dir}")
    for side, name in (("src", "test.en"), ("ref", "test.de")):
        print(_WMT_TEST_FILES.format(side=side, path=wmt.path(_WMT[name])))
    for job in jobs(wmt, _WMT_STEPS):
        words = [w for w in job.command if not w.startswith(_ONLY_FOR_THE_DEMO)]
        text = " ".join(words)
        for old, new in _WMT.items():
            text = text.replace(old, new)
        print(text)


def main(argv: list[str]) -> None:
    """Runs the whole demo.

    Args:
        argv: arguments left over by the flags, unused.
    """
    del argv
    started = time.time()
    flag_checks.require("work_dir")
    flag_checks.require_can_be_made("work_dir")
    layout = Layout(os.path.expanduser(FLAGS.work_dir))
    os.makedirs(layout.work_dir, exist_ok=True)
    for directory in ("run", average_directory(FLAGS.train_steps)):
        set_damaged_checkpoints_aside(layout.path(directory))
    write_test_files(layout)
    all_jobs = jobs(layout, FLAGS.train_steps)
    for job in all_jobs:
        run_job(job)
        if job.title == "score":
            show_samples(layout)
    query_export(layout, FLAGS.train_steps)
    show_commands(layout, all_jobs)
    print(f"\nDone in {time.time() - started:.0f} s. Everything is in {layout.work_dir}.")


def entry_point() -> None:
    """Runs the command (console script ``t2t-demo``)."""
    command_line.run(main, define_flags)


if __name__ == "__main__":
    entry_point()
