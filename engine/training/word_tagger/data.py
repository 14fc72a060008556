"""Annotated text in eight languages as documents, each set cut once into training, tuning and reporting parts.

The cut goes by blocks of consecutive rows (or by documents) and a checksum of their number, and never changes:
what is reported was neither trained on nor looked at when anything was set.
"""

from __future__ import annotations

import gzip
import json
import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NotRequired, TypedDict

Spans = list[tuple[int, int, str]]
THREE = frozenset({"PERSON", "LOCATION", "ORGANISATION"})
FOUR = THREE | {"DATE"}
FIVE = FOUR | {"CODE"}
ANY = "*"  # a span whose words may be anything
LABELS = {
    "EstNER": {"PER": "PERSON", "GPE": "LOCATION", "LOC": "LOCATION", "ORG": "ORGANISATION", "DATE": "DATE",
               "TIME": ANY, "PROD": ANY, "EVENT": ANY},
    "LER": {"PER": "PERSON", "RR": "PERSON", "AN": "PERSON", "LD": "LOCATION", "ST": "LOCATION", "STR": "LOCATION",
            "LDS": "LOCATION", "ORG": "ORGANISATION", "UN": "ORGANISATION", "INN": "ORGANISATION",
            "GRT": "ORGANISATION", "LIT": ANY, "RS": ANY, "EUN": ANY, "MRK": ANY},
    "LeNER-Br": {"PESSOA": "PERSON", "LOCAL": "LOCATION", "ORGANIZACAO": "ORGANISATION", "TEMPO": "DATE",
                 "JURISPRUDENCIA": ANY, "LEGISLACAO": ANY},
    "MEDDOCAN": {"NOMBRE_SUJETO_ASISTENCIA": "PERSON", "NOMBRE_PERSONAL_SANITARIO": "PERSON",
                 "TERRITORIO": "LOCATION", "PAIS": "LOCATION", "CALLE": "LOCATION", "HOSPITAL": "ORGANISATION",
                 "INSTITUCION": "ORGANISATION", "CENTRO_SALUD": "ORGANISATION", "FECHAS": "DATE",
                 "ID_SUJETO_ASISTENCIA": "CODE", "ID_TITULACION_PERSONAL_SANITARIO": "CODE",
                 "ID_ASEGURAMIENTO": "CODE", "ID_CONTACTO_ASISTENCIAL": "CODE",
                 "ID_EMPLEO_PERSONAL_SANITARIO": "CODE", "NUMERO_TELEFONO": "CODE", "NUMERO_FAX": "CODE",
                 "CORREO_ELECTRONICO": "CODE", "EDAD_SUJETO_ASISTENCIA": ANY, "SEXO_SUJETO_ASISTENCIA": ANY,
                 "FAMILIARES_SUJETO_ASISTENCIA": ANY, "PROFESION": ANY, "OTROS_SUJETO_ASISTENCIA": ANY},
}  # fmt: skip
PLAIN = {"PER": "PERSON", "LOC": "LOCATION", "ORG": "ORGANISATION", "DATE": "DATE", "MISC": ANY}
NO_SPACE_BEFORE = frozenset(". , ; : ) ] % ? ! ” ’ » …".split())
NO_SPACE_AFTER = frozenset("( [ „ « # @".split())
END_MARKS = '.,;:!?)]"”“»'


class GoldSpan(TypedDict):
    """A span as the sets of whole texts have it."""

    start: int
    end: int
    label: str


class Line(TypedDict):
    """A line of a set: tokens with tags, or a text with spans."""

    id: str
    doc: NotRequired[int]
    source: str
    tokens: list[str]
    tags: list[str]
    text: str
    spans: list[GoldSpan]


@dataclass(frozen=True)
class Document:
    """A text with spans (start, end, type or `ANY`) and the types its source annotates."""

    text: str
    spans: tuple[tuple[int, int, str], ...]
    types: frozenset[str]
    language: str = ""
    source: str = ""


def joined(tokens: Sequence[str], tags: Sequence[str], labels: dict[str, str]) -> tuple[str, Spans]:
    """Return running text with usual spacing and the spans of its tags; marks at a span's end are outside it."""
    text, glue = "", ""
    spans: Spans = []
    for token, tag in zip(tokens, tags):
        text += "" if token in NO_SPACE_BEFORE else glue
        start, text = len(text), text + token
        glue = "" if token in NO_SPACE_AFTER or (token.endswith("'") and len(token) > 1) else " "
        label = labels.get(tag[2:]) if tag != "O" else None
        if label is None:
            continue
        if tag.startswith("I-") and spans and spans[-1][2] == label and spans[-1][1] >= start - 1:
            spans[-1] = (spans[-1][0], len(text), label)
        else:
            spans.append((start, len(text), label))
    return text, [_bare(text, s) for s in spans]


