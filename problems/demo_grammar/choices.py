"""Random choice of clauses whose parts make sense together."""

import dataclasses
from collections.abc import Sequence

from t2t_keras.problems.demo_grammar import modifiers, noun_phrases, numbers_dates
from t2t_keras.problems.demo_grammar.adverbials import (
    CONTAINERS,
    FURNITURE_PLACES,
    AdverbialChooser,
)
from t2t_keras.problems.demo_grammar.clauses import Clause
from t2t_keras.problems.demo_grammar.modifiers import Phrase
from t2t_keras.problems.demo_grammar.noun_phrases import NounPhrase
from t2t_keras.problems.demo_grammar.predicates import MODALS
from t2t_keras.problems.demo_grammar.verbs import verbs_by_frame
from t2t_keras.problems.demo_grammar.words import Verb

_HANGING = (("next to", "neben", "window door mirror"), ("on", "an", "door"), CONTAINERS)
_THROWING = (("into", "in", "river lake garden box basket"), ("over", "über", "house bridge"))

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


class Chooser(AdverbialChooser):
    """Draws clauses, adverbials and noun phrases."""

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
            verb.english, (*FURNITURE_PLACES, CONTAINERS)
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
