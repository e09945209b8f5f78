"""What stands in the verb's places: tenses and modal verbs, in both languages.

German splits its predicate in two: the finite verb moves, the rest ends the clause.
"""

import dataclasses
from typing import NamedTuple

from t2t_keras.problems.demo_grammar import inflection
from t2t_keras.problems.demo_grammar.inflection import Person
from t2t_keras.problems.demo_grammar.words import Verb


class Modal(NamedTuple):
    """A modal verb.

    Attributes:
        english: auxiliary ("can"), or lexical verb with "to" ("want").
        kind: "auxiliary", "lexical" or "be" ("was allowed to").
        past: whether past.
        german: infinitive of the German modal.
        negation: "any", "never" (only affirmative) or "always" (only negated).
    """

    english: str
    kind: str
    past: bool
    german: str
    negation: str = "any"


MODALS = {
    "can": Modal("can", "auxiliary", False, "können"),
    "could": Modal("could", "auxiliary", True, "können"),
    "should": Modal("should", "auxiliary", False, "sollen"),
    "may": Modal("may", "auxiliary", False, "dürfen", "never"),
    "must": Modal("must", "auxiliary", False, "müssen", "never"),
    # "must not" forbids, which German says with another verb.
    "must not": Modal("must", "auxiliary", False, "dürfen", "always"),
    "have to": Modal("have", "lexical", False, "müssen", "always"),
    "had to": Modal("have", "lexical", True, "müssen"),
    "want to": Modal("want", "lexical", False, "wollen"),
    "wanted to": Modal("want", "lexical", True, "wollen"),
    "would like to": Modal("would", "auxiliary", False, "möchten", "never"),
    "was allowed to": Modal("allowed", "be", True, "dürfen"),
}

_ENGLISH_MODAL_PAST = {"have": "had", "want": "wanted"}


@dataclasses.dataclass(frozen=True)
class EnglishPredicate:
    """English verb forms of a clause.

    Attributes:
        auxiliary: what is inverted in questions and bears "not": "does", "can", "is".
        rest: what follows subject or negation: "eat", "want to eat".
        plain: both as one in an affirmative statement: "eats", "can eat".
        contracted: "cannot".
    """

    auxiliary: str
    rest: str
    plain: str

    def statement(self, negated: bool) -> str:
        """After the subject of a statement."""
        if not negated:
            return self.plain
        glued = "cannot" if self.auxiliary == "can" else f"{self.auxiliary} not"
        return f"{glued} {self.rest}".strip()


@dataclasses.dataclass(frozen=True)
class GermanPredicate:
    """German verb forms of a clause.

    Attributes:
        finite: the verb in second place: "hat", "räumt".
        end: what closes a main clause: "aufgeräumt", "auf", "".
        glued: finite verb and end at the end of a subordinate clause: "aufgeräumt hat", "aufräumt".
    """

    finite: str
    end: str
    glued: str


def _german_split(finite: str, end: str) -> GermanPredicate:
    return GermanPredicate(finite, end, f"{end} {finite}")


def _english_plain(verb: str, past: str, person: Person, tense: str) -> EnglishPredicate:
    """A full verb in present or past, with "do" for questions and negations."""
    is_past = tense == "past"
    plain = past if is_past else inflection.english_present(verb, person)
    return EnglishPredicate(inflection.english_do(person, is_past), verb, plain)


def english_predicate(verb: Verb, person: Person, tense: str) -> EnglishPredicate:
    """English forms; tense is "present", "past", "future" or a key of ``MODALS``."""
    if tense in ("present", "past"):
        return _english_plain(verb.english, verb.english_past, person, tense)
    if tense == "future":
        return EnglishPredicate("will", verb.english, f"will {verb.english}")
    modal = MODALS[tense]
    infinitive = verb.english
    if modal.english == "would":
        return EnglishPredicate("would", f"like to {infinitive}", f"would like to {infinitive}")
    if modal.kind == "auxiliary":
        return EnglishPredicate(modal.english, infinitive, f"{modal.english} {infinitive}")
    if modal.kind == "be":
        be = inflection.english_be(person, modal.past)
        rest = f"{modal.english} to {infinitive}"
        return EnglishPredicate(be, rest, f"{be} {rest}")
    past = _ENGLISH_MODAL_PAST[modal.english]
    predicate = _english_plain(modal.english, past, person, "past" if modal.past else "present")
    return EnglishPredicate(
        predicate.auxiliary,
        f"{predicate.rest} to {infinitive}",
        f"{predicate.plain} to {infinitive}",
    )


def german_predicate(verb: Verb, person: Person, tense: str) -> GermanPredicate:
    """German forms; the English simple past is the Perfekt, as Germans speak."""
    infinitive = verb.prefix + verb.infinitive
    if tense == "present":
        finite = inflection.verb_present(verb, person)
        return GermanPredicate(finite, verb.prefix, verb.prefix + finite)
    if tense == "past":
        return _german_split(inflection.present(verb.auxiliary, person), verb.participle)
    if tense == "future":
        return _german_split(inflection.present("werden", person), infinitive)
    modal = MODALS[tense]
    form = inflection.preterite if modal.past else inflection.present
    return _german_split(form(modal.german, person), infinitive)


def english_be_predicate(person: Person, tense: str) -> EnglishPredicate:
    """Forms of "be" in present, past and future."""
    if tense == "future":
        return EnglishPredicate("will", "be", "will be")
    be = inflection.english_be(person, tense == "past")
    return EnglishPredicate(be, "", be)


def german_be_predicate(person: Person, tense: str) -> GermanPredicate:
    """Forms of "sein"; its past is the Präteritum: war."""
    if tense == "future":
        return _german_split(inflection.present("werden", person), "sein")
    form = inflection.preterite if tense == "past" else inflection.present
    finite = form("sein", person)
    return GermanPredicate(finite, "", finite)


def german_infinitive_with_to(verb: Verb) -> str:
    """Infinitive with zu: zu essen, aufzuräumen."""
    return f"{verb.prefix}zu{verb.infinitive}" if verb.prefix else f"zu {verb.infinitive}"
