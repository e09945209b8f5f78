"""The demo's corpus: splits, one translation for each sentence, and the German itself."""

import random
import re

import pytest

from t2t_keras import registry
from t2t_keras.problems.demo_grammar import (
    clauses,
    corpus,
    inflection,
    modifiers,
    noun_phrases,
    numbers_dates,
    sentences,
)
from t2t_keras.problems.demo_grammar.choices import Chooser
from t2t_keras.problems.demo_grammar.clauses import Clause
from t2t_keras.problems.demo_grammar.modifiers import Phrase
from t2t_keras.problems.demo_grammar.nouns import nouns_by_kind
from t2t_keras.problems.demo_grammar.verbs import verbs_by_frame

CASES = ("nom", "acc", "dat", "gen")


def noun(english):
    nouns = (n for kind in nouns_by_kind().values() for n in kind)
    return next(n for n in nouns if n.english == english)


def verb(frame, english, particle=""):
    return next(
        v for v in verbs_by_frame()[frame] if (v.english, v.particle) == (english, particle)
    )


def adjective(english):
    kinds = ("person", "animal", "thing", "food", "text", "room")
    words = (a for kind in kinds for a in modifiers.adjectives_of(kind))
    return next(a for a in words if a.english == english)


def phrase(determiner, english, *adjectives, plural=False):
    words = tuple(adjective(a) for a in adjectives)
    return noun_phrases.noun_phrase(noun(english), determiner, plural, words)


HE = noun_phrases.pronoun((3, False), "m")
I = noun_phrases.pronoun((1, False))  # noqa: E741

# The corpus


def test_splits_are_disjoint_in_both_languages():
    splits = corpus.splits()
    assert {name: len(pairs) for name, pairs in splits.items()} == {
        "train": corpus.NUM_TRAIN,
        "dev": corpus.NUM_DEV,
        "test": corpus.NUM_TEST,
    }
    for side in (0, 1):
        together = [pair[side].lower() for pairs in splits.values() for pair in pairs]
        assert len(together) == len(set(together))


def test_same_sentences_every_time():
    choosers = (Chooser(random.Random(3)) for _ in range(2))
    first, second = ([corpus.random_pair(chooser) for _ in range(50)] for chooser in choosers)
    assert first == second


def test_translation_is_a_function_of_the_source():
    chooser = Chooser(random.Random(5))
    translations = {}
    for _ in range(15_000):
        english, german = corpus.random_pair(chooser)
        assert translations.setdefault(english, german) == german


def test_every_kind_of_sentence_is_well_formed():
    chooser = Chooser(random.Random(7))
    for kind, _ in sentences.KINDS:
        for _ in range(200):
            for text in kind(chooser):
                assert re.fullmatch(r"[A-ZÄÖÜ][^\n]*\w[.?]", text), (kind.__name__, text)
                assert "  " not in text and " ," not in text and ",," not in text, text
                assert not re.search(r",[^\s\d]", text), text
                assert "None" not in text and "-" not in text.replace(" ", "")[:1], text


def test_every_word_of_the_lexicon_occurs_in_training():
    words = {w for e, g in corpus.splits()["train"] for w in re.findall(r"[\w-]+", f"{e} {g}")}
    words |= {word.lower() for word in words}
    for nouns in nouns_by_kind().values():
        for entry in nouns:
            assert entry.english in words and {entry.german, entry.genitive} & words
    for verbs in verbs_by_frame().values():
        for entry in verbs:
            assert entry.english in words and entry.participle in words


