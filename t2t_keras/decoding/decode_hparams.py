"""What `--decode_hparams` may say."""

from __future__ import annotations

import math

from t2t_keras.hparam import HParams


def decode_hparams(overrides: str = "") -> HParams:
    """Decoding options with T2T's names and defaults, changed by `overrides`.

    The names that matter here; those of T2T that only images, video, other models or compliance
    logging use are accepted and have no effect.

    | name | meaning |
    |---|---|
    | `beam_size` | hypotheses per sentence; 1: greedy, or sampling as the model hparams say |
    | `alpha` | exponent of the length penalty |
    | `extra_length` | how much longer than its input an output may be, in subwords |
    | `limit_by_longest_input` | T2T's rule: "its input" is the longest of the batch (not in T2T) |
    | `batch_size` | sentences per batch; 0: 32 for files, the model's token batches for data sets |
    | `max_input_size` | > 0: longer inputs are cut to this many subwords, end symbol included |
    | `return_beams`, `write_beam_scores` | write all beams, with their scores |
    | `identity_output` | write ids instead of text (data sets, interactive) |
    | `num_samples` | most examples of a data set; repetitions when interactive |
    | `num_decodes` | passes over a data set or a file of language-model prompts |
    | `delimiter` | what ends a record of the input and output files |
    | `decode_to_file`, `decode_reference` | output file, reference for BLEU; flags overwrite them |
    | `skip_eos_postprocess` | do not cut outputs at the end symbol |
    | `force_decode_length` | greedy only: do not stop at the end symbol |
    | `keep_pad_ids` | show id 0 in an output as `<pad>`, as T2T does (not in T2T) |
    | `order_of_batches` | data sets: write in the order of T2T's batches by length (not in T2T) |
    | `shards`, `shard_id`, `shards_start_offset`, `shard_google_format` | parts of the input file |
    | `multiproblem_task_id` | >= 0: stands in the end symbol's place after the input |
    | `log_results` | log inputs and outputs |
    | `decode_in_memory` | return results, write nothing |
    | `summaries_log_dir` | directory below the output directory for the BLEU curve |

    Args:
        overrides: e.g. "beam_size=4,alpha=0.6"; grammar of `HParams.parse`.

    Raises:
        ValueError: an unknown name or a value of the wrong type.
    """
    hparams = HParams(
        save_images=False,
        log_results=True,
        extra_length=100,
        min_length_ratio=0.0,
        batch_size=0,
        beam_size=4,
        alpha=0.6,
        eos_penalty=0.0,
        block_size=0,
        guess_and_check_top_k=0,
        guess_and_check_epsilon=-1,
        insertion_parallel=False,
        return_beams=False,
        write_beam_scores=False,
        max_input_size=-1,
        identity_output=False,
        num_samples=-1,
        delimiter="\n",
        decode_to_file="",
        decode_reference="",
        decode_in_memory=False,
        summaries_log_dir="decode",
        shards=1,
        shard_id=0,
        shards_start_offset=0,
        shard_google_format=False,
        num_decodes=1,
        force_decode_length=False,
        display_decoded_images=False,
        multiproblem_task_id=-1,
        frames_per_second=10,
        skip_eos_postprocess=False,
        border_percent=2,
        max_display_outputs=10,
        max_display_decodes=5,
        vgg_ckpt_path="",
        mlperf_decode_step=0.0,
        mlperf_threshold=25.0,
        mlperf_success=False,
        export_extra_infer_outputs="",
        decode_timeout_mins=240,
        # Not in T2T.
        limit_by_longest_input=False,
        keep_pad_ids=False,
        order_of_batches=False,
    )
    hparams.parse(overrides)
    _check(hparams)
    return hparams


def _check(hparams: HParams) -> None:
    """Refuses numbers that could only fail, or mislead, much later."""
    if hparams.beam_size < 1:
        raise ValueError(f"decode_hparams: beam_size must be >= 1. Received: {hparams.beam_size}")
    if hparams.batch_size < 0:
        raise ValueError(f"decode_hparams: batch_size must be >= 0. Received: {hparams.batch_size}")
    if hparams.extra_length < 0:
        raise ValueError(
            f"decode_hparams: extra_length must be >= 0. Received: {hparams.extra_length}"
        )
    if not math.isfinite(hparams.alpha):
        raise ValueError(
            f"decode_hparams: alpha must be a finite number. Received: {hparams.alpha}"
        )
    if not hparams.delimiter:
        raise ValueError("decode_hparams: delimiter must not be empty. Received: ''")
