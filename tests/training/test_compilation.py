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
