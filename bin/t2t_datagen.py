"""Generates the training data of registered problems.

    t2t-datagen --problem=translate_ende_wmt32k --data_dir=~/t2t_data --tmp_dir=/tmp/t2t_datagen

Raw files are taken from --tmp_dir, and fetched into it if they are missing; vocabularies and
TFRecord shards go to --data_dir. Shards that exist already are left alone.

    t2t-datagen --problem=translate_ende_wmt32k --dry_run

says which archives are needed, where they are looked for and what is there. Any parallel text of
TensorFlow Datasets is a problem: --problem=tfds:wmt19_translate/de-en. The size of a vocabulary can
be chosen in the problem's name: --problem=text2text_tmpdir:vocab=8192.
"""

from __future__ import annotations

import concurrent.futures
import glob
import multiprocessing
import os
import tempfile
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import flags, logging

from t2t_keras import parallel, registry, usr_dir
from t2t_keras.bin import command_line, environment, flag_checks
from t2t_keras.bin import flags as t2t_flags
from t2t_keras.data import source_options
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.progress import progress

if TYPE_CHECKING:
    from t2t_keras.data.problem import Problem

FLAGS = flags.FLAGS

# Generators outside the registry, which only T2T had.
_LEGACY_GENERATORS = (
    "algorithmic_algebra_inverse",
    "audio_timit_characters_test",
    "audio_timit_tokens_32k_test",
    "audio_timit_tokens_8k_test",
    "inference_snli32k",
)
_LEGACY_FLAGS = ("max_cases", "env_problem_max_env_steps", "env_problem_batch_size")


def define_flags() -> None:
    """Defines this command's flags, with tensor2tensor's names and defaults."""
    flags.DEFINE_string("data_dir", "", "Directory for vocabularies and shards.")
    flags.DEFINE_string("tmp_dir", "/tmp/t2t_datagen", "Directory for raw and intermediate files.")
    flags.DEFINE_string(
        "problem", "", "Names of problems, separated by commas; name* is all that begin so."
    )
    flags.DEFINE_string(
        "exclude_problems", "", "Leave out problems that contain one of these, comma-separated."
    )
    flags.DEFINE_integer("num_shards", 0, "Shards of T2T's legacy generators; must be 0.")
    flags.DEFINE_integer("max_cases", 0, "Cases of T2T's legacy generators; ignored.")
    flags.DEFINE_integer("env_problem_max_env_steps", 0, "Reinforcement learning; ignored.")
    flags.DEFINE_integer("env_problem_batch_size", 0, "Reinforcement learning; ignored.")
    flags.DEFINE_boolean("only_list", False, "Print the selected problems and exit.")
    flags.DEFINE_boolean("dry_run", False, "Say what is needed and what is there; do nothing.")
    flags.DEFINE_integer("random_seed", 429459, "Seed, set anew before every problem and task.")
    flags.DEFINE_integer("task_id", -1, "Do only this task of a problem made of tasks.")
    flags.DEFINE_integer("task_id_start", -1, "First task to do.")
    flags.DEFINE_integer("task_id_end", -1, "Task to stop before.")
    flags.DEFINE_integer(
        "num_concurrent_processes", None, "Processes that share the work; default: one a CPU."
    )
    flags.DEFINE_string(
        "beam_runner", "", "Generate on this Apache Beam runner, e.g. DirectRunner."
    )
    flags.DEFINE_multi_string("beam_option", [], "An option for Beam; may be given several times.")
    flags.DEFINE_string("t2t_usr_dir", "", "Your package of problems to import.")
    t2t_flags.define_data_generator_flags()


def main(argv: list[str]) -> None:
    """Generates the data of all selected problems, one after the other."""
    del argv
    names = select_problems(FLAGS.problem, FLAGS.exclude_problems, registry.list_problems())
    if FLAGS.only_list:
        print("\n".join(f"  * {name}" for name in names))
        return
    _check_legacy_flags()
    flag_checks.require("tmp_dir")
    flag_checks.require_at_least(1, "num_concurrent_processes")
    flag_checks.require_can_be_made("data_dir", "tmp_dir")
    t2t_flags.check_source_flags()
    _check_tasks(names)
    if FLAGS.beam_option and not FLAGS.beam_runner:
        raise command_line.UsageError(
            f"--beam_option needs --beam_runner. Received: --beam_option={FLAGS.beam_option}"
        )
    with source_options.use(t2t_flags.source_options()):
        if FLAGS.dry_run:
            print(
                "\n\n".join(
                    describe(registry.problem(name), FLAGS.data_dir, FLAGS.tmp_dir)
                    for name in names
                )
            )
        else:
            _generate(names)


