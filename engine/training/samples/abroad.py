"""Invent a patient and the clinic letters of several visits, in Estonian or German.

Names are common ones of the country put together by chance, places and firms are made of invented stems; telephone
and personal numbers are of ranges or with check digits that nobody has.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from random import Random
from typing import NamedTuple

from engine.corpus import names
from engine.corpus.samples import FOLDER
from engine.pii.languages.inflection import Inflection
from engine.pii.languages.pack import pack
from engine.training.samples.common import entity, split_list
from engine.training.samples.grammar import Grammar, Handler, Scene, Segment, Value, tidy
from engine.training.samples.novelty import Novelty, least_repeated

_TRIES = 24  # the grammars are small
_YEARS, _FROM = dt.timedelta(days=3650), dt.date(2014, 1, 1)
OUTCOMES = ("improved", "unchanged", "worsened", "referred", "discharged")


class Who(NamedTuple):
    """A person: forename, surname, sex (f or m)."""

    first: str
    last: str
    sex: str

    @property
    def full(self) -> str:
        """Return forename and surname."""
        return f"{self.first} {self.last}"


@dataclass(frozen=True)
class Land:
    """What a language's letters are made of; words are lists parted by blanks, or by `;` where they hold blanks."""

    code: str
    grammar: str
    female: str
    male: str
    surnames: str
    towns: str
    streets: str
    hospitals: str
    practices: str
    employers: str
    jobs: dict[str, str]
    retired: dict[str, str]
    kin: dict[str, str]
    elders: str
    mail: str


