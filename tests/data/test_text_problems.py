"""Text problems from samples to examples, vocabularies and hparams."""

import pytest

from t2t_keras.data import problem as problem_lib
from t2t_keras.data import records, text_problems
from t2t_keras.data.modes import DatasetSplit, ModeKeys
from t2t_keras.text import encoders

TEXTS = ["the cat sat", "a dog ran", "the dog sat", "a cat ran", "one cat and one dog"]


class Sentences(text_problems.Text2TextProblem):
    name = "sentences"
    is_generate_per_split = True
    approx_vocab_size = 60

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.generated = []

    def generate_samples(self, data_dir, tmp_dir, dataset_split):
        self.generated.append(dataset_split)
        for text in TEXTS * 3:
            yield {"inputs": text, "targets": text[::-1]}


def read(paths):
    return [records.parse_example(r) for path in paths for r in records.read_records(str(path))]


def test_generated_data_decode_to_the_texts(tmp_path):
    problem = Sentences()
    problem.generate_data(str(tmp_path), "")
    encoder = problem.get_feature_encoders(str(tmp_path))["inputs"]
    for paths in (
        problem.training_filepaths(str(tmp_path), 100, True),
        problem.dev_filepaths(str(tmp_path), 1, True),
    ):
        examples = read(paths)
        texts = sorted(encoder.decode(example["inputs"][:-1]) for example in examples)
        assert texts == sorted(TEXTS * 3)
        assert all(example["inputs"][-1] == encoders.EOS_ID for example in examples)
    assert problem.generated == [DatasetSplit.TRAIN, DatasetSplit.TRAIN, DatasetSplit.EVAL]


def test_a_second_run_makes_only_what_is_missing(tmp_path):
    Sentences().generate_data(str(tmp_path), "")
    problem = Sentences()
    problem.generate_data(str(tmp_path), "")
    assert problem.generated == []
    (dev,) = problem.dev_filepaths(str(tmp_path), 1, True)
    before = read([dev])
    (tmp_path / dev).unlink()
    problem.generate_data(str(tmp_path), "")
    assert problem.generated == [DatasetSplit.EVAL]
    assert sorted(map(str, read([dev]))) == sorted(map(str, before))


class Shuffled(Sentences):
    already_shuffled = True
    dataset_splits = [{"split": DatasetSplit.TRAIN, "shards": 1}]


class ShuffledPacked(Shuffled):
    packed_length = 100


def test_shuffled_samples_keep_their_order_and_are_packed_too(tmp_path):
    problem = Shuffled()
    problem.generate_data(str(tmp_path / "plain"), "")
    plain = read(problem.training_filepaths(str(tmp_path / "plain"), 1, True))
    encoder = problem.get_feature_encoders(str(tmp_path / "plain"))["inputs"]
    assert [encoder.decode(example["inputs"][:-1]) for example in plain] == TEXTS * 3
    problem = ShuffledPacked()
    problem.generate_data(str(tmp_path / "packed"), "")
    packed = read(problem.training_filepaths(str(tmp_path / "packed"), 1, True))
    assert 0 < len(packed) < len(plain)
    assert "inputs_segmentation" in packed[0]


class Prefixed(Sentences):
    inputs_prefix = "cat "
    targets_prefix = "dog "
    vocab_type = text_problems.VocabType.CHARACTER


def test_prefixes_are_encoded_but_not_part_of_the_vocabulary_text():
    problem = Prefixed()
    first = next(iter(problem.generate_encoded_samples("", "", DatasetSplit.TRAIN)))
    decode = encoders.ByteTextEncoder().decode
    assert decode(first["inputs"][:-1]) == "cat the cat sat"
    assert decode(first["targets"][:-1]) == "dog tas tac eht"
    assert next(problem.generate_text_for_vocab("", "")) == "the cat sat"


class Limited(Sentences):
    max_samples_for_vocab = 2


def test_vocabulary_text_is_limited_to_a_number_of_samples():
    assert len(list(Limited().generate_text_for_vocab("", ""))) == 4


class Borrowing(Sentences):
    name = "borrowing"
    use_vocab_from_other_problem = Sentences()


def test_vocabulary_of_another_problem_is_made_and_used(tmp_path):
    problem = Borrowing()
    encoder = problem.get_or_create_vocab(str(tmp_path), "")
    assert [path.name for path in tmp_path.iterdir()] == ["vocab.sentences.60.subwords"]
    loaded = problem.get_feature_encoders(str(tmp_path))["targets"]
    assert loaded.encode("the cat") == encoder.encode("the cat")


