"""Adjectives, adverbs and names of the lexicon."""

import functools
from typing import NamedTuple

from t2t_keras.problems.demo_grammar.words import Adjective, parse_adjectives

_OF_PERSONS = """
old older = alt älter
young younger = jung jünger
tall taller = groß größer
small smaller = klein
happy happier = glücklich
sad sadder = traurig
tired = müde müder
sick = krank kränker
rich richer = reich
poor poorer = arm ärmer
friendly friendlier = freundlich
strong stronger = stark stärker
weak weaker = schwach schwächer
famous = berühmt
clever = klug klüger
lazy lazier = faul
brave braver = mutig
polite = höflich
quiet quieter = ruhig
hungry hungrier = hungrig
angry angrier = wütend
nervous = nervös
patient = geduldig
funny funnier = lustig
healthy healthier = gesund gesünder
honest = ehrlich
proud prouder = stolz
careful = vorsichtig
"""

_OF_ANIMALS = """
old older = alt älter
young younger = jung jünger
big bigger = groß größer
small smaller = klein
hungry hungrier = hungrig
tired = müde müder
strong stronger = stark stärker
wild wilder = wild
white = weiß
black = schwarz
brown = braun
gray = grau
dangerous = gefährlich
fast faster = schnell
sick = krank kränker
"""

_OF_THINGS = """
new newer = neu
old older = alt älter
big bigger = groß größer
small smaller = klein
red = rot
blue = blau
green = grün
yellow = gelb
white = weiß
black = schwarz
brown = braun
gray = grau
expensive = teuer teurer
cheap cheaper = billig
beautiful = schön
ugly uglier = hässlich
heavy heavier = schwer
light lighter = leicht
dirty dirtier = schmutzig
clean cleaner = sauber sauberer
broken = kaputt
modern = modern
valuable = wertvoll
strange stranger = seltsam
"""

_OF_FOOD = """
fresh fresher = frisch
sweet sweeter = süß
sour = sauer
good better = gut besser
bad worse = schlecht
cold colder = kalt kälter
warm warmer = warm wärmer
cheap cheaper = billig
expensive = teuer teurer
"""

_OF_IDEAS = """
good better = gut besser
bad worse = schlecht
new newer = neu
old older = alt älter
important = wichtig
difficult = schwierig
easy easier = einfach
interesting = interessant
boring = langweilig
long longer = lang länger
short shorter = kurz kürzer
strange stranger = seltsam
beautiful = schön
"""

_OF_PLACES = """
big bigger = groß größer
small smaller = klein
old older = alt älter
new newer = neu
beautiful = schön
ugly uglier = hässlich
dark darker = dunkel dunkler
bright brighter = hell
high higher = hoch höher
quiet quieter = ruhig
famous = berühmt
modern = modern
dangerous = gefährlich
clean cleaner = sauber sauberer
"""

_OF_CAUSES = """
terrible = schrecklich
"""

COLORS = "white black brown gray red blue green yellow".split()

_ADJECTIVES = {
    "person": _OF_PERSONS,
    "animal": _OF_ANIMALS,
    "thing": _OF_THINGS,
    "clothes": _OF_THINGS,
    "vehicle": _OF_THINGS,
    "furniture": _OF_THINGS,
    "food": _OF_FOOD,
    "drink": _OF_FOOD,
    "text": _OF_IDEAS,
    "idea": _OF_IDEAS,
    "event": _OF_IDEAS,
    "room": _OF_PLACES,
    "building": _OF_PLACES,
    "outdoors": _OF_PLACES,
    "cause": _OF_CAUSES,
}


@functools.cache
def adjectives_of(kind: str) -> tuple[Adjective, ...]:
    """The adjectives that go with a kind of noun."""
    return parse_adjectives(_ADJECTIVES[kind])


class Phrase(NamedTuple):
    """A word or group of words that does not change, in both languages."""

    english: str
    german: str


def _phrases(table: str) -> tuple[Phrase, ...]:
    return tuple(
        Phrase(*(part.strip() for part in line.split("="))) for line in table.strip().splitlines()
    )


PRESENT_TIMES = _phrases("""
today = heute
now = jetzt
tonight = heute Abend
this morning = heute Morgen
every day = jeden Tag
every week = jede Woche
every year = jedes Jahr
every evening = jeden Abend
in the morning = am Morgen
in the evening = am Abend
at night = in der Nacht
on the weekend = am Wochenende
""")

PAST_TIMES = _phrases("""
yesterday = gestern
the day before yesterday = vorgestern
last week = letzte Woche
last year = letztes Jahr
last summer = letzten Sommer
last night = letzte Nacht
today = heute
this morning = heute Morgen
a long time ago = vor langer Zeit
""")

FUTURE_TIMES = _phrases("""
tomorrow = morgen
the day after tomorrow = übermorgen
next week = nächste Woche
next year = nächstes Jahr
next month = nächsten Monat
soon = bald
later = später
tomorrow morning = morgen früh
tomorrow evening = morgen Abend
""")

# English between subject and verb, German in the middle field.
FREQUENCIES = _phrases("""
often = oft
always = immer
sometimes = manchmal
rarely = selten
usually = normalerweise
never = nie
""")

MANNERS = _phrases("""
quickly = schnell
slowly = langsam
quietly = leise
loudly = laut
carefully = vorsichtig
happily = fröhlich
alone = allein
""")

NAMES_OF_MEN = ("Peter", "Thomas", "Karl", "Paul", "Martin", "Felix")
NAMES_OF_WOMEN = ("Anna", "Maria", "Julia", "Laura", "Emma", "Clara")

TOWNS = _phrases("""
Berlin = Berlin
Munich = München
Vienna = Wien
Hamburg = Hamburg
Cologne = Köln
Paris = Paris
Rome = Rom
London = London
Germany = Deutschland
Austria = Österreich
France = Frankreich
Italy = Italien
""")
