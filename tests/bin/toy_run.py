"""A folder in which the trainer can run: data of a small problem, and the package that has it."""

import pathlib
import sys

from tests.training import toy


class ToyRun:
    """Command lines of `t2t-trainer` on the problem toy_reverse_words."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "data").mkdir()
        self.data_dir = toy.make_data(self.folder / "data")
        self.usr_dir = self.folder / "my_problems"
        self.usr_dir.mkdir()
        (self.usr_dir / "__init__.py").write_text("from tests.training import toy\n")

    def trainer(self, output_dir, *flags, **changes):
        values = {
            "t2t_usr_dir": self.usr_dir,
            "problem": "toy_reverse_words",
            "model": "transformer",
            "hparams_set": "transformer_tiny",
            "hparams": toy.TINY,
            "data_dir": self.data_dir,
            "output_dir": output_dir,
            "random_seed": 1,
            **changes,
        }
        arguments = [f"--{name}={value}" for name, value in values.items()]
        return [*self.program("t2t_trainer"), *arguments, *flags]

    @staticmethod
    def program(name):
        return [sys.executable, "-m", f"t2t_keras.bin.{name}"]