ESTONIAN = Land(
    "et",
    "estonian",
    "Mari Anne Tiina Katrin Kristi Kadri Piret Signe Helena Liina Kersti Ülle Aita Leida Salme Elsa "
    "Marika Mare Reet Riina Silvi Sirje Tiiu Urve Virve Eha Epp Eve Heli Inga Jaanika Kaja Kaire Johanna "
    "Laura Lisete Saara Teele Annika",
    "Jaan Jüri Mart Peeter Toomas Andres Andrus Aivar Arvo Enn Erki Hannes Heino Indrek Ivo Jaak Jaanus Kalev Kaspar "
    "Kristjan Lauri Lembit Madis Marek Margus Marko Mati Mihkel Olev Oskar Priit Raivo Rein Riho Sander Siim Sulev "
    "Taavi Tanel Tarmo Tõnis Tõnu Urmas Veiko Villu",
    "Tamm Saar Sepp Mägi Kask Rebane Ilves Pärn Kuusk Lepp Oja Kallas Raud Karu Kivi Põld Luik Kukk Saks "
    "Hunt Mets Kuusik Lepik Kaasik Haavik Tammik Jõgi Org Roos Parts Sild Lill Rätsep Kangur Pukk Laas "
    "Vares Paju Allik Toomsalu Kivimäe Kasemaa Lepaste Metsoja Põllumäe Rannamäe Uustalu Veskimäe Õunapuu "
    "Tammemäe Kuuseoja Saaremäe Aavasalu Pihlamäe",
    "Tulivere Arula Vihtla Pernala Lemsala Kursala Morna Oruvere Pihlvere Sangavere Kaarvere Tihvere "
    "Lehtvere Ollvere Allivere Mustla Võhmula Kaldavere Rohuvere Soosalu Sõmerla Tõrula Ristvere Helmsalu",
    "Kase;Pihlaka;Lepa;Tamme;Vahtra;Sireli;Õuna;Kooli;Jõe;Metsa;Aia;Lille;Pargi;Ranna;Mäe;"
    "Põllu;Kesk;Veski;Nurme;Allika",
    "{t} haigla;{t} keskhaigla;{t} kliinik;{t} polikliinik",
    "{t} perearstikeskus;{t} tervisekeskus",
    "OÜ {t} Puit;AS {t} Piim;OÜ {t} Ehitus;OÜ {s} ja Pojad;AS {t} Trükk;OÜ {t} Kaubad;OÜ {t} Mööbel",
    dict.fromkeys("fm", "õpetaja;müüja;bussijuht;kokk;aednik;elektrik;õmbleja;laohoidja;insener;muusik;metsnik;pagar"),
    {"f": "pensionär", "m": "pensionär"},
    {"f": "abikaasa;õde;ema;tütar;naaber;tädi", "m": "abikaasa;vend;isa;poeg;naaber;onu"},
    "ema isa tädi onu",
    "post.example.org",
)
GERMAN = Land(
    "de",
    "german",
    "Anna Maria Sabine Petra Monika Claudia Birgit Ursula Renate Karin Heike Julia Katharina Lena Laura "
    "Sophie Johanna Christine Elke Martina Silke Franziska Nadine Ingrid Helga Gisela Brigitte Hannelore "
    "Emma Greta Ida Paula Clara",
    "Thomas Michael Andreas Stefan Peter Wolfgang Klaus Jürgen Dieter Manfred Uwe Bernd Frank Martin "
    "Markus Jonas Lukas Felix Paul Moritz Jakob Anton Karl Heinrich Friedrich Georg Ulrich Rainer Torsten "
    "Sven Oliver Florian Sebastian",
    "Müller Schmidt Schneider Fischer Weber Meyer Wagner Becker Schulz Hoffmann Schäfer Koch Bauer "
    "Richter Klein Wolf Schröder Neumann Schwarz Zimmermann Braun Krüger Hofmann Hartmann Lange Werner "
    "Krause Lehmann Köhler Herrmann König Walter Mayer Huber Kaiser Fuchs Peters Lang Scholz Möller Weiß "
    "Jung Hahn Schubert Vogel Friedrich Keller Günther Frank Berger Winkler Roth Beck Lorenz Baumann "
    "Franke Albrecht Schuster Simon Ludwig Böhm Winter Kraus Martin",
    "Ahrenstedt Brunnfelden Mohrdorf Kesselbrück Weidenhagen Lindrode Oberwiesen Stellbach Grünfurt "
    "Hasselrode Tannwalde Birkenrode Sommerfurt Niederhain Falkenstedt Wolfsrode Altenbrück Kirchfurt "
    "Rosendorf Steinhagen Buchfelden Erlenstedt",
    "Lindenweg;Gartenstraße;Bergstraße;Wiesenweg;Birkenallee;Mühlenstraße;Kirchgasse;Schulstraße;"
    "Rosenweg;Ahornallee;Buchenweg;Feldstraße;Waldweg;Sonnenstraße;Brunnengasse;Eichenweg;"
    "Tannenstraße;Amselweg;Heideweg;Erlenweg",
    "Klinikum {t};Krankenhaus {t};Kreiskrankenhaus {t};St.-Anna-Krankenhaus {t}",
    "Gemeinschaftspraxis {t};Hausarztpraxis {t};Praxis am Markt {t}",
    "{t} Möbel GmbH;{s} & Söhne KG;{t} Logistik GmbH;Stadtwerke {t};Bäckerei {s};Spedition {s} GmbH;{t} Druck AG",
    {
        "f": "Lehrerin;Verkäuferin;Busfahrerin;Köchin;Buchhalterin;Gärtnerin;Elektrikerin;Ingenieurin;Bäckerin",
        "m": "Lehrer;Verkäufer;Busfahrer;Koch;Buchhalter;Gärtner;Elektriker;Schneider;Ingenieur;Bäcker",
    },
    {"f": "Rentnerin", "m": "Rentner"},
    {"f": "Ehefrau;Schwester;Mutter;Tochter;Nachbarin;Tante", "m": "Ehemann;Bruder;Vater;Sohn;Nachbar;Onkel"},
    "Mutter Vater Tante Onkel",
    "post.example.org",
)


@cache
def _grammar(land: str) -> Grammar:
    return Grammar(FOLDER / "grammar" / f"{land}.txt")


@cache
def _conditions(code: str) -> tuple[dict[str, str], ...]:
    import yaml

    return tuple(yaml.safe_load((FOLDER / "grammar" / f"conditions_{code}.yaml").read_text(encoding="utf-8")))


