"""Made sentences of eight languages from templates, and annotated ones with other names in them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pandas as pd
import yaml

from engine.assets import ASSETS
from engine.pii.languages.inflection import Inflection
from engine.pii.languages.pools import FOLDER, read_pools
from engine.training.word_tagger.data import ANY, FIVE, Document

SLOT = re.compile(r"\{(\w+)(?:[.:]([\w-]+))?\}")
KINDS = {
    "p": "PERSON", "f": "PERSON", "s": "PERSON", "town": "LOCATION", "region": "LOCATION", "street": "LOCATION",
    "post": "LOCATION", "org": "ORGANISATION", "hosp": "ORGANISATION", "date": "DATE", "code": "CODE",
    "phone": "CODE", "mail": "CODE",
}  # fmt: skip
ENDINGS = ("st", "le", "lt", "l", "s", "sse", "ga", "ni", "t", "")
LATIN = re.compile(r"[A-ZÀ-ÞŠŽ][a-zß-ÿšžA-Z'’ -]+")


@cache
def grammar() -> dict[str, dict[str, list[str]]]:
    """Return the templates by language."""
    return dict(yaml.safe_load((ASSETS / "models" / "word_tagger" / "made.yaml").read_text(encoding="utf-8")))


@cache
def estonian() -> Inflection:
    """Return the table of Estonian cases."""
    table = yaml.safe_load((FOLDER / "et" / "inflection.yaml").read_text(encoding="utf-8"))
    return Inflection(table["cases"], table["genitives"], table["genitive_endings"], table["vowel_partitive"])


class World:
    """Names of all lands, for the share of people who live elsewhere."""

    def __init__(self, data: Path) -> None:
        fore = pd.read_csv(data / "names" / "common_forenames_by_country_CC0.csv.gz", keep_default_na=False)
        sur = pd.read_csv(data / "names" / "common_surnames_by_country_CC0.csv.gz", keep_default_na=False)
        towns = pd.read_csv(data / "names" / "world_cities_geonames_CCBY.csv.gz", keep_default_na=False)
        self.forenames = [n for n in fore["Romanized Name"] if LATIN.fullmatch(n)]
        self.surnames = [n for n in sur["Romanized Name"] if LATIN.fullmatch(n)]
        self.towns = [n for n in towns["name"] if LATIN.fullmatch(n)]


class Filler:
    """Fills the slots of one language's templates."""

    def __init__(self, code: str, world: World, rng: random.Random) -> None:
        self.code, self.world, self.rng = code, world, rng
        self.own, self.pools = grammar()[code], read_pools(code)

    def forename(self) -> str:
        """Return a forename, double now and then."""
        names: Sequence[str] = self.world.forenames if self.rng.random() < 0.12 else self.pools.forenames
        name = self.rng.choice(names)
        draw = self.rng.random()
        return (
            f"{name}-{self.rng.choice(names)}"
            if draw < 0.05
            else f"{name} {self.rng.choice(names)}"
            if draw < 0.1
            else name
        )

    def surname(self) -> str:
        """Return a surname, double or made of two halves now and then."""
        names: Sequence[str] = self.world.surnames if self.rng.random() < 0.15 else self.pools.surnames
        name, draw = self.rng.choice(names), self.rng.random()
        if draw < 0.04:
            return f"{name}-{self.rng.choice(names)}"
        if draw < 0.22:  # names nobody has: what the letters look like must carry
            other = self.rng.choice(self.pools.surnames)
            return name[: max(2, len(name) // 2)] + other[len(other) // 2 :].lower()
        return name

    def person(self) -> str:
        """Return a person as texts name one."""
        draw, fore, sur = self.rng.random(), self.forename(), self.surname()
        if self.code == "es" and draw < 0.4:
            return f"{fore} {sur} {self.surname()}"
        if draw < 0.07:
            return f"{fore[0]}. {sur}"
        if draw < 0.10:
            return f"{sur}, {fore}"
        return f"{fore} {fore[0]}. {sur}" if draw < 0.12 else f"{fore} {sur}"

    def town(self) -> str:
        """Return a town, one of the larger ones of the world now and then."""
        return self.rng.choice(self.world.towns) if self.rng.random() < 0.12 else self.rng.choice(self.pools.towns).name

    def value(self, name: str, case: str) -> str:
        """Return what stands in a slot."""
        rng = self.rng
        if name == "n":
            low, high = case.split("-")
            return f"{rng.randint(int(low), int(high)):0{len(low) if low[0] == '0' else 0}d}"
        if name == "month":
            return rng.choice(self.own["months"])
        if name == "stem":
            return rng.choice(self.pools.streets)
        if name in {"date", "street"}:
            return self.fill(rng.choice(self.own[f"{name}s"]))
        if name in {"org", "hosp"}:
            some = self.own["orgs"]
            if name == "hosp":
                some = [
                    o
                    for o in some
                    if re.search(
                        r"(?i)hospital|kliin|klini|haigla|sairaala|lasarett|ziekenhuis|chu|hôpital|krankenhaus", o
                    )
                ]
            text = self.fill(rng.choice(some))
        elif name == "post":
            return rng.choice(self.pools.towns).postcode or "12345"
        elif name == "region":
            text = rng.choice(self.pools.regions)
        elif name in {"code", "phone", "mail"}:
            return self._code(name)
        else:
            text = {"p": self.person, "f": self.forename, "s": self.surname, "town": self.town}[name]()
        if not case:
            return text
        if self.code == "et":
            return estonian().full_name(text, case)
        return text + ("s" if case == "gen" else "")

    def _code(self, name: str) -> str:
        digits = "".join(self.rng.choice("0123456789") for _ in range(11))
        if name == "phone":
            return self.rng.choice(
                (
                    f"+{digits[:2]} {digits[2:5]} {digits[5:8]}{digits[8:]}",
                    f"0{digits[:2]} {digits[3:10]}",
                    f"5{digits[:3]} {digits[4:8]}",
                    f"0{digits[:3]}/{digits[4:10]}",
                )
            )
        if name == "mail":
            first, last = (self.rng.choice(p).split()[0].lower() for p in (self.pools.forenames, self.pools.surnames))
            return f"{first}.{last}@{self.rng.choice(('gmail.com', 'posti.ee', 'mail.de', 'correo.es'))}"
        return self.rng.choice(
            (
                digits,
                f"{digits[:8]}{self.rng.choice('ABCDEFXYZ')}",
                f"{digits[:6]}-{digits[6:10]}",
                f"{self.rng.choice('ABC')}{digits[:9]}",
            )
        )

    def fill(self, template: str) -> str:
        """Return a template with every slot filled, as plain text."""
        return SLOT.sub(lambda m: self.value(m.group(1), m.group(2) or ""), template)

    def document(self) -> Document:
        """Return one to six sentences with their spans."""
        text, spans = "", []
        for template in self.rng.sample(self.own["sentences"], self.rng.randint(1, 6)):
            at = 0
            for match in SLOT.finditer(template):
                text += template[at : match.start()]
                value, kind = self.value(match.group(1), match.group(2) or ""), KINDS.get(match.group(1))
                if kind:
                    spans.append((len(text), len(text) + len(value), kind))
                text, at = text + value, match.end()
            text += template[at:] + self.rng.choice((" ", " ", "\n"))
        return Document(text, tuple(spans), FIVE, self.code, "made")


def made_documents(fillers: dict[str, Filler], count: int, rng: random.Random) -> list[Document]:
    """Return `count` made documents; four languages come twice as often as the others."""
    codes, weights = list(fillers), [2 if c in {"et", "de", "es", "fr"} else 1 for c in fillers]
    return [fillers[c].document() for c in rng.choices(codes, weights, k=count)]


def renamed(document: Document, fillers: dict[str, Filler], rng: random.Random, share: float) -> Document:
    """Return the document with a share of its persons and places replaced by others, Estonian endings kept."""
    filler = fillers.get(document.language)
    if filler is None:
        return document
    text, spans, at = "", [], 0
    for start, end, label in sorted(document.spans):
        if start < at:
            continue
        old = document.text[start:end]
        new = old
        if label in {"PERSON", "LOCATION"} and len(old) > 3 and old[0].isupper() and rng.random() < share:
            words = len(old.split())
            if label == "PERSON":
                new = filler.person() if words > 1 else filler.surname() if rng.random() < 0.6 else filler.forename()
            elif words == 1 and not any(c.isdigit() for c in old):
                new = filler.town()
            if new != old and document.language == "et":
                ending = next((e for e in ENDINGS if old.endswith(e)), "")
                case = {v: k for k, v in estonian().cases.items()}.get(ending, "nom")
                new = estonian().full_name(new, case)
            if new != old and document.language == "de" and old.endswith("s") and rng.random() < 0.3:
                new += "s"
        text += document.text[at:start]
        spans.append((len(text), len(text) + len(new), label))
        text, at = text + new, end
    return Document(text + document.text[at:], tuple(spans), document.types, document.language, document.source)


def recased(document: Document, rng: random.Random) -> Document:
    """Return the document in lower, upper or title case in an eighth of the draws; lengths stay."""
    draw = rng.random()
    if draw >= 0.13:
        return document
    how = str.lower if draw < 0.08 else str.upper
    text = document.text
    if draw < 0.11:
        text = "".join(how(c) if len(how(c)) == 1 else c for c in text)
    else:
        for start, end, label in document.spans:
            if label != ANY:
                part = "".join(how(c) if len(how(c)) == 1 else c for c in text[start:end])
                text = text[:start] + part + text[end:]
    return Document(text, document.spans, document.types, document.language, document.source)
