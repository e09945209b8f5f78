"""What the log says of XLA's work."""

import logging

import numpy as np
import pytest

from t2t_keras.training.compilation import CompilationLog


def batch(rows, length):
    return {name: np.zeros([rows, length], np.int32) for name in ("inputs", "targets")}


def log_of(caplog, compilations, *steps):
    with caplog.at_level(logging.INFO, logger="absl"):
        for shapes in steps:
            with compilations.of_step([batch(*shape) for shape in shapes]):
                pass
    return caplog.messages


def test_every_shape_is_named_once_with_its_seconds_and_the_number_left(caplog):
    ticks = iter([10.0, 13.5, 20.0, 21.0])
    compilations = CompilationLog(True, [(4, 7), (2, 15)], clock=lambda: next(ticks))
    messages = log_of(caplog, compilations, [(4, 7)], [(4, 7)], [(2, 15)], [(2, 15)], [(4, 7)])
    assert len(messages) == 5
    assert "shape 1 of at most 2, 4 x 7" in messages[0] and "3.5 s" in messages[1]
    assert "shape 2 of at most 2, 2 x 15" in messages[2] and "1.0 s" in messages[3]
    assert "All 2 shapes" in messages[4] and "4.5 s" in messages[4]


def test_micro_batches_of_a_step_may_have_different_shapes(caplog):
    messages = log_of(caplog, CompilationLog(True, []), [(4, 7), (2, 15)], [(2, 15), (4, 7)])
    assert len(messages) == 2 and "4 x 7, 2 x 15" in messages[0]


@pytest.mark.parametrize("shapes", [[], [(4, 7)]])
def test_without_xla_the_one_graph_is_told_of(caplog, shapes):
    messages = log_of(caplog, CompilationLog(False, shapes), [(4, 7)], [(2, 15)], [(2, 15)])
    assert len(messages) == 2
    assert messages[0].startswith("Building") and messages[1].startswith("Built")


def test_errors_of_a_step_pass_through():
    with pytest.raises(RuntimeError), CompilationLog(True, []).of_step([batch(1, 2)]):
        raise RuntimeError


def test_all_shapes_are_compiled_before_the_first_step(caplog):
    compilations, compiled = CompilationLog(True, [(4, 7), (2, 15)]), []
    features = {**batch(4, 7), "label": np.zeros([4, 1], np.int64)}

    def compile_all():
        compilations.compile_all(features, compiled.append, lambda: False)

    with caplog.at_level(logging.INFO, logger="absl"):
        compile_all()
        compile_all()
        with compilations.of_step([features]):
            pass
    shapes = [{name: value.shape for name, value in example.items()} for example in compiled]
    assert shapes == [
        {"inputs": (4, 7), "targets": (4, 7), "label": (4, 1)},
        {"inputs": (2, 15), "targets": (2, 15), "label": (2, 1)},
    ]
    assert [example["label"].dtype for example in compiled] == [np.int64] * 2
    assert len(caplog.messages) == 5 and "All 2 shapes" in caplog.messages[4]


def test_whoever_interrupts_does_not_wait_for_the_other_shapes():
    compilations, compiled = CompilationLog(True, [(4, 7), (2, 15), (1, 30)]), []
    compilations.compile_all(batch(4, 7), compiled.append, lambda: bool(compiled))
    assert len(compiled) == 1


@pytest.mark.parametrize("is_compiled", [True, False])
def test_nothing_to_compile_beforehand(is_compiled):
    shapes = [] if is_compiled else [(4, 7)]
    compilations, compiled = CompilationLog(is_compiled, shapes), []
    compilations.compile_all(batch(4, 7), compiled.append, lambda: False)
    assert not compiled
