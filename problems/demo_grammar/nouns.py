"""The nouns of the lexicon, by kind."""

import functools

from t2t_keras.problems.demo_grammar.words import Noun, parse_nouns

_MEN = """
man/men = der Mann, Männer
boy = der Junge, Jungen, Jungen
father = der Vater, Väter
brother = der Bruder, Brüder
son = der Sohn, Söhne
uncle = der Onkel, Onkel
grandfather = der Großvater, Großväter
teacher = der Lehrer, Lehrer
doctor = der Arzt, Ärzte
baker = der Bäcker, Bäcker
farmer = der Bauer, Bauern, Bauern
student = der Student, Studenten, Studenten
neighbor = der Nachbar, Nachbarn, Nachbarn
policeman/policemen = der Polizist, Polizisten, Polizisten
king = der König, Könige
driver = der Fahrer, Fahrer
cook = der Koch, Köche
friend = der Freund, Freunde
guest = der Gast, Gäste
colleague = der Kollege, Kollegen, Kollegen
tourist = der Tourist, Touristen, Touristen
customer = der Kunde, Kunden, Kunden
waiter = der Kellner, Kellner
painter = der Maler, Maler
prince = der Prinz, Prinzen, Prinzen
thief/thieves = der Dieb, Diebe
judge = der Richter, Richter
soldier = der Soldat, Soldaten, Soldaten
author = der Autor, Autoren
engineer = der Ingenieur, Ingenieure
boss = der Chef, Chefs, Chefs
gardener = der Gärtner, Gärtner
hunter = der Jäger, Jäger
musician = der Musiker, Musiker
president = der Präsident, Präsidenten, Präsidenten
lawyer = der Anwalt, Anwälte
"""

_WOMEN_AND_CHILDREN = """
woman/women = die Frau, Frauen
mother = die Mutter, Mütter
sister = die Schwester, Schwestern
daughter = die Tochter, Töchter
aunt = die Tante, Tanten
grandmother = die Großmutter, Großmütter
queen = die Königin, Königinnen
nurse = die Krankenschwester, Krankenschwestern
princess = die Prinzessin, Prinzessinnen
actress = die Schauspielerin, Schauspielerinnen
waitress = die Kellnerin, Kellnerinnen
niece = die Nichte, Nichten
child/children = das Kind, Kinder
girl = das Mädchen, Mädchen
baby = das Baby, Babys
"""

_ANIMALS = """
dog = der Hund, Hunde
cat = die Katze, Katzen
horse = das Pferd, Pferde
cow = die Kuh, Kühe
bird = der Vogel, Vögel
mouse/mice = die Maus, Mäuse
pig = das Schwein, Schweine
rabbit = der Hase, Hasen, Hasen
bear = der Bär, Bären, Bären
lion = der Löwe, Löwen, Löwen
elephant = der Elefant, Elefanten, Elefanten
goat = die Ziege, Ziegen
duck = die Ente, Enten
snake = die Schlange, Schlangen
fox = der Fuchs, Füchse
wolf/wolves = der Wolf, Wölfe
monkey = der Affe, Affen, Affen
frog = der Frosch, Frösche
donkey = der Esel, Esel
"""

_FOOD = """
apple = der Apfel, Äpfel
pear = die Birne, Birnen
banana = die Banane, Bananen
orange = die Orange, Orangen
egg = das Ei, Eier, Eies
cake = der Kuchen, Kuchen
cookie = der Keks, Kekse
tomato/tomatoes = die Tomate, Tomaten
potato/potatoes = die Kartoffel, Kartoffeln
carrot = die Karotte, Karotten
onion = die Zwiebel, Zwiebeln
cherry = die Kirsche, Kirschen
strawberry = die Erdbeere, Erdbeeren
sausage = die Wurst, Würste
nut = die Nuss, Nüsse
lemon = die Zitrone, Zitronen
plum = die Pflaume, Pflaumen
soup = die Suppe, Suppen
salad = der Salat, Salate
bread = das Brot, -
cheese = der Käse, -
meat = das Fleisch, -
rice = der Reis, -
honey = der Honig, -
butter = die Butter, -
"""

_DRINKS = """
water = das Wasser, -
milk = die Milch, -
tea = der Tee, -
coffee = der Kaffee, -
juice = der Saft, -
beer = das Bier, -
wine = der Wein, -
lemonade = die Limonade, -
"""

_THINGS = """
key = der Schlüssel, Schlüssel
lamp = die Lampe, Lampen
cup = die Tasse, Tassen
glass = das Glas, Gläser
plate = der Teller, Teller
knife/knives = das Messer, Messer
fork = die Gabel, Gabeln
spoon = der Löffel, Löffel
bottle = die Flasche, Flaschen
bag = die Tasche, Taschen
umbrella = der Regenschirm, Regenschirme
ball = der Ball, Bälle
clock = die Uhr, Uhren
computer = der Computer, Computer
phone = das Telefon, Telefone
radio = das Radio, Radios
camera = die Kamera, Kameras
guitar = die Gitarre, Gitarren
mirror = der Spiegel, Spiegel
basket = der Korb, Körbe
pen = der Stift, Stifte
map = die Karte, Karten
coin = die Münze, Münzen
ring = der Ring, Ringe
gift = das Geschenk, Geschenke
flower = die Blume, Blumen
hammer = der Hammer, Hämmer
ladder = die Leiter, Leitern
blanket = die Decke, Decken
candle = die Kerze, Kerzen
vase = die Vase, Vasen
machine = die Maschine, Maschinen
doll = die Puppe, Puppen
stone = der Stein, Steine
photo = das Foto, Fotos
picture = das Bild, Bilder
tool = das Werkzeug, Werkzeuge
suitcase = der Koffer, Koffer
"""

