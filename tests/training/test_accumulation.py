import keras
import numpy as np
import pytest

from t2t_keras.hparam import HParams
from t2t_keras.training import session
from t2t_keras.training.accumulation import accumulation_factor, nominal_token_count
from tests.training import accumulation_runs, runs, tiny_step
from tests.training.tiny_step import batch, make_step


@pytest.mark.parametrize(
    "overrides, compiler, counts",
    [
        ("", "plain", (4, 1, 2)),
        (",optimizer=adafactor,clip_grad_norm=0.5,weight_decay=0.01", "jit", (2, 1)),
    ],
)
def test_micro_batches_are_as_good_as_replicas(overrides, compiler, counts, on_logical_cpus):
    first, *others = on_logical_cpus(accumulation_runs.train_all, overrides, compiler, counts)
    assert first["losses"][-1] < first["losses"][0]
    assert first["step"] == 10 and first["token_count"] == 7 + 5 + 3
    assert first["part_losses"].shape == (10, 4)
    for other in others:
        assert tiny_step.largest_difference(first["weights"], other["weights"]) < 1e-5
        np.testing.assert_allclose(other["losses"], first["losses"], rtol=1e-5)
        np.testing.assert_allclose(other["part_losses"], first["part_losses"], rtol=1e-4)
        assert other["token_count"] == first["token_count"]
        # An update is one step, also in the learning-rate schedule.
        assert other["step"] == 10 and other["learning_rate"] == first["learning_rate"]


def test_losses_of_the_parts_add_up():
    step, _, _ = make_step(num_micro_batches=3)
    result = step(batch(), batch(length=5), batch(rows=4))
    np.testing.assert_allclose(np.sum(result.replica_losses), result.loss, rtol=1e-6)
    assert float(result.token_count) == 2 * 3 + 2 * 5 + 4 * 3
    assert step.num_traces == 1


def test_a_step_takes_its_number_of_batches():
    step, _, _ = make_step(num_micro_batches=2)
    with pytest.raises(ValueError, match=r"takes 2 batch\(es\). Received: 1"):
        step(batch())


def test_an_update_that_is_not_finite_leaves_nothing_behind():
    step, model, optimizer = make_step(num_micro_batches=2, skip_nonfinite=True)
    table = model.target_table.table
    good = table.numpy()
    table.assign(np.full_like(good, np.nan))
    assert not bool(step(batch(), batch()).is_finite)
    table.assign(good)
    optimizer.iterations.assign(0)
    found = step(batch(), batch())
    fresh, fresh_model, _ = make_step(num_micro_batches=2, skip_nonfinite=True)
    for variable, other in zip(fresh_model.variables, model.variables, strict=True):
        variable.assign(other.value)
    assert bool(found.is_finite)
    optimizer.iterations.assign(0)
    assert float(step(batch(), batch()).loss) == float(fresh(batch(), batch()).loss)


def make_hparams(optimizer="adam"):
    return HParams(batch_size=1024, optimizer=optimizer)


@pytest.mark.parametrize(
    "num_replicas, tokens, factor",
    [
        (1, 8192, 8),
        (8, 8192, 1),
        (2, 8192, 4),
        (1, 100, 1),
        (3, 8192, 3),
        (1, 0, 1),
        (1, 25000, 24),
    ],
)
def test_the_factor_comes_nearest_to_the_tokens(num_replicas, tokens, factor):
    assert accumulation_factor(make_hparams(), num_replicas, tokens) == factor


def test_tokens_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="negative. Received: -1"):
        accumulation_factor(make_hparams(), 1, -1)
    with pytest.raises(ValueError, match="multistep_adam both accumulate"):
        accumulation_factor(make_hparams("multistep_adam"), 1, 4096)


def test_the_nominal_count_is_a_power_of_two():
    assert nominal_token_count(1024, 2, 3) == 4096.0
    assert nominal_token_count(0, 1, 1) == 1.0


def train(directory, data_dir, steps=6, callbacks=()):
    """Three micro-batches of 128 tokens a step; checkpoints every two steps."""
    runs.train(
        directory,
        data_dir,
        callbacks=callbacks,
        train_steps=steps,
        effective_batch_tokens=384,
        iterations_per_loop=2,
        local_eval_frequency=2,
    )


@pytest.fixture(scope="module")
def whole_run(data_dir, tmp_path_factory):
    directory = tmp_path_factory.mktemp("whole")
    train(directory, data_dir)
    return directory


def test_a_global_step_is_an_update(whole_run):
    assert runs.values_of(whole_run)["global_step"] == 6
    assert sorted(runs.losses_of(whole_run)) == [2, 4, 6]
    # Nothing of an accumulation is in a checkpoint.
    shapes = [name for name in runs.values_of(whole_run) if name.startswith("training/")]
    assert all(name.endswith(("/Adam", "/Adam_1")) for name in shapes)


def test_a_run_killed_in_the_midst_of_an_accumulation_goes_on(
    whole_run, data_dir, tmp_path, monkeypatch
):
    original = session.TrainStep.__call__

    def killed(step, *batches):
        # The second of three micro-batches of step 4 is the last that is read.
        if int(step._optimizer.iterations.numpy()) == 3:
            for number, features in enumerate(batches[:2]):
                step._step(features, number)
            raise KeyboardInterrupt
        return original(step, *batches)

    monkeypatch.setattr(session.TrainStep, "__call__", killed)
    with pytest.raises(KeyboardInterrupt):
        train(tmp_path, data_dir)
    monkeypatch.undo()
    assert runs.values_of(tmp_path)["global_step"] == 2
    train(tmp_path, data_dir)
    runs.assert_same_values(tmp_path, whole_run)
    assert runs.losses_of(tmp_path) == runs.losses_of(whole_run)


def test_keras_callbacks_see_steps_not_micro_batches(data_dir, tmp_path):
    class Count(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.batches = []

        def on_train_batch_end(self, batch, logs=None):
            self.batches.append(batch)

    count = Count()
    train(tmp_path, data_dir, steps=2, callbacks=[count])
    assert count.batches == [0, 1]
