"""Made sentences for the tagger: clinic, court, support desk, letters and chat, filled with made-up people.

Every sentence is the project's own; the grammar is `assets/models/tagger/made*.yaml`. Slots that a person
would mask carry a label, others (drugs, body parts, diseases, months as words, eponyms, courts and
ministries of a whole country) teach what to leave alone.
"""

from __future__ import annotations

import random
import re
from functools import lru_cache
from typing import TYPE_CHECKING, TypedDict

import yaml

from engine.assets import ASSETS
from engine.training.tagger.data import MADE, Document, Segments

if TYPE_CHECKING:
    from faker import Faker


GRAMMAR = ASSETS / "models" / "tagger"
SLOT = re.compile(r"\{(?:(lower|upper):)?([\w.-]+)\}")
NUMBER = re.compile(r"(\d+)-(\d+)")
EAST_SHARE = 0.25
LOCALES = (
    "en_US en_GB en_IN de_DE fr_FR es_ES it_IT pl_PL tr_TR sv_SE nl_NL no_NO fi_FI cs_CZ hu_HU ro_RO pt_BR hr_HR "
    "vi_VN id_ID es_MX et_EE lt_LT sl_SI fr_CA da_DK"
).split()


class Slot(TypedDict):
    """Forms that fill a slot, and the label of what they hold."""

    forms: list[str]
    label: str


class Domain(TypedDict):
    """Sentences of a kind of text, and how often it is drawn."""

    weight: float
    sentences: list[str]


class Grammar(TypedDict):
    """Word lists, slots and sentences by name."""

    words: dict[str, list[str]]
    slots: dict[str, Slot]
    domains: dict[str, Domain]


@lru_cache(maxsize=1)
def grammar() -> Grammar:
    """Return word lists, slots and sentences of the grammar."""
    words: dict[str, str] = {}
    slots: dict[str, Slot] = {}
    domains: dict[str, Domain] = {}
    parts: dict[str, dict[str, str] | dict[str, Slot] | dict[str, Domain]] = {
        "words": words,
        "slots": slots,
        "domains": domains,
    }
    for path in sorted(GRAMMAR.glob("made*.yaml")):
        for part, entries in yaml.safe_load(path.read_text(encoding="utf-8")).items():
            parts[part].update(entries)
    listed = {name: [word.strip() for word in line.split("|")] for name, line in words.items()}
    return {"words": listed, "slots": slots, "domains": domains}


@lru_cache(maxsize=1)
def _fakers() -> tuple[Faker, ...]:
    from faker import Faker

    return tuple(Faker(locale) for locale in LOCALES)


class Filler:
    """Fills slots; a document keeps three made-up people."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.grammar = grammar()
        for fake in _fakers():
            fake.seed_instance(rng.randrange(2**31))
        self.people: list[tuple[str, str]] = []
        self.now = ("", "")

    def meet(self) -> None:
        """Take three new people."""
        self.people = [self._person() for _ in range(3)]

    def _person(self) -> tuple[str, str]:
        if self.rng.random() < EAST_SHARE:
            first, _, last = self.rng.choice(self.grammar["words"]["east"]).partition(" ")
            return first, last or first
        fake = self.rng.choice(_fakers())
        return fake.first_name(), fake.last_name()

    def slot(self, name: str) -> tuple[str, str | None]:
        """Return (text, label) of one slot; a bare word list or number has no label."""
        slot = self.grammar["slots"].get(name)
        if slot is None:
            return self._plain(name), None
        self.now = self.rng.choice(self.people)
        return self.expand(self.rng.choice(slot["forms"])), slot["label"]

    def expand(self, form: str) -> str:
        """Return a form with everything in braces filled in."""
        return SLOT.sub(self._part, form)

    def _part(self, match: re.Match[str]) -> str:
        case, name = match.groups()
        text = self._plain(name)
        return text.lower() if case == "lower" else text.upper() if case == "upper" else text

    def _plain(self, name: str) -> str:
        number = NUMBER.fullmatch(name)
        if number is not None:
            low, high = number.groups()
            width = len(low) if low.startswith("0") and len(low) > 1 else 0
            return (
                f"{self.rng.randint(int(low), int(high)):0{width}d}"
                if width
                else str(self.rng.randint(int(low), int(high)))
            )
        if name in {"first", "last", "initial"}:
            first, last = self.now
            return {"first": first, "last": last, "initial": first[0]}[name]
        if name.startswith("fake."):
            fake = self.rng.choice(_fakers())
            method = {
                "city": fake.city,
                "company": fake.company,
                "address": fake.address,
                "street": fake.street_address,
            }
            return str(method[name[5:]]()).replace("\n", ", ")
        return self.expand(self.rng.choice(self.grammar["words"][name]))


def _sentence(template: str, filler: Filler) -> Segments:
    segments: Segments = []
    at = 0
    for match in SLOT.finditer(template):
        segments += [(template[at : match.start()], None), filler.slot(match.group(2))]
        at = match.end()
    segments.append((template[at:], None))
    return [s for s in segments if s[0]]


def made_documents(count: int, rng: random.Random) -> list[Document]:
    """Return `count` made documents of one to eight sentences of one domain."""
    filler = Filler(rng)
    domains = list(filler.grammar["domains"].values())
    weights = [d["weight"] for d in domains]
    out = []
    for _ in range(count):
        filler.meet()
        sentences = rng.choices(domains, weights)[0]["sentences"]
        segments: Segments = []
        for template in rng.sample(sentences, min(len(sentences), rng.randint(1, 8))):
            segments += [*_sentence(template, filler), (rng.choice((" ", " ", "\n", "\n\n")), None)]
        out.append(Document(segments, MADE))
    return out
