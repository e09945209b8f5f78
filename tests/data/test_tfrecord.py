"""TFRecord files written and read without TensorFlow, compared with TensorFlow's."""

import random

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.data import example_proto, tfrecord


def random_records(seed=1):
    generator = random.Random(seed)
    lengths = [*range(70), *(generator.randrange(70, 900) for _ in range(200)), 70_000]
    generator.shuffle(lengths)
    return [generator.randbytes(length) for length in lengths]


def test_files_are_tensorflows_byte_for_byte(tmp_path):
    records = random_records()
    path = tmp_path / "reference"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    assert b"".join(tfrecord.frames(records)) == path.read_bytes()
    assert tfrecord.read(str(path)) == records
    assert list(tfrecord.iterate(str(path))) == records
    assert tfrecord.count(str(path)) == len(records)


def test_the_published_check_value():
    # CRC-32C of "123456789" is E3069283 (RFC 3720's polynomial).
    (masked,) = tfrecord.masked_checksums([b"123456789"])
    checksum = 0xE3069283
    assert masked == ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_no_records():
    assert tfrecord.frames([]) == []
    assert tfrecord.split_frames(b"") == []


@pytest.mark.parametrize("position", [3, 9, 14, -2])
def test_a_changed_byte_is_noticed(tmp_path, position):
    contents = bytearray(b"".join(tfrecord.frames([b"some data"])))
    contents[position] ^= 1
    path = tmp_path / "damaged"
    path.write_bytes(contents)
    with pytest.raises(ValueError, match="damaged|cut off"):
        tfrecord.read(str(path))


@pytest.mark.parametrize("position", [0, 3, 9])
def test_an_altered_length_is_not_taken_for_a_cut(tmp_path, position):
    contents = bytearray(b"".join(tfrecord.frames([b"0", b"some data", b"more", b"last"])))
    contents[17 + position] ^= 4  # In the header of the second; byte 0 makes it end inside.
    path = tmp_path / "altered"
    path.write_bytes(contents)
    with pytest.raises(ValueError, match=r"damaged: (the length of )?record 1 has a wrong check"):
        tfrecord.read(str(path))
    if position == 3:
        for reader in (tfrecord.count, lambda name: list(tfrecord.iterate(name))):
            with pytest.raises(ValueError, match="damaged: the length of record 1 has a wrong"):
                reader(str(path))
        with pytest.raises(ValueError, match="damaged: the length of record 11 has a wrong"):
            tfrecord.hop(bytes(contents), 17, 1, str(path), 11)


@pytest.mark.parametrize("size", [5, 12, 20, 30])
def test_a_cut_file_is_noticed(tmp_path, size):
    path = tmp_path / "cut"
    path.write_bytes(b"".join(tfrecord.frames([b"0123456789", b"x" * 20]))[:size])
    for reader in (tfrecord.read, tfrecord.count, lambda name: list(tfrecord.iterate(name))):
        with pytest.raises(ValueError, match="cut is cut off within record"):
            reader(str(path))


def test_examples_are_tensorflows():
    sample = {
        "ids": [0, 1, 127, 128, 2**40, -1],
        "numpy": np.asarray([7, 300]),
        "reals": [0.5, -2.0],
        "texts": ["é", b"\xff"],
    }
    serialized = example_proto.serialize(sample)
    theirs = tf.train.Example.FromString(serialized)
    assert list(theirs.features.feature["ids"].int64_list.value) == sample["ids"]
    assert list(theirs.features.feature["reals"].float_list.value) == sample["reals"]
    assert list(theirs.features.feature["texts"].bytes_list.value) == ["é".encode(), b"\xff"]
    assert example_proto.parse(theirs.SerializeToString()) == {
        "ids": sample["ids"],
        "numpy": [7, 300],
        "reals": [0.5, -2.0],
        "texts": ["é".encode(), b"\xff"],
    }
