"""Random choice of noun phrases, adverbials and simple clauses that make sense together."""

import dataclasses
import random
from collections.abc import Sequence
from typing import TypeVar

from t2t_keras.problems.demo_grammar import modifiers, noun_phrases, numbers_dates
from t2t_keras.problems.demo_grammar.clauses import Clause
from t2t_keras.problems.demo_grammar.modifiers import Phrase
from t2t_keras.problems.demo_grammar.noun_phrases import NounPhrase
from t2t_keras.problems.demo_grammar.nouns import nouns_by_kind
from t2t_keras.problems.demo_grammar.predicates import MODALS
from t2t_keras.problems.demo_grammar.verbs import verbs_by_frame
from t2t_keras.problems.demo_grammar.words import Adjective, Noun, Verb

_Item = TypeVar("_Item")

PLACES = ("room", "building", "outdoors")

_SINGULAR = ("the",) * 9 + ("a",) * 7 + ("my", "your", "his", "her", "our", "this", "this")
_SINGULAR_POSITIVE = (*_SINGULAR, "every")
_PLURAL = ("the",) * 7 + ("",) * 6 + ("my", "your", "his", "her", "our", "this")
_PLURAL_POSITIVE = (*_PLURAL, "many", "many", "some", "all", "number", "number", "number")
_MASS = ("",) * 6 + ("the",) * 3 + ("my", "our")

_PRONOUNS = (
    ((1, False), "p"),
    ((2, False), "p"),
    ((3, False), "m"),
    ((3, False), "f"),
    ((1, True), "p"),
    ((3, True), "p"),
)

# What has parts or belongings that are said with "of".
_PARTS = (
    ("door window", "house church school castle car bus room kitchen museum"),
    ("boss", "factory hotel restaurant bakery"),
    ("author", "book story poem letter"),
    ("driver", "bus truck taxi train"),
    ("king queen", "island city"),
    ("picture photo", "city village lake mountain castle bridge"),
)
_BELONGINGS = ("thing", "clothes", "vehicle", "text", "animal", "house", "garden")

_FURNITURE_PLACES = (
    ("on", "auf", "table chair bed sofa shelf carpet box"),
    ("under", "unter", "table chair bed sofa"),
    ("behind", "hinter", "door wardrobe sofa box"),
    ("next to", "neben", "bed chair door lamp window table"),
    ("in front of", "vor", "door window wardrobe"),
)
_CONTAINERS = ("in", "in", "wardrobe box suitcase bag basket")
_HANGING = (("next to", "neben", "window door mirror"), ("on", "an", "door"), _CONTAINERS)
_THROWING = (("into", "in", "river lake garden box basket"), ("over", "über", "house bridge"))


