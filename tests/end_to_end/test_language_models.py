"""Language models by the commands: from an archive to continuations, scores and an export."""

import math
import random
import tarfile

import pytest

from tests.end_to_end import commands

pytestmark = pytest.mark.end_to_end

WORDS = "one two three four five six seven eight nine ten".split()
# Enough for a model this small to know what follows what.
TRAINING = (
    "--model=transformer",
    "--hparams_set=transformer_tiny",
    "--hparams=num_hidden_layers=1,hidden_size=32,filter_size=64,num_heads=2,batch_size=512,"
    "learning_rate_schedule=constant,learning_rate_constant=0.01,attention_dropout=0.0,"
    "layer_prepostprocess_dropout=0.0,relu_dropout=0.0",
    "--train_steps=60",
    "--eval_steps=1",
    "--random_seed=1",
)
USER_MODULE = '''
from t2t_keras import registry
from t2t_keras.data import text_problems

WORDS = "one two three four five six seven eight nine ten".split()


@registry.register_problem
class CountingPacked(text_problems.Text2SelfProblem):
    """Counting up from anywhere to ten, several to a record, in bytes."""

    vocab_type = text_problems.VocabType.CHARACTER
    is_generate_per_split = False
    packed_length = 128
    dataset_splits = [{"split": "train", "shards": 1}, {"split": "dev", "shards": 1}]

    def generate_samples(self, data_dir, tmp_dir, dataset_split):
        for number in range(400):
            yield {"targets": " ".join(WORDS[number % 9 :])}
'''


def counting(count: int) -> str:
    """Lines that count up to ten, from a random start."""
    generator = random.Random(1)
    starts = [generator.randrange(9) for _ in range(count)]
    return "".join(f" {' '.join(WORDS[start:])} \n" for start in starts)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder with `run`, trained on words of the Penn Treebank's archive."""
    folder = tmp_path_factory.mktemp("language_model")
    source = folder / "simple-examples" / "data"
    source.mkdir(parents=True)
    for part, count in (("train", 500), ("valid", 30)):
        (source / f"ptb.{part}.txt").write_text(counting(count))
    (folder / "tmp").mkdir()
    with tarfile.open(folder / "tmp" / "simple-examples.tgz", "w:gz") as archive:
        archive.add(folder / "simple-examples", "simple-examples")
    problem = "--problem=languagemodel_ptb10k"
    flags = (problem, "--data_dir=data")
    commands.run("t2t-datagen", *flags, "--tmp_dir=tmp", folder=folder)
    done = commands.run("t2t-trainer", *flags, "--output_dir=run", *TRAINING, folder=folder)
    assert "metrics-languagemodel_ptb10k/targets/accuracy" in done.stderr
    return folder


def decode(folder, text, *flags, output="out.txt"):
    (folder / "in.txt").write_text(text)
    commands.run(
        "t2t-decoder", "--output_dir=run", "--decode_from_file=in.txt",
        f"--decode_to_file={output}", *flags, folder=folder,
    )  # fmt: skip
    return (folder / output).read_text().splitlines()


PROMPTS = "three four\none\nseven eight\n"
CONTINUATIONS = [
    "five six seven eight nine ten",
    "two three four five six seven eight nine ten",
    "nine ten",
]


def test_prompts_are_continued(run):
    assert decode(run, PROMPTS, "--decode_hparams=beam_size=2,extra_length=12") == CONTINUATIONS


def test_samples(run):
    """Among one symbol there is no choice; at a high temperature, everything happens."""
    options = "--decode_hparams=beam_size=1,extra_length=12"
    sampling = "--hparams=sampling_method=random,sampling_keep_top_k=1"
    assert decode(run, PROMPTS, options, sampling) == CONTINUATIONS
    hot = "--hparams=sampling_method=random,sampling_temp=50.0"
    decoded = decode(run, PROMPTS, options + ",num_decodes=2", hot, "--random_seed=3")
    assert len(decoded) == 6
    assert decoded[:3] != decoded[3:] and decoded[:3] != CONTINUATIONS


def test_scores_are_mean_negative_log_probabilities(run):
    (run / "score.txt").write_text("eight nine ten\nten eight nine\n")
    commands.run(
        "t2t-decoder", "--output_dir=run", "--score_file=score.txt",
        "--decode_to_file=scores.txt", folder=run,
    )  # fmt: skip
    likely, unlikely = map(float, (run / "scores.txt").read_text().split())
    # Of four symbols only the first can't be foreseen, and it is one of nine.
    assert likely == pytest.approx(math.log(9) / 4, abs=0.25)
    assert unlikely > likely + 1.0


def test_exported_model_continues_texts(run):
    tf = pytest.importorskip("tensorflow")
    options = "--decode_hparams=beam_size=2,extra_length=12"
    done = commands.run("t2t-exporter", "--output_dir=run", options, folder=run)
    served = tf.saved_model.load(str(run / done.stdout.strip())).signatures["serving_default"]
    outputs = served(inputs=tf.constant(PROMPTS.splitlines()))["outputs"]
    assert [text.decode() for text in outputs.numpy()] == CONTINUATIONS


def test_packed_records_of_a_users_problem(tmp_path):
    """Examples that share a record don't see each other, and the prompt needn't be packed."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text(USER_MODULE)
    problem = ("--problem=counting_packed", "--t2t_usr_dir=mine", "--data_dir=data")
    commands.run("t2t-datagen", *problem, "--tmp_dir=tmp", folder=tmp_path)
    steps = "--train_steps=120"
    commands.run("t2t-trainer", *problem, "--output_dir=run", *TRAINING, steps, folder=tmp_path)
    decoded = decode(
        tmp_path, "seven eight\nnine \n", "--decode_hparams=beam_size=2,extra_length=40"
    )
    assert decoded == [" nine ten", "ten"]
