import numpy as np
import pytest
import tensorflow as tf

from tests.training import replica_runs, tiny_step
from tests.training.tiny_step import batch, make_step


@pytest.mark.parametrize(
    "overrides, compiler, counts",
    [
        ("", "plain", (1, 2, 4)),
        (",weight_decay=0.01,clip_grad_norm=0.5", "plain", (1, 2)),
        ("", "jit", (1, 2)),
        (",optimizer=adafactor,symbol_modality_num_shards=4", "plain", (1, 2)),
        (",optimizer=multistep_adam,optimizer_multistep_accumulate_steps=2", "jit", (1, 2)),
        (",optimizer=adam_w,weight_decay=0.01,weight_noise=50.0", "plain", (1, 2)),
    ],
)
def test_any_number_of_replicas_gives_the_same_weights(
    overrides, compiler, counts, on_logical_cpus
):
    report = on_logical_cpus(replica_runs.compare, overrides, compiler, counts)
    assert report["losses"][-1] < report["losses"][0]
    assert set(report["differences"]) == set(counts[1:])
    for count, difference in report["differences"].items():
        assert difference["weights"] < 1e-5, (count, difference)
        assert difference["loss"] < 1e-5, (count, difference)


def test_all_lengths_share_one_trace():
    step, _, _ = make_step()
    for length in (3, 5, 8):
        step(batch(length=length))
    assert step.num_traces == 1


def test_dropout_depends_on_step_and_seed_only():
    losses = {}
    for seed in (1, 1, 2):
        tf.random.set_seed(seed + 100)
        step, model, optimizer = make_step(",learning_rate_constant=0.0", random_seed=seed)
        tiny_step.set_weights(model)
        both = [float(step(batch()).loss) for _ in range(2)]
        assert both[0] != both[1]
        losses.setdefault(seed, []).append(both)
        optimizer.iterations.assign(0)
        assert float(step(batch()).loss) == both[0]
    assert losses[1][0] == losses[1][1] != losses[2][0]


def test_a_batch_of_padding_changes_nothing_but_the_step():
    step, model, optimizer = make_step()
    before = [variable.numpy() for variable in model.variables]
    result = step({name: tf.zeros_like(value) for name, value in batch().items()})
    assert float(result.loss) == 0.0 and float(result.token_count) == 0.0
    assert int(optimizer.iterations.numpy()) == 1
    for old, variable in zip(before, model.variables, strict=True):
        np.testing.assert_array_equal(old, variable.numpy())


def test_gradient_noise_is_added():
    quiet, _, _ = make_step(measure_gradient_norm=True)
    noisy, _, _ = make_step(",grad_noise_scale=10.0", measure_gradient_norm=True)
    assert float(noisy(batch()).gradient_norm) > 10 * float(quiet(batch()).gradient_norm)


def test_weight_noise_moves_the_body_in_proportion_to_the_learning_rate():
    step, model, _ = make_step(
        ",optimizer=sgd,weight_noise=50.0,learning_rate_schedule=constant,learning_rate_constant=2.0"
    )
    before = [variable.numpy() for variable in model.variables]
    step({name: tf.zeros_like(value) for name, value in batch().items()})  # no gradient
    moves = []
    for old, variable in zip(before, model.variables, strict=True):
        if "/body/" in variable.path:
            moves.append(np.ravel(variable.numpy() - old))
        else:
            np.testing.assert_array_equal(old, variable.numpy())
    moves = np.concatenate(moves)
    # Normal numbers beyond two standard deviations are drawn again, which leaves one of 0.88.
    assert np.abs(moves).max() < 2.0 * 0.1 + 1e-6
    assert 0.084 < np.std(moves) < 0.092 and abs(np.mean(moves)) < 0.01


@pytest.mark.parametrize("jit_compile", [False, True])
def test_factored_logits_train_the_same(jit_compile):
    no_dropout = (
        ",layer_prepostprocess_dropout=0.0,attention_dropout=0.0,relu_dropout=0.0,"
        "learning_rate_warmup_steps=4"
    )
    plain, plain_model, _ = make_step(no_dropout)
    factored, model, _ = make_step(no_dropout + ",factored_logits=True", jit_compile=jit_compile)
    for variable, other in zip(model.variables, plain_model.variables, strict=True):
        variable.assign(other.value)
    for _ in range(3):
        expected, found = plain(batch()), factored(batch())
        np.testing.assert_allclose(found.loss, expected.loss, rtol=1e-4)
        assert float(found.token_count) == float(expected.token_count)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_scheduled_sampling_trains(jit_compile):
    step, _, _ = make_step(
        ",scheduled_sampling_prob=1.0,scheduled_sampling_warmup_steps=1,"
        "scheduled_sampling_num_passes=2,learning_rate_warmup_steps=4",
        jit_compile=jit_compile,
    )
    losses = [float(step(batch()).loss) for _ in range(12)]
    assert losses[-1] < losses[0]


def test_idle_replica_is_part_of_the_replica_test():
    targets = tiny_step.uneven_batch()["targets"].numpy()
    counts = np.count_nonzero(targets, axis=1)
    assert counts[-1] == 0 and len(set(counts)) == len(counts)