class Chooser:
    """Draws phrases and clauses from the lexicon with one source of chance.

    Args:
        rng: the source; equal seeds give equal sentences.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.rng.random() < probability

    def one_of(self, items: Sequence[_Item]) -> _Item:
        """One of the items, all equally likely."""
        return items[int(self.rng.random() * len(items))]

    # Noun phrases

    def noun(self, kinds: Sequence[str]) -> Noun:
        """A noun of one of the kinds; each kind is equally likely."""
        return self.one_of(nouns_by_kind()[self.one_of(kinds)])

    def adjectives(self, kind: str, probability: float = 0.3) -> tuple[Adjective, ...]:
        """No adjective or one; rarely two, of which the second is a color."""
        if not self.chance(probability):
            return ()
        words = modifiers.adjectives_of(kind)
        first = self.one_of(words)
        colors = [word for word in words if word.english in modifiers.COLORS]
        if not colors or first in colors or not self.chance(0.1):
            return (first,)
        return (first, self.one_of(colors))

    def plain_phrase(
        self, noun: Noun, positive: bool = True, plural_probability: float = 0.25
    ) -> NounPhrase:
        """A noun with article and perhaps adjectives.

        Args:
            noun: the noun.
            positive: whether words that a "not" would make ambiguous ("every", "all") are allowed.
            plural_probability: how often in the plural.
        """
        adjectives = self.adjectives(noun.kind)
        if not noun.countable:
            return noun_phrases.noun_phrase(noun, self.one_of(_MASS), adjectives=adjectives)
        if not self.chance(plural_probability):
            determiner = self.one_of(_SINGULAR_POSITIVE if positive else _SINGULAR)
            return noun_phrases.noun_phrase(noun, determiner, adjectives=adjectives)
        determiner = self.one_of(_PLURAL_POSITIVE if positive else _PLURAL)
        if determiner == "number":
            number = numbers_dates.number_words(self.rng.randint(2, 12))
            return noun_phrases.noun_phrase(noun, "", True, adjectives, number)
        return noun_phrases.noun_phrase(noun, determiner, True, adjectives)

    def definite(self, noun: Noun, plural_probability: float = 0.0) -> NounPhrase:
        """A noun with "the" and perhaps adjectives."""
        plural = noun.countable and self.chance(plural_probability)
        adjectives = self.adjectives(noun.kind, 0.25)
        return noun_phrases.noun_phrase(noun, "the", plural, adjectives)

    def phrase(self, kinds: Sequence[str], positive: bool = True) -> NounPhrase:
        """A noun phrase of one of the kinds, sometimes with an owner or an attribute."""
        noun = self.noun(kinds)
        draw = self.rng.random()
        if draw < 0.06 and noun.kind in _BELONGINGS and noun.countable:
            return self._possessed(noun)
        if draw < 0.08 and "thing" in kinds:
            return self._part()
        if draw < 0.05 and noun.kind == "person":
            return self._person_with_attribute(noun)
        return self.plain_phrase(noun, positive)

    def _possessed(self, noun: Noun) -> NounPhrase:
        adjectives = self.adjectives(noun.kind, 0.2)
        if self.chance(0.4):
            names = modifiers.NAMES_OF_MEN + modifiers.NAMES_OF_WOMEN
            return noun_phrases.possessed_by_name(self.one_of(names), noun, adjectives)
        owner = noun_phrases.noun_phrase(
            self.noun(("person",)),
            self.one_of(("the", "the", "my", "our")),
            adjectives=self.adjectives("person", 0.15),
        )
        return noun_phrases.possessed_by(owner, noun, adjectives)

    def _part(self) -> NounPhrase:
        parts, wholes = self.one_of(_PARTS)
        part = self.definite(self.noun(parts.split()))
        return noun_phrases.with_genitive(part, self.definite(self.noun(wholes.split())))

    def _person_with_attribute(self, noun: Noun) -> NounPhrase:
        person = self.definite(noun)
        if self.chance(0.5):
            town = self.one_of(modifiers.TOWNS)
            return person.extended(f"from {town.english}", f"aus {town.german}")
        clothes = self.noun(("clothes", "umbrella", "bag", "suitcase"))
        wearing = noun_phrases.noun_phrase(
            clothes, "the", adjectives=self.adjectives("clothes", 0.6)
        )
        german = noun_phrases.prepositional("mit", "dat", wearing)
        return person.extended(f"with {wearing.english}", german)

    def pronoun(self) -> NounPhrase:
        """Any personal pronoun but "it"."""
        person, gender = self.one_of(_PRONOUNS)
        return noun_phrases.pronoun(person, gender)

    def name(self) -> NounPhrase:
        """A first name."""
        if self.chance(0.5):
            return noun_phrases.name(self.one_of(modifiers.NAMES_OF_MEN), "m")
        return noun_phrases.name(self.one_of(modifiers.NAMES_OF_WOMEN), "f")

    def subject(self, kinds: Sequence[str], positive: bool = True) -> NounPhrase:
        """A subject: pronoun, name or noun phrase."""
        draw = self.rng.random()
        if "person" in kinds:
            if draw < 0.25:
                return self.pronoun()
            if draw < 0.35:
                return self.name()
            if draw < 0.38:
                return noun_phrases.coordinated(self._relative_phrase(), self._relative_phrase())
        if positive and draw > 0.98:
            return noun_phrases.noun_phrase(self.noun(kinds), "no")
        return self.phrase(kinds, positive)

    def _relative_phrase(self) -> NounPhrase:
        determiner = self.one_of(("my", "his", "her", "the"))
        return noun_phrases.noun_phrase(self.noun(("person",)), determiner)

    def object(
        self, kinds: Sequence[str], subject: NounPhrase, positive: bool = True
    ) -> NounPhrase:
        """An object; a pronoun only of another person than the subject's (no "I see me")."""
        if "person" in kinds:
            draw = self.rng.random()
            if draw < 0.2:
                pronoun = self.pronoun()
                if pronoun.person[0] == 3 or pronoun.person[0] != subject.person[0]:
                    return pronoun
            if draw < 0.3:
                named = self.name()
                if named.english not in subject.english:
                    return named
        return self.phrase(kinds, positive)

    # Adverbials

    def time(self, tense: str) -> Phrase:
        """A time that fits the tense."""
        draw = self.rng.random()
        if tense == "past" or (tense in MODALS and MODALS[tense].past):
            if draw < 0.45:
                return self.one_of(modifiers.PAST_TIMES)
            if draw < 0.6:
                return numbers_dates.period_ago(self.rng)
        elif tense == "present":
            if draw < 0.7:
                return self.one_of(modifiers.PRESENT_TIMES)
        elif draw < 0.45:
            return self.one_of(modifiers.FUTURE_TIMES)
        elif draw < 0.55:
            return numbers_dates.period_ahead(self.rng)
        return numbers_dates.point_in_time(self.rng)

    def place(self, furniture: bool = False) -> Phrase:
        """Where: in the garden, am Bahnhof, in Berlin; with furniture also under the table."""
        if furniture and self.chance(0.35):
            return self.near_furniture("dat")
        if self.chance(0.15):
            town = self.one_of(modifiers.TOWNS)
            return Phrase(f"in {town.english}", f"in {town.german}")
        noun = self.noun(PLACES)
        where = self.definite(noun)
        english, german = noun.place
        return Phrase(
            f"{english} {where.english}", noun_phrases.prepositional(german, "dat", where)
        )

    def near_furniture(
        self, case: str, options: Sequence[tuple[str, str, str]] = (*_FURNITURE_PLACES, _CONTAINERS)
    ) -> Phrase:
        """On, under, behind, next to, in: with the dative where, with the accusative whither."""
        english, german, nouns = self.one_of(options)
        thing = self.definite(self.noun(nouns.split()))
        return Phrase(f"{english} {thing.english}", noun_phrases.prepositional(german, case, thing))

    def _direction_from_to(
        self, english: str, german: str, case: str, kinds: Sequence[str]
    ) -> Phrase:
        goal = self.definite(self.noun(kinds))
        return Phrase(f"{english} {goal.english}", noun_phrases.prepositional(german, case, goal))

    def direction(self, verb: Verb) -> Phrase:
        """Whither: into the house, zum Bahnhof, nach Berlin, über die Brücke."""
        if verb.english in ("jump", "climb"):
            options: tuple[tuple[str, str, str, Sequence[str]], ...] = (
                ("onto", "auf", "acc", ("table", "chair", "bed", "box", "sofa", "wardrobe")),
                ("over", "über", "acc", ("box", "chair", "table")),
                ("into", "in", "acc", ("box", "basket", "garden")),
            )
            return self._direction_from_to(*self.one_of(options))
        draw = self.rng.random()
        if draw < 0.15:
            town = self.one_of(modifiers.TOWNS)
            return Phrase(f"to {town.english}", f"nach {town.german}")
        if draw < 0.2:
            return Phrase("home", "nach Hause")
        options = (
            ("into", "in", "acc", ("room", "house", "church", "park", "forest", "city", "museum")),
            ("to", "zu", "dat", ("building", "outdoors")),
            ("to", "zu", "dat", ("building", "outdoors")),
            ("out of", "aus", "dat", ("room", "house", "church", "museum", "forest", "hotel")),
            ("through", "durch", "acc", ("park", "forest", "city", "village", "garden")),
            ("over", "über", "acc", ("bridge", "field")),
            ("around", "um", "acc", ("house", "lake", "church", "castle")),
        )
        return self._direction_from_to(*self.one_of(options))

    # Clauses

    def tense(self, questions: bool = False) -> tuple[str, bool]:
        """A tense or modal verb, and whether the clause is negated."""
        draw = self.rng.random()
        negated = not questions and self.chance(0.16)
        if draw < 0.36:
            return "present", negated
        if draw < 0.68:
            return "past", negated
        if draw < 0.8:
            return "future", negated
        names = [
            key
            for key, modal in MODALS.items()
            if modal.negation != ("never" if negated else "always")
        ]
        return self.one_of(names), negated

    def clause(
        self,
        frames: Sequence[str] | None = None,
        tense: str | None = None,
        positive: bool = False,
        subject: NounPhrase | None = None,
    ) -> Clause:
        """A clause of subject, verb and objects, without adverbials.

        Args:
            frames: frames to choose from; None for the usual mixture.
            tense: the tense; None draws one, and with it the negation.
            positive: whether negation is excluded.
            subject: a given subject; only verbs that persons can do are then chosen.
        """
        drawn, negated = self.tense()
        if tense is not None:
            drawn = tense
        if positive or tense is not None:
            drawn_is_negative = drawn in MODALS and MODALS[drawn].negation == "always"
            drawn, negated = ("present" if drawn_is_negative else drawn), False
        frame = self.one_of(frames or _USUAL_FRAMES)
        verbs = verbs_by_frame()[frame]
        verb = self.one_of(verbs)
        while subject is not None and "person" not in verb.subjects:
            verb = self.one_of(verbs)
        who = subject or self.subject(verb.subjects, positive=not negated)
        return self._complete(frame, verb, Clause(who, verb, drawn, negated))

    def _complete(self, frame: str, verb: Verb, clause: Clause) -> Clause:
        """Adds the objects a frame asks for."""
        who, positive = clause.subject, not clause.negated
        if frame in ("transitive", "separable"):
            return dataclasses.replace(clause, accusative=self.object(verb.objects, who, positive))
        if frame == "dative":
            return dataclasses.replace(clause, dative=self.object(verb.objects, who, positive))
        if frame == "ditransitive":
            return dataclasses.replace(
                clause,
                dative=self.object(("person",), who, positive),
                accusative=self.phrase(verb.objects, positive),
            )
        if frame == "prepositional":
            return self._with_prepositional_object(verb, clause)
        if frame == "position":
            return dataclasses.replace(
                clause, place=self.place(furniture=verb.english in ("sit", "sleep", "stand"))
            )
        if frame == "motion":
            return dataclasses.replace(clause, complement=self.direction(verb))
        if frame == "placement":
            return self._with_placement(verb, clause)
        return clause

    def _with_prepositional_object(self, verb: Verb, clause: Clause) -> Clause:
        german, case = verb.german_preposition.split()
        thing = self.object(verb.objects, clause.subject, not clause.negated)
        complement = Phrase(
            f"{verb.preposition} {thing.english_object}",
            noun_phrases.prepositional(german, case, thing),
        )
        alone = dataclasses.replace(verb, preposition="")
        return dataclasses.replace(clause, verb=alone, complement=complement)

    def _with_placement(self, verb: Verb, clause: Clause) -> Clause:
        thing = self.definite(self.noun(verb.objects), plural_probability=0.2)
        case = "dat" if verb.english == "hide" else "acc"
        options = {"hang": _HANGING, "throw": _THROWING}.get(
            verb.english, (*_FURNITURE_PLACES, _CONTAINERS)
        )
        where = self.near_furniture(case, options)
        return dataclasses.replace(clause, accusative=thing, complement=where)

    def with_adverbials(self, clause: Clause, time_probability: float = 0.45) -> Clause:
        """Adds time, frequency, manner or place to some clauses."""
        draw = self.rng.random()
        if self.chance(time_probability):
            clause = dataclasses.replace(clause, time=self.time(clause.tense))
        elif draw < 0.12 and not clause.negated and not clause.subject.english.startswith("no "):
            clause = dataclasses.replace(clause, frequency=self.one_of(modifiers.FREQUENCIES))
        elif draw < 0.2 and clause.tense == "past" and self._lasts(clause):
            clause = dataclasses.replace(clause, time=numbers_dates.duration(self.rng))
        if clause.complement is None and clause.place is None:
            draw = self.rng.random()
            if draw < 0.12:
                clause = dataclasses.replace(clause, place=self.place())
            elif draw < 0.2 and self._takes_manner(clause):
                clause = dataclasses.replace(clause, manner=self.one_of(modifiers.MANNERS))
        return clause

    def _lasts(self, clause: Clause) -> bool:
        return clause.verb is not None and clause.verb.english in (
            "sleep",
            "work",
            "dance",
            "wait",
            "play",
            "travel",
            "swim",
            "cook",
            "sing",
        )

    def _takes_manner(self, clause: Clause) -> bool:
        return clause.verb is not None and clause.verb.english in (
            "sing",
            "work",
            "dance",
            "eat",
            "drink",
            "cook",
            "clean",
            "write",
            "play",
            "wash",
            "paint",
            "laugh",
            "travel",
            "swim",
            "repair",
            "open",
            "close",
            "learn",
            "solve",
        )


_USUAL_FRAMES = (
    ("transitive",) * 9
    + ("separable",) * 4
    + ("dative",) * 3
    + ("ditransitive",) * 3
    + ("prepositional",) * 3
    + ("intransitive",) * 3
    + ("position",) * 2
    + ("motion",) * 3
    + ("placement",) * 2
)
