"""What `t2t-decoder` and `t2t-exporter` say to command lines that can't work."""

import re
import shutil

import pytest

from t2t_keras import registry
from t2t_keras.data import text_problems
from t2t_keras.training import run_vocabulary
from tests.training import toy  # registers the run's problem


@pytest.fixture
def run(files):
    """A run's directory, as far as one can see without reading its checkpoint."""
    folder = files / "run"
    (folder / "flags.txt").write_text(
        "--problem=toy_reverse_words\n--model=transformer\n--hparams_set=transformer_tiny\n"
        f"--hparams={toy.TINY}\n--data_dir={files / 'data'}\n"
    )
    return folder


WHERE = {
    "": "Where is the model",
    "--output_dir=absent": "--output_dir doesn't exist. Received: absent",
    "--output_dir=file": "--output_dir is a file, not a directory",
    "--output_dir=folder": "--output_dir: there is no checkpoint in this directory",
    "--checkpoint_path=absent": "absent.index doesn't exist",
    "--checkpoint_path=run/model.ckpt-8": "There are: model.ckpt-7. Received: run/model.ckpt-8",
    "--output_dir=run --problem=toy_reverse_word": "Did you mean: toy_reverse_words",
    "--output_dir=run --model=transfomer": "Did you mean: transformer",
    "--output_dir=run --hparams_set=transformer_tyny": "Did you mean: transformer_tiny",
    "--output_dir=run --hparams=activation_dtype=bf16": "Did you mean: bfloat16",
    "--output_dir=run --hparams=hiden_size=4": "Did you mean: hidden_size",
    "--output_dir=run --data_dir=absent": "--data_dir doesn't exist. Received: absent",
    "--output_dir=run --decode_hparams=beam_sise=4": "Did you mean: beam_size",
    "--output_dir=run --decode_hparams=beam_size=0": "beam_size must be >= 1. Received: 0",
    "--output_dir=run --decode_hparams=alpha=nan": "alpha must be a finite number",
    "--output_dir=run --gpu_order=1": "--gpu_order can't be honoured",
    "--output_dir=run --t2t_usr_dir=absent": "not a directory. Received: absent",
}
DECODER = {
    "--decode_form_file=file": "Did you mean: decode_from_file",
    "--output_dir=run --decode_from_file=absent": "--decode_from_file doesn't exist",
    "--output_dir=run --decode_from_file=folder": "--decode_from_file is a directory",
    "--output_dir=run --decode_from_file=file --decode_to_file=folder": "--decode_to_file is a dir",
    "--output_dir=run --decode_from_file=file --decode_to_file=file/sub": "file is a file, not a d",
    "--output_dir=run --decode_from_file=file --decode_reference=absent": "reference doesn't exist",
    "--output_dir=run --decode_from_file=file --decode_reference=shorter": "2 lines in .*, 1 in",
    "--output_dir=run --decode_from_file=empty --decode_reference=empty": "nothing to score: empty",
    "--output_dir=run --decode_from_file=file --decode_shards=0": "1 or more. Received: 0",
    "--output_dir=run --decode_from_file=file --decode_shards=2": "doesn't exist.*file000",
    "--output_dir=run --decode_from_file=file --decode_shards=2 --worker_id=2": "2 of 2",
    "--output_dir=run --decode_from_file=file --worker_id=-1": "--worker_id must be 0 or more",
    "--output_dir=run --decode_from_file=file --decode_interactive": "Give only one of",
    "--output_dir=run --intra_op_parallelism_threads=-1": "0 or more. Received: -1",
    "--output_dir=run --score_file=file": "--score_file needs --decode_to_file",
    "--output_dir=run --score_file=absent --decode_to_file=new": "--score_file doesn't exist",
    "--output_dir=run --keep_timestamp --decode_from_file=file": "needs --checkpoint_path",
}
EXPORTER = {
    "--output_dir=run --export_dir=file": "--export_dir: .*file is a file, not a directory",
    "--output_dir=run --export_as_tfhub": "--export_as_tfhub can't be honoured",
    "--output_dir=run --as_text=maybe": "true or false. Received: 'maybe'",
}


