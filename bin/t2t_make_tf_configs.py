"""Prints the TF_CONFIG and the flags of every process of a training run on several machines.

    t2t-make-tf-configs --workers=host1:2222,host2:2222 --worker_gpu=8

A line is a process: its TF_CONFIG in quotes, a tab, and flags of its own. On each machine, with the
run's other flags the same everywhere and an output_dir that all share:

    TF_CONFIG=<first part> t2t-trainer <second part> --data_dir=… --problem=… --output_dir=…

With --masters and --ps the lines are those for tensor2tensor's parameter servers, which the
t2t-trainer of this package doesn't have.
"""

from __future__ import annotations

import json
from typing import Any

from absl import flags, logging

from t2t_keras.bin import command_line

FLAGS = flags.FLAGS

_LAST_PORT = 65535


def define_flags() -> None:
    """Defines the command's flags."""
    flags.DEFINE_string("workers", "", "Addresses of all workers: host1:2222,host2:2222")
    flags.DEFINE_integer("worker_gpu", 1, "With --workers: replicas of each, one a GPU.")
    flags.DEFINE_string("masters", "", "tensor2tensor's: addresses of the masters.")
    flags.DEFINE_string("ps", "", "tensor2tensor's: addresses of the parameter servers.")


def main(argv: list[str]) -> None:
    """Prints the lines."""
    del argv
    workers, masters, servers = (_addresses(name) for name in ("workers", "masters", "ps"))
    if workers and (masters or servers):
        raise command_line.UsageError(
            "--workers needs neither --masters nor --ps: workers exchange gradients among "
            f"themselves. Received: --masters={FLAGS.masters} --ps={FLAGS.ps}"
        )
    shared = sorted(set(masters) & set(servers))
    if shared:
        raise command_line.UsageError(
            f"A master and a parameter server can't have one address. Received: {shared[0]} in "
            "--masters and --ps"
        )
    if workers:
        lines = worker_lines(workers, FLAGS.worker_gpu)
    elif masters and servers:
        logging.warning(
            "These are tensor2tensor's parameter servers; t2t-trainer here takes --workers."
        )
        lines = parameter_server_lines(masters, servers)
    else:
        raise command_line.UsageError(
            "Give --workers=host1:port,host2:port (or, for tensor2tensor's own trainer, both "
            f"--masters and --ps). Received: --workers={FLAGS.workers!r} "
            f"--masters={FLAGS.masters!r} --ps={FLAGS.ps!r}"
        )
    print("\n".join(lines))


def _addresses(flag_name: str) -> list[str]:
    """The addresses in a flag; raises `UsageError` if they aren't different `host:port`."""
    addresses = [part.strip() for part in str(FLAGS[flag_name].value).split(",") if part.strip()]
    for address in addresses:
        host, _, port = address.rpartition(":")
        if not host or not port.isdecimal() or not 0 < int(port) <= _LAST_PORT:
            raise command_line.UsageError(
                f"--{flag_name} takes addresses host:port with commas between, a port being a "
                f"number from 1 to {_LAST_PORT}. Received: {address}"
            )
    if len(set(addresses)) < len(addresses):
        raise command_line.UsageError(
            f"--{flag_name} has an address twice. Received: {FLAGS[flag_name].value}"
        )
    return addresses


def worker_lines(workers: list[str], num_replicas: int) -> list[str]:
    """The lines for workers that exchange gradients among themselves.

    Args:
        workers: addresses, the chief's first.
        num_replicas: of each worker.
    """
    if num_replicas < 1:
        raise command_line.UsageError(f"--worker_gpu must be 1 or more. Received: {num_replicas}")
    total = len(workers) * num_replicas
    return [
        f"{len(workers)} workers, {total} replicas: a step takes {total} times batch_size.",
        *(
            _line({"worker": workers}, "worker", index, f"--worker_gpu={num_replicas}")
            for index in range(len(workers))
        ),
    ]


def parameter_server_lines(masters: list[str], servers: list[str]) -> list[str]:
    """The lines as tensor2tensor prints them: masters first, then parameter servers.

    One master trains synchronously with the servers' GPUs; several train asynchronously with GPUs
    of their own.
    """
    is_synchronous = len(masters) == 1
    cluster: dict[str, list[str]] = {"ps": servers}
    if is_synchronous:
        first = f"Synchronous training by {len(servers)} workers (the addresses of --ps)"
        cluster["master"] = masters
    else:
        first = (
            f"Asynchronous training by {len(masters)} workers with {len(servers)} parameter servers"
        )
        cluster |= {"chief": masters[:1], "worker": masters[1:]}
    lines = [first]
    for number, address in enumerate(masters):
        job, index = ("master", number) if is_synchronous else ("chief", 0)
        if number and not is_synchronous:
            job, index = "worker", number - 1
        # worker_id counts all masters, also where the task's index doesn't: tensor2tensor's way.
        flags_of_job = [
            f"--master=grpc://{address}",
            f"--ps_replicas={len(servers)}",
            f"--worker_replicas={len(masters)}",
            f"--worker_gpu={0 if is_synchronous else 1}",
            f"--worker_id={number}",
            f"--ps_gpu={1 if is_synchronous else 0}",
            "--sync" if is_synchronous else "",
            "--schedule=train",
            f"--worker_job='/job:{job}'",
        ]
        lines.append(_line(cluster, job, index, " ".join(flags_of_job), environment="cloud"))
    lines += [
        _line(cluster, "ps", index, "--schedule=run_std_server", environment="cloud")
        for index in range(len(servers))
    ]
    return lines


def _line(
    cluster: dict[str, list[str]], job: str, index: int, flags_of_job: str, **others: Any
) -> str:
    config = {"cluster": cluster, "task": {"type": job, "index": index}, **others}
    return f"'{json.dumps(config)}'\t{flags_of_job}"


def entry_point() -> None:
    """The console script `t2t-make-tf-configs`."""
    command_line.run(main, define_flags)


if __name__ == "__main__":
    entry_point()
