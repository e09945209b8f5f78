"""The basic set: every hyperparameter that all models and the training loop read."""

from typing import Any

from t2t_keras import registry
from t2t_keras.hparam import HParams


def changed(hparams: HParams, **values: Any) -> HParams:
    """The object itself with other values of declared hyperparameters, cast to their types.

    Raises:
        KeyError: a name isn't declared.
        ValueError: a value is of another type.
    """
    return hparams.override_from_dict(values)


def extended(hparams: HParams, **values: Any) -> HParams:
    """The object itself with more hyperparameters, declared by their first values.

    Raises:
        ValueError: a name is taken.
    """
    for name, value in values.items():
        hparams.add_hparam(name, value)
    return hparams


@registry.register_hparams("basic_1")
def basic_params1() -> HParams:
    """T2T's set basic_1, with its names and values.

    Most other sets start from it and change or add some. A hyperparameter that a model or the
    training loop doesn't support must be left at its default; they refuse other values.
    """
    hparams = HParams()
    for group in (
        _BATCHES,
        _MODEL,
        _REGULARISATION,
        _OPTIMIZERS,
        _LEARNING_RATE,
        _EMBEDDINGS,
        _SEQUENCES,
        _DECODING,
        _SCHEDULED_SAMPLING,
        _PRECISION,
        _MULTIPLE_PROBLEMS,
        _OTHER_MODELS,
    ):
        for name, value in group.items():
            hparams.add_hparam(name, value)
    # Overrides per feature: dictionaries that must not be shared between two sets.
    for name in ("bottom", "loss", "name", "top", "weights_fn"):
        hparams.add_hparam(name, {})
    return hparams


@registry.register_hparams
def basic_fc_small() -> HParams:
    """T2T's set for small networks of fully connected layers."""
    return changed(
        basic_params1(),
        batch_size=128,
        hidden_size=256,
        num_hidden_layers=2,
        initializer="uniform_unit_scaling",
        initializer_gain=1.0,
        weight_decay=0.0,
        dropout=0.0,
    )


@registry.register_hparams
def basic_policy_parameters() -> HParams:
    """T2T's set for policies without parameters: it declares the wrappers and nothing else."""
    return HParams(wrappers=None)


_BATCHES = {
    # Tokens per replica, or examples if the problem says so.
    "batch_size": 4096,
    # Batches in the shuffle buffer of training; 0: no shuffling.
    "batch_shuffle_size": 512,
    # Take batch_size as a number of examples, whatever the problem says.
    "use_fixed_batch_size": False,
    "pad_batch": False,
}

_MODEL = {
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "initializer": "orthogonal",
    "initializer_gain": 1.5,
    # Sequences of n (normalise), d (dropout), a (add the residual), or none.
    "layer_preprocess_sequence": "none",
    "layer_postprocess_sequence": "dan",
    "norm_type": "layer",
    "norm_epsilon": 1e-6,
    "max_relative_position": 0,
    "heads_share_relative_embedding": False,
    "add_relative_to_values": False,
}

_REGULARISATION = {
    "dropout": 0.2,
    "layer_prepostprocess_dropout": 0.1,
    # Comma separated dimensions along which one dropout decision is shared.
    "layer_prepostprocess_dropout_broadcast_dims": "",
    "symbol_dropout": 0.0,
    "label_smoothing": 0.1,
    "weight_decay": 1e-6,
    "weight_noise": 0.0,
}

_OPTIMIZERS = {
    "optimizer": "adam",
    # Largest global norm of the gradients; 0: no clipping.
    "clip_grad_norm": 2.0,
    "grad_noise_scale": 0.0,
    "optimizer_adam_epsilon": 1e-6,
    "optimizer_adam_beta1": 0.85,
    "optimizer_adam_beta2": 0.997,
    "optimizer_momentum_momentum": 0.9,
    "optimizer_momentum_nesterov": False,
    "optimizer_adafactor_beta1": 0.0,
    "optimizer_adafactor_beta2": 0.999,
    "optimizer_adafactor_factored": True,
    "optimizer_adafactor_decay_type": "pow",
    "optimizer_adafactor_memory_exponent": 0.8,
    "optimizer_adafactor_clipping_threshold": 1.0,
    "optimizer_adafactor_multiply_by_parameter_scale": True,
    # Batches whose gradients are added up before an update.
    "optimizer_multistep_accumulate_steps": 0,
    # Variables without a gradient get a gradient of zeros.
    "optimizer_zero_grads": False,
    "summarize_grads": False,
    "summarize_vars": False,
}

