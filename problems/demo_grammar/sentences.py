"""What the grammar says: one function a kind of sentence.

Each takes a ``Chooser`` and returns an English sentence with its German translation.
"""

import dataclasses
from collections.abc import Callable

from t2t_keras.problems.demo_grammar import inflection, modifiers, noun_phrases, numbers_dates
from t2t_keras.problems.demo_grammar.choices import Chooser
from t2t_keras.problems.demo_grammar.clauses import Clause, sentence
from t2t_keras.problems.demo_grammar.modifiers import Phrase
from t2t_keras.problems.demo_grammar.questions import (
    adverb_question,
    how_many,
    object_question,
    question,
    subject_question,
    where_question,
    yes_no_question,
)
from t2t_keras.problems.demo_grammar.subordination import (
    fixed_condition,
    infinitive_sentence,
    purpose_sentence,
    relative_phrase,
    reported_sentence,
    subordinate_sentence,
)
from t2t_keras.problems.demo_grammar.verbs import verbs_by_frame

Pair = tuple[str, str]

_NOT_COMPARED = (*modifiers.COLORS, "broken")
_COMPARED_KINDS = ("person", "animal", "vehicle", "building", "clothes", "text", "room")
_PROFESSIONS = (
    "teacher doctor baker farmer student policeman cook waiter painter judge soldier engineer "
    "gardener hunter musician lawyer"
)


def statement(chooser: Chooser) -> Pair:
    """The man does not help the child today."""
    clause = chooser.with_adverbials(chooser.clause())
    time_first = clause.time is not None and chooser.chance(0.45)
    return sentence(clause.english(time_first)), sentence(clause.german(time_first=time_first))


def quality(chooser: Chooser) -> Pair:
    """The new car was very expensive last year."""
    clause = _quality_clause(chooser)
    time_first = clause.time is not None and chooser.chance(0.4)
    return sentence(clause.english(time_first)), sentence(clause.german(time_first=time_first))


def _quality_clause(chooser: Chooser) -> Clause:
    kind = chooser.one_of((*_COMPARED_KINDS, "food", "thing", "furniture", "idea", "event"))
    who = chooser.subject((kind,), positive=False)
    adjective = chooser.one_of(modifiers.adjectives_of(kind))
    degree = chooser.one_of((Phrase("", ""),) * 4 + (Phrase("very", "sehr"), Phrase("too", "zu")))
    tense = chooser.one_of(("present", "present", "past"))
    time = chooser.time(tense) if chooser.chance(0.25) else None
    complement = Phrase(
        f"{degree.english} {adjective.english}".strip(),
        f"{degree.german} {adjective.german}".strip(),
    )
    negated = chooser.chance(0.2)
    return Clause(who, None, tense, negated, time=time, complement=complement)


def comparison(chooser: Chooser) -> Pair:
    """The cat is smaller than the dog; the cat is not as big as the dog."""
    kind = chooser.one_of(_COMPARED_KINDS)
    first, second = (
        chooser.subject((kind,), positive=False),
        chooser.definite(chooser.noun((kind,))),
    )
    words = [a for a in modifiers.adjectives_of(kind) if a.english not in _NOT_COMPARED]
    adjective = chooser.one_of(words)
    than = second.german["nom"]
    if chooser.chance(0.65):
        english = f"{adjective.english_comparative} than {second.english}"
        clause = Clause(
            first, None, complement=Phrase(english, f"{adjective.comparative} als {than}")
        )
    else:
        clause = Clause(
            first,
            None,
            negated=chooser.chance(0.5),
            complement=Phrase(
                f"as {adjective.english} as {second.english}", f"so {adjective.german} wie {than}"
            ),
        )
    return sentence(clause.english()), sentence(clause.german())


def profession(chooser: Chooser) -> Pair:
    """My brother is a teacher (ist Lehrer); he is a good teacher (ein guter Lehrer)."""
    noun = chooser.noun(_PROFESSIONS.split())
    male = "man father brother son uncle grandfather neighbor friend boy"
    who = chooser.one_of(
        (
            noun_phrases.pronoun((3, False), "m"),
            chooser.plain_phrase(chooser.noun(male.split()), False, 0.0),
            noun_phrases.name(chooser.one_of(modifiers.NAMES_OF_MEN), "m"),
        )
    )
    tense = chooser.one_of(("present", "past"))
    described = noun_phrases.noun_phrase(noun, "a", adjectives=chooser.adjectives("person", 0.5))
    bare = described.english.count(" ") == 1
    german = inflection.noun(noun, "nom", False) if bare else described.german["nom"]
    clause = Clause(who, None, tense, complement=Phrase(described.english, german))
    return sentence(clause.english()), sentence(clause.german())


