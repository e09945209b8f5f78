"""Flags of tensor2tensor that can't be honoured: accepted, but never in silence.

A flag whose absence would give another result than asked for is refused; one that only tuned or
watched a TensorFlow 1 program is ignored with a warning.
"""

from __future__ import annotations

from absl import flags, logging

_PARAMETER_SERVERS = (
    "Parameter servers don't exist any more. For several GPUs of one machine use --worker_gpu=N; "
    "for several machines set TF_CONFIG: t2t-make-tf-configs --workers=host1:port,host2:port."
)
_TPU = "What --use_tpu needs is found out; its estimators are gone."
_CLOUD = "Jobs can't be submitted to the cloud; start the program on the machine itself."
_TUNING = "There is no tuning service; start one run per setting, with --hparams."
_PROFILE = "No profile is written; use TensorFlow's profiler."

REFUSED = {
    "use_tpu_estimator": "Estimators are gone; --use_tpu alone trains on a TPU.",
    "cloud_mlengine": _CLOUD,
    "autotune_objective": _TUNING,
    "hparams_range": _TUNING,
    "sync": _PARAMETER_SERVERS,
    "ps_gpu": _PARAMETER_SERVERS,
    "ps_replicas": _PARAMETER_SERVERS,
    "worker_replicas": _PARAMETER_SERVERS,
    "gin_file": "Gin isn't supported; set hyperparameters with --hparams.",
    "gin_param": "Gin isn't supported; set hyperparameters with --hparams.",
}

IGNORED = {
    "tfdbg": "TensorFlow 1's debugger is gone; see tf.debugging.",
    "profile": _PROFILE,
    "dbgprofile": _PROFILE,
    "export_saved_model": "Run t2t-exporter on the output_dir.",
    "eval_run_autoregressive": "T2T never honoured it; use --hparams=eval_run_autoregressive=True.",
    "enable_graph_rewriter": "TensorFlow 2 has no such rewriter.",
    "worker_job": _PARAMETER_SERVERS,
    "ps_job": _PARAMETER_SERVERS,
    "std_server_protocol": _PARAMETER_SERVERS,
    "worker_gpu_memory_fraction": "GPU memory is taken as it is needed.",
    "optionally_use_dist_strat": "The mirrored strategy is always used.",
    "tpu_num_shards": _TPU,
    "tpu_job_name": _TPU,
    "tpu_infeed_sleep_secs": _TPU,
    "use_guarantee_const_getter": _TPU,
    "xla_jit_level": "Use --xla_compile.",
    "export_saved_model_api_version": "Exports have one format, TensorFlow 2's.",
    "cloud_mlengine_master_type": _CLOUD,
    "autotune_max_trials": _TUNING,
    "autotune_maximize": _TUNING,
    "autotune_parallel_trials": _TUNING,
    "gin_location_prefix": "Gin isn't supported.",
    "tfhub_cache_dir": "TensorFlow Hub isn't used.",
    "disable_ffmpeg": "There are no audio problems.",
    "timit_paths": "There are no audio problems.",
    "parsing_path": "Problem wsj_parsing reads its trees from --tmp_dir.",
}
_IGNORED_PREFIX = "wiki_revision_"


def _reason_for_this_command(name: str, flag_values: flags.FlagValues) -> str | None:
    """Why a flag that is honoured elsewhere isn't here; None if it is."""
    # Decoder and exporter have all of the trainer's flags, and this one.
    trains = "checkpoint_path" not in flag_values
    if name == "use_tpu" and not trains:
        return "Only t2t-trainer uses TPUs; without the flag this runs on GPU or CPU."
    if name == "gpu_order" and not trains:
        return "One GPU is used; choose it with CUDA_VISIBLE_DEVICES."
    if name == "master" and not flag_values["use_tpu"].value:
        return f"It is the address of a TPU, together with --use_tpu. {_PARAMETER_SERVERS}"
    return None


def report_unsupported_flags(flag_values: flags.FlagValues = flags.FLAGS) -> None:
    """Warns of given flags that have no effect.

    Raises:
        ValueError: a given flag asks for something that can't be done.
    """
    for name in flag_values:
        flag = flag_values[name]
        if not flag.present or flag.value == flag.default:
            continue
        reason = REFUSED.get(name) or _reason_for_this_command(name, flag_values)
        if reason:
            raise ValueError(f"--{name} can't be honoured. {reason} Received: {flag.value}")
        if name in IGNORED:
            logging.warning("--%s=%s has no effect. %s", name, flag.value, IGNORED[name])
        elif name.startswith(_IGNORED_PREFIX):
            logging.warning("--%s has no effect: that problem isn't supported.", name)
