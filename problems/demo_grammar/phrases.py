"""Random choice of noun phrases that make sense."""

import random
from collections.abc import Sequence
from typing import TypeVar

from t2t_keras.problems.demo_grammar import modifiers, noun_phrases, numbers_dates
from t2t_keras.problems.demo_grammar.noun_phrases import NounPhrase
from t2t_keras.problems.demo_grammar.nouns import nouns_by_kind
from t2t_keras.problems.demo_grammar.words import Adjective, Noun

_Item = TypeVar("_Item")

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


class PhraseChooser:
    """Draws noun phrases from the lexicon with one source of chance.

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