def test_a_missing_vocabulary_names_the_file_and_the_problem_that_makes_it(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        Borrowing().get_feature_encoders(str(tmp_path))
    assert f"{tmp_path}/vocab.sentences.60.subwords" in str(error.value)
    assert "t2t-datagen --problem=sentences" in str(error.value)


class Odd(Sentences):
    vocab_type = "bpe"


def test_an_unknown_kind_of_vocabulary_is_refused():
    with pytest.raises(ValueError, match="'bpe'"):
        Odd().get_or_create_vocab("", "")


# ---- hparams ----


class TwoSizes(Sentences):
    def feature_encoders(self, data_dir):
        def of_size(size):
            return encoders.TokenTextEncoder(None, vocab_list=[f"w{k}" for k in range(size - 2)])

        return {"inputs": of_size(10), "targets": of_size(20)}

    def hparams(self, defaults, model_hparams):
        super().hparams(defaults, model_hparams)
        defaults.input_space_id = 3
        defaults.target_space_id = 8


@pytest.mark.parametrize(
    ("was_reversed", "was_copy", "sizes", "spaces"),
    [
        (False, False, (10, 20), (3, 8)),
        (True, False, (20, 10), (8, 3)),
        (False, True, (10, 10), (3, 3)),
        (True, True, (20, 20), (8, 8)),
    ],
)
def test_hparams_of_reversed_and_copied_problems(was_reversed, was_copy, sizes, spaces):
    problem = TwoSizes(was_reversed, was_copy)
    hparams = problem.get_hparams()
    assert (hparams.vocab_size["inputs"], hparams.vocab_size["targets"]) == sizes
    assert (hparams.input_space_id, hparams.target_space_id) == spaces
    for feature, size in zip(("inputs", "targets"), sizes, strict=True):
        assert hparams.vocabulary[feature].vocab_size == size
        assert problem.get_feature_encoders()[feature].vocab_size == size
    assert (hparams.was_reversed, hparams.was_copy) == (was_reversed, was_copy)


class ReturnsHparams(TwoSizes):
    def hparams(self, defaults, model_hparams):
        return defaults


def test_hparams_must_be_changed_in_place():
    with pytest.raises(ValueError, match="return None"):
        ReturnsHparams().get_hparams()


def test_vocabularies_are_loaded_once_a_directory(tmp_path):
    problem = Sentences()
    for name in ("a", "b"):
        problem.get_or_create_vocab(str(tmp_path / name), "")
    first = problem.get_feature_encoders(str(tmp_path / "a"))["inputs"]
    assert problem.get_feature_encoders(str(tmp_path / "a"))["inputs"] is first
    assert problem.get_feature_encoders()["inputs"] is first
    assert problem.get_feature_encoders(str(tmp_path / "b"))["inputs"] is not first


def test_a_class_without_a_name_says_how_to_get_one():
    with pytest.raises(ValueError, match="register_problem"):
        problem_lib.Problem().filepattern("", ModeKeys.TRAIN)


def test_file_patterns():
    problem = Sentences()
    assert problem.filepattern("d", ModeKeys.TRAIN) == "d/sentences-train*"
    assert problem.filepattern("d", ModeKeys.PREDICT, shard=3) == "d/sentences-dev-00003*"
    assert problem.filepattern("d", DatasetSplit.TEST) == "d/sentences-test*"
    with pytest.raises(ValueError, match="'valid'"):
        problem.filepattern("d", "valid")


# ---- Other kinds ----


class Questions(text_problems.QuestionAndContext2TextProblem):
    name = "questions"
    is_generate_per_split = True
    approx_vocab_size = 60

    def generate_samples(self, data_dir, tmp_dir, dataset_split):
        yield {"inputs": "who sat", "context": "the cat sat", "targets": "the cat"}


def test_questions_follow_their_context():
    problem = Questions()
    encoder = problem.get_or_create_vocab("", "")
    assert encoder.all_subtoken_strings[2].startswith("<EOQ>")
    (sample,) = problem.generate_encoded_samples("", "", DatasetSplit.TRAIN)
    context = [*encoder.encode("the cat sat"), 2]
    assert sample["context"] == context
    assert sample["inputs"] == [*context, *encoder.encode("who sat"), 1]


class Verdicts(text_problems.Text2ClassProblem):
    name = "verdicts"
    is_generate_per_split = True
    num_classes = 2
    vocab_type = text_problems.VocabType.CHARACTER

    def class_labels(self, data_dir):
        return ["bad", "good"]

    def generate_samples(self, data_dir, tmp_dir, dataset_split):
        yield {"inputs": "fine", "label": 1}


def test_classification_has_one_target():
    problem = Verdicts()
    (sample,) = problem.generate_encoded_samples("", "", DatasetSplit.TRAIN)
    assert sample["targets"] == [1]
    assert problem.get_feature_encoders("")["targets"].decode([1]) == "good"
    assert problem.get_hparams().vocab_size == {"inputs": 258, "targets": 2}


def test_a_vocabulary_made_before_is_logged_with_its_size(tmp_path, caplog):
    size = Sentences().get_or_create_vocab(str(tmp_path), "").vocab_size
    caplog.set_level("INFO")
    Sentences().get_or_create_vocab(str(tmp_path), "")
    assert f"vocab.sentences.60.subwords, {size} subwords, made before" in caplog.text