def _bare(text: str, span: tuple[int, int, str]) -> tuple[int, int, str]:
    start, end, label = span
    while end > start + 1 and text[end - 1] in END_MARKS and not (text[end - 1] == "." and end - start < 4):
        end -= 1
    return start, end, label


def part_of(name: str, block: int) -> str:
    """Return train, tune or report for a block of a set: a tenth of the training half tunes."""
    draw = zlib.crc32(f"{name}/{block}".encode()) % 100
    whole = {"europeana": 80, "lener": 80, "webbnyheter": 60, "ler_dates": 90}
    limit = next((v for k, v in whole.items() if name.startswith(k)), 50)
    return "report" if draw >= limit else "tune" if draw < limit // 10 else "train"


def read_sets(folder: Path, part: str) -> list[Document]:
    """Return the documents of one part (train, tune or report) of every set that may be trained on."""
    out: list[Document] = []
    for name, language, key, types in (
        ("estner_dev_et", "et", "EstNER", FOUR),
        ("estner_new_dev_et", "et", "EstNER", FOUR),
        ("ler_dev_de", "de", "LER", THREE),
        ("webbnyheter_sv", "sv", "", THREE),
        ("europeana_de", "de", "", THREE),
        ("europeana_fr", "fr", "", THREE),
        ("europeana_nl", "nl", "", THREE),
        ("lener_br_pt", "pt", "LeNER-Br", FOUR),
    ):
        rows = _rows(folder / f"{name}.jsonl.gz")
        for at, row in enumerate(rows):
            block = row.get("doc", at // 60)
            if part_of(name, block) == part:
                text, spans = joined(row["tokens"], row["tags"], LABELS.get(key, PLAIN))
                out.append(Document(text, tuple(spans), types, language, f"{name}/{block}"))
    for at, row in enumerate(_rows(folder / "ler_dates_de.jsonl.gz")):
        if part_of("ler_dates_de", at // 60) == part and at % 8 == 0:
            spans = [(s["start"], s["end"], "DATE" if s["label"] == "DATE" else ANY) for s in row["spans"]]
            out.append(Document(row["text"], tuple(spans), frozenset({"DATE"}), "de", "ler_dates_de"))
    for row in _rows(folder / "meddocan_traindev_es.jsonl.gz"):
        if part_of("meddocan", zlib.crc32(row["id"].encode())) == part:
            spans = [(s["start"], s["end"], LABELS["MEDDOCAN"][s["label"]]) for s in row["spans"]]
            out.append(Document(row["text"], tuple(spans), FIVE, "es", f"meddocan/{row['id']}"))
    return out


def read_measured(folder: Path) -> list[Document]:
    """Return the sets that are for measuring alone (CC BY-SA 4.0)."""
    out = []
    for name, language in (
        ("uner_swedish-talbanken_sv_BYSA", "sv"),
        ("uner_portuguese-bosque_pt_BYSA", "pt"),
        ("uner_danish-ddt_da_BYSA", "da"),
    ):
        for at, row in enumerate(_rows(folder / f"{name}.jsonl.gz")):
            text, spans = joined(row["tokens"], row["tags"], PLAIN)
            out.append(Document(text, tuple(spans), THREE, language, f"{name}/{at // 60}"))
    return out


def read_english(folder: Path, rng: random.Random, count: int) -> list[Document]:
    """Return `count` English sentences: names are names in every language, and letters of other lands hold them."""
    rows = [r for r in _rows(folder / "ner_permissive.jsonl.gz") if r["source"] not in {"tab", "presidio"}]
    out = []
    for row in rng.sample(rows, min(count, len(rows))):
        text, spans = joined(row["tokens"], row["tags"], PLAIN)
        types = THREE if row["source"] in {"wnut17", "btc", "wikigold"} else FOUR
        out.append(Document(text, tuple(spans), types, "en", row["source"]))
    return out


def read_plain(folder: Path, rng: random.Random, count: int) -> list[Document]:
    """Return `count` spoken sentences of each language with no capital after the first: they name nobody."""
    import pandas as pd

    out = []
    for code in ("et", "de", "es", "fr", "fi", "sv-SE", "nl", "pt"):
        texts = pd.read_parquet(folder / f"commonvoice_{code}.parquet", columns=["text"])["text"].tolist()
        for text in rng.sample(texts, min(len(texts), 2 * count)):
            words = str(text).split()
            if all(w[:1].islower() or not w[:1].isalpha() for w in words[1:]):
                out.append(Document(str(text), (), FIVE, code[:2], "commonvoice"))
    return out


def _rows(path: Path) -> list[Line]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
