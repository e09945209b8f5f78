"""Noun phrases of both languages: articles, adjectives, attributes, pronouns, names."""

import dataclasses

from t2t_keras.problems.demo_grammar import inflection
from t2t_keras.problems.demo_grammar.inflection import Person
from t2t_keras.problems.demo_grammar.words import Adjective, Noun, indefinite_article

# Preposition and article in one word.
_CONTRACTIONS = {
    "in dem ": "im ",
    "in das ": "ins ",
    "an dem ": "am ",
    "an das ": "ans ",
    "zu dem ": "zum ",
    "zu der ": "zur ",
    "von dem ": "vom ",
    "bei dem ": "beim ",
}

_POSSESSIVES = {"my": "mein", "your": "dein", "his": "sein", "her": "ihr", "our": "unser"}

_ENGLISH_PRONOUNS = {
    (1, False): ("I", "me"),
    (2, False): ("you", "you"),
    (1, True): ("we", "us"),
    (3, True): ("they", "them"),
}
_ENGLISH_THIRD = {"m": ("he", "him"), "f": ("she", "her")}


@dataclasses.dataclass(frozen=True)
class NounPhrase:
    """Something that can be subject or object.

    Attributes:
        english: as a subject.
        english_object: as an object.
        german: by case.
        person: number of the person, and whether plural.
        gender: "m", "f", "n" or "p" for the plural.
        pronoun: whether it is a personal pronoun.
        german_negated: with "kein", by case; empty where the negation is "nicht".
    """

    english: str
    english_object: str
    german: dict[str, str]
    person: Person
    gender: str
    pronoun: bool = False
    german_negated: dict[str, str] = dataclasses.field(default_factory=dict)

    def extended(self, english: str, german: str) -> "NounPhrase":
        """The same with an attribute behind it: "of the house", ", der schläft,"."""
        return dataclasses.replace(
            self,
            english=f"{self.english} {english}",
            english_object=f"{self.english_object} {english}",
            german={case: f"{form} {german}" for case, form in self.german.items()},
            german_negated={c: f"{form} {german}" for c, form in self.german_negated.items()},
        )


def _decline(
    noun: Noun,
    plural: bool,
    adjectives: tuple[Adjective, ...],
    article: dict[str, str],
    declension: str,
) -> dict[str, str]:
    """All cases of article, adjectives and noun; articles may be empty."""
    gender = "p" if plural else noun.gender
    forms = {}
    for case in ("nom", "acc", "dat", "gen"):
        words = [article[case]]
        words += [inflection.adjective(a, case, gender, declension) for a in adjectives]
        words.append(inflection.noun(noun, case, plural))
        forms[case] = " ".join(word for word in words if word)
    return forms


def _articles(determiner: str, gender: str) -> tuple[dict[str, str], str]:
    """German forms of an English determiner by case, and the adjectives' declension after it."""
    cases = ("nom", "acc", "dat", "gen")
    if determiner == "the":
        return {c: inflection.definite_article(c, gender) for c in cases}, "weak"
    if determiner in ("this", "every"):
        stem = {"this": "dies", "every": "jed"}[determiner]
        return {c: inflection.like_dieser(stem, c, gender) for c in cases}, "weak"
    if determiner == "all":
        return {c: inflection.like_dieser("all", c, gender) for c in cases}, "weak"
    if determiner in ("many", "some"):
        stem = {"many": "viel", "some": "einig"}[determiner]
        return {c: inflection.like_dieser(stem, c, gender) for c in cases}, "strong"
    if determiner in _POSSESSIVES:
        stem = _POSSESSIVES[determiner]
        return {c: inflection.like_ein(stem, c, gender) for c in cases}, "mixed"
    if determiner == "no":
        return {c: inflection.like_ein("kein", c, gender) for c in cases}, "mixed"
    if determiner == "a" and gender != "p":
        return {c: inflection.like_ein("ein", c, gender) for c in cases}, "mixed"
    return dict.fromkeys(cases, ""), "strong"


