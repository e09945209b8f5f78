"""Entries of the lexicon, and the reading of its tables."""

import dataclasses
from collections.abc import Iterable

_VOWELS = "aeiouyäöü"
_INSEPARABLE = ("be", "er", "ver", "zer", "ent", "ge", "über", "unter", "wider")


@dataclasses.dataclass(frozen=True)
class Noun:
    """A noun of both languages.

    Attributes:
        english: singular.
        english_plural: plural, "" for a mass noun.
        german: nominative singular.
        gender: "m", "f" or "n".
        plural: German nominative plural, "" for a mass noun.
        genitive: German genitive singular.
        kind: what it is: "person", "food", "place", …
        place: the two prepositions of "at the station, am Bahnhof", for places.
    """

    english: str
    english_plural: str
    german: str
    gender: str
    plural: str
    genitive: str
    kind: str
    place: tuple[str, str] = ("in", "in")

    @property
    def is_weak(self) -> bool:
        """Whether it is a weak masculine: der Junge, den Jungen, dem Jungen, des Jungen."""
        ends_in_n = self.genitive.endswith("n")
        return self.gender == "m" and ends_in_n and self.genitive == self.plural

    @property
    def countable(self) -> bool:
        """Whether it has a plural."""
        return bool(self.plural)


@dataclasses.dataclass(frozen=True)
class Verb:
    """A verb of both languages.

    Attributes:
        english: infinitive without particle.
        english_past: simple past.
        english_participle: past participle, for the passive.
        particle: English adverb that belongs to the verb ("pick … up"), may be "".
        preposition: English preposition that stays before the object ("wait for"), may be "".
        infinitive: German infinitive, without separable prefix.
        prefix: German separable prefix, may be "".
        third: German third person singular, without prefix.
        participle: German past participle, with prefix.
        auxiliary: "haben" or "sein".
        reflexive: whether German needs "sich".
        subjects: kinds of nouns that can do it.
        objects: kinds of nouns it can be done to.
        german_preposition: German preposition and case before the object ("auf acc"), may be "".
    """

    english: str
    english_past: str
    english_participle: str
    particle: str
    preposition: str
    infinitive: str
    prefix: str
    third: str
    participle: str
    auxiliary: str
    reflexive: bool
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    german_preposition: str = ""


@dataclasses.dataclass(frozen=True)
class Adjective:
    """An adjective of both languages with its comparatives."""

    english: str
    english_comparative: str
    german: str
    comparative: str

    @property
    def stem(self) -> str:
        """What German endings are added to: hoch-, but "ein hohes Haus"; teuer, "ein teures"."""
        if self.german == "hoch":
            return "hoh"
        if self.german.endswith("e"):
            return self.german[:-1]
        if self.german.endswith("el"):
            return self.german[:-2] + "l"
        if self.german.endswith(("auer", "euer")):
            return self.german[:-2] + "r"
        return self.german


def table_rows(table: str) -> Iterable[list[str]]:
    """Yields the cells of each line of a table, separated by ``=`` or ``|``."""
    for line in table.strip().splitlines():
        yield [cell.strip() for cell in line.replace("=", "|").split("|")]


def english_plural(noun: str) -> str:
    """Regular English plural."""
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def english_past(verb: str) -> str:
    """Regular English past."""
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "ed"


def _syllables(word: str) -> int:
    """Counts the groups of vowels."""
    groups, inside = 0, False
    for letter in word.lower():
        vowel = letter in _VOWELS
        groups += vowel and not inside
        inside = vowel
    return groups


def german_genitive(noun: str, gender: str) -> str:
    """Regular German genitive: des Hundes, des Gartens, der Frau."""
    if gender == "f":
        return noun
    if noun.endswith(("s", "ß", "z", "x")):
        return noun + "es"
    one_syllable = _syllables(noun) == 1 and noun[-1] not in _VOWELS
    return noun + ("es" if one_syllable else "s")


