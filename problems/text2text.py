"""Problems over text files that the user puts into tmp_dir, so that no code need be written."""

from t2t_keras import registry
from t2t_keras.data import text_problems


@registry.register_problem
class Text2textTmpdir(text_problems.Text2textTmpdir):
    """Lines of `inputs.train.txt` and `targets.train.txt`, and `….eval.txt`, in tmp_dir.

    One shared vocabulary of about 32,768 subwords is built from the training lines.
    """


@registry.register_problem
class Text2textTmpdirTokens(text_problems.Text2textTmpdirTokens):
    """The same, with the white-space separated tokens of tmp_dir's `vocab.txt` as vocabulary."""