_LEARNING_RATE = {
    # A product of factors such as "constant*linear_warmup*rsqrt_decay", or "legacy".
    "learning_rate_schedule": "legacy",
    "learning_rate_constant": 1.0,
    "learning_rate_warmup_steps": 100,
    "learning_rate_decay_steps": 5000,
    "learning_rate_decay_rate": 1.0,
    "learning_rate_decay_staircase": False,
    # The remaining ones belong to the legacy schedule.
    "learning_rate": 0.1,
    "learning_rate_decay_scheme": "none",
    "learning_rate_cosine_cycle_steps": 250000,
    "learning_rate_minimum": None,
}

_EMBEDDINGS = {
    "shared_embedding_and_softmax_weights": False,
    # Share the tables of inputs and targets only.
    "shared_embedding": False,
    "symbol_modality_num_shards": 1,
    "multiply_embedding_mode": "sqrt_depth",
    "factored_logits": False,
    # Round the vocabulary size up to a multiple.
    "vocab_divisor": 1,
}

_SEQUENCES = {
    "min_length": 0,
    # 0: as many tokens as a batch has.
    "max_length": 0,
    "min_length_bucket": 8,
    "length_bucket_step": 1.1,
    # Cut longer sequences when reading; 0: don't.
    "max_input_seq_length": 0,
    "max_target_seq_length": 0,
    "split_to_length": 0,
    "pack_dataset": False,
    "use_custom_ops": True,
    "split_targets_chunk_length": 0,
    "split_targets_max_chunks": 100,
    "split_targets_strided_training": False,
    "prepend_mode": "none",
    "eval_drop_long_sequences": False,
    "eval_run_autoregressive": False,
}

_DECODING = {
    "sampling_method": "argmax",
    "sampling_temp": 1.0,
    "sampling_keep_top_k": -1,
    "force_full_predict": False,
}

_SCHEDULED_SAMPLING = {
    "scheduled_sampling_prob": 0.0,
    "scheduled_sampling_method": "parallel",
    "scheduled_sampling_warmup_steps": 50000,
    "scheduled_sampling_gold_mixin_prob": 0.5,
    "scheduled_sampling_num_passes": 1,
    "scheduled_sampling_warmup_schedule": "exp",
}

_PRECISION = {
    "activation_dtype": "float32",
    "weight_dtype": "float32",
    "gpu_automatic_mixed_precision": False,
    "mixed_precision_optimizer_loss_scaler": "exponential",
    "mixed_precision_optimizer_init_loss_scale": 2**15,
}

_MULTIPLE_PROBLEMS = {
    "multiproblem_schedule_threshold": 0.5,
    "multiproblem_per_task_threshold": "",
    "multiproblem_schedule_max_examples": 1e7,
    "multiproblem_mixing_schedule": "constant",
    "multiproblem_reweight_label_loss": False,
    "multiproblem_label_weight": 0.5,
    "multiproblem_target_eval_only": False,
    "multiproblem_vocab_size": -1,
    "multiproblem_max_input_length": -1,
    "multiproblem_max_target_length": -1,
    "multiproblem_fixed_train_length": -1,
}

# Convolutional, expert, video and area attention models, distribution, start of training.
_OTHER_MODELS = {
    "kernel_height": 3,
    "kernel_width": 1,
    "compress_steps": 0,
    "moe_hidden_sizes": "2048",
    "moe_num_experts": 64,
    "moe_k": 2,
    "moe_loss_coef": 1e-2,
    "video_num_input_frames": 1,
    "video_num_target_frames": 1,
    "area_value_mode": "none",
    "area_key_mode": "none",
    "num_area_layers": 0,
    "max_area_width": 1,
    "max_area_height": 1,
    "memory_height": 1,
    "daisy_chain_variables": True,
    "no_data_parallelism": False,
    "tpu_enable_host_call": False,
    "mlperf_mode": False,
    "pretrained_model_dir": "",
    "warm_start_from_second": "",
}