def parse_nouns(table: str, kind: str) -> tuple[Noun, ...]:
    """Reads lines ``lake = der See, Seen, Sees | at an`` or ``man/men = der Mann, Männer``.

    English singular and plural, German nominative, plural, genitive, then the two prepositions that
    say where. The English plural, the genitive and the prepositions ("in in") may be left out where
    they are regular. ``-`` as German plural marks a mass noun.
    """
    nouns = []
    for cells in table_rows(table):
        english, *plural = cells[0].split("/")
        article, forms = cells[1].split(" ", 1)
        german, german_plural, *genitive = (form.strip() for form in forms.split(","))
        gender = {"der": "m", "die": "f", "das": "n"}[article]
        mass = german_plural == "-"
        where = cells[2].split() if len(cells) > 2 else ["in", "in"]
        nouns.append(
            Noun(
                english=english,
                english_plural="" if mass else (plural[0] if plural else english_plural(english)),
                german=german,
                gender=gender,
                plural="" if mass else german_plural,
                genitive=genitive[0] if genitive else german_genitive(german, gender),
                kind=kind,
                place=(where[0], where[1]),
            )
        )
    return tuple(nouns)


def german_stem(infinitive: str) -> str:
    """The infinitive without -en or -n."""
    return infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]


def needs_linking_e(stem: str) -> bool:
    """Whether -st and -t need an e before them: du arbeitest, er öffnet, but er lernt."""
    if stem.endswith(("t", "d")):
        return True
    return stem.endswith(("fn", "gn", "chn", "tm"))


def weak_participle(infinitive: str, prefix: str) -> str:
    """Regular German past participle: gekauft, besucht, repariert, aufgeräumt."""
    stem = german_stem(infinitive)
    ending = "et" if needs_linking_e(stem) else "t"
    without_ge = infinitive.endswith("ieren") or infinitive.startswith(_INSEPARABLE)
    return prefix + ("" if without_ge else "ge") + stem + ending


def parse_verbs(table: str) -> tuple[Verb, ...]:
    """Reads lines ``throw threw thrown (away) = weg·werfen 3:wirft weggeworfen | person | thing``.

    English infinitive, past and participle if irregular, an adverb that belongs to the verb in
    brackets, a preposition with ``+``. German: ``sich`` for reflexives, a separable prefix with
    ``·``; third person singular (with ``3:``), participle and ``sein`` where irregular. Then the
    kinds of subjects, those of objects, and the German preposition with its case.
    """
    return tuple(_parse_verb(cells) for cells in table_rows(table))


def _parse_verb(cells: list[str]) -> Verb:
    cells = cells + [""] * (5 - len(cells))
    words = cells[0].split()
    particle = " ".join(w[1:-1] for w in words if w.startswith("("))
    preposition = " ".join(w[1:] for w in words if w.startswith("+"))
    forms = [w for w in words if w[0] not in "(+"]
    past = forms[1] if len(forms) > 1 else english_past(forms[0])

    german = cells[1].split()
    reflexive = german[0] == "sich"
    german = german[1:] if reflexive else german
    prefix, _, infinitive = german[0].rpartition("·")
    third = next((w[2:] for w in german if w.startswith("3:")), "")
    stem = german_stem(infinitive)
    others = [w for w in german[1:] if not w.startswith("3:") and w != "sein"]
    return Verb(
        english=forms[0],
        english_past=past,
        english_participle=forms[2] if len(forms) > 2 else past,
        particle=particle,
        preposition=preposition,
        infinitive=infinitive,
        prefix=prefix,
        third=third or stem + ("et" if needs_linking_e(stem) else "t"),
        participle=others[0] if others else weak_participle(infinitive, prefix),
        auxiliary="sein" if "sein" in german else "haben",
        reflexive=reflexive,
        subjects=tuple(cells[2].split()),
        objects=tuple(cells[3].split()),
        german_preposition=cells[4],
    )


def parse_adjectives(table: str) -> tuple[Adjective, ...]:
    """Reads lines ``old older = alt älter``; comparatives may be missing where regular."""
    adjectives = []
    for cells in table_rows(table):
        english, *english_comparative = cells[0].split()
        german, *comparative = cells[1].split()
        adjectives.append(
            Adjective(
                english,
                english_comparative[0] if english_comparative else f"more {english}",
                german,
                comparative[0] if comparative else german + "er",
            )
        )
    return tuple(adjectives)


def indefinite_article(following: str) -> str:
    """The English article before a word: a house, an apple, an honest man."""
    return "an" if following[0] in "aeiou" or following.startswith(("honest", "hour")) else "a"
