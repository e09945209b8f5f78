"""Sentences with subordinate clauses: because, that, whether, relative clauses, infinitives."""

import dataclasses

from t2t_keras.problems.demo_grammar import modifiers, noun_phrases
from t2t_keras.problems.demo_grammar.choices import Chooser
from t2t_keras.problems.demo_grammar.clauses import Clause, sentence, without_subject
from t2t_keras.problems.demo_grammar.inflection import relative_pronoun
from t2t_keras.problems.demo_grammar.modifiers import Phrase
from t2t_keras.problems.demo_grammar.noun_phrases import NounPhrase
from t2t_keras.problems.demo_grammar.verbs import verbs_by_frame
from t2t_keras.problems.demo_grammar.words import Noun, Verb

Pair = tuple[str, str]

_CONJUNCTIONS = (
    ("because", "weil", ("present", "past")),
    ("because", "weil", ("present", "past")),
    ("although", "obwohl", ("present", "past")),
    ("if", "wenn", ("present",)),
    ("while", "während", ("present", "past")),
    ("before", "bevor", ("past",)),
    # English "when" is "als" for what happened once.
    ("when", "als", ("past",)),
    ("until", "bis", ("past",)),
)

_WEATHER = (
    ("if it rains", "wenn es regnet", "present"),
    ("if it snows", "wenn es schneit", "present"),
    ("if it is cold", "wenn es kalt ist", "present"),
    ("if the sun shines", "wenn die Sonne scheint", "present"),
    ("because it is raining", "weil es regnet", "present"),
    ("because it is late", "weil es spät ist", "present"),
    ("although it is dark", "obwohl es dunkel ist", "present"),
    ("although it rained", "obwohl es geregnet hat", "past"),
    ("because it was hot", "weil es heiß war", "past"),
    ("when it was dark", "als es dunkel war", "past"),
)


def fixed_condition(chooser: Chooser) -> tuple[str, str, str]:
    """A clause about the weather in both languages, and its tense."""
    return chooser.one_of(_WEATHER)


def _subordinate_clause(chooser: Chooser, tense: str) -> Clause:
    """A clause, or now and then a quality: "because he is tired"."""
    if chooser.chance(0.25):
        adjective = chooser.one_of(modifiers.adjectives_of("person"))
        who = chooser.subject(("person",), positive=False)
        complement = Phrase(adjective.english, adjective.german)
        return Clause(who, None, tense, chooser.chance(0.15), complement=complement)
    if tense == "present" and chooser.chance(0.25):
        tense = chooser.one_of(("can", "want to", "must", "should"))
    return chooser.with_adverbials(chooser.clause(tense=tense), 0.15)


def subordinate_sentence(chooser: Chooser) -> Pair:
    """Because he was tired, the man did not work; the man sleeps because he is tired."""
    english, german, tenses = chooser.one_of(_CONJUNCTIONS)
    tense = chooser.one_of(tenses)
    main, sub = chooser.clause(tense=tense), _subordinate_clause(chooser, tense)
    if chooser.chance(0.2):
        main = dataclasses.replace(main, negated=not main.subject.english.startswith("no "))
    if chooser.chance(0.45) and english not in ("until", "before"):
        front = sub.german_subordinate(german) + ","
        return (
            sentence(f"{english} {sub.english()}, {main.english()}"),
            sentence(main.german(front=front)),
        )
    return (
        sentence(f"{main.english()} {english} {sub.english()}"),
        sentence(f"{main.german()}, {sub.german_subordinate(german)}"),
    )


def reported_sentence(chooser: Chooser) -> Pair:
    """The boy says that the dog slept; the woman asked whether the train had to stop."""
    frame, english, german = chooser.one_of(
        (("that", "that", "dass"), ("that", "that", "dass"), ("whether", "whether", "ob"))
    )
    tense = chooser.one_of(("present", "past"))
    verb = chooser.one_of(verbs_by_frame()[frame])
    main = Clause(chooser.subject(("person",)), verb, tense)
    said = chooser.clause()
    if chooser.chance(0.4):
        said = chooser.with_adverbials(said, 0.3)
    if frame == "whether":
        said = dataclasses.replace(
            said, negated=False, tense="can" if said.tense in _NEVER_ASKED else said.tense
        )
    return (
        sentence(f"{main.english()} {english} {said.english()}"),
        sentence(f"{main.german()}, {said.german_subordinate(german)}"),
    )


# Modal verbs whose negation has another meaning, see ``predicates.MODALS``.
_NEVER_ASKED = ("must not", "have to")

_ACTIONS = (
    ("transitive",) * 4 + ("separable",) * 2 + ("dative", "ditransitive", "motion", "placement")
)
_STATES = "need know love hate forget lose belong see understand".split()


def _action(chooser: Chooser, who: NounPhrase) -> Clause:
    """Something that one can set out to do."""
    while True:
        clause = chooser.clause(_ACTIONS, "present", subject=who)
        if clause.verb is not None and clause.verb.english not in _STATES:
            return clause