def price(chooser: Chooser) -> Pair:
    """This car costs 2,500 euros."""
    thing = chooser.plain_phrase(
        chooser.noun(("thing", "vehicle", "clothes", "furniture", "food")), False, 0.2
    )
    digits = (
        chooser.rng.randint(2, 999) if chooser.chance(0.6) else chooser.rng.randint(10, 99) * 100
    )
    english, german = numbers_dates.grouped_digits(digits)
    cost = "cost" if thing.person[1] else "costs"
    verb = inflection.present("kosten", thing.person)
    return (
        sentence(f"{thing.english} {cost} {english} euros"),
        sentence(f"{thing.german['nom']} {verb} {german} Euro"),
    )


def age(chooser: Chooser) -> Pair:
    """My sister is twenty-three years old."""
    who = chooser.subject((chooser.one_of(("person", "person", "animal", "building")),), False)
    if chooser.chance(0.1):
        clause = Clause(who, None)
        return question(clause, "how old", "wie alt")
    value = chooser.rng.randint(2, 99)
    english, german = numbers_dates.number_words(value)
    tense = chooser.one_of(("present", "present", "past"))
    complement = Phrase(f"{english} years old", f"{german} Jahre alt")
    clause = Clause(who, None, tense, complement=complement)
    return sentence(clause.english()), sentence(clause.german())


def distance(chooser: Chooser) -> Pair:
    """The village is 2.5 kilometers from the lake."""
    nouns = [chooser.noun(("building", "outdoors")) for _ in range(2)]
    while nouns[0] == nouns[1]:
        nouns[1] = chooser.noun(("building", "outdoors"))
    first, second = (chooser.definite(noun) for noun in nouns)
    english, german = numbers_dates.decimal_digits(chooser.rng.randint(11, 99))
    origin = noun_phrases.prepositional("von", "dat", second)
    return (
        sentence(f"{first.english} is {english} kilometers from {second.english}"),
        sentence(f"{first.german['nom']} ist {german} Kilometer {origin} entfernt"),
    )


def existence(chooser: Chooser) -> Pair:
    """There are three cats in the garden."""
    noun = chooser.noun(("animal", "person", "thing", "furniture", "food"))
    adjectives = chooser.adjectives(noun.kind)
    plural = noun.countable and chooser.chance(0.6)
    determiner, numeral = "a", None
    if plural:
        determiner = chooser.one_of(("many", "some", "no", ""))
        if not determiner:
            numeral = numbers_dates.number_words(chooser.rng.randint(2, 12))
    thing = noun_phrases.noun_phrase(noun, determiner, plural, adjectives, numeral)
    place, past = chooser.place(), chooser.chance(0.3)
    be = inflection.english_be((3, plural), past)
    return (
        sentence(f"there {be} {thing.english} {place.english}"),
        sentence(f"es {'gab' if past else 'gibt'} {thing.german['acc']} {place.german}"),
    )


def passive(chooser: Chooser) -> Pair:
    """The bridge was built in 1924."""
    verbs = [v for v in verbs_by_frame()["transitive"] if v.english in _PASSIVE_VERBS]
    verb = chooser.one_of(verbs)
    thing = chooser.plain_phrase(chooser.noun(verb.objects), False)
    time = numbers_dates.year_phrase(chooser.rng) if chooser.chance(0.5) else chooser.time("past")
    negated = chooser.chance(0.15) and not thing.german_negated
    nicht, word_not = (" nicht", " not") if negated else ("", "")
    be = inflection.english_be(thing.person, past=True)
    finite = inflection.preterite("werden", thing.person)
    return (
        sentence(f"{thing.english} {be}{word_not} {verb.english_participle} {time.english}"),
        sentence(f"{thing.german['nom']} {finite} {time.german}{nicht} {verb.participle}"),
    )


_PASSIVE_VERBS = (
    "build repair steal sell buy find write clean wash open discover break use bake"
).split()


def because_of(chooser: Chooser) -> Pair:
    """Because of the rain, the children stay at home: wegen, während, trotz with the genitive."""
    english, german = chooser.one_of(
        (("because of", "wegen"), ("despite", "trotz"), ("during", "während"))
    )
    kind = "event" if english == "during" else "cause"
    cause = chooser.definite(chooser.noun((kind,)))
    clause = chooser.clause()
    front = f"{german} {cause.german['gen']}"
    return (
        sentence(f"{english} {cause.english}, {clause.english()}"),
        sentence(clause.german(front=front)),
    )


def coordination(chooser: Chooser) -> Pair:
    """The man cooks and the woman sings; the dog barks, but the cat sleeps."""
    tense, _ = chooser.tense(questions=True)
    first, second = chooser.clause(tense=tense), chooser.clause(tense=tense)
    if chooser.chance(0.5):
        english, german = " and", " und"
    else:
        english, german = ", but", ", aber"
    return (
        sentence(f"{first.english()}{english} {second.english()}"),
        sentence(f"{first.german()}{german} {second.german()}"),
    )