_TEXTS = """
book = das Buch, Bücher
letter = der Brief, Briefe
newspaper = die Zeitung, Zeitungen
story = die Geschichte, Geschichten
song = das Lied, Lieder
poem = das Gedicht, Gedichte
message = die Nachricht, Nachrichten
film = der Film, Filme
"""

_IDEAS = """
question = die Frage, Fragen
answer = die Antwort, Antworten
problem = das Problem, Probleme
idea = die Idee, Ideen
plan = der Plan, Pläne
language = die Sprache, Sprachen
secret = das Geheimnis, Geheimnisse, Geheimnisses
mistake = der Fehler, Fehler
rule = die Regel, Regeln
word = das Wort, Wörter
game = das Spiel, Spiele
dream = der Traum, Träume
"""

_CLOTHES = """
hat = der Hut, Hüte
coat = der Mantel, Mäntel
shirt = das Hemd, Hemden
dress = das Kleid, Kleider
jacket = die Jacke, Jacken
skirt = der Rock, Röcke
sweater = der Pullover, Pullover
scarf/scarves = der Schal, Schals, Schals
sock = die Socke, Socken
glove = der Handschuh, Handschuhe
boot = der Stiefel, Stiefel
tie = die Krawatte, Krawatten
shoe = der Schuh, Schuhe
"""

_VEHICLES = """
car = das Auto, Autos
bus = der Bus, Busse, Busses
truck = der Lastwagen, Lastwagen
taxi = das Taxi, Taxis
tractor = der Traktor, Traktoren
bicycle = das Fahrrad, Fahrräder
boat = das Boot, Boote
ship = das Schiff, Schiffe
train = der Zug, Züge
"""

_FURNITURE = """
table = der Tisch, Tische
chair = der Stuhl, Stühle
bed = das Bett, Betten
sofa = das Sofa, Sofas
wardrobe = der Schrank, Schränke
shelf/shelves = das Regal, Regale
box = die Kiste, Kisten
door = die Tür, Türen
window = das Fenster, Fenster
carpet = der Teppich, Teppiche
"""

_ROOMS = """
kitchen = die Küche, Küchen
room = das Zimmer, Zimmer
cellar = der Keller, Keller
office = das Büro, Büros
garage = die Garage, Garagen
bedroom = das Schlafzimmer, Schlafzimmer
bathroom = das Badezimmer, Badezimmer
"""

_BUILDINGS = """
house = das Haus, Häuser
school = die Schule, Schulen
church = die Kirche, Kirchen
hospital = das Krankenhaus, Krankenhäuser
restaurant = das Restaurant, Restaurants
hotel = das Hotel, Hotels
museum = das Museum, Museen
library = die Bibliothek, Bibliotheken
supermarket = der Supermarkt, Supermärkte
bakery = die Bäckerei, Bäckereien
theater = das Theater, Theater
castle = das Schloss, Schlösser, Schlosses
factory = die Fabrik, Fabriken
tower = der Turm, Türme
station = der Bahnhof, Bahnhöfe | at an
airport = der Flughafen, Flughäfen | at an
bridge = die Brücke, Brücken | on auf
"""

_OUTDOORS = """
garden = der Garten, Gärten
city = die Stadt, Städte
village = das Dorf, Dörfer
park = der Park, Parks, Parks
forest = der Wald, Wälder
zoo = der Zoo, Zoos
harbor = der Hafen, Häfen
market = der Markt, Märkte | at auf
island = die Insel, Inseln | on auf
mountain = der Berg, Berge | on auf
beach = der Strand, Strände | on an
lake = der See, Seen, Sees | at an
river = der Fluss, Flüsse, Flusses | at an
street = die Straße, Straßen | on auf
field = das Feld, Felder | in auf
"""

_EVENTS = """
concert = das Konzert, Konzerte
meeting = die Besprechung, Besprechungen
trip = die Reise, Reisen
party = die Feier, Feiern
exam = die Prüfung, Prüfungen
visit = der Besuch, Besuche
"""

_CAUSES = """
rain = der Regen, -
snow = der Schnee, -
fog = der Nebel, -
noise = der Lärm, -, Lärms
heat = die Hitze, -
wind = der Wind, -
storm = der Sturm, Stürme
"""

_TABLES = {
    "person": _MEN + _WOMEN_AND_CHILDREN.strip() + "\n",
    "animal": _ANIMALS,
    "food": _FOOD,
    "drink": _DRINKS,
    "thing": _THINGS,
    "text": _TEXTS,
    "idea": _IDEAS,
    "clothes": _CLOTHES,
    "vehicle": _VEHICLES,
    "furniture": _FURNITURE,
    "room": _ROOMS,
    "building": _BUILDINGS,
    "outdoors": _OUTDOORS,
    "event": _EVENTS,
    "cause": _CAUSES,
}


@functools.cache
def nouns_by_kind() -> dict[str, tuple[Noun, ...]]:
    """All nouns; besides the kinds also every single noun under its English name.

    So a verb's table may say "food" for anything edible, or "window door" for two things.
    """
    by_kind = {kind: parse_nouns(table, kind) for kind, table in _TABLES.items()}
    single = {noun.english: (noun,) for nouns in by_kind.values() for noun in nouns}
    return {**single, **by_kind}
