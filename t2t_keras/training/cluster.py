"""The machines of a training run, as the environment variable TF_CONFIG tells them.

TF_CONFIG is a JSON text with two parts: the addresses of all processes, and which of them this one
is: `{"cluster": {"worker": ["a:2222", "b:2222"]}, "task": {"type": "worker", "index": 0}}`.
Nothing here loads TensorFlow, so that mistakes are told before it starts.
"""

import dataclasses
import json
from typing import Any

__all__ = ["Cluster", "read_tf_config"]

# Jobs whose tasks train, in the order in which they are numbered. TensorFlow and T2T call the first
# worker "chief" or, before that, "master" if it has a job of its own.
_TRAINING_JOBS = ("master", "chief", "worker")
_MAKE_CONFIGS = "t2t-make-tf-configs --workers=host1:2222,host2:2222 prints them."


@dataclasses.dataclass(frozen=True)
class Cluster:
    """All workers of a run, and which of them this process is."""

    workers: tuple[str, ...]  # addresses, `host:port`
    index: int

    @property
    def is_chief(self) -> bool:
        """Whether this worker writes checkpoints and curves, and evaluates: number 0 does."""
        return self.index == 0


def read_tf_config(text: str | None) -> Cluster | None:
    """The cluster that a value of TF_CONFIG describes.

    Args:
        text: the value; None or empty if the variable isn't set.

    Returns:
        None for a single process: no TF_CONFIG, one without a cluster, or one worker alone.

    Raises:
        ValueError: it is no TF_CONFIG, has parameter servers, or this process isn't a worker.
    """
    if not text or not text.strip():
        return None
    config = _parse(text)
    jobs = config.get("cluster") or {}
    if not isinstance(jobs, dict):
        raise _error("its cluster is no dictionary of jobs", text)
    task = config.get("task") or {}
    if jobs.get("ps") or task.get("type") == "ps":
        raise ValueError(
            "Parameter servers don't exist any more: all machines are workers, and exchange "
            f"gradients among themselves. Give them other TF_CONFIGs; {_MAKE_CONFIGS} "
            f"Received: TF_CONFIG={text}"
        )
    unknown = [job for job in jobs if job not in (*_TRAINING_JOBS, "evaluator")]
    if unknown:
        raise _error(f"unknown job {unknown[0]!r}; there is 'worker'", text)
    tasks = [(job, index) for job in _TRAINING_JOBS for index in range(len(jobs.get(job) or []))]
    addresses = tuple(str(jobs[job][index]) for job, index in tasks)
    if not addresses:
        return None
    if len(set(addresses)) < len(addresses):
        raise _error("two workers have the same address", text)
    this_task = (task.get("type"), _number(task.get("index"), text))
    if this_task[0] == "evaluator":
        raise ValueError(
            "An evaluator isn't part of the cluster: start it without TF_CONFIG and with "
            f"--schedule=continuous_eval. Received: TF_CONFIG={text}"
        )
    if this_task not in tasks:
        raise _error(f"task {this_task[0]} {this_task[1]} isn't among the cluster's", text)
    return Cluster(addresses, tasks.index(this_task)) if len(addresses) > 1 else None


def _parse(text: str) -> dict[str, Any]:
    try:
        config = json.loads(text)
    except ValueError as error:
        raise _error(f"no JSON ({error})", text) from None
    if not isinstance(config, dict) or not isinstance(config.get("task") or {}, dict):
        raise _error("no dictionary with a cluster and a task", text)
    return config


def _number(index: Any, text: str) -> int:
    try:
        return int(index or 0)
    except (TypeError, ValueError):
        raise _error(f"the task's index is no number: {index!r}", text) from None


def _error(cause: str, text: str) -> ValueError:
    return ValueError(
        f"TF_CONFIG can't be used: {cause}. {_MAKE_CONFIGS} For a single machine unset it. "
        f"Received: TF_CONFIG={text}"
    )