def antecedent(chooser: Chooser) -> Pair:
    """The man buys the lamp because it is cheap: "it" takes the gender of its noun."""
    verb = chooser.one_of([v for v in verbs_by_frame()["transitive"] if v.english in _HANDLING])
    noun = chooser.noun(("thing", "clothes", "vehicle", "furniture"))
    thing = noun_phrases.noun_phrase(
        noun, "the", chooser.chance(0.25), chooser.adjectives(noun.kind, 0.15)
    )
    it = noun_phrases.pronoun_for(thing)
    adjective = chooser.one_of(modifiers.adjectives_of(noun.kind))
    tense = chooser.one_of(("present", "past"))
    quality_of = Clause(thing, None, tense, complement=Phrase(adjective.english, adjective.german))
    who = chooser.subject(("person",))
    while who.english == "they":
        who = chooser.subject(("person",))
    act = Clause(who, verb, tense)
    if chooser.chance(0.5):
        act = dataclasses.replace(act, accusative=thing)
        reason = dataclasses.replace(quality_of, subject=it)
        return (
            sentence(f"{act.english()} because {reason.english()}"),
            sentence(f"{act.german()}, {reason.german_subordinate('weil')}"),
        )
    act = dataclasses.replace(act, accusative=it)
    front = quality_of.german_subordinate("weil") + ","
    return (
        sentence(f"because {quality_of.english()}, {act.english()}"),
        sentence(act.german(front=front)),
    )


_HANDLING = "buy sell need look find paint see photograph".split()


def relative_subject(chooser: Chooser) -> Pair:
    """The man who sold the car lives in the village."""
    noun = chooser.noun(("person", "person", "animal"))
    who = relative_phrase(chooser, noun)
    if noun.kind == "person":
        clause = chooser.clause(subject=who)
        return sentence(clause.english()), sentence(clause.german())
    adjective = chooser.one_of(modifiers.adjectives_of(noun.kind))
    clause = Clause(who, None, complement=Phrase(adjective.english, adjective.german))
    return sentence(clause.english()), sentence(clause.german())


def relative_object(chooser: Chooser) -> Pair:
    """The woman knows the man who sold the car."""
    tense, _ = chooser.tense(questions=True)
    clause = chooser.clause(("transitive", "separable"), tense)
    assert clause.verb is not None
    noun = chooser.noun(clause.verb.objects)
    clause = dataclasses.replace(clause, accusative=relative_phrase(chooser, noun))
    return sentence(clause.english()), sentence(clause.german())


def thing_described(chooser: Chooser) -> Pair:
    """The car that the man bought is expensive."""
    noun = chooser.noun(("thing", "vehicle", "clothes", "food", "text"))
    thing = relative_phrase(chooser, noun)
    adjective = chooser.one_of(modifiers.adjectives_of(noun.kind))
    tense = chooser.one_of(("present", "past"))
    clause = Clause(thing, None, tense, complement=Phrase(adjective.english, adjective.german))
    return sentence(clause.english()), sentence(clause.german())


def condition(chooser: Chooser) -> Pair:
    """If it rains, the boy stays at home."""
    english, german, tense = fixed_condition(chooser)
    clause = chooser.clause(tense=tense)
    if chooser.chance(0.5):
        return (
            sentence(f"{english}, {clause.english()}"),
            sentence(clause.german(front=german + ",")),
        )
    return sentence(f"{clause.english()} {english}"), sentence(f"{clause.german()}, {german}")


def location(chooser: Chooser) -> Pair:
    """The key is under the table; where is the key?"""
    noun = chooser.noun(("thing", "animal", "person", "clothes"))
    who = chooser.definite(noun, 0.2)
    tense = chooser.one_of(("present", "present", "past"))
    if chooser.chance(0.1):
        return question(Clause(who, None, tense), "where", "wo")
    place = chooser.place(furniture=True)
    clause = Clause(who, None, tense, negated=chooser.chance(0.15), complement=place)
    return sentence(clause.english()), sentence(clause.german())


# How often each kind of sentence is drawn.
KINDS: tuple[tuple[Callable[[Chooser], Pair], int], ...] = (
    (statement, 36),
    (yes_no_question, 7),
    (adverb_question, 4),
    (where_question, 1),
    (subject_question, 3),
    (object_question, 3),
    (how_many, 2),
    (quality, 5),
    (comparison, 3),
    (profession, 1),
    (price, 2),
    (age, 2),
    (distance, 1),
    (existence, 2),
    (location, 2),
    (passive, 3),
    (because_of, 3),
    (coordination, 3),
    (antecedent, 3),
    (relative_subject, 3),
    (relative_object, 4),
    (thing_described, 2),
    (condition, 2),
    (subordinate_sentence, 7),
    (reported_sentence, 5),
    (infinitive_sentence, 4),
    (purpose_sentence, 3),
)