def _generate(names: Sequence[str]) -> None:
    data_dir = FLAGS.data_dir
    if not data_dir:
        data_dir = tempfile.gettempdir()
        logging.warning("--data_dir is not given: writing to %s", data_dir)
    with flag_checks.made_directories(data_dir=data_dir, tmp_dir=FLAGS.tmp_dir):
        _generate_into(names, data_dir)


def _generate_into(names: Sequence[str], data_dir: str) -> None:
    for name in names:
        start = time.monotonic()
        logging.info("Generating %s", name)
        if FLAGS.beam_runner:
            _generate_on_beam(name, data_dir)
            continue
        set_random_seed(FLAGS.random_seed)
        with parallel.processes(
            FLAGS.num_concurrent_processes, _prepare_worker, FLAGS.t2t_usr_dir, FLAGS.verbosity
        ):
            generate_data_for_problem(registry.problem(name), data_dir, FLAGS.tmp_dir)
        logging.info("Generated %s in %.1f s", name, time.monotonic() - start)


def _generate_on_beam(name: str, data_dir: str) -> None:
    # Loaded only when asked for: it takes seconds.
    from t2t_keras.data import beam_generation

    job = beam_generation.Job(name, data_dir, FLAGS.tmp_dir, FLAGS.t2t_usr_dir)
    beam_generation.generate(job, FLAGS.random_seed, FLAGS.beam_runner, FLAGS.beam_option)


def describe(problem: Problem, data_dir: str, tmp_dir: str) -> str:
    """What a problem needs to generate its data and what is there, for `--dry_run`.

    Args:
        problem: the problem.
        data_dir: directory of vocabularies and shards; "": the system's temporary one.
        tmp_dir: directory of raw files.
    """
    data_dir = data_dir or tempfile.gettempdir()
    lines = [f"{problem.name}"]
    for split in (DatasetSplit.TRAIN, DatasetSplit.EVAL, DatasetSplit.TEST):
        # No split's name begins another's.
        shards = glob.glob(problem.filepattern(data_dir, split))
        if shards:
            lines.append(f"  {len(shards)} {split} shards are in {data_dir} already")
    vocabulary = _vocabulary_path(problem, data_dir)
    if vocabulary:
        state = "there" if os.path.exists(vocabulary) else "absent"
        lines.append(f"  vocabulary {vocabulary}: {state}")
    lines.append(problem.describe_sources(tmp_dir))
    return "\n".join(lines)


def _vocabulary_path(problem: Problem, data_dir: str) -> str | None:
    """Path of the problem's vocabulary file, if it has one."""
    if getattr(problem, "vocab_type", "character") == "character":
        return None
    return os.path.join(data_dir, problem.vocab_filename)  # type: ignore[attr-defined]


def entry_point() -> None:
    """The console script `t2t-datagen`."""
    command_line.run(main, define_flags)


def select_problems(wanted: str, excluded: str, known: Sequence[str]) -> list[str]:
    """Names of the problems to generate.

    Args:
        wanted: comma-separated names, or prefixes followed by `*`.
        excluded: comma-separated texts; problems whose name contains one are left out.
        known: all registered names.

    Returns:
        The names, sorted.

    Raises:
        ValueError: if a name or prefix matches nothing, or all matches are excluded.
    """
    patterns = [pattern.strip() for pattern in wanted.split(",") if pattern.strip()]
    if not patterns:
        raise ValueError(_with_all_problems("--problem is missing: it must name a problem.", known))
    selected: set[str] = set()
    for pattern in patterns:
        if ":" in pattern and registry.parse_problem_name(pattern).base == pattern:
            # Unknown or malformed ones fail now, before others are generated.
            registry.base_problem(pattern)
            selected.add(pattern)
            continue
        matches = [name for name in known if _matches(name, pattern)]
        if not matches:
            raise ValueError(_no_match_message(pattern, known))
        selected.update(matches)
    exclusions = [text.strip() for text in excluded.split(",") if text.strip()]
    remaining = [name for name in selected if not any(text in name for text in exclusions)]
    if not remaining:
        raise ValueError(
            f"No problem is left. Received: --problem={wanted} --exclude_problems={excluded}"
        )
    return sorted(remaining)