@pytest.mark.usefixtures("run")
@pytest.mark.parametrize(
    ("program", "arguments", "message"),
    [
        (program, *row)
        for program, table in (("t2t_decoder", DECODER), ("t2t_exporter", EXPORTER))
        for row in (WHERE | table).items()
    ],
)
def test_refused_at_once_with_one_message(refusal, program, arguments, message):
    assert re.search(message, refusal(program, *arguments.split()))


def test_the_place_of_exports_is_looked_at_first(refusal, run):
    (run / "export").touch()
    message = refusal("t2t_exporter", "--output_dir=run", f"--hparams={toy.TINY}")
    assert f"--export_dir: {run}/export is a file, not a directory" in message


def test_a_run_without_flags_needs_them(refusal, run):
    (run / "flags.txt").unlink()
    assert "--problem is missing" in refusal("t2t_decoder", "--output_dir=run")


def test_a_data_set_needs_its_directory(refusal, run):
    (run / "flags.txt").write_text(
        "--problem=toy_reverse_words\n--model=transformer\n--hparams_set=transformer_tiny\n"
    )
    assert "which needs --data_dir" in refusal("t2t_decoder", "--output_dir=run")


@registry.register_problem("decoded_words")
class DecodedWords(text_problems.Text2TextProblem):
    """Words, from a file of them."""

    vocab_type = text_problems.VocabType.TOKEN
    vocab_filename = "vocab.words"
    oov_token = None


@pytest.fixture
def run_on_words(files, run):
    """A run on the words in `data`; `other` has as many others, `same` the same again."""
    words = "".join(f"word{number}\n" for number in range(10))
    (files / "data" / "vocab.words").write_text(words)
    shutil.copytree(files / "data", files / "same")
    (files / "other").mkdir()
    (files / "other" / "vocab.words").write_text(words.replace("word", "other"))
    flags = (run / "flags.txt").read_text().replace("toy_reverse_words", "decoded_words")
    (run / "flags.txt").write_text(flags)
    problem = registry.problem("decoded_words")
    encoders = problem.feature_encoders(str(files / "data"))
    described = run_vocabulary.describe(problem, encoders, str(files / "data"))
    run_vocabulary.remember(str(run), described)
    return run


@pytest.mark.parametrize("program", ["t2t_decoder", "t2t_exporter"])
@pytest.mark.parametrize(
    "flags", ["--output_dir=run", "--checkpoint_path=run/model.ckpt-7", "--checkpoint_path=run"]
)
def test_another_vocabulary_than_the_runs_is_refused(refusal, run_on_words, program, flags):
    message = refusal(program, *flags.split(), "--data_dir=other")
    assert "of the same size" in message and "other/vocab.words" in message
    # Without what tells, as in a run of tensor2tensor's, nothing is in the way.
    assert f"delete {flags.partition('=')[2].partition('/')[0]}/vocabulary.json" in message


# What is refused after the vocabulary.
LATER = ("--decode_from_file=file", "--decode_reference=shorter")


def test_the_contents_of_a_vocabulary_count(refusal, run_on_words):
    for data_dir in ("data", "same"):
        message = refusal("t2t_decoder", "--output_dir=run", f"--data_dir={data_dir}", *LATER)
        assert "2 lines in" in message
    (run_on_words / "vocabulary.json").unlink()
    assert "2 lines in" in refusal("t2t_decoder", "--output_dir=run", "--data_dir=other", *LATER)


def test_a_checkpoint_alone_has_the_vocabulary_of_output_dir(refusal, files, run_on_words):
    (files / "copied").mkdir()
    (files / "copied" / "model.ckpt-9.index").touch()
    flags = ("--output_dir=run", "--checkpoint_path=copied/model.ckpt-9", "--data_dir=other")
    assert "of the same size" in refusal("t2t_decoder", *flags)
    problem = registry.problem("decoded_words")
    encoders = problem.feature_encoders("other")
    run_vocabulary.remember("copied", run_vocabulary.describe(problem, encoders, "other"))
    assert "2 lines in" in refusal("t2t_decoder", *flags, *LATER)