def letters(land: Land, rng: Random, visits: int, novelty: Novelty) -> Iterator[tuple[list[Segment], str]]:
    """Yield the segments and outcome of each of a patient's records, oldest first."""
    condition = rng.choice(_conditions(land.code))
    first = _FROM + _YEARS * rng.random()
    birth = first - dt.timedelta(days=int(rng.uniform(24, 88) * 365.25))
    dates = {
        "birth": birth,
        "early": birth + (first - birth) * rng.uniform(0.4, 0.85),
        "onset": first - dt.timedelta(days=rng.randint(60, 1500)),
    }
    facts = _facts(land, rng, condition, birth, first)
    day = first
    for visit in range(visits):
        last = visit == visits - 1
        outcome = rng.choice(("referred", "discharged", "discharged", "improved") if last else OUTCOMES)
        age = day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))
        now = {**facts, **_of_age(land, age), "outcome": outcome, "cond": rng.choice(split_list(condition["name"]))}
        now["condn"] = str(now["cond"]).split(" ", 1)[-1]
        now["wt"] = entity(f"{rng.randint(54, 104)},{rng.randint(0, 9)} kg", "QUANTITY")
        handlers = _Handlers(land, rng, {**dates, "visit": day})
        grammar = _grammar(land.grammar)
        layout = rng.randrange(len(grammar.rules["letter"]))

        def drawn(now: dict[str, Value] = now, handlers: _Handlers = handlers, layout: int = layout) -> list[Segment]:
            handlers.begin(condition)
            return tidy(_grammar(land.grammar).expand("letter", Scene(rng, now, handlers.table()), layout))

        yield least_repeated(drawn, novelty, _TRIES), outcome
        day += dt.timedelta(days=rng.randint(9, 220))


def _of_age(land: Land, age: int) -> dict[str, Value]:
    written = f"{age}-aastane" if land.code == "et" else f"{age} Jahre"
    return {
        "age": entity(written, "AGE"),
        "agej": entity(written, "AGE"),
        "agen": entity(str(age), "AGE"),
    }


def _person(land: Land, rng: Random, sex: str = "") -> Who:
    sex = sex or rng.choice("fm")
    first = rng.choice((land.female if sex == "f" else land.male).split())
    return Who(first, rng.choice(land.surnames.split()), sex)


def _named(land: Land, shapes: str, rng: Random, town: str) -> str:
    return rng.choice(shapes.split(";")).format(t=town, s=rng.choice(land.surnames.split()))


def _facts(land: Land, rng: Random, condition: Mapping[str, str], birth: dt.date, first: dt.date) -> dict[str, Value]:
    facts: dict[str, Value] = {}
    patient = _person(land, rng)
    others = {key: _person(land, rng) for key in ("doc", "gp", "doc2", "nurse", "kin")}
    if rng.random() < 0.6:
        others["kin"] = others["kin"]._replace(last=patient.last)
    towns = rng.sample(land.towns.split(), 4)
    old = (first - birth).days > 67 * 365
    job = land.retired[patient.sex] if old else rng.choice(land.jobs[patient.sex].split(";"))
    for key, who in {"pt": patient, **others}.items():
        facts |= {key: entity(who.full, "PERSON"), f"{key}.last": entity(who.last, "PERSON")}
    organisations = {
        "hosp": _named(land, land.hospitals, rng, towns[0]),
        "otherhosp": _named(land, land.hospitals, rng, towns[1]),
        "practice": _named(land, land.practices, rng, towns[2]),
        "employer": _named(land, land.employers, rng, towns[2]),
    }
    facts |= {key: entity(name, "ORGANISATION") for key, name in organisations.items()}
    facts |= {
        "spec": condition["spec"],
        "job": entity(job, "DEMOGRAPHIC"),
        "town": entity(towns[2], "LOCATION"),
        "hometown": entity(towns[3], "LOCATION"),
        "plztown": entity(f"{rng.randint(10, 98)}{rng.randint(100, 999)} {towns[2]}", "LOCATION"),
        "addr": entity(f"{rng.choice(land.streets.split(';'))} {rng.randint(1, 89)}", "ADDRESS"),
        "mrn": entity(names.code(rng, rng.choice(("######", "??-#####", "####/##"))), "MEDICAL_ID"),
        "kvnr": entity(names.code(rng, "?#########"), "NATIONAL_ID"),
        "ptmail": entity(f"{_plain(patient.first)}.{_plain(patient.last)}@{land.mail}", "EMAIL"),
        "deskmail": entity(f"{_plain(condition['spec'])}{rng.randint(1, 60)}@haus.example.org", "EMAIL"),
    }
    facts |= {key: entity(_phone(land, rng), "PHONE") for key in ("pttel", "kintel", "desk")}
    relations = land.kin[others["kin"].sex].split(";")  # spouse, sibling, parent, child, neighbour, aunt or uncle
    relations = relations[others["kin"].sex == patient.sex :]
    if old:
        relations = [r for r in relations if r not in land.elders.split()]
    relation = rng.choice(relations)
    if land.code == "et":
        return facts | _estonian(rng, patient, others["kin"], relation, towns, organisations, birth)
    return facts | _german(patient, others, relation)


