"""Clauses of both languages and the order of their parts.

English order is subject, verb, objects, the rest. German puts the finite verb second in main
clauses, first in questions, last in subordinate clauses, and everything else in the middle field.
"""

import dataclasses
import re

from t2t_keras.problems.demo_grammar import inflection, predicates
from t2t_keras.problems.demo_grammar.modifiers import Phrase
from t2t_keras.problems.demo_grammar.noun_phrases import NounPhrase
from t2t_keras.problems.demo_grammar.words import Verb


@dataclasses.dataclass(frozen=True)
class Clause:
    """One clause, in any order and both languages.

    Attributes:
        subject: who.
        verb: the verb; None is "be" with a ``complement``.
        tense: "present", "past", "future" or a key of ``predicates.MODALS``.
        negated: whether with "not".
        dative: indirect object, or the object of verbs like helfen.
        accusative: direct object.
        time: when, or None.
        frequency: how often; English puts it before the verb.
        manner: how.
        place: where; never negated away from its verb.
        complement: predicate of "be", direction, or object with preposition.
    """

    subject: NounPhrase
    verb: Verb | None
    tense: str = "present"
    negated: bool = False
    dative: NounPhrase | None = None
    accusative: NounPhrase | None = None
    time: Phrase | None = None
    frequency: Phrase | None = None
    manner: Phrase | None = None
    place: Phrase | None = None
    complement: Phrase | None = None

    # English

    def _english_predicate(self) -> predicates.EnglishPredicate:
        if self.verb is None:
            return predicates.english_be_predicate(self.subject.person, self.tense)
        return predicates.english_predicate(self.verb, self.subject.person, self.tense)

    def _english_objects(self) -> list[str]:
        """Objects with the verb's particle and preposition."""
        verb = self.verb
        if verb is None:
            return []
        objects = [p for p in (self.dative, self.accusative) if p is not None]
        words = [p.english_object for p in objects]
        if verb.preposition:
            # In questions and relative clauses the object is gone and the preposition stays.
            words = words or [""]
            words[-1] = f"{verb.preposition} {words[-1]}".strip()
        if not verb.particle:
            return words
        # "pick up the child", but "pick him up".
        if not verb.preposition and objects and objects[-1].pronoun:
            return [*words, verb.particle]
        return [verb.particle, *words]

    def english_end(self, with_time: bool = True) -> str:
        """What follows the English verb."""
        words = self._english_objects()
        words += [p.english for p in (self.complement, self.manner, self.place) if p is not None]
        if with_time and self.time is not None:
            words.append(self.time.english)
        return " ".join(words)

    def english(self, time_first: bool = False) -> str:
        """Statement."""
        predicate = self._english_predicate()
        verb_words = predicate.statement(self.negated)
        if self.frequency is not None:
            verb_words = self._with_frequency(predicate, self.frequency.english)
        words = [self.subject.english, verb_words, self.english_end(not time_first)]
        if time_first and self.time is not None:
            words.insert(0, self.time.english)
        return " ".join(word for word in words if word)

    def _with_frequency(self, predicate: predicates.EnglishPredicate, frequency: str) -> str:
        """Puts an adverb in: often eats, is often, can often eat."""
        if predicate.plain.startswith(predicate.auxiliary + " ") or not predicate.rest:
            return f"{predicate.auxiliary} {frequency} {predicate.rest}".strip()
        return f"{frequency} {predicate.plain}"

    def english_question(self, asked: str = "") -> str:
        """Question, with a question word in front if ``asked`` is one."""
        predicate = self._english_predicate()
        frequency = self.frequency.english if self.frequency is not None else ""
        words = [asked, predicate.auxiliary, self.subject.english, frequency]
        words += ["not" if self.negated else "", predicate.rest, self.english_end()]
        return " ".join(word for word in words if word)

    def english_infinitive(self) -> str:
        """Infinitive clause: to eat the apple."""
        assert self.verb is not None
        return " ".join(word for word in ("to", self.verb.english, self.english_end()) if word)

    # German

    def _german_predicate(self) -> predicates.GermanPredicate:
        if self.verb is None:
            return predicates.german_be_predicate(self.subject.person, self.tense)
        return predicates.german_predicate(self.verb, self.subject.person, self.tense)

    def _german_objects(self) -> tuple[list[str], list[str], bool]:
        """Pronouns, other objects, and whether "kein" has taken the negation.

        Pronouns come first, the accusative before the dative; of nouns the dative comes first.
        """
        pronouns: list[str] = []
        nouns: list[str] = []
        negated_by_article = False
        for case, phrase in (("acc", self.accusative), ("dat", self.dative)):
            if phrase is None:
                continue
            if phrase.pronoun:
                pronouns.append(phrase.german[case])
            elif self.negated and phrase.german_negated and case == "acc":
                nouns.insert(0, phrase.german_negated[case])
                negated_by_article = True
            else:
                nouns.insert(0, phrase.german[case])
        if self.verb is not None and self.verb.reflexive:
            pronouns.append(inflection.reflexive_pronoun(self.subject.person))
        return pronouns, nouns, negated_by_article

    def german_middle(self, with_time: bool = True) -> str:
        """The middle field, between the finite verb (or conjunction and subject) and the end."""
        pronouns, nouns, negated_by_article = self._german_objects()
        says_not = self.negated and not negated_by_article
        times = [self.time.german] if with_time and self.time is not None else []
        if self.frequency is not None:
            times.append(self.frequency.german)
        # What is denied stands before "nicht": "Er kauft das Auto heute nicht."
        words = [*pronouns, *nouns, *times] if says_not else [*pronouns, *times, *nouns]
        if says_not:
            words.append("nicht")
        words += [p.german for p in (self.manner, self.place, self.complement) if p is not None]
        return " ".join(words)

    def german(self, front: str = "", time_first: bool = False) -> str:
        """Main clause; with something in front, the subject follows the verb."""
        predicate = self._german_predicate()
        middle = self.german_middle(with_time=not time_first)
        if time_first and self.time is not None:
            front = self.time.german
        subject = self.subject.german["nom"]
        first = [front, predicate.finite, subject] if front else [subject, predicate.finite]
        return " ".join(word for word in (*first, middle, predicate.end) if word)

    def german_question(self, asked: str = "") -> str:
        """Question: the finite verb first, or after the question word."""
        predicate = self._german_predicate()
        words = [asked, predicate.finite, self.subject.german["nom"], self.german_middle()]
        return " ".join(word for word in (*words, predicate.end) if word)

    def german_subordinate(self, conjunction: str) -> str:
        """Clause with the verb at its end, opened by a conjunction or relative pronoun."""
        words = [conjunction, self.subject.german["nom"], self.german_middle()]
        return " ".join(word for word in (*words, self._german_predicate().glued) if word)

    def german_infinitive(self) -> str:
        """Infinitive clause: "den Apfel zu essen"."""
        assert self.verb is not None
        infinitive = predicates.german_infinitive_with_to(self.verb)
        return " ".join(word for word in (self.german_middle(), infinitive) if word)


# A missing subject: in relative clauses and after "who" the pronoun itself is the subject.
def without_subject(clause: Clause) -> Clause:
    """The clause with an empty subject of the same person."""
    subject = clause.subject
    silent = dataclasses.replace(
        subject, english="", german=dict.fromkeys(subject.german, ""), german_negated={}
    )
    return dataclasses.replace(clause, subject=silent)


def sentence(text: str, end: str = ".") -> str:
    """Capital, full stop, and commas put right: at most one, none before the end."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\s*,", ",", text)
    text = re.sub(r",(\s*,)+", ",", text)
    text = re.sub(r",(?=[^\W\d])", ", ", text)
    text = text.rstrip(" ,") + end
    return text[0].upper() + text[1:]
