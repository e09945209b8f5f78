"""Shards and vocabularies equal those that tensor2tensor's t2t-datagen wrote."""

import filecmp
import os
import re
import shutil

import pytest

from t2t_keras.data import packing, records, shard_sizes
from tests import reference_data
from tests.data import golden_problems

pytestmark = pytest.mark.reference


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Directory with everything our generation wrote."""
    data_dir = tmp_path_factory.mktemp("data")
    for name, problem_class in golden_problems.GOLDEN_PROBLEMS.items():
        if name == "golden_token":
            vocabulary = reference_data.golden_path("datagen/files", "vocab.golden_token.tokens")
            shutil.copy(vocabulary, data_dir)
        golden_problems.generate(problem_class(), str(data_dir), "")
    return data_dir


def read(path):
    return [records.parse_example(record) for record in records.read_records(str(path))]


def test_all_recorded_problems_are_known():
    assert golden_problems.recorded_problem_names() <= set(golden_problems.GOLDEN_PROBLEMS)


def test_file_names(generated):
    assert sorted(set(os.listdir(generated)) - {shard_sizes.FILE_NAME}) == sorted(
        golden_problems.all_file_names()
    )


def test_vocabularies_are_the_same_bytes(generated):
    folder = reference_data.golden_path("datagen", "files")
    names = [name for name in golden_problems.all_file_names() if name.startswith("vocab.")]
    assert names
    for name in names:
        assert filecmp.cmp(generated / name, folder / name, shallow=False), name


def test_recorded_shards_hold_the_same_examples_in_the_same_order(generated):
    folder = reference_data.golden_path("datagen", "files")
    names = [name for name in golden_problems.all_file_names() if re.search(r"-of-\d+$", name)]
    compared = [name for name in names if (folder / name).exists()]
    assert compared
    for name in compared:
        assert read(generated / name) == read(folder / name), name


def test_parsed_examples_and_record_counts(generated):
    recorded = reference_data.load_golden_json("datagen", "records.json.gz")
    (parsed,) = (value for key, value in recorded.items() if key.startswith("parsed"))
    for name, examples in parsed.items():
        assert read(generated / name)[: len(examples)] == examples, name
    for name, facts in recorded["files"].items():
        path = str(generated / name)
        assert records.count_records(path) == facts["records"], name
        assert os.path.getsize(path) == facts["bytes"], name
        assert sorted({key for example in read(path) for key in example}) == facts["keys"], name


def test_encoded_eval_samples(generated):
    expected = reference_data.load_golden_json("datagen", "encoded_eval_unshuffled.json")
    problem = golden_problems.GoldenReverse()
    assert list(problem.generate_encoded_samples(str(generated), "", "dev")) == expected


def test_pack_examples():
    recorded = reference_data.load_golden_json("datagen", "pack_examples.json.gz")
    for case in recorded["cases"]:
        packed = list(packing.pack_examples(recorded["examples"], **case["kwargs"]))
        assert packed == case["packed"], case["kwargs"]