def _estonian(
    rng: Random, patient: Who, kin: Who, relation: str, towns: list[str], organisations: dict[str, str], birth: dt.date
) -> dict[str, Value]:
    table = pack("et").inflection
    assert table is not None
    facts: dict[str, Value] = {
        "pt.gen": entity(table.full_name(patient.full, "gen"), "PERSON"),
        "kin.com": entity(table.full_name(kin.full, "com"), "PERSON"),
        "kinrel": relation,
        "kinrelc": relation.capitalize(),
        "ik": entity(_personal_code(rng, birth, patient.sex), "NATIONAL_ID"),
    }
    for key, place in (("town", towns[2]), ("hometown", towns[3])):
        facts |= {f"{key}.{case}": entity(table.inflected(place, case), "LOCATION") for case in ("ine", "ela")}
    for key, case in (("otherhosp", "ine"), ("practice", "ine"), ("practice", "all")):
        facts[f"{key}.{case}"] = entity(_last_inflected(organisations[key], case, table), "ORGANISATION")
    return facts


def _last_inflected(name: str, case: str, table: Inflection) -> str:
    """Return an organisation in a case: its kind word ends in a vowel, or in -keskus, -kliinik."""
    head, _, kind = name.rpartition(" ")
    stem = kind + {"s": "e", "k": "u"}.get(kind[-1], "")
    return f"{head} {stem}{table.cases[case]}"


def _german(patient: Who, others: dict[str, Who], relation: str) -> dict[str, Value]:
    woman, kin = patient.sex == "f", others["kin"].sex == "f"
    own = "ihr" if woman else "sein"
    return {
        "pt.er": "sie" if woman else "er",
        "pt.Er": "Sie" if woman else "Er",
        "pt.ihm": "ihr" if woman else "ihm",
        "pt.ihn": "sie" if woman else "ihn",
        "pt.die": "die" if woman else "der",
        "pt.frau": "Frau" if woman else "Herr",
        "pt.frauacc": "Frau" if woman else "Herrn",
        "gp.r": "" if others["gp"].sex == "f" else "r",
        "gp.frau": "Frau" if others["gp"].sex == "f" else "Herr",
        "kinrel": f"{own}{'e' if kin else ''} {relation}",
        "kinreldat": f"{own}{'er' if kin else 'em'} {relation}{'n' if relation == 'Nachbar' else ''}",
        "kinrelmy": f"mein{'e' if kin else ''} {relation}",
    }


def _phone(land: Land, rng: Random) -> str:
    """Return a number that is nobody's: Germany keeps some for fiction, Estonia has no area code 34."""
    if land.code == "et":
        return f"34{rng.randint(0, 9)} {rng.randint(1000, 9999)}"
    shape = rng.choice(pack("de").data.phones[:4])
    return "".join(str(rng.randint(0, 9)) if c == "#" else c for c in shape)


