"""Flags that several commands share, with tensor2tensor's names, types and defaults.

Nothing is defined when this module is imported; each command calls the functions it needs. A flag
that exists already is left alone, so that they may be called more than once and in any order.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from absl import flags

from t2t_keras.bin import flag_checks
from t2t_keras.data.source_options import SourceOptions

_DEFINERS: dict[str, Callable[..., Any]] = {
    "boolean": flags.DEFINE_boolean,
    "int": flags.DEFINE_integer,
    "float": flags.DEFINE_float,
    "string": flags.DEFINE_string,
    "list": flags.DEFINE_list,
    "multi": flags.DEFINE_multi_string,
}


class FlagSpec(NamedTuple):
    """One flag: its name, type (a key of `_DEFINERS`), default and help text."""

    name: str
    kind: str
    default: Any
    help: str


SHARED_FLAGS = [
    FlagSpec("registry_help", "boolean", False, "List everything registered and exit."),
    FlagSpec("tfdbg", "boolean", False, "TensorFlow 1's debugger; ignored."),
    FlagSpec("export_saved_model", "boolean", False, "Export during training; ignored."),
    FlagSpec("dbgprofile", "boolean", False, "Timeline profile every 10 steps; ignored."),
    FlagSpec("model", "string", None, "Name of the model."),
    FlagSpec("hparams_set", "string", None, "Name of the hyperparameter set."),
    FlagSpec("hparams_range", "string", None, "Ranged hyperparameter set; not available."),
    FlagSpec(
        "hparams",
        "string",
        "",
        "Overrides of the set: name=value,name=[value,value]. t2t-trainer also takes them one by "
        "one: --hp_<name> <value>.",
    ),
    FlagSpec("problem", "string", None, "Name of the problem."),
    FlagSpec("data_dir", "string", None, "Directory with the problem's data."),
    FlagSpec("train_steps", "int", 250000, "Total number of training steps."),
    FlagSpec(
        "eval_early_stopping_metric",
        "string",
        "loss",
        "Result of evaluations that early stopping looks at: loss, a metric of the problem "
        "(accuracy), or a score of translations (BLEU_cased; see translate_every_evaluations).",
    ),
    FlagSpec(
        "eval_early_stopping_metric_delta", "float", 0.1, "Least change that is an improvement."
    ),
    FlagSpec(
        "eval_early_stopping_steps",
        "int",
        None,
        "End the training when the metric hasn't improved for so many steps; default: never.",
    ),
    FlagSpec(
        "eval_early_stopping_metric_minimize",
        "boolean",
        True,
        "Whether less is better. Known of every metric; a contradiction is ignored.",
    ),
    FlagSpec(
        "eval_timeout_mins",
        "int",
        240,
        "Minutes to wait for a checkpoint to evaluate; -1: forever.",
    ),
    FlagSpec("eval_run_autoregressive", "boolean", False, "Ignored; see the hparam of that name."),
    FlagSpec(
        "eval_use_test_set", "boolean", False, "Evaluate and decode the test split, not the dev."
    ),
    FlagSpec("keep_checkpoint_max", "int", 20, "Number of newest checkpoints to keep; 0: all."),
    FlagSpec("enable_graph_rewriter", "boolean", False, "TensorFlow 1's graph rewriter; ignored."),
    FlagSpec(
        "keep_checkpoint_every_n_hours", "int", 10000, "Keep one checkpoint per so many hours."
    ),
    FlagSpec("save_checkpoints_secs", "int", 0, "Seconds between checkpoints; 0: count steps."),
    FlagSpec("log_device_placement", "boolean", False, "Log on which device each operation runs."),
    FlagSpec("warm_start_from", "string", None, "Checkpoint or directory to start weights from."),
    FlagSpec("local_eval_frequency", "int", 1000, "Steps between checkpoints and evaluations."),
    FlagSpec("eval_throttle_seconds", "int", 600, "Least number of seconds between evaluations."),
    FlagSpec("sync", "boolean", False, "Compute on parameter servers; not available."),
    FlagSpec("worker_job", "string", "/job:localhost", "Name of the worker job; ignored."),
    FlagSpec("worker_gpu", "int", 1, "Number of replicas: GPUs, or logical CPU devices. 0: CPU."),
    FlagSpec("worker_replicas", "int", 1, "Workers of a parameter server cluster; not available."),
    FlagSpec("worker_id", "int", 0, "Number of this worker; in decoding, of the shard to decode."),
    FlagSpec("worker_gpu_memory_fraction", "float", 0.95, "Memory to reserve on a GPU; ignored."),
    FlagSpec("ps_gpu", "int", 0, "GPUs per parameter server; not available."),
    FlagSpec("gpu_order", "string", "", 'Which GPUs, in which order: "1 3 2 0".'),
    FlagSpec("ps_job", "string", "/job:ps", "Name of the parameter server job; ignored."),
    FlagSpec("ps_replicas", "int", 0, "Number of parameter servers; not available."),
    FlagSpec("decode_hparams", "string", "", "Overrides of the decoding hyperparameters."),
    FlagSpec(
        "decode_from_file",
        "string",
        "",
        "File to decode, one input a line; in training, see translate_every_evaluations.",
    ),
    FlagSpec("decode_to_file", "string", "", "File for the outputs."),
    FlagSpec("decode_reference", "string", "", "Reference for the BLEU score of decoded outputs."),
]

TRAINER_FLAGS = [
    FlagSpec("t2t_usr_dir", "string", None, "Your package of problems, models and sets to import."),
    FlagSpec("random_seed", "int", None, "Seed of everything random; default: unseeded."),
    FlagSpec("output_dir", "string", "", "Directory of checkpoints and logs."),
    FlagSpec(
        "schedule",
        "string",
        "continuous_train_and_eval",
        "train; continuous_train_and_eval: evaluate at checkpoints and at the end; "
        "train_and_evaluate: evaluate every local_eval_frequency steps; train_eval_and_decode: and "
        "translate in every evaluation; evaluate, evaluate_on_train_data: the newest checkpoint, "
        "once; continuous_eval, continuous_eval_on_train_data: each newest one, beside a training; "
        "test: one step and one evaluated batch.",
    ),
    FlagSpec("eval_steps", "int", 100, "Most batches in an evaluation; -1: all."),
    FlagSpec("master", "string", "", "With --use_tpu: its address, grpc://host:port."),
    FlagSpec("generate_data", "boolean", False, "Generate the problem's data first."),
    FlagSpec("tmp_dir", "string", "/tmp/t2t_datagen", "Directory for downloads of generate_data."),
    FlagSpec("profile", "boolean", False, "Profile of some training steps; ignored."),
    FlagSpec(
        "iterations_per_loop", "int", 100, "Lower bound of the number of steps between checkpoints."
    ),
    FlagSpec("tpu_num_shards", "int", 8, "Number of TPU shards; ignored."),
    FlagSpec("tpu_job_name", "string", None, "Name of the TPU job; ignored."),
    FlagSpec("tpu_infeed_sleep_secs", "int", None, "Pause of the TPU infeed thread; ignored."),
    FlagSpec("use_tpu", "boolean", False, "Train on a TPU; with --schedule=train."),
    FlagSpec("use_tpu_estimator", "boolean", False, "Use the TPU estimator; not available."),
    FlagSpec("export_saved_model_api_version", "int", 1, "Format of exports; ignored."),
    FlagSpec("use_guarantee_const_getter", "boolean", False, "TPU constant weights; ignored."),
    FlagSpec(
        "on_nan",
        "string",
        "stop",
        "At a loss or gradient of NaN or infinity: stop, or skip the step. Either dumps the batch "
        "to nan_step_<step>.json.",
    ),
    FlagSpec(
        "effective_batch_tokens",
        "int",
        0,
        "Tokens of an update: gradients are accumulated over as many micro-batches (batch_size on "
        "each replica) as come nearest to it. One update is one step. 0: no accumulation.",
    ),
    FlagSpec("xla_compile", "boolean", False, "Compile the training step with XLA."),
    FlagSpec(
        "max_xla_shapes",
        "int",
        16,
        "With --xla_compile: shapes of batches to compile at most; neighbouring length buckets are "
        "joined where that costs the least padding. 0: as many as there are buckets.",
    ),
    FlagSpec(
        "xla_compile_first",
        "boolean",
        False,
        "With --xla_compile: compile all shapes before the first step, so that no later one waits; "
        "otherwise each at the first batch that has it.",
    ),
    FlagSpec("xla_jit_level", "int", -1, "Level of TensorFlow 1's XLA clustering; ignored."),
    FlagSpec(
        "inter_op_parallelism_threads", "int", 0, "Operations run at once; 0: TensorFlow decides."
    ),
    FlagSpec(
        "intra_op_parallelism_threads", "int", 0, "Threads of one operation; 0: TensorFlow decides."
    ),
    FlagSpec(
        "optionally_use_dist_strat",
        "boolean",
        False,
        "Ignored: the mirrored strategy is always used.",
    ),
    FlagSpec("std_server_protocol", "string", "grpc", "Protocol of TensorFlow servers; ignored."),
    FlagSpec("cloud_mlengine", "boolean", False, "Submit the job to the cloud; not available."),
    FlagSpec("cloud_mlengine_master_type", "string", None, "Cloud machine type; ignored."),
    FlagSpec("autotune_objective", "string", None, "Metric of cloud tuning; not available."),
    FlagSpec("autotune_maximize", "boolean", True, "Whether tuning maximises; ignored."),
    FlagSpec("autotune_max_trials", "int", 10, "Trials of cloud tuning; ignored."),
    FlagSpec("autotune_parallel_trials", "int", 1, "Trials of cloud tuning at once; ignored."),
    FlagSpec("job-dir", "string", None, "Takes the place of output_dir if given."),
    FlagSpec("log_step_count_steps", "int", 100, "Steps between lines in the log."),
    FlagSpec("gpu_automatic_mixed_precision", "boolean", False, "Sets the hparam of that name."),
]

# Flags of this package, for evaluations while training.
VALIDATION_FLAGS = [
    FlagSpec(
        "translate_every_evaluations",
        "int",
        None,
        "Every so many evaluations, and at the end, translate by beam search (--decode_hparams) "
        "and score BLEU_uncased, BLEU_cased, sacreBLEU and chrF: --decode_from_file against "
        "--decode_reference, else the problem's dev split. 0: never. Default: 1 with "
        "--decode_reference, else 0.",
    ),
    FlagSpec(
        "best_checkpoint_metric",
        "string",
        "",
        "Keep the checkpoint that evaluations find best by this result in <output_dir>/best: loss, "
        "a metric of the problem (accuracy), or a score of translations (BLEU_cased; see "
        "translate_every_evaluations). Not with a --schedule that makes no evaluations.",
    ),
    FlagSpec("best_checkpoints_to_keep", "int", 1, "Number of checkpoints in <output_dir>/best."),
]

# Flags of this package, where data are generated.
SOURCE_FLAGS = [
    FlagSpec(
        "text_source",
        "string",
        "auto",
        "Where translation problems get their text: archives (in --tmp_dir, else downloaded), tfds "
        "(the equal data set of TensorFlow Datasets), or auto: archives, unless they are missing "
        "and the TFDS data set is already prepared.",
    ),
    FlagSpec(
        "tfds_data_dir",
        "string",
        None,
        "Directory of TFDS's prepared data sets; default: $TFDS_DATA_DIR or ~/tensorflow_datasets.",
    ),
    FlagSpec(
        "tfds_manual_dir",
        "string",
        None,
        "Directory where TFDS looks for archives before it downloads them; default: "
        "<tfds_data_dir>/downloads/manual.",
    ),
]

# T2T's data generator modules define flags of their own, in every program that imports them.
DATA_GENERATOR_FLAGS = [
    FlagSpec("disable_ffmpeg", "boolean", False, "Audio problems; ignored."),
    FlagSpec("parsing_path", "string", "", "Ignored: wsj_parsing reads its trees from --tmp_dir."),
    FlagSpec("timit_paths", "string", "", "Directories of the TIMIT corpus; ignored."),
    FlagSpec("wiki_revision_data_prefix", "string", "", "Wikipedia revisions; ignored."),
    FlagSpec("wiki_revision_introduce_errors", "boolean", True, "Wikipedia revisions; ignored."),
    FlagSpec("wiki_revision_max_equal_to_diff_ratio", "float", 0.0, "As above; ignored."),
    FlagSpec("wiki_revision_max_examples_per_shard", "int", 0, "As above; ignored."),
    FlagSpec("wiki_revision_max_page_size_exp", "int", 26, "As above; ignored."),
    FlagSpec("wiki_revision_num_dev_shards", "int", 1, "As above; ignored."),
    FlagSpec("wiki_revision_num_train_shards", "int", 50, "As above; ignored."),
    FlagSpec("wiki_revision_percent_identical_examples", "float", 0.04, "As above; ignored."),
    FlagSpec("wiki_revision_revision_skip_factor", "float", 1.5, "As above; ignored."),
    FlagSpec("wiki_revision_vocab_file", "string", "", "As above; ignored."),
]

# Flags of libraries that T2T's programs load.
LIBRARY_FLAGS = [
    FlagSpec("gin_file", "multi", None, "Gin configuration files; not available."),
    FlagSpec("gin_param", "multi", None, "Gin parameters; not available."),
    FlagSpec("gin_location_prefix", "list", [], "Where gin looks for files; ignored."),
    FlagSpec("tfhub_cache_dir", "string", None, "Cache of TensorFlow Hub; ignored."),
]


def _define(specs: list[FlagSpec], flag_values: flags.FlagValues) -> None:
    for spec in specs:
        if spec.name not in flag_values:
            definer = _DEFINERS[spec.kind]
            definer(spec.name, spec.default, spec.help, flag_values=flag_values)


def define_shared_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines the flags common to the trainer, the decoder, the exporter and the evaluator."""
    _define(SHARED_FLAGS, flag_values)