def test_files_of_the_test_split(tmp_path):
    problem = registry.problem("translate_ende_demo")
    source, reference = problem.write_test_files(str(tmp_path))
    with open(source, encoding="utf-8") as en, open(reference, encoding="utf-8") as de:
        pairs = list(zip(en.read().splitlines(), de.read().splitlines(), strict=True))
    assert tuple(pairs) == corpus.splits()["test"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["test.de", "test.en"]


def test_problem_yields_the_splits():
    problem = registry.problem("translate_ende_demo")
    for split, name in (("train", "train"), ("dev", "dev"), ("test", "test")):
        first = next(iter(problem.generate_samples("", "", split)))
        assert (first["inputs"], first["targets"]) == corpus.splits()[name][0]


# German endings


@pytest.mark.parametrize(
    ("made", "forms"),
    [
        (
            phrase("the", "man", "old"),
            "der alte Mann, den alten Mann, dem alten Mann, des alten Mannes",
        ),
        (
            phrase("a", "child", "small"),
            "ein kleines Kind, ein kleines Kind, einem kleinen Kind, eines kleinen Kindes",
        ),
        (
            phrase("", "coffee", "cold"),
            "kalter Kaffee, kalten Kaffee, kaltem Kaffee, kalten Kaffees",
        ),
        (
            phrase("", "milk", "fresh"),
            "frische Milch, frische Milch, frischer Milch, frischer Milch",
        ),
        (
            phrase("my", "house", "new", plural=True),
            "meine neuen Häuser, meine neuen Häuser, meinen neuen Häusern, meiner neuen Häuser",
        ),
        (
            phrase("a", "apple", "red", plural=True),
            "rote Äpfel, rote Äpfel, roten Äpfeln, roter Äpfel",
        ),
        (
            phrase("this", "student"),
            "dieser Student, diesen Studenten, diesem Studenten, dieses Studenten",
        ),
        (phrase("our", "car"), "unser Auto, unser Auto, unserem Auto, unseres Autos"),
        (
            phrase("many", "guest", plural=True),
            "viele Gäste, viele Gäste, vielen Gästen, vieler Gäste",
        ),
        (
            phrase("every", "room", "dark"),
            "jedes dunkle Zimmer, jedes dunkle Zimmer, jedem dunklen Zimmer, jedes dunklen Zimmers",
        ),
        (
            phrase("the", "castle", "high"),
            "das hohe Schloss, das hohe Schloss, dem hohen Schloss, des hohen Schlosses",
        ),
        (phrase("the", "photo", plural=True), "die Fotos, die Fotos, den Fotos, der Fotos"),
    ],
)
def test_noun_phrases(made, forms):
    assert ", ".join(made.german[case] for case in CASES) == forms


def test_kein_takes_the_place_of_ein_and_of_nothing():
    assert phrase("a", "apple").german_negated["acc"] == "keinen Apfel"
    assert phrase("", "bread", "fresh").german_negated["acc"] == "kein frisches Brot"
    assert phrase("a", "house", plural=True).german_negated["dat"] == "keinen Häusern"
    assert phrase("the", "apple").german_negated == {}


@pytest.mark.parametrize(
    ("made", "english"),
    [
        (phrase("a", "apple"), "an apple"),
        (phrase("a", "man", "honest"), "an honest man"),
        (phrase("a", "apple", "red"), "a red apple"),
        (phrase("this", "knife", plural=True), "these knives"),
        (phrase("a", "milk"), "milk"),
    ],
)
def test_english_noun_phrases(made, english):
    assert made.english == english


def test_prepositions_and_articles_contract():
    contract = noun_phrases.prepositional
    assert contract("in", "dat", phrase("the", "garden")) == "im Garten"
    assert contract("in", "acc", phrase("the", "house", "old")) == "ins alte Haus"
    assert contract("zu", "dat", phrase("the", "school")) == "zur Schule"
    assert contract("an", "dat", phrase("the", "lake")) == "am See"
    assert contract("in", "dat", phrase("a", "garden")) == "in einem Garten"
    assert contract("in", "dat", phrase("the", "city")) == "in der Stadt"


@pytest.mark.parametrize(
    ("frame", "english", "forms", "participle"),
    [
        ("transitive", "eat", "esse isst isst essen", "gegessen"),
        ("ditransitive", "give", "gebe gibst gibt geben", "gegeben"),
        ("transitive", "find", "finde findest findet finden", "gefunden"),
        ("transitive", "open", "öffne öffnest öffnet öffnen", "geöffnet"),
        ("intransitive", "stop", "halte hältst hält halten", "angehalten"),
        ("intransitive", "smile", "lächle lächelst lächelt lächeln", "gelächelt"),
        ("intransitive", "play", "spiele spielst spielt spielen", "gespielt"),
        ("transitive", "feed", "füttere fütterst füttert füttern", "gefüttert"),
        ("transitive", "repair", "repariere reparierst repariert reparieren", "repariert"),
        ("position", "sit", "sitze sitzt sitzt sitzen", "gesessen"),
        ("transitive", "wash", "wasche wäschst wäscht waschen", "gewaschen"),
        ("that", "know", "weiß weißt weiß wissen", "gewusst"),
        ("separable", "tidy", "räume räumst räumt räumen", "aufgeräumt"),
    ],
)
def test_verb_forms(frame, english, forms, participle):
    entry = next(v for v in verbs_by_frame()[frame] if v.english == english)
    persons = ((1, False), (2, False), (3, False), (3, True))
    assert " ".join(inflection.verb_present(entry, p) for p in persons) == forms
    assert entry.participle == participle


# Word order


def _both(clause, **order):
    return clause.english(**order), clause.german(**order)


TODAY = Phrase("today", "heute")


def test_statements():
    eat = Clause(HE, verb("transitive", "eat"), accusative=phrase("the", "apple"), time=TODAY)
    assert _both(eat) == ("he eats the apple today", "er isst heute den Apfel")
    assert _both(eat, time_first=True) == ("today he eats the apple", "heute isst er den Apfel")
    past = Clause(HE, verb("transitive", "eat"), "past", True, accusative=phrase("the", "apple"))
    assert _both(past) == ("he did not eat the apple", "er hat den Apfel nicht gegessen")
    none = Clause(HE, verb("transitive", "eat"), "can", True, accusative=phrase("a", "apple"))
    assert _both(none) == ("he cannot eat an apple", "er kann keinen Apfel essen")


def test_separable_verbs():
    tidy = verb("separable", "tidy", "up")
    clause = Clause(I, tidy, accusative=phrase("the", "room"))
    assert _both(clause) == ("I tidy up the room", "ich räume das Zimmer auf")
    assert clause.german_subordinate("weil") == "weil ich das Zimmer aufräume"
    assert clause.german_infinitive() == "das Zimmer aufzuräumen"
    him = Clause(I, verb("separable", "pick", "up"), "past", accusative=HE)
    assert _both(him) == ("I picked him up", "ich habe ihn abgeholt")


def test_questions():
    clause = Clause(HE, verb("motion", "go"), "past", complement=Phrase("home", "nach Hause"))
    assert clause.english_question("when") == "when did he go home"
    assert clause.german_question("wann") == "wann ist er nach Hause gegangen"
    often = Clause(HE, verb("intransitive", "work"), frequency=Phrase("often", "oft"))
    assert (often.english_question(), often.german_question()) == (
        "does he often work",
        "arbeitet er oft",
    )
    looked_for = Clause(HE, verb("transitive", "look"), "want to")
    assert looked_for.english_question("what") == "what does he want to look for"
    assert looked_for.german_question("was") == "was will er suchen"


def test_pronouns_before_nouns():
    give = Clause(I, verb("ditransitive", "give"), dative=HE, accusative=phrase("the", "book"))
    assert _both(give) == ("I give him the book", "ich gebe ihm das Buch")
    remember = verb("prepositional", "remember")
    reflexive = Clause(I, remember, "past", time=TODAY, complement=Phrase("it", "daran"))
    assert reflexive.german() == "ich habe mich heute daran erinnert"


@pytest.mark.parametrize(
    ("tense", "negated", "english", "german"),
    [
        ("must", False, "I must work", "ich muss arbeiten"),
        ("must not", True, "I must not work", "ich darf nicht arbeiten"),
        ("have to", True, "I do not have to work", "ich muss nicht arbeiten"),
        ("had to", False, "I had to work", "ich musste arbeiten"),
        ("had to", True, "I did not have to work", "ich musste nicht arbeiten"),
        ("want to", True, "I do not want to work", "ich will nicht arbeiten"),
        ("would like to", False, "I would like to work", "ich möchte arbeiten"),
        ("was allowed to", True, "I was not allowed to work", "ich durfte nicht arbeiten"),
        ("future", False, "I will work", "ich werde arbeiten"),
    ],
)
def test_modal_verbs(tense, negated, english, german):
    assert _both(Clause(I, verb("intransitive", "work"), tense, negated)) == (english, german)


def test_relative_clause_keeps_its_commas():
    man = phrase("the", "man").extended("who sleeps", ", der schläft,")
    clause = Clause(man, verb("intransitive", "work"))
    assert clauses.sentence(clause.german()) == "Der Mann, der schläft, arbeitet."
    seen = Clause(
        I,
        verb("transitive", "see"),
        accusative=phrase("the", "man").extended("who sleeps", ", der schläft,"),
    )
    assert clauses.sentence(seen.german()) == "Ich sehe den Mann, der schläft."


def test_it_takes_the_gender_of_its_noun():
    for english, german in (("key", "ihn"), ("lamp", "sie"), ("book", "es")):
        it = noun_phrases.pronoun_for(phrase("the", english))
        assert (it.english_object, it.german["acc"]) == ("it", german)


def test_owners():
    owner = phrase("the", "man", "old")
    car = noun_phrases.possessed_by(owner, noun("car"), (adjective("new"),))
    assert car.english == "the old man's new car"
    assert car.german["dat"] == "dem neuen Auto des alten Mannes"
    annas = noun_phrases.possessed_by_name("Anna", noun("car"), (adjective("new"),))
    assert (annas.english, annas.german["acc"]) == ("Anna's new car", "Annas neues Auto")


@pytest.mark.parametrize(
    ("value", "english", "german"),
    [
        (7, "seven", "sieben"),
        (17, "seventeen", "siebzehn"),
        (21, "twenty-one", "einundzwanzig"),
        (30, "thirty", "dreißig"),
        (76, "seventy-six", "sechsundsiebzig"),
    ],
)
def test_numbers_in_words(value, english, german):
    assert numbers_dates.number_words(value) == (english, german)


def test_numbers_in_digits():
    assert numbers_dates.grouped_digits(2500) == ("2,500", "2.500")
    assert numbers_dates.decimal_digits(25) == ("2.5", "2,5")