def _personal_code(rng: Random, birth: dt.date, sex: str) -> str:
    """Return an Estonian personal code with a wrong check digit."""
    century = {18: 1, 19: 3, 20: 5}[birth.year // 100]
    body = f"{century + (sex == 'f')}{birth:%y%m%d}{rng.randint(1, 999):03d}"
    digit = 0
    for weights in ("1234567891", "3456789123"):
        digit = sum(int(a) * int(b) for a, b in zip(body, weights)) % 11
        if digit < 10:
            break
    return f"{body}{(digit % 10 + rng.randint(1, 9)) % 10}"


def _plain(text: str) -> str:
    table = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "õ": "o", "ß": "ss", "é": "e"})
    return "".join(c for c in text.lower().translate(table) if c.isascii() and c.isalnum())


class _Handlers:
    """The slots of one letter: dates, numbers, and entries of the condition's lists."""

    def __init__(self, land: Land, rng: Random, dates: dict[str, dt.date]) -> None:
        self._land, self._rng, self._dates = land, rng, dates
        self._lists: dict[str, list[str]] = {}

    def begin(self, condition: Mapping[str, str]) -> None:
        """Fill the lists anew."""
        self._lists = {k: split_list(v) for k, v in condition.items() if k not in {"name", "spec"}}

    def table(self) -> dict[str, Handler]:
        """Return the handlers by slot."""
        shapes = ("d", "dl", "dn", "de", "dm", "dy", "dw")
        dated: dict[str, Handler] = {shape: partial(self._dated, shape) for shape in shapes}
        return dated | {
            "n": lambda a, _: str(self._between(a)),
            "w": lambda a, _: _WORDS[self._land.code][self._between(a)],
            "wl": lambda a, _: _ON_SO_MANY[self._between(a)],
            "of": lambda a, _: self._pick(a),
            "time": lambda _a, _s: entity(f"{self._rng.randint(7, 20)}.{self._rng.choice('012345')}0", "DATE", "quasi"),
            "who": lambda _a, _s: entity(_person(self._land, self._rng).full, "PERSON"),
        }

    def _dated(self, shape: str, argument: str, _scene: Scene) -> Value:
        return self._date(argument, shape)

    def _between(self, argument: str) -> int:
        low, _, high = argument.partition("-")
        return self._rng.randint(int(low), int(high or low))

    def _pick(self, name: str) -> str:
        if name == "findc":
            text = self._pick("find")
            return text[:1].upper() + text[1:]
        left = self._lists[name]
        return left.pop(self._rng.randrange(len(left))) if len(left) > 1 else left[0]

    def _date(self, argument: str, shape: str) -> Value:
        head, _, far = argument.partition("..")
        sign = next((c for c in "+-" if c in head), "")
        name, _, near = head.partition(sign) if sign else (head, "", "0")
        low, high = int(near), int(far or near)
        days = self._rng.randint(min(low, high), max(low, high)) * (-1 if sign == "-" else 1)
        return entity(_written(self._dates[name] + dt.timedelta(days=days), shape, self._land.code), "DATE")


_WORDS = {
    "et": "null üks kaks kolm neli viis kuus seitse kaheksa üheksa".split(),
    "de": "null eins zwei drei vier fünf sechs sieben acht neun".split(),
}
_ON_SO_MANY = "nullil ühel kahel kolmel neljal viiel kuuel seitsmel kaheksal üheksal".split()  # Estonian adessive


def _written(day: dt.date, shape: str, code: str) -> str:
    """Return a date: `d` on that day, `dl` the day, `dn` in figures, `de` since then, `dm` month, `dy` year, `dw`."""
    data, table = pack(code).data, pack(code).inflection
    month, weekday = data.months[day.month - 1], data.weekdays[day.weekday()]
    if shape == "dn":
        return f"{day:%d.%m.%Y}"
    if shape == "dy":
        return str(day.year)
    if table is None:  # German
        return {"dm": f"{month} {day.year}", "dw": weekday}.get(shape, f"{day.day}. {month} {day.year}")
    cases = {"d": "ade", "de": "ela", "dm": "ine", "dl": "nom"}
    if shape == "dw":
        return weekday + ("l" if weekday == "reede" else "al")
    month = table.inflected(month, cases[shape])
    return f"{month} {day.year}" if shape == "dm" else f"{day.day}. {month} {day.year}"
