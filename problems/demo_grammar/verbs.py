"""The verbs of the lexicon, by the company they keep.

A verb whose English past looks like its present (put, read) has no place here: "they read the
book" would have two translations.
"""

import functools

from t2t_keras.problems.demo_grammar.words import Verb, parse_verbs

# Subject, accusative object.
_TRANSITIVE = """
eat ate eaten = essen 3:isst gegessen | person animal | food
drink drank drunk = trinken getrunken | person | drink
buy bought = kaufen | person | food drink thing clothes vehicle furniture text
sell sold = verkaufen | person | food thing clothes vehicle furniture house
see saw seen = sehen 3:sieht gesehen | person animal | person animal thing vehicle building
find found = finden gefunden | person | thing animal clothes text answer
look +for = suchen | person | thing animal person clothes text answer
paint = malen | person | thing flower animal house picture
clean = putzen | person | room window door thing vehicle shoe
repair = reparieren | person | vehicle machine computer radio clock bicycle chair
write wrote written = schreiben geschrieben | person | letter book story song poem message
visit = besuchen | person | person museum castle zoo city island
know knew known = kennen gekannt | person | person story song answer rule building
love = lieben | person | person animal
need = brauchen | person | thing clothes food drink vehicle
lose lost = verlieren verloren | person | thing clothes text
forget forgot forgotten = vergessen 3:vergisst vergessen | person | thing clothes word story
open = öffnen | person | window door box bottle suitcase letter
close = zu·machen | person | window door box bottle suitcase
hear heard = hören | person animal | person animal song story radio
carry = tragen 3:trägt getragen | person | thing box chair suitcase
take took taken = nehmen 3:nimmt genommen | person | thing food
cook = kochen | person | potato egg soup rice meat
bake = backen gebacken | person | cake bread cookie
hide hid hidden = verstecken | person | thing text
steal stole stolen = stehlen 3:stiehlt gestohlen | thief man woman boy fox | thing bicycle
drive drove driven = fahren 3:fährt gefahren | person | car bus truck taxi tractor
wash = waschen 3:wäscht gewaschen | person | clothes car dog cup plate
build built = bauen | person | house bridge tower boat church ship
break broke broken = zerbrechen 3:zerbricht zerbrochen | person | glass cup plate bottle vase mirror
use = benutzen | person | thing computer vehicle
catch caught = fangen 3:fängt gefangen | person cat fox wolf | mouse rabbit bird frog
feed fed = füttern | person | animal baby
understand understood = verstehen verstanden | person | person idea
answer = beantworten | person | question letter
learn = lernen | person | language poem word
sing sang sung = singen gesungen | person | song
solve = lösen | person | problem
discover = entdecken | person | island secret mistake animal
describe = beschreiben beschrieben | person | picture person building plan
meet met = treffen 3:trifft getroffen | person | person
ask = fragen | person | person
greet = begrüßen | person | person
count = zählen | person | coin animal stone
photograph = fotografieren | person | person animal building
hate = hassen | person | exam noise rule
admire = bewundern | person | person picture castle
protect = schützen | person dog | person animal
rescue = retten | person | person animal
pull = ziehen gezogen | horse man woman donkey | vehicle boat
tell told = erzählen | person | story dream
wear wore worn = tragen 3:trägt getragen | person | clothes
translate = übersetzen | person | letter book poem story
choose chose chosen = wählen | person | gift clothes food
explain = erklären | person | rule problem plan word game
"""

# Subject, accusative object; the German prefix goes to the end.
_SEPARABLE = """
pick (up) = ab·holen | person | person gift suitcase
invite = ein·laden 3:lädt eingeladen | person | person
call = an·rufen angerufen | person | person
wake woke woken (up) = auf·wecken | person dog noise | person
turn (on) = ein·schalten | person | lamp radio computer machine
turn (off) = aus·schalten | person | lamp radio computer machine
tidy (up) = auf·räumen | person | room
prepare = vor·bereiten vorbereitet | person | event food
unpack = aus·packen | person | suitcase gift box bag
throw threw thrown (away) = weg·werfen 3:wirft weggeworfen | person | thing text clothes
take took taken (along) = mit·nehmen 3:nimmt mitgenommen | person | thing child dog book
bring brought (along) = mit·bringen mitgebracht | person | food drink thing friend
try (on) = an·probieren anprobiert | person | clothes
take took taken (off) = aus·ziehen ausgezogen | person | hat coat jacket shoe boot glove
look +at = an·sehen 3:sieht angesehen | person | picture photo map person animal film
hang hung (up) = auf·hängen | person | picture coat jacket mirror photo map
write wrote written (down) = auf·schreiben aufgeschrieben | person | word answer question dream
close closed (down) = schließen geschlossen | boss president king | factory museum school
"""

# Subject, dative object.
_DATIVE = """
help = helfen 3:hilft geholfen | person | person animal
thank = danken | person | person
follow = folgen sein | person animal | person animal
believe = glauben | person | person
trust = vertrauen | person | person
congratulate = gratulieren | person | person
obey = gehorchen | soldier dog child boy girl | person
forgive forgave forgiven = verzeihen verziehen | person | person
contradict = widersprechen 3:widerspricht widersprochen | person | person
listen +to = zu·hören | person | person
belong +to = gehören | thing vehicle house clothes animal text | person
"""