def _matches(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def _no_match_message(pattern: str, known: Sequence[str]) -> str:
    base = pattern
    while base.endswith(("_rev", "_copy")):
        base = base.rpartition("_")[0]
    if base != pattern and (base in known or ":" in base):
        return (
            f"{pattern} reads the same files as {base}: generate that one. "
            f"Received: --problem={pattern}"
        )
    if pattern in _LEGACY_GENERATORS:
        return f"{pattern} is one of T2T's generators without a working problem; it does not exist."
    hint = registry.did_you_mean(pattern, known)
    return _with_all_problems(f"No problem matches --problem={pattern}.{hint}", known)


def _with_all_problems(cause: str, known: Sequence[str]) -> str:
    """The cause above and, because its beginning will be out of sight, below the list."""
    return "\n".join([cause, "Problems:", *(f"  * {name}" for name in known), cause])


def _check_legacy_flags() -> None:
    if FLAGS.num_shards:
        raise ValueError(
            "The number of shards is a matter of the problem: override its dataset_splits. "
            f"Received: --num_shards={FLAGS.num_shards}"
        )
    for name in _LEGACY_FLAGS:
        if FLAGS[name].value:
            logging.warning("--%s has no effect on registered problems.", name)


def _check_tasks(names: Sequence[str]) -> None:
    """Refuses tasks that a problem has not, before another one is generated."""
    one, start, end = FLAGS.task_id, FLAGS.task_id_start, FLAGS.task_id_end
    if max(one, start, end) < 0:
        return
    if one >= 0 and max(start, end) >= 0:
        raise command_line.UsageError(
            "Give either --task_id, or --task_id_start and --task_id_end. Received: "
            f"--task_id={one} --task_id_start={start} --task_id_end={end}"
        )
    for problem in map(registry.problem, names):
        if problem.multiprocess_generate:
            _task_range(problem.num_generate_tasks, one if one >= 0 else start, max(one + 1, end))
        elif max(start, end) >= 0:
            raise command_line.UsageError(
                f"Problem {problem.name} isn't made of tasks: it is generated as a whole. "
                f"Received: --task_id_start={start} --task_id_end={end}"
            )


def set_random_seed(seed: int) -> None:
    """Seeds Python's, NumPy's and TensorFlow's global generators; see `seeding.seed_generators`."""
    from t2t_keras.data import seeding

    seeding.seed_generators(seed)


def generate_data_for_problem(problem: Problem, data_dir: str, tmp_dir: str) -> None:
    """Generates a problem's data in this process, or in several if it is made of tasks.

    Args:
        problem: the problem.
        data_dir: directory for vocabularies and shards.
        tmp_dir: directory for raw files.

    Raises:
        ValueError: if the flags ask for tasks that the problem has not.
    """
    task_id = None if FLAGS.task_id < 0 else FLAGS.task_id
    if not problem.multiprocess_generate or task_id is not None:
        problem.generate_data(data_dir, tmp_dir, task_id)
        return
    tasks = _task_range(problem.num_generate_tasks, FLAGS.task_id_start, FLAGS.task_id_end)
    problem.prepare_to_generate(data_dir, tmp_dir)
    _generate_in_pool(problem.name, data_dir, tmp_dir, tasks)


def _task_range(num_tasks: int, start: int, end: int) -> range:
    """The tasks to do; -1 for start and end means all."""
    if start < 0 and end < 0:
        return range(num_tasks)
    if not 0 <= start < end <= num_tasks:
        raise ValueError(
            f"Tasks must satisfy 0 <= task_id_start < task_id_end <= {num_tasks}, and "
            f"0 <= task_id < {num_tasks}. "
            f"Received: --task_id_start={start} --task_id_end={end}"
        )
    return range(start, end)


def _generate_in_pool(name: str, data_dir: str, tmp_dir: str, tasks: range) -> None:
    """Runs the tasks in `--num_concurrent_processes` processes; the first error ends it."""
    # Fresh processes: copies of one in which TensorFlow's threads run can hang.
    pool = concurrent.futures.ProcessPoolExecutor(
        max_workers=min(FLAGS.num_concurrent_processes or parallel.num_cpus(), len(tasks)),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_prepare_worker,
        initargs=(FLAGS.t2t_usr_dir, FLAGS.verbosity),
    )
    with pool:
        futures = [
            pool.submit(
                _generate_task,
                name,
                data_dir,
                tmp_dir,
                task,
                FLAGS.random_seed,
                source_options.current(),
            )
            for task in tasks
        ]
        done = concurrent.futures.as_completed(futures)
        try:
            for future in progress(done, f"Generating {name}", "task", total=len(tasks)):
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _prepare_worker(user_directory: str, verbosity: int) -> None:
    """What `command_line.run` does in the main process."""
    parallel.end_with_parent()
    environment.prepare_environment()
    logging.set_verbosity(verbosity)
    usr_dir.import_usr_dir(user_directory)


def _generate_task(
    name: str,
    data_dir: str,
    tmp_dir: str,
    task_id: int,
    seed: int,
    options: source_options.SourceOptions,
) -> None:
    # The seed of every task, so that it makes the same shard alone (`--task_id`) and in a pool.
    set_random_seed(seed)
    with source_options.use(options):
        registry.problem(name).generate_data(data_dir, tmp_dir, task_id)


if __name__ == "__main__":
    entry_point()
