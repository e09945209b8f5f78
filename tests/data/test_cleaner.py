import pytest

from t2t_keras.data import cleaner

CLEAN = [
    "This is a sentence.",
    'He said "no" twice.',
    '"Hello", he said.',
    "It's John's dog, isn't it?",
    "The price (in euros) is 5.",
    "At 5:30 it ended!",
    "A dash - here - is fine.",
    'She read "War and Peace."',
    "Rock 'n' roll.",
    "NATO agreed.",
]
UNCLEAN = [
    "no capital.",
    "Ünlike ASCII.",
    "No full stop",
    "Dots ...",
    "Note: this is labelled.",
    "Mr. Smith: this is labelled.",
    "It costs 5 000 euros.",
    'One "quote only.',
    '"Opened at the start.',
    'Closed at the end."',
    '"The whole line."',
    'Too "many" quotes" here.',
    "A 'b' 'c' too many.",
    "An 'empty '' pair.",
    "Adjacent \"' marks.",
    "A , comma on its own.",
    "A ; semicolon on its own.",
    "A : colon on its own.",
    'A " quote on its own" there.',
    "All © rights.",
    "Copyright by us.",
    "(C) by us.",
    "An (open bracket.",
    "A closing) bracket.",
    "Wrong )order( here.",
    "LONDON - He said so.",
    "NEW YORK (Reuters) - He said so.",
    "NAME_of a variable.",
    "",
]


@pytest.mark.parametrize("line", CLEAN)
def test_sentences_are_kept(line):
    assert cleaner.is_clean(line)
    assert list(cleaner.clean_pairs([(line, "x")])) == [(line, "x")]


@pytest.mark.parametrize("line", UNCLEAN)
def test_the_rest_is_rejected(line):
    assert not cleaner.is_clean(line)
    assert list(cleaner.clean_pairs([(line, "Ein Satz.")])) == []


def test_only_english_is_judged():
    assert list(cleaner.clean_pairs([("Fine.", '© "')])) == [("Fine.", '© "')]


@pytest.mark.parametrize(
    "english, other",
    [
        ("One ends.|Two ends.", "Eins endet.|Zwei endet."),
        ("In the USA.|Then.", "In den USA.|Dann."),
        ("Is it?|It is!|Good.", "Ist es?|Ja!|Gut."),
        # An abbreviated name is no end; nor is a German ordinal.
        ("George W. Bush came.", "George Bush kam."),
        ("On 3 May it rained.", "Am 3. Mai regnete es."),
    ],
)
def test_several_sentences(english, other):
    lines = english.replace("|", " "), other.replace("|", " ")
    expected = list(zip(english.split("|"), other.split("|"), strict=True))
    assert list(cleaner.clean_pairs([lines])) == expected


@pytest.mark.parametrize(
    "english, other", [("One. Two.", "Eins und zwei."), ("One.", "Eins. Zwei.")]
)
def test_sides_that_split_differently_are_dropped(english, other):
    assert list(cleaner.clean_pairs([(english, other)])) == []


def test_each_of_several_sentences_is_judged():
    pair = ("One ends. Note: two ends.", "Eins. Zwei.")
    assert list(cleaner.clean_pairs([pair])) == [("One ends.", "Eins.")]
