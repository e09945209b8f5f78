"""HParams: types, override grammar, JSON."""

import copy
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2t_keras.hparam import HParams
from tests.reference_data import load_golden_json

ERRORS = {"ValueError": ValueError, "KeyError": KeyError, "TypeError": TypeError}


def example() -> HParams:
    return HParams(i=1, f=0.5, s="x", b=True, l=[1, 2], n=None, d={})


def displayed(values: dict) -> dict:
    """Non-finite floats as the reference file writes them."""
    return {
        name: str(value) if isinstance(value, float) and value - value != 0 else value
        for name, value in values.items()
    }


def golden_start(golden: dict) -> HParams:
    return HParams(**json.loads(json.dumps(golden["defaults"])))


@pytest.mark.reference
@pytest.mark.parametrize("method, key", [("parse", "s"), ("parse_json", "json")])
def test_overrides_equal_the_reference(method, key):
    golden = load_golden_json("hparam_parse.json")
    assert golden[method]
    for case in golden[method]:
        hparams = golden_start(golden)
        if "raises" in case:
            with pytest.raises(ERRORS[case["raises"]]):
                getattr(hparams, method)(case[key])
            assert hparams.values() == golden["defaults"], f"half applied: {case}"
        else:
            assert getattr(hparams, method)(case[key]) is hparams
            assert displayed(hparams.values()) == case["values"], case
            types = {name: type(value) for name, value in golden["defaults"].items()}
            assert {name: type(value) for name, value in hparams.values().items()} == types


@pytest.mark.reference
def test_set_hparam_equals_the_reference():
    golden = load_golden_json("hparam_parse.json")
    assert golden["set_hparam"]
    for name, value_text, result in golden["set_hparam"]:
        hparams, value = golden_start(golden), eval(value_text)  # noqa: S307
        if result.startswith("raises "):
            with pytest.raises(ERRORS[result.removeprefix("raises ")]):
                hparams.set_hparam(name, value)
        else:
            hparams.set_hparam(name, value)
            assert repr(getattr(hparams, name)) == result


@pytest.mark.reference
def test_get_and_json_equal_the_reference():
    golden = load_golden_json("hparam_parse.json")
    # The reference file is sorted; its JSON text tells the order of declaration.
    hparams = HParams(**json.loads(golden["to_json"]))
    assert hparams.to_json() == golden["to_json"]
    assert [repr(hparams.get("absent")), repr(hparams.get("absent", 5))] == golden["get_missing"]


@pytest.mark.parametrize(
    "text, name, value",
    [
        ("i=5, f=2", "f", 2.0),
        ("i = 5", "i", 5),
        ("i=5,", "i", 5),
        ("", "i", 1),
        ("s=a b", "s", "a b"),
        ("s=", "s", ""),
        ("s=a=b", "s", "a=b"),
        ("s='q'", "s", "'q'"),
        ("b=2", "b", True),
        ("b=0", "b", False),
        ("l=[3 4]", "l", [3, 4]),
        ("l=[ 3, 4 ,]", "l", [3, 4]),
        ("l=[]", "l", []),
    ],
)
def test_grammar_accepts(text, name, value):
    result = example().parse(text)
    assert getattr(result, name) == value
    assert type(getattr(result, name)) is type(value)


@pytest.mark.parametrize(
    "text, message",
    [
        (" i=5", "' i=5'"),
        ("i=5;f=2", "'i' is of type int"),
        ("s=a[b", "'s=a\\[b'"),
        ("b=yes", "'b' is of type bool and can't be 'yes'. Received: 'f=7,b=yes'"),
        ("i=", "'i' is of type int"),
        ("l=[3;4]", "'3;4'"),
        ("l=3", "must be a list"),
        ("i=[1]", "can't be a list"),
        ("l[0]=7", "must be a list"),
        ("i=5,i=6", "'i' is assigned twice"),
        ("hidden=1", "no hyperparameter 'hidden'"),
        ("d=x", "'d' is of type dict"),
    ],
)
def test_grammar_refuses_and_changes_nothing(text, message):
    hparams = example()
    with pytest.raises(ValueError, match=message):
        hparams.parse(f"f=7,{text}" if not text.startswith(" ") else text)
    assert hparams.values() == example().values()


