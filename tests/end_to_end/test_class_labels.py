"""Classification by the commands: reviews and whether they are positive."""

import tarfile

import pytest

from tests.end_to_end import commands

pytestmark = pytest.mark.end_to_end

FLAGS = ("--problem=sentiment_imdb", "--data_dir=data")
WORDS = {"neg": ("awful", "boring", "a waste"), "pos": ("wonderful", "moving", "a joy")}
TEXT = "this film is {word} and that <br />makes it {word} to see number {number}"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A folder with `run`, trained on reviews from an archive like the real one."""
    folder = tmp_path_factory.mktemp("reviews")
    for part, count in (("train", 100), ("test", 30)):
        for label, words in WORDS.items():
            directory = folder / "aclImdb" / part / label
            directory.mkdir(parents=True)
            for number in range(count):
                text = TEXT.format(word=words[number % 3], number=number)
                (directory / f"{number}_7.txt").write_text(text)
    (folder / "tmp").mkdir()
    with tarfile.open(folder / "tmp" / "aclImdb_v1.tar.gz", "w:gz") as archive:
        archive.add(folder / "aclImdb", "aclImdb")
    commands.run("t2t-datagen", *FLAGS, "--tmp_dir=tmp", folder=folder)
    done = commands.run(
        "t2t-trainer", *FLAGS, "--model=transformer_encoder", "--output_dir=run",
        "--hparams_set=transformer_tiny",
        "--hparams=num_hidden_layers=1,hidden_size=16,filter_size=32,num_heads=2,batch_size=1024,"
        "learning_rate_schedule=constant,learning_rate_constant=0.01,attention_dropout=0.0,"
        "layer_prepostprocess_dropout=0.0,relu_dropout=0.0",
        "--train_steps=60", "--eval_steps=5", "--random_seed=1", folder=folder,
    )  # fmt: skip
    assert "metrics-sentiment_imdb/targets/accuracy = 1," in done.stderr
    return folder


REVIEWS = "".join(
    TEXT.format(word=word, number=77).replace("<br />", "") + "\n"
    for word in ("moving", "awful", "a joy")
)
LABELS = ["pos", "neg", "pos"]


def test_reviews_of_a_file(run):
    (run / "in.txt").write_text(REVIEWS)
    commands.run(
        "t2t-decoder", "--output_dir=run", "--decode_from_file=in.txt",
        "--decode_to_file=out.txt", folder=run,
    )  # fmt: skip
    assert (run / "out.txt").read_text().splitlines() == LABELS


def test_reviews_of_the_data_set(run):
    commands.run(
        "t2t-decoder", "--output_dir=run", "--decode_to_file=ds",
        "--decode_hparams=num_samples=20", folder=run,
    )  # fmt: skip
    (targets,) = run.glob("ds.*.targets")
    labels = targets.read_text().splitlines()
    assert len(labels) == 20 and set(labels) == {"neg", "pos"}
    (decodes,) = run.glob("ds.*.decodes")
    assert decodes.read_text().splitlines() == labels


def test_exported_model_gives_labels(run):
    tf = pytest.importorskip("tensorflow")
    pytest.importorskip("tensorflow_text")  # Registers the operations of the graph.
    done = commands.run("t2t-exporter", "--output_dir=run", folder=run)
    served = tf.saved_model.load(str(run / done.stdout.strip())).signatures["serving_default"]
    answer = served(inputs=tf.constant(REVIEWS.splitlines()))
    assert [label.decode() for label in answer["outputs"].numpy()] == LABELS