def infinitive_sentence(chooser: Chooser) -> Pair:
    """The man tries to repair the car."""
    verb = chooser.one_of(verbs_by_frame()["infinitive"])
    tense, negated = chooser.one_of((("present", False), ("past", False), ("past", True)))
    who = chooser.subject(("person",), positive=not negated)
    main = Clause(who, verb, tense, negated)
    act = _action(chooser, who)
    return (
        sentence(f"{main.english()} {act.english_infinitive()}"),
        sentence(f"{main.german()}, {act.german_infinitive()}"),
    )


def purpose_sentence(chooser: Chooser) -> Pair:
    """The man goes into the city in order to buy a hat."""
    tense, _ = chooser.tense(questions=True)
    who = chooser.subject(("person",))
    frames = ("motion", "motion", "intransitive", "transitive")
    main = chooser.clause(frames, tense, subject=who)
    act = _action(chooser, who)
    return (
        sentence(f"{main.english()} in order {act.english_infinitive()}"),
        sentence(f"{main.german()}, um {act.german_infinitive()}"),
    )


def relative_phrase(chooser: Chooser, noun: Noun) -> NounPhrase:
    """A noun phrase with a relative clause that fits what the noun is."""
    plural = noun.countable and chooser.chance(0.25)
    determiner = chooser.one_of(("the", "the", "the", "a", "my", "this"))
    if plural and determiner == "a":
        determiner = "the"
    adjectives = chooser.adjectives(noun.kind, 0.12)
    phrase = noun_phrases.noun_phrase(noun, determiner, plural, adjectives)
    if noun.kind == "person":
        describe = chooser.one_of((_acting, _acting, _undergoing, _owning, _helped))
    elif noun.kind == "animal":
        describe = _undergoing_thing
    else:
        describe = chooser.one_of((_undergoing_thing, _undergoing_thing, _of_quality))
    return describe(chooser, phrase, noun)


def _acting(chooser: Chooser, phrase: NounPhrase, noun: Noun) -> NounPhrase:
    """Who sells the car."""
    tense, _ = chooser.tense(questions=True)
    clause = without_subject(chooser.clause(tense=tense, subject=phrase))
    pronoun = relative_pronoun("nom", phrase.gender)
    return phrase.extended(f"who {clause.english()}", f", {clause.german_subordinate(pronoun)},")


def _undergoing(chooser: Chooser, phrase: NounPhrase, noun: Noun) -> NounPhrase:
    """Whom the woman knows."""
    verbs = [v for v in verbs_by_frame()["transitive"] if "person" in v.objects]
    return _object_relative(chooser, phrase, verbs, "whom", "acc")


def _helped(chooser: Chooser, phrase: NounPhrase, noun: Noun) -> NounPhrase:
    """Whom the woman helps."""
    verbs = [
        v for v in verbs_by_frame()["dative"] if "person" in v.subjects and "person" in v.objects
    ]
    return _object_relative(chooser, phrase, verbs, "whom", "dat")


def _owning(chooser: Chooser, phrase: NounPhrase, noun: Noun) -> NounPhrase:
    """Whose dog is small."""
    owned = chooser.noun(("animal", "vehicle", "clothes", "house"))
    german = relative_pronoun("gen", phrase.gender)
    bare = noun_phrases.noun_phrase(owned, "", adjectives=())
    subject = dataclasses.replace(
        bare, english=f"whose {bare.english}", german={"nom": f"{german} {bare.german['nom']}"}
    )
    adjective = chooser.one_of(modifiers.adjectives_of(owned.kind))
    tense = chooser.one_of(("present", "past"))
    complement = Phrase(adjective.english, adjective.german)
    clause = Clause(subject, None, tense, complement=complement)
    return phrase.extended(clause.english(), f", {clause.german_subordinate('')},")


def _undergoing_thing(chooser: Chooser, phrase: NounPhrase, noun: Noun) -> NounPhrase:
    """That the man bought."""
    verbs = [
        v
        for v in verbs_by_frame()["transitive"]
        if (noun.kind in v.objects or noun.english in v.objects) and "person" in v.subjects
    ]
    if not verbs:
        return _of_quality(chooser, phrase, noun)
    return _object_relative(chooser, phrase, verbs, "that", "acc")


def _object_relative(
    chooser: Chooser, phrase: NounPhrase, verbs: list[Verb], english: str, case: str
) -> NounPhrase:
    tense = chooser.one_of(("present", "present", "past", "past", "past", "want to", "had to"))
    clause = Clause(chooser.subject(("person",)), chooser.one_of(verbs), tense)
    if chooser.chance(0.15):
        clause = dataclasses.replace(clause, time=chooser.time(tense))
    pronoun = relative_pronoun(case, phrase.gender)
    return phrase.extended(
        f"{english} {clause.english()}", f", {clause.german_subordinate(pronoun)},"
    )


def _of_quality(chooser: Chooser, phrase: NounPhrase, noun: Noun) -> NounPhrase:
    """That is new."""
    adjective = chooser.one_of(modifiers.adjectives_of(noun.kind))
    clause = Clause(
        phrase,
        None,
        chooser.one_of(("present", "past")),
        complement=Phrase(adjective.english, adjective.german),
    )
    silent = without_subject(clause)
    pronoun = relative_pronoun("nom", phrase.gender)
    who = "who" if noun.kind == "person" else "that"
    return phrase.extended(f"{who} {silent.english()}", f", {silent.german_subordinate(pronoun)},")
