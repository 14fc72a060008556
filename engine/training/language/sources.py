"""Read and clean the public text that the language model learns from; every document has a domain, a kind, a label.

Public or free sources only, and text made by this project's own grammars. What serves as test data of any examination
(VAERS 1998-1999, TAB, the doctor-patient dialogues, biorxiv) is never read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.training.language.data import SAMPLE_KINDS, Document, read_samples, read_source

TRAINING_SEEDS = tuple(range(10_000, 10_024))


@dataclass(frozen=True)
class Source:
    """One table: its file, the domain and kind of its documents, the characters that enter, passes over them."""

    file: str
    domain: str
    kind: str
    characters: int
    passes: float = 1.0


SOURCES: tuple[Source, ...] = (
    Source("cfpb_complaints.parquet", "reviews", "complaint", 13_000_000, 1.5),
    Source("safety_incidents.parquet", "generic", "incident report", 7_000_000, 1.5),
    Source("osha_nhtsa_short.parquet", "reviews", "short report", 4_000_000, 1.0),
    Source("scotus_opinions.parquet", "legal", "court opinion", 14_000_000, 1.0),
    Source("medquad.parquet", "clinical", "health question", 10_000_000, 1.0),
    Source("primock57.parquet", "clinical", "consultation", 1_000_000, 3.0),
    Source("taskmaster4_dialogues.parquet", "social", "dialogue", 500_000, 1.0),
    Source("letters_gutenberg.parquet", "social", "letter", 1_300_000, 2.0),
    Source("usgov_plain_english.parquet", "generic", "plain English", 2_000_000, 2.0),
    Source("world_factbook.parquet", "generic", "country description", 2_000_000, 1.0),
    Source("wikisplit_en_BYSA.parquet", "generic", "encyclopedia", 5_500_000, 1.0),
    Source("commonvoice_en.parquet", "social", "sentence", 2_000_000, 1.0),
)
TWINS = frozenset({"encyclopedia"})
"""Kinds whose texts come in two wordings."""
OLD_LIMITS: Mapping[str, tuple[int, float]] = {
    "narrative": (10**9, 3.0), "abstract": (20_000_000, 1.0), "textbook": (14_000_000, 1.0), "novel": (12_000_000, 1.0),
}  # fmt: skip
"""Characters and passes of the four sources that the first model learned from."""
_TAGS = re.compile(r"</?[a-z]{1,10}\s?/?>", re.IGNORECASE)
_DIGITS_ONLY = re.compile(r"[\d\W_]+")


def domains() -> dict[str, str]:
    """Return the kinds of documents a training reads, each with its control domain; `format.KINDS` ships them."""
    old = {"narrative": "clinical", "abstract": "generic", "textbook": "generic", "novel": "generic"}
    return old | {source.kind: source.domain for source in SOURCES} | {k: d for d, k in SAMPLE_KINDS.values()}


def read_table(source: Source, folder: Path) -> list[Document]:
    """Return the documents of one table; labels that are only numbers or names of collections are dropped."""
    import pyarrow.parquet as pq

    rows = pq.read_table(folder / source.file, columns=["text", "label"]).to_pylist()
    return [
        Document(text, source.domain, source.kind, _label(row, source))
        for row in rows
        if len(text := _tidy(str(row["text"] or ""))) >= 20
    ]


def read_all(folder: Path) -> dict[str, tuple[list[Document], int, float]]:
    """Return documents by kind, each with the characters that enter a training and the passes over them."""
    found: dict[str, tuple[list[Document], int, float]] = {}
    for name, (limit, passes) in OLD_LIMITS.items():
        found[name] = (read_source(name, folder), limit, passes)
    for source in SOURCES:
        found[source.kind] = (read_table(source, folder), source.characters, source.passes)
    made: dict[str, list[Document]] = {}
    for document in read_samples(TRAINING_SEEDS, 400):
        made.setdefault(document.kind, []).append(document)
    for kind, documents in made.items():
        found[kind] = (documents, 10**9, 1.0)
    return found


def _tidy(text: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+", " ", _TAGS.sub(" ", text))).strip()


def _label(row: Mapping[str, object], source: Source) -> str:
    label = " ".join(str(row.get("label") or "").split())
    if source.kind in {"sentence", "encyclopedia"} or _DIGITS_ONLY.fullmatch(label):
        return ""
    return label[:60]
