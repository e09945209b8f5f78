"""Registries: names, decorators, look-up, listing."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2t_keras import registry
from t2t_keras.registry import Registries, Registry
from tests.reference_data import load_golden_json


@pytest.fixture
def registered():
    """Registers for one test only: `registered(registry, key, value)`."""
    added = []

    def register(where, key, value):
        where[key] = value
        added.append((where, key))
        return value

    yield register
    for where, key in added:
        where.remove(key)


@pytest.mark.reference
@pytest.mark.parametrize("function", ["camelcase_to_snakecase", "snakecase_to_camelcase"])
def test_case_conversion_equals_the_reference(function):
    cases = load_golden_json("snake_case.json")[function]
    assert cases
    assert {name: getattr(registry, function)(name) for name in cases} == cases


@pytest.mark.reference
def test_problem_name_parsing_equals_the_reference():
    cases = load_golden_json("problem_name_parsing.json")
    assert cases
    assert {name: list(registry.parse_problem_name(name)) for name in cases} == cases


# Modules whose names are this package's own.
OWN_MODULES = ("_demo", "_paper", "_local")
# Single names the reference does not list, and why they are here.
OWN_NAMES = {
    "translate_ende_wmt14_bpe37k": "the paper's English-German data",
    "translate_enfr_wmt14_wordpiece32k": "the paper's English-French data",
    "translate_ende_wmt_bpe32k": "in earlier releases only",
    "translate_entn_rma": "defined in the reference, but its module is never imported there",
}


@pytest.mark.reference
@pytest.mark.parametrize(
    "kind, where",
    [
        ("models", Registries.models),
        ("hparams", Registries.hparams),
        ("optimizers", Registries.optimizers),
        ("base_problems", Registries.problems),
        ("ranged_hparams", Registries.ranged_hparams),
    ],
)
def test_names_of_this_package_are_those_of_the_reference(kind, where):
    reference = set(load_golden_json("registry_names.json")[kind])
    reference |= set(load_golden_json("last_commit_delta.json").get(f"{kind}_added", []))
    # Other tests register problems of their own.
    ours = {n for n in where.keys() if where.registered(n).__module__.startswith("t2t_keras.")}
    assert len(ours) >= len(set(where.keys()) & reference)
    new = ours - reference - set(OWN_NAMES)
    assert not {n for n in new if not where.registered(n).__module__.endswith(OWN_MODULES)}


@pytest.mark.parametrize(
    "name, parsed",
    [
        ("p", ("p", False, False)),
        ("p_rev", ("p", True, False)),
        ("p_copy", ("p", False, True)),
        ("p_rev_copy", ("p", True, True)),
        ("p_copy_rev", ("p", True, True)),
        ("reverse", ("reverse", False, False)),
    ],
)
def test_parse_problem_name(name, parsed):
    assert registry.parse_problem_name(name) == parsed


@pytest.mark.parametrize("name", ["p_rev_rev", "p_copy_copy", "p_rev_copy_rev"])
def test_parse_problem_name_refuses_repeated_suffixes(name):
    with pytest.raises(ValueError, match="multiple instances"):
        registry.parse_problem_name(name)


@given(st.from_regex(r"[a-z][a-z0-9_]{0,12}x", fullmatch=True), st.booleans(), st.booleans())
def test_canonical_name_is_parsed_back(base, was_reversed, was_copy):
    name = registry.get_problem_name(base, was_reversed, was_copy)
    assert registry.parse_problem_name(name) == (base, was_reversed, was_copy)


def test_canonical_name_puts_copy_first():
    assert registry.get_problem_name("p", was_reversed=True, was_copy=True) == "p_copy_rev"
    with pytest.raises(ValueError, match="p_rev"):
        registry.get_problem_name("p_rev")


def test_decorator_forms():
    things = Registry("things")

    @things.register
    def first_thing():
        pass

    @things.register()
    class SecondThing:
        pass

    @things.register("third")
    def other_name():
        pass

    assert things.keys() == ["first_thing", "second_thing", "third"]
    assert things["first_thing"] is first_thing and things["second_thing"] is SecondThing
    assert things["third"] is other_name
    assert list(things) == things.keys() and len(things) == 3
    assert "third" in things and "fourth" not in things
    assert things.get("third") is other_name and things.get("fourth", 5) == 5
    assert dict(things.items()) == dict(zip(things.keys(), things.values(), strict=True))


def test_registration_errors():
    things = Registry("things")
    things["key"] = print
    with pytest.raises(KeyError, match=r"'key' is already registered in things, by builtins"):
        things.register("key")(len)
    for value in (5, [1]):
        with pytest.raises(ValueError, match="can be registered in things"):
            things.register("other")(value)
        with pytest.raises(ValueError, match="can be registered in things"):
            things.register(value)


@pytest.mark.parametrize(
    "where, function, num",
    [
        (Registries.optimizers, lambda learning_rate: 0, 2),
        (Registries.optimizers, lambda learning_rate, hparams, more: 0, 2),
        (Registries.optimizers, lambda *args: 0, 2),
        (Registries.ranged_hparams, lambda: 0, 1),
        (Registries.ranged_hparams, lambda rhp, **kwargs: 0, 1),
        (Registries.mtf_layers, lambda x: 0, 2),
    ],
)
def test_wrong_number_of_arguments(where, function, num):
    with pytest.raises(ValueError, match=f"exactly {num} positional"):
        where["wrong_arity"] = function
    assert "wrong_arity" not in where


def test_unknown_name_lists_near_matches_and_everything():
    things = Registry("things")
    for name in ("transformer_base", "transformer_big", "lstm"):
        things[name] = print
    with pytest.raises(KeyError) as caught:
        things["transformer_bse"]
    first, *rest = str(caught.value).split("\n")
    assert "'transformer_bse'" in first and "things" in first
    assert "Did you mean: transformer_base" in first
    assert rest[1:] == [
        "    lstm:",
        "      * lstm",
        "    transformer:",
        "      * transformer_base",
        "      * transformer_big",
    ]


def test_hparams_function_must_return(registered):
    registered(Registries.hparams, "returns_nothing", lambda: None)
    with pytest.raises(TypeError, match="'returns_nothing'"):
        registry.hparams("returns_nothing")


def test_hparams_are_listed_by_prefix():
    assert "transformer_base" in registry.list_hparams("transformer_b")
    assert all(name.startswith("transformer_b") for name in registry.list_hparams("transformer_b"))
    assert registry.list_hparams("no such prefix") == []


class Toy:
    def __init__(self, was_reversed=False, was_copy=False):
        self.variant = (was_reversed, was_copy)


class OtherToy(Toy):
    def __init__(self, *args, **kwargs):
        raise KeyError("raised by the constructor")


def test_problem_variants_share_the_base_name(registered):
    registered(Registries.problems, "toy", Toy)
    assert registry.base_problem("toy") is Toy
    for name, variant in [
        ("toy", (False, False)),
        ("toy_rev", (True, False)),
        ("toy_copy", (False, True)),
        ("toy_rev_copy", (True, True)),
        ("toy_copy_rev", (True, True)),
    ]:
        problem = registry.problem(name)
        assert problem.variant == variant and problem.name == "toy"


@pytest.mark.parametrize("key", ["toy_rev", "toy_copy"])
def test_problem_names_must_not_end_in_a_suffix(key):
    with pytest.raises(KeyError, match="must not end"):
        registry.register_problem(key)(Toy)
    assert key not in Registries.problems


def test_problem_names_must_not_contain_a_colon():
    with pytest.raises(KeyError, match="must not contain a colon"):
        registry.register_problem("toy:x")(Toy)


class SizedToy(Toy):
    @classmethod
    def with_arguments(cls, arguments):
        return type("Variant", (cls,), {"arguments": arguments})


def test_names_with_arguments_ask_the_class_for_a_variant(registered):
    registered(Registries.problems, "sized_toy", SizedToy)
    problem = registry.problem("sized_toy:size=1:more_rev")
    assert (problem.name, problem.arguments) == ("sized_toy:size=1:more", "size=1:more")
    assert problem.variant == (True, False)
    assert type(registry.problem("sized_toy:size=1:more")) is type(problem)
    assert registry.problem("sized_toy").name == "sized_toy"
    assert "sized_toy:size=1:more" not in registry.list_problems()


def test_arguments_of_a_class_without_variants_or_unknown(registered):
    registered(Registries.problems, "toy", Toy)
    with pytest.raises(KeyError, match="toy takes no arguments. Received: 'toy:x'"):
        registry.problem("toy:x")
    with pytest.raises(KeyError, match="(?s)'tooy' is not registered.*Did you mean: toy"):
        registry.problem("tooy:x")


def test_families():
    problems = Registry("problems", mark=lambda key, value: setattr(value, "name", key))

    @problems.register_family("toys")
    def make(arguments):
        return type("Made", (), {"arguments": arguments})

    assert problems["toys:a/b:c"].arguments == "a/b:c"
    assert problems["toys:a/b:c"].name == "toys:a/b:c"
    assert problems["toys:a/b:c"] is problems["toys:a/b:c"]
    assert problems.families() == ["toys"] and problems.keys() == []
    with pytest.raises(KeyError, match="'toys' is already registered"):
        problems.register_family("toys")(make)
    with pytest.raises(KeyError, match="'toys' is not registered"):
        problems["toys"]


def test_unknown_problem_lists_problems(registered):
    registered(Registries.problems, "toy_problem", Toy)
    with pytest.raises(
        KeyError, match="(?s)'toy_problm' is not registered in problems.*toy_problem"
    ):
        registry.problem("toy_problm_rev")


def test_constructor_errors_are_not_hidden(registered):
    registered(Registries.problems, "failing", OtherToy)
    with pytest.raises(KeyError, match="raised by the constructor"):
        registry.problem("failing")


def test_env_problem(registered):
    class Env:
        def initialize(self, batch_size):
            self.batch_size = batch_size

    registered(Registries.env_problems, "toy_env", Env)
    assert registry.env_problem("toy_env", batch_size=3).batch_size == 3
    assert registry.problem("toy_env", batch_size=4).batch_size == 4
    assert Env.name == "toy_env"


def test_model_knows_its_name(registered):
    class MyModel:
        pass

    registered(Registries.models, "my_model", MyModel)
    assert registry.model("my_model") is MyModel and MyModel.REGISTERED_NAME == "my_model"


def test_called_and_uncalled_kinds(registered):
    for where, look_up in [
        (Registries.attacks, registry.attack),
        (Registries.attack_params, registry.attack_params),
        (Registries.pruning_params, registry.pruning_params),
    ]:
        registered(where, "toy_thing", lambda: 17)
        assert look_up("toy_thing") == 17
    registered(Registries.pruning_strategies, "toy_thing", print)
    assert registry.pruning_strategy("toy_thing") is print
    registered(Registries.ranged_hparams, "toy_range", lambda rhp: rhp)
    assert registry.ranged_hparams("toy_range")(3) == 3


def test_camel_case_optimizer_names_are_translated(registered, caplog):
    def toy_optimizer(learning_rate, hparams):
        return learning_rate, hparams

    registered(Registries.optimizers, "toy_rms_prop", toy_optimizer)
    with caplog.at_level("WARNING", logger="absl"):
        assert registry.optimizer("toy_rms_prop") is toy_optimizer
        assert not caplog.records
        assert registry.optimizer("ToyRMSProp") is toy_optimizer
    assert "toy_rms_prop" in caplog.text


def test_declared_names_are_imported_on_look_up(tmp_path, monkeypatch):
    (tmp_path / "declaring_module.py").write_text(
        "from tests import test_registry\n@test_registry.DECLARED.register('late')\ndef f(): pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert DECLARED.keys() == ["late"] and "late" in DECLARED
    assert "declaring_module" not in sys.modules
    with pytest.raises(KeyError, match="'late' is already registered .* by declaring_module"):
        DECLARED["late"] = print
    assert DECLARED["late"].__module__ == "declaring_module"


DECLARED = Registry("declared", declarations=lambda: {"late": "declaring_module"})


def test_failing_import_of_a_package_is_reported_again(tmp_path, monkeypatch):
    package = tmp_path / "failing_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "broken.py").write_text("import no_such_module_anywhere\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    things = Registry("things", package="failing_package")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
            things["x"]


def test_listing_by_prefix():
    assert registry.display_list_by_prefix(["b_1", "a", "b_0", "ba"], starting_spaces=2) == (
        "  a:\n    * a\n  b:\n    * b_0\n    * b_1\n  ba:\n    * ba"
    )
    assert registry.display_list_by_prefix([]) == ""


def test_help_string_has_all_sections_in_order():
    lines = registry.help_string().split("\n")
    assert lines[0] == "Registry contents:" and set(lines[1]) == {"-"}
    assert [line.strip() for line in lines if line.startswith("  ") and line[2] != " "] == [
        "Models:",
        "HParams:",
        "RangedHParams:",
        "Problems:",
        "Problem Families:",
        "Optimizers:",
        "Attacks:",
        "Attack HParams:",
        "Pruning HParams:",
        "Pruning Strategies:",
        "Env Problems:",
    ]
    assert "      * transformer_base" in lines


def test_listing_needs_no_tensorflow_and_is_quick():
    script = (
        "import sys\nfrom t2t_keras import registry\nregistry.help_string()\n"
        "heavy = {'tensorflow', 'keras', 'torch', 'jax'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    before = os.times()
    subprocess.run([sys.executable, "-c", script], check=True)
    after = os.times()
    # Processor time: other programs on the machine don't count.
    used = after.children_user + after.children_system
    assert used - before.children_user - before.children_system < 2.0