def test_unknown_name_offers_near_matches():
    hparams = HParams(hidden_size=1, filter_size=2)
    with pytest.raises(ValueError, match="Did you mean: hidden_size"):
        hparams.parse("hiden_size=3")
    with pytest.raises(KeyError, match="Did you mean: hidden_size"):
        hparams.set_hparam("hiden_size", 3)
    with pytest.raises(AttributeError, match="Did you mean: hidden_size"):
        _ = hparams.hiden_size


@pytest.mark.parametrize(
    "text, value", [("0.1", 0.1), ("3", 3), ("None", None), ("true", True), ("adam", "adam")]
)
def test_untyped_parameter_takes_what_the_text_looks_like(text, value):
    hparams = example().parse(f"n={text}")
    assert hparams.n == value and type(hparams.n) is type(value)


def test_add_hparam():
    hparams = example()
    with pytest.raises(ValueError, match="'i' is taken"):
        hparams.add_hparam("i", 2)
    with pytest.raises(ValueError, match="'values' is taken"):
        hparams.add_hparam("values", 2)
    with pytest.raises(ValueError, match="at least one element"):
        hparams.add_hparam("empty", [])
    hparams.add_hparam("n", 2)  # its value was None
    with pytest.raises(ValueError):
        hparams.set_hparam("n", "text")


def test_undeclared_attribute_is_no_hyperparameter():
    hparams = example()
    hparams.other = 3
    assert hparams.other == 3
    assert "other" not in hparams and "other" not in hparams.values()
    assert not hasattr(hparams.copy(), "other")
    with pytest.raises(ValueError):
        hparams.parse("other=4")


def test_get_checks_the_default():
    hparams = example()
    assert hparams.get("i", 7) == 1
    assert hparams.get("l", [7]) == [1, 2]
    for name, default in [("i", "text"), ("i", [1]), ("l", 3), ("l", ["x"]), ("b", 1)]:
        with pytest.raises(ValueError):
            hparams.get(name, default)


def test_del_hparam():
    hparams = example()
    hparams.del_hparam("i")
    hparams.del_hparam("i")
    assert "i" not in hparams and not hasattr(hparams, "i")


def test_json_drops_callables():
    hparams = HParams(function=len, nested={"a": len, "b": {"c": print, "d": 1}}, i=1)
    assert json.loads(hparams.to_json()) == {"nested": {"b": {"d": 1}}, "i": 1}


def test_copies_are_independent_and_keep_types():
    original = example().parse("l=[]")
    original.n = 0.5
    for duplicate in (
        original.copy(),
        copy.deepcopy(original),
        pickle.loads(pickle.dumps(original)),
    ):
        assert duplicate.values() == original.values()
        duplicate.l.append(4)
        duplicate.d["key"] = 4
        duplicate.i = 9
        assert original.i == 1 and original.l == [] and original.d == {}
    with pytest.raises(ValueError):
        original.copy().set_hparam("n", "text")


names = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: not hasattr(HParams, name)
)
words = st.text(st.characters(exclude_characters=",[] \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0"))
scalars = st.one_of(
    st.integers(), st.floats(allow_nan=False), st.booleans(), words.filter(lambda w: w == w.strip())
)


def as_text(value: object) -> str:
    if isinstance(value, list):
        return f"[{','.join(map(str, value))}]"
    return str(value)


@given(
    st.dictionaries(names, scalars | st.lists(st.integers(), min_size=1), max_size=6), st.booleans()
)
def test_values_survive_being_written_as_overrides(values, with_blanks):
    separator = ", " if with_blanks else ","
    text = separator.join(f"{name}={as_text(value)}" for name, value in values.items())
    start = HParams(**{k: [0] if isinstance(v, list) else type(v)() for k, v in values.items()})
    assert start.parse(text).values() == values


@given(st.text(max_size=30))
def test_any_text_parses_or_raises_value_error(text):
    hparams = example()
    try:
        hparams.parse(text)
    except ValueError:
        assert hparams.values() == example().values()
    assert {k: type(v) for k, v in hparams.values().items() if k != "n"} == {
        k: type(v) for k, v in example().values().items() if k != "n"
    }
