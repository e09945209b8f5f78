"""A directory as a T2T training run leaves it, for the commands that use one."""

import pathlib
import shutil
import subprocess

from tests.end_to_end import commands
from tests.reference_data import golden_path

# What a user's package holds: the problem and the set of the recorded run.
_USER_MODULE = '''
from t2t_keras import registry
from t2t_keras.data import text_problems
from t2t_keras.hparams import transformer


@registry.register_problem
class GoldenReverse(text_problems.Text2TextProblem):
    """Sentences and their words in reverse order."""

    @property
    def approx_vocab_size(self):
        return 150

    @property
    def is_generate_per_split(self):
        return True


@registry.register_hparams
def transformer_golden():
    return transformer.transformer_base()
'''


class Run:
    """The recorded run `toy_ckpt` with its data.

    Attributes:
        output_dir: checkpoint, hparams.json, flags.txt.
        data_dir: vocabulary and shards.
        folder: the directory they are in, for outputs.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.output_dir = folder / "run"
        self.data_dir = folder / "data"
        usr_dir = folder / "my_problems"
        for directory in (self.output_dir, self.data_dir, usr_dir):
            directory.mkdir()
        for path in golden_path("toy_ckpt").iterdir():
            target = self.data_dir if path.suffix == ".subwords" else self.output_dir
            shutil.copyfile(path, target / path.name)
        for path in golden_path("datagen", "files").glob("golden_reverse-*"):
            shutil.copyfile(path, self.data_dir / path.name)
        (usr_dir / "__init__.py").write_text(_USER_MODULE)
        (self.output_dir / "flags.txt").write_text(
            "--problem=golden_reverse\n--model=transformer\n--hparams_set=transformer_golden\n"
            f"--data_dir={self.data_dir}\n--t2t_usr_dir={usr_dir}\n"
        )

    def command(self, name: str, *flags: str) -> subprocess.CompletedProcess[str]:
        """Runs a command with the run's `--output_dir`."""
        return commands.run(name, f"--output_dir={self.output_dir}", *flags, folder=self.folder)
