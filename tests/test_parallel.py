"""Maps over several processes: the same results, in order."""

import os
import subprocess
import sys
import textwrap

import pytest

from t2t_keras import parallel


def square(number):
    return number * number


def process_of(number):
    del number
    return os.getpid()


def fail_at_seven(number):
    if number == 7:
        raise ValueError("seven is not possible")
    return number


def one(item):
    del item
    return 1


def test_without_permission_there_is_one_process():
    assert set(parallel.ordered_map(process_of, range(9), one, 0)) == {os.getpid()}


def test_results_come_in_order_from_several_processes():
    with parallel.processes(2):
        found = list(parallel.ordered_map(process_of, range(40), one, 5))
        assert list(parallel.ordered_map(square, range(40), one, 5)) == [k * k for k in range(40)]
    # The first ones are done here, before others are worth their start.
    assert set(found[:5]) == {os.getpid()}
    assert os.getpid() not in found[5:]


def test_little_work_starts_no_process():
    with parallel.processes(2):
        assert set(parallel.ordered_map(process_of, range(9), one, 10)) == {os.getpid()}


def test_what_cannot_be_handed_over_is_done_here():
    with parallel.processes(2):
        assert list(parallel.ordered_map(lambda number: -number, range(9), one, 0)) == [
            -number for number in range(9)
        ]


def test_errors_arrive():
    with (
        parallel.processes(2),
        pytest.raises(ValueError, match="seven is not possible"),
    ):
        list(parallel.ordered_map(fail_at_seven, range(50), one, 2))


def test_items_are_taken_as_they_are_needed():
    taken = []

    def items():
        for number in range(1000):
            taken.append(number)
            yield number

    with parallel.processes(2):
        results = parallel.ordered_map(square, items(), one, 1)
        for _ in range(3):
            next(results)
        assert len(taken) < 20
        results.close()


def test_workers_end_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, signal, threading, time
            from t2t_keras import parallel

            def work(number):
                print(os.getpid(), flush=True)
                time.sleep(60)

            if __name__ == "__main__":
                threading.Timer(2.0, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
                with parallel.processes(2):
                    pickled = parallel._pickled(work)
                    list(parallel._map_in_pool(pickled, iter(range(4)), parallel._settings.get()))
            """
        )
    )
    # The pipe reaches its end only when the last process that holds it has ended.
    finished = subprocess.run(
        [sys.executable, str(script)], stdout=subprocess.PIPE, timeout=50, check=False
    )
    assert finished.returncode == -9


@pytest.mark.parametrize(
    "weights, blocks",
    [
        ([], []),
        ([1, 1], [[1, 1]]),
        ([2, 2, 1], [[2, 2], [1]]),
        ([9, 1, 3, 1], [[9], [1, 3], [1]]),
        ([4, 4], [[4], [4]]),
    ],
)
def test_blocks_end_where_they_are_heavy_enough(weights, blocks):
    assert list(parallel.blocks(iter(weights), lambda weight: weight, 4)) == blocks