# Subject, dative person, accusative thing.
_DITRANSITIVE = """
give gave given = geben 3:gibt gegeben | person | thing food flower book
show showed shown = zeigen | person | picture thing house text animal plan
bring brought = bringen gebracht | person | drink food thing newspaper
send sent = schicken | person | letter message gift photo book
lend lent = leihen geliehen | person | bicycle car tool umbrella book coat
tell told = erzählen | person | story dream secret
promise = versprechen 3:verspricht versprochen | person | gift horse dog ring house
offer = an·bieten angeboten | person | drink food chair
"""

# Subject, preposition with object; the case stands after the German preposition.
_PREPOSITIONAL = """
wait +for = warten | person | person bus train taxi letter answer | auf acc
think thought +of = denken gedacht | person | person exam trip | an acc
dream +about = träumen | person | person animal trip island | von dat
speak spoke spoken +with = sprechen 3:spricht gesprochen | person | person | mit dat
laugh +about = lachen | person | person mistake film story | über acc
ask +about = fragen | person | station hotel plan answer | nach dat
search +for = suchen | person | mistake answer | nach dat
take took taken (part) +in = teil·nehmen 3:nimmt teilgenommen | person | meeting exam game | an dat
remember = sich erinnern | person | person story trip song | an acc
look (forward) +to = sich freuen | person | event film | auf acc
complain +about = sich beschweren | person | noise soup hotel rain boss | über acc
get got (used) +to = sich gewöhnen | person | noise school heat | an acc
"""

_INTRANSITIVE = """
sleep slept = schlafen 3:schläft geschlafen | person animal
work = arbeiten | person
laugh = lachen | person
cry = weinen | child baby girl boy woman man
sing sang sung = singen gesungen | person bird
dance = tanzen | person
wait = warten | person
smile = lächeln | person
play = spielen | child girl boy dog cat
cook = kochen | person
travel = reisen sein | person
swim swam swum = schwimmen geschwommen sein | person dog duck
get got (up) = auf·stehen aufgestanden sein | person
wake woke woken (up) = auf·wachen sein | person animal
arrive = an·kommen angekommen sein | person train bus ship
depart = ab·fahren 3:fährt abgefahren sein | train bus ship
come came come (back) = zurück·kommen zurückgekommen sein | person cat
fall fell fallen (asleep) = ein·schlafen 3:schläft eingeschlafen sein | person animal
watch (television) = fern·sehen 3:sieht ferngesehen | person
go went gone (shopping) = ein·kaufen | person
go went gone (out) = aus·gehen ausgegangen sein | person
go went gone (away) = weg·gehen weggegangen sein | person
move (out) = aus·ziehen ausgezogen sein | person
stop stopped = an·halten 3:hält angehalten | bus train car taxi driver
die = sterben 3:stirbt gestorben sein | king queen animal
stay = bleiben geblieben sein | person
"""

# Subject and a place in the dative: where?
_POSITION = """
sit sat = sitzen gesessen | person cat dog bird
stand stood = stehen gestanden | person horse
live = wohnen | person
work = arbeiten | person
sleep slept = schlafen 3:schläft geschlafen | person animal
play = spielen | child girl boy dog cat
wait = warten | person
dance = tanzen | person
rest = sich aus·ruhen | person
eat ate eaten = essen 3:isst gegessen | person
"""

# Subject and a direction: whither?
_MOTION = """
go went gone = gehen gegangen sein | person
run ran run = rennen gerannt sein | person animal
walk = laufen 3:läuft gelaufen sein | person dog cat
drive drove driven = fahren 3:fährt gefahren sein | person
come came come = kommen gekommen sein | person
hurry = eilen sein | person
jump = springen gesprungen sein | cat dog fox frog child
climb = klettern sein | child cat monkey boy thief
"""

# Subject, accusative object, place in the accusative.
_PLACEMENT = """
lay laid = legen | person | book letter newspaper key map photo knife spoon coin blanket
place = stellen | person | cup plate glass bottle vase lamp box basket
hang hung = hängen | person | coat jacket picture hat mirror
throw threw thrown = werfen 3:wirft geworfen | person | ball stone shoe book
hide hid hidden = verstecken | person | key letter ring coin gift
"""

# Subject, a clause with "that".
_THAT = """
say said = sagen | person |
believe = glauben | person |
know knew = wissen 3:weiß gewusst | person |
hope = hoffen | person |
think thought = denken gedacht | person |
hear heard = hören | person |
claim = behaupten | person |
"""

# Subject, a clause with "whether".
_WHETHER = """
ask = fragen | person |
wonder = sich fragen | person |
"""

# Subject, an infinitive with "to".
_INFINITIVE = """
try = versuchen | person |
begin began = beginnen begonnen | person |
hope = hoffen | person |
promise = versprechen 3:verspricht versprochen | person |
decide = beschließen beschlossen | person |
plan planned = planen | person |
forget forgot = vergessen 3:vergisst vergessen | person |
"""

_TABLES = {
    "that": _THAT,
    "whether": _WHETHER,
    "infinitive": _INFINITIVE,
    "transitive": _TRANSITIVE,
    "separable": _SEPARABLE,
    "dative": _DATIVE,
    "ditransitive": _DITRANSITIVE,
    "prepositional": _PREPOSITIONAL,
    "intransitive": _INTRANSITIVE,
    "position": _POSITION,
    "motion": _MOTION,
    "placement": _PLACEMENT,
}


@functools.cache
def verbs_by_frame() -> dict[str, tuple[Verb, ...]]:
    """All verbs by the frame they are used in ("transitive", "dative", "motion", …)."""
    return {frame: parse_verbs(table) for frame, table in _TABLES.items()}
