"""Random choice of times, places and directions."""

from collections.abc import Sequence

from t2t_keras.problems.demo_grammar import modifiers, noun_phrases, numbers_dates
from t2t_keras.problems.demo_grammar.modifiers import Phrase
from t2t_keras.problems.demo_grammar.phrases import PhraseChooser
from t2t_keras.problems.demo_grammar.predicates import MODALS
from t2t_keras.problems.demo_grammar.words import Verb

_PLACES = ("room", "building", "outdoors")

FURNITURE_PLACES = (
    ("on", "auf", "table chair bed sofa shelf carpet box"),
    ("under", "unter", "table chair bed sofa"),
    ("behind", "hinter", "door wardrobe sofa box"),
    ("next to", "neben", "bed chair door lamp window table"),
    ("in front of", "vor", "door window wardrobe"),
)
CONTAINERS = ("in", "in", "wardrobe box suitcase bag basket")


class AdverbialChooser(PhraseChooser):
    """Draws adverbials of time and place, and noun phrases."""

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
        noun = self.noun(_PLACES)
        where = self.definite(noun)
        english, german = noun.place
        return Phrase(
            f"{english} {where.english}", noun_phrases.prepositional(german, "dat", where)
        )

    def near_furniture(
        self, case: str, options: Sequence[tuple[str, str, str]] = (*FURNITURE_PLACES, CONTAINERS)
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