def noun_phrase(
    noun: Noun,
    determiner: str,
    plural: bool = False,
    adjectives: tuple[Adjective, ...] = (),
    numeral: tuple[str, str] | None = None,
) -> NounPhrase:
    """Builds a noun phrase.

    Args:
        noun: the noun.
        determiner: "the", "a", "this", "every", "all", "many", "some", "no", a possessive such as
            "my", or "" for none; "a" with a plural or a mass noun is none.
        plural: whether in the plural.
        adjectives: what comes between.
        numeral: English and German number, only without determiner.

    Returns:
        The phrase in all cases.
    """
    gender = "p" if plural else noun.gender
    indefinite = determiner in ("a", "") and numeral is None
    if determiner == "a" and not noun.countable:
        determiner = ""
    articles, declension = _articles(determiner, gender)
    german = _decline(noun, plural, adjectives, articles, declension)
    negated = {}
    if indefinite:
        negated = _decline(noun, plural, adjectives, *_articles("no", gender))
    if numeral:
        german = {case: f"{numeral[1]} {form}" for case, form in german.items()}

    words = [a.english for a in adjectives] + [noun.english_plural if plural else noun.english]
    english_determiner = determiner
    if determiner == "a":
        english_determiner = "" if plural else indefinite_article(words[0])
    elif determiner == "this" and plural:
        english_determiner = "these"
    english = " ".join(
        word for word in (english_determiner, numeral[0] if numeral else "", *words) if word
    )
    return NounPhrase(english, english, german, (3, plural), gender, german_negated=negated)


def pronoun(person: Person, gender: str = "p") -> NounPhrase:
    """A personal pronoun; the gender counts in the third person singular."""
    third = person == (3, False)
    subject, object_form = _ENGLISH_THIRD[gender] if third else _ENGLISH_PRONOUNS[person]
    german = {c: inflection.personal_pronoun(c, person, gender) for c in ("nom", "acc", "dat")}
    return NounPhrase(subject, object_form, german, person, gender, pronoun=True)


def pronoun_for(antecedent: NounPhrase) -> NounPhrase:
    """It or them, for a thing named before: English has one word, German asks its gender."""
    plural = antecedent.person[1]
    german = {
        case: inflection.personal_pronoun(case, (3, plural), antecedent.gender)
        for case in ("nom", "acc", "dat")
    }
    subject, object_form = ("they", "them") if plural else ("it", "it")
    return NounPhrase(subject, object_form, german, (3, plural), antecedent.gender, pronoun=True)


def name(word: str, gender: str) -> NounPhrase:
    """A first name."""
    german = dict.fromkeys(("nom", "acc", "dat"), word)
    german["gen"] = word + ("'" if word.endswith(("s", "x", "z")) else "s")
    return NounPhrase(word, word, german, (3, False), gender)


def coordinated(first: NounPhrase, second: NounPhrase) -> NounPhrase:
    """Two joined: the man and the woman."""
    german = {c: f"{first.german[c]} und {second.german[c]}" for c in ("nom", "acc", "dat")}
    return NounPhrase(
        english=f"{first.english} and {second.english}",
        english_object=f"{first.english_object} and {second.english_object}",
        german=german,
        person=(3, True),
        gender="p",
    )


def with_genitive(owned: NounPhrase, owner: NounPhrase) -> NounPhrase:
    """One of the other: the door of the house, die Tür des Hauses."""
    return owned.extended(f"of {owner.english}", owner.german["gen"])


def possessed_by_name(owner: str, noun: Noun, adjectives: tuple[Adjective, ...]) -> NounPhrase:
    """Something of a person with a name: Anna's new car, Annas neues Auto."""
    german = _decline(noun, False, adjectives, *_articles("", noun.gender))
    genitive = name(owner, "").german["gen"]
    english = " ".join([f"{owner}'s", *(a.english for a in adjectives), noun.english])
    return NounPhrase(
        english, english, {c: f"{genitive} {f}" for c, f in german.items()}, (3, False), noun.gender
    )


def possessed_by(owner: NounPhrase, noun: Noun, adjectives: tuple[Adjective, ...]) -> NounPhrase:
    """Something of somebody: the old man's car, das Auto des alten Mannes."""
    owned = noun_phrase(noun, "the", adjectives=adjectives)
    words = [f"{owner.english}'s", *(a.english for a in adjectives), noun.english]
    english = " ".join(words)
    german = {case: f"{form} {owner.german['gen']}" for case, form in owned.german.items()}
    return NounPhrase(english, english, german, (3, False), noun.gender)


def prepositional(preposition: str, case: str, phrase: NounPhrase) -> str:
    """German preposition with its object; preposition and article contract (im, zur, ans)."""
    text = f"{preposition} {phrase.german[case]}"
    for long_form, short_form in _CONTRACTIONS.items():
        if text.startswith(long_form):
            return short_form + text[len(long_form) :]
    return text
