"""The sets transformer_paper_* are what "Attention Is All You Need" says."""

import math
import random

import keras
import numpy as np
import pytest
import tensorflow as tf
from keras.src.backend.common import global_state

from t2t_keras import registry
from t2t_keras.data.bucketing import hparams_to_batching_scheme
from t2t_keras.models.transformer import Transformer
from t2t_keras.training.schedules import learning_rate_schedule

# Table 3 prints millions and no vocabulary size; its text says "about 37,000" word pieces. With
# 41,004 to 41,208 symbols every row but the last rounds to the printed figure, the last with 35,368
# to 36,344.
VOCAB_SIZE = 41_100
VOCAB_SIZE_BIG = 36_000

# Table 3: N, width, filter width, heads, key and value width of a head, dropout, label smoothing,
# and millions of parameters. A row without a figure in print has that of the base model.
BASE = (6, 512, 2048, 8, 64, 64, 0.1, 0.1, 65)
COLUMNS = ("n", "d_model", "d_ff", "h", "d_k", "d_v", "p_drop", "e_ls", "params")


def row(**changes):
    return tuple(changes.get(column, value) for column, value in zip(COLUMNS, BASE, strict=True))


TABLE_3 = {
    "base": row(),
    "a1": row(h=1, d_k=512, d_v=512),
    "a2": row(h=4, d_k=128, d_v=128),
    "a3": row(h=16, d_k=32, d_v=32),
    "a4": row(h=32, d_k=16, d_v=16),
    "b1": row(d_k=16, params=58),
    "b2": row(d_k=32, params=60),
    "c1": row(n=2, params=36),
    "c2": row(n=4, params=50),
    "c3": row(n=8, params=80),
    "c4": row(d_model=256, d_k=32, d_v=32, params=28),
    "c5": row(d_model=1024, d_k=128, d_v=128, params=168),
    "c6": row(d_ff=1024, params=53),
    "c7": row(d_ff=4096, params=90),
    "d1": row(p_drop=0.0),
    "d2": row(p_drop=0.2),
    "d3": row(e_ls=0.0),
    "d4": row(e_ls=0.2),
    "e": row(),
    "big": row(d_model=1024, d_ff=4096, h=16, p_drop=0.3, params=213),
}
OTHER_SETS = {"big_enfr", "parsing_wsj", "parsing_semi"}
ALL_SETS = [*TABLE_3, *sorted(OTHER_SETS)]


def paper(name):
    return registry.hparams(f"transformer_paper_{name}")


def count_parameters(hparams, vocab_size):
    """Number of trained values of a model whose inputs and targets share a vocabulary.

    The variables get their shapes but no values: no memory, hardly any time.
    """
    with keras.StatelessScope(initialize_variables=False):
        model = Transformer(hparams, input_vocab_size=vocab_size, target_vocab_size=vocab_size)
    # Keras remembers variables without values, to fill them in later.
    global_state.set_global_attribute("uninitialized_variables", [])
    return sum(math.prod(variable.shape) for variable in model.trainable_variables)


def test_counting_without_values_equals_the_built_model():
    hparams = paper("e").parse("hidden_size=8,filter_size=24,num_heads=2,num_hidden_layers=1")
    model = Transformer(hparams, input_vocab_size=11, target_vocab_size=11)
    assert count_parameters(hparams, 11) == model.count_params()


def test_parameters_of_table_3():
    lines, counts = [], {}
    for name, columns in TABLE_3.items():
        vocab_size = VOCAB_SIZE_BIG if name == "big" else VOCAB_SIZE
        counts[name] = count_parameters(paper(name), vocab_size) / 1e6
        lines.append(f"{name:5} {vocab_size:7,} {counts[name]:8.2f} {columns[-1]:6}")
    print("\nrow   symbols  millions  paper", *lines, sep="\n")
    assert {name: round(count) for name, count in counts.items()} == {
        name: columns[-1] for name, columns in TABLE_3.items()
    }


