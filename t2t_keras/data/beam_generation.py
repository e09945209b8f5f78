"""Data generation on Apache Beam, for corpora that one machine is too slow for.

Beam distributes tasks; the examples themselves go from its workers straight into the shards. So
data_dir and tmp_dir must be on a file system that all workers see, and the workers need this
package installed. A worker runs through all samples of a split and encodes those of its shards.
Order and contents of every shard are exactly those of a run without Beam: the generators of random
numbers are handed on from step to step. The vocabulary is built by the program that starts the
pipelines.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from absl import logging

from t2t_keras import registry, usr_dir
from t2t_keras.data import publishing, records, seeding, tfrecord
from t2t_keras.data.problem import Problem
from t2t_keras.data.text2text import Text2TextProblem
from t2t_keras.text.text_files import write_text_atomically

# So many parts a split is divided into, if there are as many shards.
_DEFAULT_TASKS = 32


@dataclasses.dataclass(frozen=True)
class Job:
    """What all tasks of a problem have in common.

    Attributes:
        problem_name: registered name.
        data_dir: directory of vocabularies and shards.
        tmp_dir: directory of raw files.
        user_directory: the user's package of problems; "": none.
    """

    problem_name: str
    data_dir: str
    tmp_dir: str
    user_directory: str = ""

    def problem(self) -> Problem:
        """The problem, in whatever process this is."""
        usr_dir.import_usr_dir(self.user_directory)
        return registry.problem(self.problem_name)


@dataclasses.dataclass(frozen=True)
class WriteTask:
    """Some of the shards of a generation pass: every `num_tasks`-th, beginning at `number`."""

    job: Job
    split: str
    paths: tuple[str, ...]
    number: int
    num_tasks: int
    generators: str

    @property
    def state_path(self) -> str:
        """Where the first task leaves the state of the generators."""
        return os.path.join(self.job.data_dir, f".{self.job.problem_name}.beam_state.json")


@dataclasses.dataclass(frozen=True)
class ShuffleTask:
    """One shard to be shuffled and packed."""

    job: Job
    path: str
    generators: str


@dataclasses.dataclass(frozen=True)
class NumberedTask:
    """A task of a problem that is made of tasks."""

    job: Job
    task_id: int
    seed: int


def generate(
    job: Job,
    seed: int,
    runner: str,
    runner_options: Sequence[str] = (),
    num_tasks: int = _DEFAULT_TASKS,
) -> None:
    """Generates a problem's data on a Beam runner.

    Args:
        job: the problem and its directories.
        seed: as that of t2t-datagen.
        runner: name of the Beam runner, e.g. "DirectRunner", "DataflowRunner", "FlinkRunner".
        runner_options: further options of Beam, as on a command line.
        num_tasks: parts a split is divided into at most.

    Raises:
        ValueError: if Apache Beam is not installed, or the problem can't be divided.
    """
    problem = job.problem()
    run = _Runner(runner, runner_options)
    seeding.seed_generators(seed)
    if problem.multiprocess_generate:
        problem.prepare_to_generate(job.data_dir, job.tmp_dir)
        tasks = [NumberedTask(job, number, seed) for number in range(problem.num_generate_tasks)]
        run(do_numbered_task, tasks)
        return
    if not isinstance(problem, Text2TextProblem):
        raise ValueError(
            f"Problem {job.problem_name} is neither a text problem nor made of tasks: it can't be "
            "divided. Generate its data without --beam_runner."
        )
    if type(problem).generate_data is not Text2TextProblem.generate_data:
        raise ValueError(
            f"Problem {job.problem_name} has its own generate_data, which can't be divided. "
            "Generate its data without --beam_runner."
        )
    _generate_text(problem, job, run, num_tasks)


class _Runner:
    """Runs one function on many tasks, as one Beam pipeline."""

    def __init__(self, runner: str, options: Sequence[str]) -> None:
        try:
            import apache_beam
        except ImportError as error:
            raise ValueError(
                "--beam_runner needs Apache Beam. Install it with: pip install 't2t_keras[beam]'"
            ) from error
        self._beam = apache_beam
        self._runner = runner
        self._options = list(options)

    def __call__(self, function: Callable[[Any], None], tasks: Iterable[Any]) -> None:
        beam = self._beam
        options = beam.options.pipeline_options.PipelineOptions(self._options)
        with beam.Pipeline(runner=self._runner, options=options) as pipeline:
            # Without the reshuffle a runner may put all tasks into one worker.
            _ = (
                pipeline
                | "Tasks" >> beam.Create(list(tasks))
                | "Distribute" >> beam.Reshuffle()
                | "Work" >> beam.Map(function)
            )


def _generate_text(problem: Text2TextProblem, job: Job, run: _Runner, num_tasks: int) -> None:
    # Only the vocabulary is wanted now; tasks load it from data_dir.
    problem.get_or_create_vocab(job.data_dir, job.tmp_dir)
    staged: list[str] = []
    for splits in problem.generation_passes():
        paths = problem.unshuffled_paths(job.data_dir, splits)
        if records.all_exist([records.final_path(path) for path in paths]):
            logging.info("Shards of %s exist: %s …", job.problem_name, paths[0])
            continue
        count = min(num_tasks, len(paths))
        state = seeding.generator_state()
        tasks = [
            WriteTask(job, splits[0]["split"], tuple(paths), number, count, state)
            for number in range(count)
        ]
        run(write_shards, tasks)
        with open(tasks[0].state_path, encoding="utf-8") as stream:
            seeding.restore_generators(json.load(stream))
        os.remove(tasks[0].state_path)
        staged += paths
    if staged:
        run(shuffle_shard, list(_shuffle_tasks(problem, job, staged)))
        publishing.publish([records.final_path(path) for path in staged])
    problem.forget_interruption(job.data_dir)


def _shuffle_tasks(
    problem: Text2TextProblem, job: Job, paths: Sequence[str]
) -> Iterator[ShuffleTask]:
    """Yields a task for every shard, with the generators as they are when its turn comes."""
    for path in paths:
        yield ShuffleTask(job, path, seeding.generator_state())
        if not problem.already_shuffled:
            # Draws what shuffling the shard's records draws.
            random.shuffle(list(range(tfrecord.count(path))))


def write_shards(task: WriteTask) -> None:
    """Writes the unshuffled shards of a task."""
    problem = task.job.problem()
    seeding.restore_generators(task.generators)
    data_dir, tmp_dir = task.job.data_dir, task.job.tmp_dir
    assert isinstance(problem, Text2TextProblem)
    samples: Iterator[Any] = problem.generate_encoded_samples(data_dir, tmp_dir, task.split)
    encode = None
    if isinstance(samples, records.EncodedSamples):
        # Only this task's samples are encoded.
        encode = samples.encode
        samples = samples.samples
    # Samples of this task's shards come in turn, as all samples do.
    places = itertools.cycle(range(len(task.paths)))
    mine = (
        sample
        for place, sample in zip(places, samples, strict=False)
        if place % task.num_tasks == task.number
    )
    paths = task.paths[task.number :: task.num_tasks]
    records.generate_files(records.EncodedSamples(mine, encode) if encode else mine, paths)
    if task.number == 0:
        write_text_atomically(task.state_path, json.dumps(seeding.generator_state()))


def shuffle_shard(task: ShuffleTask) -> None:
    """Shuffles and packs a shard."""
    if not os.path.exists(task.path):
        return  # A runner may do a task twice.
    problem = task.job.problem()
    assert isinstance(problem, Text2TextProblem)
    seeding.restore_generators(task.generators)
    records.shuffle_shard(task.path, problem.pack_fn(), shuffle=not problem.already_shuffled)


def do_numbered_task(task: NumberedTask) -> None:
    """Does a task of a problem made of tasks."""
    seeding.seed_generators(task.seed)
    task.job.problem().generate_data(task.job.data_dir, task.job.tmp_dir, task.task_id)
