"""Questions: whether, who, whom, what, where, when, why, how many."""

import dataclasses

from t2t_keras.problems.demo_grammar import inflection
from t2t_keras.problems.demo_grammar.choices import Chooser
from t2t_keras.problems.demo_grammar.clauses import Clause, sentence
from t2t_keras.problems.demo_grammar.noun_phrases import NounPhrase

Pair = tuple[str, str]


def yes_no_question(chooser: Chooser) -> Pair:
    """Did the man buy the car yesterday?"""
    tense, _ = chooser.tense(questions=True)
    clause = chooser.with_adverbials(chooser.clause(tense=tense))
    return sentence(clause.english_question(), "?"), sentence(clause.german_question(), "?")


def adverb_question(chooser: Chooser) -> Pair:
    """Why, when, where, how often."""
    tense, _ = chooser.tense(questions=True)
    clause = chooser.clause(tense=tense)
    asked = chooser.one_of((("why", "warum"), ("when", "wann"), ("how often", "wie oft")))
    if clause.complement is None and clause.place is None and chooser.chance(0.3):
        asked = ("where", "wo")
    return question(clause, *asked)


def where_question(chooser: Chooser) -> Pair:
    """Where does he live? (wo) Where does he go? (wohin)."""
    tense, _ = chooser.tense(questions=True)
    if chooser.chance(0.5):
        clause = dataclasses.replace(chooser.clause(("position",), tense), place=None)
        return question(clause, "where", "wo")
    clause = dataclasses.replace(chooser.clause(("motion",), tense), complement=None)
    return question(clause, "where", "wohin")


def question(clause: Clause, english: str, german: str) -> Pair:
    """The question that opens with a given word.

    Args:
        clause: what is asked about, without the part that is asked for.
        english: English question word.
        german: German question word.
    """
    return (
        sentence(clause.english_question(english), "?"),
        sentence(clause.german_question(german), "?"),
    )


def subject_question(chooser: Chooser) -> Pair:
    """Who ate the apple?"""
    silent = NounPhrase("who", "", {"nom": "wer"}, (3, False), "m")
    tense, _ = chooser.tense(questions=True)
    clause = chooser.with_adverbials(chooser.clause(tense=tense, subject=silent), 0.3)
    return sentence(clause.english(), "?"), sentence(clause.german(), "?")


def object_question(chooser: Chooser) -> Pair:
    """What did he buy? (was) Who did he see? (wen) Who did he help? (wem)."""
    tense, _ = chooser.tense(questions=True)
    if chooser.chance(0.25):
        clause = chooser.clause(("dative",), tense)
        return question(dataclasses.replace(clause, dative=None), "who", "wem")
    while True:
        clause = chooser.clause(("transitive", "separable"), tense)
        assert clause.verb is not None
        kinds = set(clause.verb.objects)
        if kinds <= {"person", "friend", "child", "baby"}:
            return question(dataclasses.replace(clause, accusative=None), "who", "wen")
        if not kinds & {"person", "animal", "baby", "child", "friend"}:
            return question(dataclasses.replace(clause, accusative=None), "what", "was")


def how_many(chooser: Chooser) -> Pair:
    """How many apples did the boy eat?"""
    tense, _ = chooser.tense(questions=True)
    clause = chooser.clause(("transitive",), tense)
    assert clause.verb is not None
    noun = chooser.noun(clause.verb.objects)
    while not noun.countable:
        clause = chooser.clause(("transitive",), tense)
        assert clause.verb is not None
        noun = chooser.noun(clause.verb.objects)
    german = f"wie viele {inflection.noun(noun, 'acc', True)}"
    clause = dataclasses.replace(clause, accusative=None)
    return question(clause, f"how many {noun.english_plural}", german)