def define_trainer_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines all flags of the trainer, which the decoder, exporter and evaluator have as well."""
    define_shared_flags(flag_values)
    # Not a constant: it depends on who runs the program.
    cloud_tpu_name = FlagSpec(
        "cloud_tpu_name",
        "string",
        f"{os.environ.get('USER')}-tpu",
        "With --use_tpu: name of a Cloud TPU, if it isn't this machine's.",
    )
    _define([*TRAINER_FLAGS, *VALIDATION_FLAGS, cloud_tpu_name, *LIBRARY_FLAGS], flag_values)
    define_data_generator_flags(flag_values)


def define_data_generator_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Defines the flags that the data generator and the trainer inherit from T2T's problems."""
    _define([*DATA_GENERATOR_FLAGS, *SOURCE_FLAGS], flag_values)


def check_source_flags() -> None:
    """Raises `ValueError` for a source of text, or a directory of one, that can't be used."""
    source_options()
    flag_checks.require_can_be_made("tfds_data_dir")
    flag_checks.require_directories("tfds_manual_dir")


def source_options(flag_values: flags.FlagValues = flags.FLAGS) -> SourceOptions:
    """Where text comes from, as the flags have it.

    Raises:
        ValueError: `--text_source` has another value.
    """
    return SourceOptions(
        text_source=str(flag_values["text_source"].value),
        tfds_data_dir=flag_values["tfds_data_dir"].value,
        tfds_manual_dir=flag_values["tfds_manual_dir"].value,
    )
