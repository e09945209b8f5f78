"""The experiments of "Attention Is All You Need" (Vaswani et al., 2017, arXiv:1706.03762v7).

One set for every row of Table 3, for the models of Table 2 and for the parsers of Table 4. They are
transformer_base_v1 without T2T's embedding of the target space, which the paper doesn't have. All
share what the paper fixes (sections 3 and 5), and a row changes only what it names:

* post-norm: LayerNorm(x + Dropout(Sublayer(x))); sinusoids; one table for inputs, targets and
  softmax, if the problem has one vocabulary;
* dropout on the output of every sub-layer and on the sums of embeddings and positions, nowhere
  else; label smoothing 0.1;
* Adam with β1 0.9, β2 0.98, ε 1e-9, and at update t = 1, 2, … the learning rate
  hidden_size^-0.5 · min(t^-0.5, t · 4000^-1.5): the scheme `noam` of T2T's legacy schedule, whose
  constants 0.002 (for Adam), 5000 and `learning_rate` 0.1 give 1;
* about 25,000 source and 25,000 target tokens a batch on 8 GPUs: `batch_size` 4096 a GPU.
  It counts the longer side with padding and is rounded down for every bucket of lengths, so that
  some 25,000 of 8 × 4,096 are tokens of a sentence. With another number of GPUs, set `batch_size`
  to 32768 divided by it.

Steps, averaging and beam are no hyperparameters of the model; each docstring names those of the
paper: `--train_steps`, `t2t-avg-all`, `--decode_hparams`. Checkpoints are written every 10 minutes.
Table 3 is newstest2013 without averaging; its perplexities are per word piece.
"""

from typing import Any

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import changed
from t2t_keras.hparams.transformer import transformer_base_v1


@registry.register_hparams
def transformer_paper_base() -> HParams:
    """The base model: Table 2 (base) and Table 3, row "base"; 65 million parameters.

    100,000 steps, 12 hours on 8 P100 GPUs. Table 3: perplexity 4.92, BLEU 25.8. Table 2: average of
    the last 5 checkpoints, beam 4, alpha 0.6, at most 50 symbols more than the input; newstest2014
    English-German BLEU 27.3, English-French 38.1.
    """
    return changed(transformer_base_v1(), batch_size=4096, use_target_space_embedding=False)


def _row(**values: Any) -> HParams:
    """A row of Table 3: the base model with other values."""
    return changed(transformer_paper_base(), **values)


@registry.register_hparams
def transformer_paper_big() -> HParams:
    """The big model: Table 2 (big, English-German) and Table 3, row "big"; 213 million parameters.

    300,000 steps, 3.5 days on 8 P100 GPUs. Table 3: perplexity 4.33, BLEU 26.4. Table 2: average of
    the last 20 checkpoints, beam 4, alpha 0.6, at most 50 symbols more than the input; newstest2014
    BLEU 28.4.
    """
    return _row(hidden_size=1024, filter_size=4096, num_heads=16, layer_prepostprocess_dropout=0.3)


@registry.register_hparams
def transformer_paper_big_enfr() -> HParams:
    """The big model for English to French (Table 2): as transformer_paper_big, with dropout 0.1.

    300,000 steps, average of the last 20 checkpoints, beam 4, alpha 0.6, at most 50 symbols more
    than the input; newstest2014 BLEU 41.8 (41.0 in the text of section 6.1).
    """
    return changed(transformer_paper_big(), layer_prepostprocess_dropout=0.1)


@registry.register_hparams
def transformer_paper_a1() -> HParams:
    """Table 3, row A: 1 head of width 512. 100,000 steps; perplexity 5.29, BLEU 24.9."""
    return _row(num_heads=1)


@registry.register_hparams
def transformer_paper_a2() -> HParams:
    """Table 3, row A: 4 heads of width 128. 100,000 steps; perplexity 5.00, BLEU 25.5."""
    return _row(num_heads=4)


@registry.register_hparams
def transformer_paper_a3() -> HParams:
    """Table 3, row A: 16 heads of width 32. 100,000 steps; perplexity 4.91, BLEU 25.8."""
    return _row(num_heads=16)


@registry.register_hparams
def transformer_paper_a4() -> HParams:
    """Table 3, row A: 32 heads of width 16. 100,000 steps; perplexity 5.01, BLEU 25.4."""
    return _row(num_heads=32)


@registry.register_hparams
def transformer_paper_b1() -> HParams:
    """Table 3, row B: keys of width 16 a head, values as in base; 58 million parameters.

    100,000 steps; perplexity 5.16, BLEU 25.1.
    """
    return _row(attention_key_channels=8 * 16)