def test_every_row_has_a_set_and_every_set_a_row():
    names = {
        name.removeprefix("transformer_paper_")
        for name in registry.list_hparams()
        if name.startswith("transformer_paper_")
    }
    assert names == set(ALL_SETS)


@pytest.mark.parametrize("name", TABLE_3)
def test_rows_of_table_3(name):
    hparams = paper(name)
    heads = hparams.num_heads
    assert TABLE_3[name][:-1] == (
        hparams.num_hidden_layers,
        hparams.hidden_size,
        hparams.filter_size,
        heads,
        (hparams.attention_key_channels or hparams.hidden_size) / heads,
        (hparams.attention_value_channels or hparams.hidden_size) / heads,
        hparams.layer_prepostprocess_dropout,
        hparams.label_smoothing,
    )
    assert hparams.pos == ("emb" if name == "e" else "timing")
    assert (hparams.attention_dropout, hparams.relu_dropout, hparams.symbol_dropout) == (0, 0, 0)


@pytest.mark.parametrize("name", ALL_SETS)
def test_what_all_sets_share(name):
    hparams = paper(name)
    assert (hparams.layer_preprocess_sequence, hparams.layer_postprocess_sequence) == (
        "none",
        "dan",
    )
    assert hparams.shared_embedding_and_softmax_weights and not hparams.use_target_space_embedding
    assert hparams.multiply_embedding_mode == "sqrt_depth"
    assert (hparams.weight_decay, hparams.clip_grad_norm) == (0, 0)
    optimizer = registry.optimizer(hparams.optimizer)(learning_rate_schedule(hparams), hparams)
    assert (optimizer.beta_1, optimizer.beta_2, optimizer.epsilon) == (0.9, 0.98, 1e-9)


@pytest.mark.parametrize("name", ALL_SETS)
def test_learning_rate_is_equation_3(name):
    hparams = paper(name)
    schedule = learning_rate_schedule(hparams)
    # The first update, number 1 in the paper, sees the global step 0.
    updates = [1, 2, 100, 3999, 4000, 4001, 100_000, 300_000]
    rates = [float(schedule(tf.constant(update - 1, tf.int64))) for update in updates]
    wanted = [hparams.hidden_size**-0.5 * min(t**-0.5, t * 4000**-1.5) for t in updates]
    # Some roundings of float32, each 6e-8.
    np.testing.assert_allclose(rates, wanted, rtol=5e-7)


def test_other_sets():
    changes = {
        name: {
            key: value
            for key, value in paper(name).values().items()
            if value != paper("base").values()[key]
        }
        for name in OTHER_SETS
    }
    big = {"hidden_size": 1024, "filter_size": 4096, "num_heads": 16}
    assert changes["big_enfr"] == big  # Dropout as base.
    parser = {"num_hidden_layers": 4, "hidden_size": 1024, "max_length": 512}
    dropout = {"layer_prepostprocess_dropout": 0.2, "attention_dropout": 0.2}
    assert changes["parsing_wsj"] == {**parser, **dropout}
    assert changes["parsing_semi"] == {**parser, "attention_dropout": 0.1}


def test_batches_of_eight_gpus_have_25_000_tokens_of_either_side():
    """On made-up sentences with lengths like those of the corpus: 30 symbols on average."""
    draw = random.Random(0)
    pairs = []
    for _ in range(20_000):
        source = max(2, int(draw.lognormvariate(3.2, 0.65)))
        pairs.append((source, max(2, int(source * draw.lognormvariate(0.05, 0.2)))))
    scheme = hparams_to_batching_scheme(paper("base"), drop_long_sequences=True, shard_multiplier=8)
    kept = [pair for pair in pairs if max(pair) <= scheme.max_length]
    num_batches = sum(1 / scheme.batch_sizes[scheme.bucket_of(max(pair))] for pair in kept)
    for side in range(2):
        assert sum(pair[side] for pair in kept) / num_batches == pytest.approx(25_000, rel=0.1)
