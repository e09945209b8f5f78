"""T2T's "tall" sets: 12 layers, trained on several problems at once or one after the other.

Language modelling first, then short texts or classes from the same model. `multiproblem_*` say how
the problems are mixed; only problems of several problems read them.
"""

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.hparams.basic import changed
from t2t_keras.hparams.transformer import transformer_base
from t2t_keras.hparams.transformer_tpu import update_hparams_for_tpu


@registry.register_hparams
def transformer_tall() -> HParams:
    """12 layers of width 768 without label smoothing; examples of up to 1,024 symbols."""
    return changed(
        transformer_base(),
        batch_size=2048,
        hidden_size=768,
        filter_size=3072,
        num_hidden_layers=12,
        num_heads=12,
        label_smoothing=0.0,
        max_length=1024,
        eval_drop_long_sequences=True,
        multiproblem_mixing_schedule="pretrain",
        multiproblem_vocab_size=65536,
        clip_grad_norm=1.0,
    )


@registry.register_hparams
def transformer_tall_big() -> HParams:
    """transformer_tall with 18 layers."""
    return changed(transformer_tall(), num_hidden_layers=18)


def _with_target_only(hparams: HParams, label_weight: float) -> HParams:
    """Counts mostly the labels, and in evaluation nothing else; no pretraining examples."""
    # An int where the set has a float. (T2T's quirk)
    hparams.multiproblem_schedule_max_examples = 0
    return changed(
        hparams,
        multiproblem_target_eval_only=True,
        multiproblem_reweight_label_loss=True,
        multiproblem_label_weight=label_weight,
    )


def _with_cosine(hparams: HParams, constant: float, decay_steps: int) -> HParams:
    """Adam with a learning rate that falls from `constant` along half a cosine."""
    return changed(
        hparams,
        optimizer="true_adam",
        learning_rate_schedule="linear_warmup*constant*cosdecay",
        learning_rate_constant=constant,
        learning_rate_decay_steps=decay_steps,
    )


def _tied(constant: float, warmup_steps: int, decay_steps: int) -> HParams:
    """Encoder and decoder are one language model that reads inputs, then writes targets."""
    hparams = changed(
        _with_target_only(transformer_tall(), label_weight=1.0),
        multiproblem_max_input_length=750,
        multiproblem_max_target_length=100,
        learning_rate_warmup_steps=warmup_steps,
    )
    return _with_cosine(hparams, constant, decay_steps)


@registry.register_hparams
def transformer_tall_finetune_tied() -> HParams:
    """Fine-tunes a pretrained language model on long inputs with short targets."""
    return _tied(constant=5e-5, warmup_steps=100, decay_steps=80000)


@registry.register_hparams
def transformer_tall_train_tied() -> HParams:
    """Trains the model of transformer_tall_finetune_tied from the start."""
    return _tied(constant=2e-4, warmup_steps=8000, decay_steps=150000)


def _uniencdec(constant: float, decay_steps: int) -> HParams:
    """An encoder that sees only what comes before, so that it can be a language model's."""
    hparams = changed(
        transformer_tall(),
        max_input_seq_length=750,
        max_target_seq_length=100,
        unidirectional_encoder=True,
    )
    return _with_cosine(hparams, constant, decay_steps)


@registry.register_hparams
def transformer_tall_finetune_uniencdec() -> HParams:
    """Fine-tunes a pretrained language model as encoder and as decoder."""
    return changed(_uniencdec(constant=5e-5, decay_steps=80000), learning_rate_warmup_steps=100)


@registry.register_hparams
def transformer_tall_train_uniencdec() -> HParams:
    """Trains the model of transformer_tall_finetune_uniencdec from the start."""
    return _uniencdec(constant=2e-4, decay_steps=150000)


@registry.register_hparams
def transformer_tall_finetune_textclass() -> HParams:
    """Fine-tunes a pretrained language model to classify texts."""
    return changed(
        _with_target_only(transformer_tall(), label_weight=0.95),
        learning_rate_schedule="linear_warmup*constant*linear_decay",
        learning_rate_constant=6.25e-5,
        learning_rate_warmup_steps=50,
        learning_rate_decay_steps=25000,
    )


def _with_adam_w(hparams: HParams) -> HParams:
    """Adam with decoupled weight decay of a hundredth of the peak learning rate."""
    return changed(
        hparams,
        optimizer="adam_w",
        learning_rate_constant=2e-4,
        weight_decay=0.01 * 2e-4,
    )


@registry.register_hparams
def transformer_tall_pretrain_lm() -> HParams:
    """Pretrains a language model."""
    return changed(
        _with_adam_w(transformer_tall()),
        learning_rate_schedule="linear_warmup*constant*cosdecay",
        optimizer_adam_beta1=0.9,
        optimizer_adam_beta2=0.999,
        optimizer_adam_epsilon=1e-8,
        multiproblem_schedule_max_examples=5e8,
        learning_rate_decay_steps=5000000,
    )


@registry.register_hparams
def transformer_tall_pretrain_lm_tpu_adafactor() -> HParams:
    """Pretrains a language model on TPUs; `batch_size` counts examples of 1,024 symbols."""
    return changed(
        update_hparams_for_tpu(transformer_tall_pretrain_lm()),
        max_length=1024,
        batch_size=8,
        multiproblem_vocab_size=65536,
    )


@registry.register_hparams
def transformer_tall_pretrain_lm_tpu_adafactor_large() -> HParams:
    """Pretrains a wider language model on ten problems mixed by fixed shares."""
    return changed(
        transformer_tall_pretrain_lm_tpu_adafactor(),
        hidden_size=1024,
        num_heads=16,
        filter_size=32768,
        batch_size=4,
        multiproblem_mixing_schedule="constant",
        multiproblem_per_task_threshold="320,80,160,1,80,160,2,20,10,5",
    )


@registry.register_hparams
def transformer_tall_pretrain_lm_tpu() -> HParams:
    """As transformer_tall_pretrain_lm_tpu_adafactor, with the optimizer of the one not for TPUs."""
    return changed(
        _with_adam_w(transformer_tall_pretrain_lm_tpu_adafactor()),
        learning_rate_schedule="linear_warmup * constant * cosdecay",
    )
