import sys
import types

import profile_step
import pytest
import train
import training_step
import worker_process

WORKER = """
import sys, time
import worker
arguments = worker.parse_arguments("")
print("a library's chatter")
def step():
    if arguments.vocabulary == 13:
        sys.exit("no memory for that")
    time.sleep(0.01 if arguments.xla else 0.02)
worker.serve(step, lambda: {"library": 7.0}, version="1.2")
"""


@pytest.fixture
def folder(tmp_path):
    with open(f"{worker_process.WORKERS}/worker.py", encoding="utf-8") as stream:
        (tmp_path / "worker.py").write_text(stream.read(), encoding="utf-8")
    (tmp_path / "toy.py").write_text(WORKER, encoding="utf-8")
    return str(tmp_path)


def test_a_worker_does_as_many_steps_as_it_is_told(folder):
    worker = worker_process.WorkerProcess(sys.executable, "toy.py", [], folder)
    try:
        assert worker.description["version"] == "1.2"
        assert worker.peak() == {"library": 7.0}
        times = worker.seconds(3)
    finally:
        worker.close()
    assert len(times) == 3 and all(seconds >= 0.02 for seconds in times)


def test_the_last_words_of_a_worker_that_fails_are_told(folder):
    with pytest.raises(worker_process.WorkerError, match="no memory for that"):
        worker_process.WorkerProcess(sys.executable, "toy.py", ["--vocabulary=13"], folder)


def test_an_interpreter_that_is_not_there_is_named(folder):
    with pytest.raises(worker_process.WorkerError, match="/no/such/python"):
        worker_process.WorkerProcess("/no/such/python", "toy.py", [], folder)


def test_table_compares_with_the_first_system():
    work = training_step.Work()
    options = types.SimpleNamespace(variants=["plain"], peer_scripts=None)
    team = train.Team(work, options)
    team.seconds = {"ours": [[1.0, 1.0], [2.0, 2.0]], "theirs": [[2.0, 2.0], [3.0, 3.0]]}
    team.peaks = {"numpy": 300.0, "torch": 250.0}
    ours, theirs = train.table(work, team).splitlines()[-2:]
    # Medians 1.5 and 2.5 s; 1,024 tokens and 296.35 GFLOP a step.
    assert ours.startswith("| ours | 683 | 1.500 | 1.000 | 198 | 66% | 79% | 1.00")
    assert theirs.endswith("| 1.67 (2.00 1.50) |")


def test_flops_of_the_base_model():
    # 32 × 32 tokens; per token and layer 2 · 512 · 512 for each of four projections (eight in the
    # decoder) and twice 2 · 512 · 2,048; 2 · 512 · 8,192 for the logits; three times over.
    projection, filter_product = 2 * 512 * 512, 2 * 512 * 2048
    encoder, decoder = 4 * projection + 2 * filter_product, 8 * projection + 2 * filter_product
    expected = 3 * 1024 * (6 * encoder + 6 * decoder + 2 * 512 * 8192)
    assert training_step.matmul_flops(training_step.Work()) == expected


def event(number, start, end, *statistics):
    return types.SimpleNamespace(
        metadata_id=number,
        offset_ps=start * 10**9,
        duration_ps=(end - start) * 10**9,
        stats=[types.SimpleNamespace(metadata_id=statistic) for statistic in statistics],
    )


def test_time_inside_a_called_operation_is_its_own():
    names = profile_step.Names(
        {
            1: "transformer_1/encoder_1/layer_0_1/ffn_1/conv1_1/MatMul:MatMul",
            2: "gradient_tape/transformer_1/x/layer_norm_1/Mul:Mul",
            3: "ExecutorState::Process",
            4: "StatefulPartitionedCall:StatefulPartitionedCall",
            5: "multiply_fusion.12",
        },
        {9: "hlo_op"},
    )
    line = types.SimpleNamespace(
        events=[
            event(3, 0, 20),
            event(4, 0, 10),
            event(1, 1, 4),
            event(2, 5, 7),
            event(5, 11, 15, 9),
        ]
    )
    found = {
        operation.kind: (operation.part, operation.direction, operation.milliseconds)
        for operation in profile_step.operations_of(line, names)
    }
    assert found == {
        "StatefulPartitionedCall": (profile_step.OTHER, "forward", 5.0),
        "MatMul": ("feed-forward", "forward", 3.0),
        "Mul": ("layer norm", "backward", 2.0),
        "multiply_fusion": (profile_step.XLA_PART, "forward", 4.0),
    }
