"""Endings: German nouns, articles, adjectives and verbs, English verbs.

German cases are "nom", "acc", "dat" and "gen"; genders are "m", "f", "n" and "p" for the plural of
all three; a person is a pair of number 1, 2 or 3 and whether it is plural.
"""

from t2t_keras.problems.demo_grammar.words import Adjective, Noun, Verb, german_stem
from t2t_keras.problems.demo_grammar.words import needs_linking_e as _needs_linking_e

Person = tuple[int, bool]

_CASES = ("nom", "acc", "dat", "gen")


def _endings(table: str) -> dict[tuple[str, str], str]:
    """Reads four rows (cases) of four columns (m, f, n, p); ``-`` is no ending."""
    rows = [line.split() for line in table.strip().splitlines()]
    return {
        (case, gender): "" if ending == "-" else ending
        for case, row in zip(_CASES, rows, strict=True)
        for gender, ending in zip("mfnp", row, strict=True)
    }


_DEFINITE = _endings("""
der die das die
den die das die
dem der dem den
des der des der
""")
_LIKE_DIESER = _endings("""
er e es e
en e es e
em er em en
es er es er
""")
_LIKE_EIN = _endings("""
- e - e
en e - e
em er em en
es er es er
""")
_WEAK = _endings("""
e e e en
en e e en
en en en en
en en en en
""")
_MIXED = _endings("""
er e es en
en e es en
en en en en
en en en en
""")
_STRONG = _endings("""
er e es e
en e es e
em er em en
en er en er
""")
_RELATIVE = _endings("""
der die das die
den die das die
dem der dem denen
dessen deren dessen deren
""")

_ADJECTIVE_ENDINGS = {"weak": _WEAK, "mixed": _MIXED, "strong": _STRONG}

_PERSONAL = {
    (1, False): ("ich", "mich", "mir"),
    (2, False): ("du", "dich", "dir"),
    (1, True): ("wir", "uns", "uns"),
    (3, True): ("sie", "sie", "ihnen"),
}
_PERSONAL_THIRD = {
    "m": ("er", "ihn", "ihm"),
    "f": ("sie", "sie", "ihr"),
    "n": ("es", "es", "ihm"),
    "p": ("sie", "sie", "ihnen"),
}
_REFLEXIVE = {(1, False): "mich", (2, False): "dich", (1, True): "uns"}

# ich, du, er, wir and sie (plural).
_IRREGULAR_PRESENT = {
    "sein": "bin bist ist sind",
    "haben": "habe hast hat haben",
    "werden": "werde wirst wird werden",
    "wissen": "weiß weißt weiß wissen",
    "können": "kann kannst kann können",
    "müssen": "muss musst muss müssen",
    "dürfen": "darf darfst darf dürfen",
    "sollen": "soll sollst soll sollen",
    "wollen": "will willst will wollen",
    "möchten": "möchte möchtest möchte möchten",
}
_PRETERITE = {
    "sein": "war warst war waren",
    "haben": "hatte hattest hatte hatten",
    "werden": "wurde wurdest wurde wurden",
    "können": "konnte konntest konnte konnten",
    "müssen": "musste musstest musste mussten",
    "dürfen": "durfte durftest durfte durften",
    "sollen": "sollte solltest sollte sollten",
    "wollen": "wollte wolltest wollte wollten",
}


def definite_article(case: str, gender: str) -> str:
    """Der, die, das in all cases."""
    return _DEFINITE[case, gender]


def relative_pronoun(case: str, gender: str) -> str:
    """Der, die, das, dessen, deren, denen."""
    return _RELATIVE[case, gender]


def like_dieser(stem: str, case: str, gender: str) -> str:
    """Forms of dieser, jeder: ``dies`` -> dieses."""
    return stem + _LIKE_DIESER[case, gender]


def like_ein(stem: str, case: str, gender: str) -> str:
    """Forms of ein, kein, mein, unser: ``kein`` -> keinen."""
    return stem + _LIKE_EIN[case, gender]


def adjective(word: Adjective, case: str, gender: str, declension: str) -> str:
    """An adjective before a noun; declension is "weak", "mixed" or "strong"."""
    return word.stem + _ADJECTIVE_ENDINGS[declension][case, gender]


def noun(word: Noun, case: str, plural: bool) -> str:
    """A noun in its case."""
    if plural:
        needs_n = case == "dat" and not word.plural.endswith(("n", "s"))
        return word.plural + ("n" if needs_n else "")
    if case == "gen":
        return word.genitive
    return word.genitive if word.is_weak and case != "nom" else word.german


def personal_pronoun(case: str, person: Person, gender: str = "p") -> str:
    """Ich, mich, mir; er, ihn, ihm."""
    forms = _PERSONAL_THIRD[gender] if person == (3, False) else _PERSONAL[person]
    return forms[_CASES.index(case)]


def reflexive_pronoun(person: Person) -> str:
    """Mich, dich, sich, uns."""
    return _REFLEXIVE.get(person, "sich")


def _form_of(forms: str, person: Person) -> str:
    number, plural = person
    return forms.split()[3 if plural else number - 1]


def preterite(infinitive: str, person: Person) -> str:
    """Past of sein, haben, werden and the modal verbs."""
    return _form_of(_PRETERITE[infinitive], person)


def present(infinitive: str, person: Person, third: str = "") -> str:
    """German present; ``third`` is the third person singular where it is irregular."""
    if infinitive in _IRREGULAR_PRESENT:
        return _form_of(_IRREGULAR_PRESENT[infinitive], person)
    stem = german_stem(infinitive)
    number, plural = person
    if plural:
        return infinitive
    if number == 1:
        return (stem[:-2] + "le") if infinitive.endswith("eln") else stem + "e"
    regular_third = stem + ("et" if _needs_linking_e(stem) else "t")
    third = third or regular_third
    return third if number == 3 else _second_person(stem, third, regular_third)


def _second_person(stem: str, third: str, regular_third: str) -> str:
    """Du isst, du hältst, du findest, du gibst, from er isst, hält, findet, gibt."""
    if third != regular_third and stem.endswith("t"):
        return third + "st"
    root = third[:-1]
    return third if root.endswith(("s", "ß", "z", "x")) else root + "st"


def verb_present(word: Verb, person: Person) -> str:
    """German present of a lexicon verb, without its prefix."""
    return present(word.infinitive, person, word.third)


def english_third_person(verb: str) -> str:
    """Eat -> eats, go -> goes, carry -> carries."""
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def english_present(verb: str, person: Person) -> str:
    """English present."""
    return english_third_person(verb) if person == (3, False) else verb


def english_be(person: Person, past: bool = False) -> str:
    """Am, are, is, was, were."""
    number, plural = person
    if past:
        return "were" if plural or number == 2 else "was"
    return "are" if plural else ("am", "are", "is")[number - 1]


def english_do(person: Person, past: bool = False) -> str:
    """Do, does, did."""
    if past:
        return "did"
    return "does" if person == (3, False) else "do"
