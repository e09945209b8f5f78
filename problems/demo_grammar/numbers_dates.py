"""Numbers in words and digits, clock times, dates."""

import random

from t2t_keras.problems.demo_grammar.modifiers import Phrase

_ENGLISH_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_GERMAN_UNITS = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn"
).split()
_ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()

MONTHS = tuple(
    Phrase(*pair.split("="))
    for pair in (
        "January=Januar February=Februar March=März April=April May=Mai June=Juni July=Juli "
        "August=August September=September October=Oktober November=November December=Dezember"
    ).split()
)
WEEKDAYS = tuple(
    Phrase(*pair.split("="))
    for pair in (
        "Monday=Montag Tuesday=Dienstag Wednesday=Mittwoch Thursday=Donnerstag Friday=Freitag "
        "Saturday=Samstag Sunday=Sonntag"
    ).split()
)
SEASONS = tuple(
    Phrase(*pair.split("="))
    for pair in "spring=Frühling summer=Sommer autumn=Herbst winter=Winter".split()
)

# Units with their plural; in German the dative plural after "vor", then the accusative.
_PERIODS = (
    ("days", "Tagen", "Tage"),
    ("weeks", "Wochen", "Wochen"),
    ("months", "Monaten", "Monate"),
    ("years", "Jahren", "Jahre"),
    ("hours", "Stunden", "Stunden"),
    ("minutes", "Minuten", "Minuten"),
)


def english_number(value: int) -> str:
    """0–99 in English words: forty-two."""
    if value < 20:
        return _ENGLISH_UNITS[value]
    tens, unit = divmod(value, 10)
    return _ENGLISH_TENS[tens - 2] + (f"-{_ENGLISH_UNITS[unit]}" if unit else "")


def german_number(value: int) -> str:
    """0–99 in German words: zweiundvierzig."""
    if value < 20:
        return _GERMAN_UNITS[value]
    tens, unit = divmod(value, 10)
    first = "ein" if unit == 1 else _GERMAN_UNITS[unit]
    return (f"{first}und" if unit else "") + _GERMAN_TENS[tens - 2]


def number_words(value: int) -> tuple[str, str]:
    """Both languages' words for 2–99."""
    return english_number(value), german_number(value)


def grouped_digits(value: int) -> tuple[str, str]:
    """Digits with each language's thousands separator: 1,500 and 1.500."""
    english = f"{value:,}"
    return english, english.replace(",", ".")


def decimal_digits(tenths: int) -> tuple[str, str]:
    """One decimal: 2.5 and 2,5."""
    english = f"{tenths / 10:.1f}"
    return english, english.replace(".", ",")


def _date(rng: random.Random) -> Phrase:
    """Like: on May 3, am 3. Mai."""
    month = rng.choice(MONTHS)
    day = rng.randint(1, 28)
    return Phrase(f"on {month.english} {day}", f"am {day}. {month.german}")


def _year(rng: random.Random) -> Phrase:
    year = rng.randint(1950, 2024)
    return Phrase(f"in {year}", f"im Jahr {year}")


def year_phrase(rng: random.Random) -> Phrase:
    """Like: in 1987, im Jahr 1987."""
    return _year(rng)


def _weekday(rng: random.Random) -> Phrase:
    day = rng.choice(WEEKDAYS)
    return Phrase(f"on {day.english}", f"am {day.german}")


def _month(rng: random.Random) -> Phrase:
    month = rng.choice(MONTHS)
    return Phrase(f"in {month.english}", f"im {month.german}")


def _season(rng: random.Random) -> Phrase:
    season = rng.choice(SEASONS)
    return Phrase(f"in {season.english}", f"im {season.german}")


def _clock(rng: random.Random) -> Phrase:
    """Like: at eight o'clock, um acht Uhr; at 7:30, um 7:30 Uhr."""
    hour = rng.randint(2, 12)
    if rng.random() < 0.6:
        english, german = number_words(hour)
        return Phrase(f"at {english} o'clock", f"um {german} Uhr")
    minute = rng.choice((15, 20, 30, 40, 45))
    return Phrase(f"at {hour}:{minute}", f"um {hour}:{minute} Uhr")


def point_in_time(rng: random.Random) -> Phrase:
    """A date, weekday, month, season or clock time, fit for any tense."""
    return rng.choice((_date, _weekday, _weekday, _month, _season, _clock))(rng)


def period_ago(rng: random.Random) -> Phrase:
    """Like: three weeks ago, vor drei Wochen."""
    english, german = number_words(rng.randint(2, 12))
    unit, dative, _ = rng.choice(_PERIODS)
    return Phrase(f"{english} {unit} ago", f"vor {german} {dative}")


def period_ahead(rng: random.Random) -> Phrase:
    """Like: in three weeks, in drei Wochen."""
    english, german = number_words(rng.randint(2, 12))
    unit, dative, _ = rng.choice(_PERIODS)
    return Phrase(f"in {english} {unit}", f"in {german} {dative}")


def duration(rng: random.Random) -> Phrase:
    """Like: for three hours, drei Stunden lang."""
    english, german = number_words(rng.randint(2, 12))
    unit, _, accusative = rng.choice(_PERIODS)
    return Phrase(f"for {english} {unit}", f"{german} {accusative} lang")