@registry.register_hparams
def transformer_paper_b2() -> HParams:
    """Table 3, row B: keys of width 32 a head, values as in base; 60 million parameters.

    100,000 steps; perplexity 5.01, BLEU 25.4.
    """
    return _row(attention_key_channels=8 * 32)


@registry.register_hparams
def transformer_paper_c1() -> HParams:
    """Table 3, row C: 2 layers; 36 million parameters.

    100,000 steps; perplexity 6.11, BLEU 23.7.
    """
    return _row(num_hidden_layers=2)


@registry.register_hparams
def transformer_paper_c2() -> HParams:
    """Table 3, row C: 4 layers; 50 million parameters.

    100,000 steps; perplexity 5.19, BLEU 25.3.
    """
    return _row(num_hidden_layers=4)


@registry.register_hparams
def transformer_paper_c3() -> HParams:
    """Table 3, row C: 8 layers; 80 million parameters.

    100,000 steps; perplexity 4.88, BLEU 25.5.
    """
    return _row(num_hidden_layers=8)


@registry.register_hparams
def transformer_paper_c4() -> HParams:
    """Table 3, row C: width 256, 8 heads of width 32; 28 million parameters.

    100,000 steps; perplexity 5.75, BLEU 24.5.
    """
    return _row(hidden_size=256, attention_key_channels=8 * 32, attention_value_channels=8 * 32)


@registry.register_hparams
def transformer_paper_c5() -> HParams:
    """Table 3, row C: width 1,024, 8 heads of width 128; 168 million parameters.

    100,000 steps; perplexity 4.66, BLEU 26.0.
    """
    return _row(hidden_size=1024, attention_key_channels=8 * 128, attention_value_channels=8 * 128)


@registry.register_hparams
def transformer_paper_c6() -> HParams:
    """Table 3, row C: feed-forward layers of width 1,024; 53 million parameters.

    100,000 steps; perplexity 5.12, BLEU 25.4.
    """
    return _row(filter_size=1024)


@registry.register_hparams
def transformer_paper_c7() -> HParams:
    """Table 3, row C: feed-forward layers of width 4,096; 90 million parameters.

    100,000 steps; perplexity 4.75, BLEU 26.2.
    """
    return _row(filter_size=4096)


@registry.register_hparams
def transformer_paper_d1() -> HParams:
    """Table 3, row D: no dropout. 100,000 steps; perplexity 5.77, BLEU 24.6."""
    return _row(layer_prepostprocess_dropout=0.0)


@registry.register_hparams
def transformer_paper_d2() -> HParams:
    """Table 3, row D: dropout 0.2. 100,000 steps; perplexity 4.95, BLEU 25.5."""
    return _row(layer_prepostprocess_dropout=0.2)


@registry.register_hparams
def transformer_paper_d3() -> HParams:
    """Table 3, row D: no label smoothing. 100,000 steps; perplexity 4.67, BLEU 25.3."""
    return _row(label_smoothing=0.0)


@registry.register_hparams
def transformer_paper_d4() -> HParams:
    """Table 3, row D: label smoothing 0.2. 100,000 steps; perplexity 5.47, BLEU 25.7."""
    return _row(label_smoothing=0.2)


@registry.register_hparams
def transformer_paper_e() -> HParams:
    """Table 3, row E: learned positions, 256 each for inputs and targets, instead of sinusoids.

    100,000 steps; perplexity 4.92, BLEU 25.7. Beyond `max_length` positions add nothing.
    """
    return _row(pos="emb")


@registry.register_hparams
def transformer_paper_parsing_wsj() -> HParams:
    """Table 4, WSJ only: 4 layers of width 1,024, the rest as base; 40,000 training sentences.

    A vocabulary of 16,000, beam 21, alpha 0.3, at most 300 symbols more than the input; F1 91.3 on
    section 23. The paper chose dropout (on attention weights and residual branches), learning rate
    and beam on section 22 but names only the beam: 0.2 is T2T's dropout for this corpus, the
    learning rate is that of translation. Linearised trees are long, so examples of up to 512
    symbols are allowed. The paper gives no number of steps.
    """
    return _row(
        num_hidden_layers=4,
        hidden_size=1024,
        layer_prepostprocess_dropout=0.2,
        attention_dropout=0.2,
        max_length=512,
    )


@registry.register_hparams
def transformer_paper_parsing_semi() -> HParams:
    """Table 4, semi-supervised: the model of transformer_paper_parsing_wsj, dropout 0.1.

    About 17 million automatically parsed sentences more, a vocabulary of 32,000, beam 21,
    alpha 0.3, at most 300 symbols more than the input; F1 92.7 on section 23. The paper names
    neither the dropout nor the number of steps; with so much data that of the base model is taken.
    """
    return changed(
        transformer_paper_parsing_wsj(), layer_prepostprocess_dropout=0.1, attention_dropout=0.1
    )
