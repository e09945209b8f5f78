import pytest

from t2t_keras import names


@pytest.mark.parametrize(
    "name, expected",
    [("a", ("a", "")), ("a:b=1", ("a", "b=1")), ("tfds:x/y:1.0.0", ("tfds", "x/y:1.0.0"))],
)
def test_split_arguments(name, expected):
    assert names.split_arguments(name) == expected


def test_parse_arguments():
    assert names.parse_arguments("b=1:a=x=y", ["a", "b"]) == {"a": "x=y", "b": "1"}


@pytest.mark.parametrize("arguments", ["", "c=1", "a", "a=", "a=1:a=2", "a=1:", ":a=1"])
def test_malformed_arguments(arguments):
    with pytest.raises(ValueError, match=r"\[a=…\]:\[b=…\].*Received"):
        names.parse_arguments(arguments, ["a", "b"])


@pytest.mark.parametrize(
    "name, expected",
    [
        ("translate_ende_wmt32k", "translate_ende_wmt32k"),
        ("tfds:a/b-c:1.0.*:vocab=9", "tfds_a_b-c_1.0.__vocab-9"),
        ("a[b]?\\c d", "a_b___c_d"),
    ],
)
def test_file_name(name, expected):
    assert names.file_name(name) == expected
