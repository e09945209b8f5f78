"""t2t-exporter: writes a trained model as a SavedModel for servers.

    t2t-exporter --output_dir=RUN

Problem, model, hparams set, data and user directory are those of the run unless given; beam size
and the like come from --decode_hparams and become part of the model. The result is a new directory
<output_dir>/export/<unix seconds>. It takes strings and returns strings: `inputs` [batch] in,
`outputs` and `scores` [batch] out, as t2t-decoder would write them.
"""

from __future__ import annotations

import os

from absl import flags

from t2t_keras.bin import command_line, environment, flag_checks, trained_model
from t2t_keras.bin import flags as t2t_flags

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Defines the flags of T2T's `t2t-exporter`."""
    t2t_flags.define_trainer_flags()
    flags.DEFINE_boolean("export_as_tfhub", False, "Write a TF-Hub module; not available.")
    flags.DEFINE_string(
        "export_dir", None, "Directory of versions instead of <directory of checkpoints>/export."
    )
    flags.DEFINE_string(
        "checkpoint_path", None, "Checkpoint to use instead of the newest in output_dir."
    )
    # T2T's default is true, and its text file takes the place of the binary one.
    flags.DEFINE_boolean(
        "as_text", False, "Write saved_model.pbtxt, for people to read, beside saved_model.pb."
    )


def main(argv: list[str]) -> None:
    """Exports the model that the flags name.

    Args:
        argv: arguments left over by the flags, unused.

    Raises:
        ValueError: a flag is missing or can't be honoured, or there is no checkpoint.
    """
    del argv
    if FLAGS.export_as_tfhub:
        raise command_line.UsageError(
            "--export_as_tfhub can't be honoured: TensorFlow 2 has no such modules. Leave the flag "
            "out; hub.load and hub.KerasLayer of tensorflow_hub load the SavedModel as it is."
        )
    from t2t_keras.decoding.decode_hparams import decode_hparams

    options = decode_hparams(FLAGS.decode_hparams)
    flag_checks.require_can_be_made("export_dir")
    hparams = trained_model.check_flags()
    if not FLAGS.export_dir:
        flag_checks.require_place(
            "export_dir", os.path.join(trained_model.checkpoint_directory(), "export")
        )
    environment.load_tensorflow()
    from t2t_keras.decoding.sampling import sampling_from_hparams
    from t2t_keras.serving.export import export_saved_model
    from t2t_keras.serving.served_model import ServedModel

    trained = trained_model.load(hparams)
    served = ServedModel(
        trained.model,
        trained.hparams.problem_hparams,
        options,
        sampling_from_hparams(trained.hparams),
    )
    export_base = FLAGS.export_dir or os.path.join(
        os.path.dirname(trained.checkpoint_path), "export"
    )
    print(export_saved_model(served, export_base, as_text=FLAGS.as_text))


def entry_point() -> None:
    """Runs the command (console script `t2t-exporter`)."""
    command_line.run(main, define_flags)


if __name__ == "__main__":
    entry_point()
