"""Read and clean the public training text of the built-in language model; split off held-out text.

Sources, all public or free: VAERS narratives 1990-1997, arXiv abstracts, OpenStax modules, ELTeC novels,
and project-made letters, tickets and decisions. VAERS 1998-1999 is never read here.
"""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Document:
    """One training document: `domain` is a control domain, `kind` its plain-language type."""

    text: str
    domain: str
    kind: str
    label: str = ""
    spans: Sequence[Mapping[str, Any]] = field(default_factory=tuple)


SOURCES = ("narrative", "abstract", "textbook", "novel")
SAMPLE_KINDS = {
    "clinic_letters": ("clinical", "clinic letter"),
    "support_tickets": ("reviews", "support ticket"),
    "court_decisions": ("legal", "court decision"),
}
TRAINING_SEEDS, HELDOUT_SEED = tuple(range(10_000, 10_064)), 20_000
"""Seeds of project-made training text; shipped samples use seeds below 10,000."""


def is_held_out(text: str, rate: float) -> bool:
    """Return whether a document belongs to the held-out part, decided by its content alone."""
    return zlib.crc32(text[:200].encode()) % 10_000 < rate * 10_000


def read_source(name: str, folder: Path) -> list[Document]:
    """Return the documents of one public source.

    Args:
        name: One of SOURCES.
        folder: The folder that holds the Parquet files.
    """
    import pyarrow.parquet as pq

    file = {
        "narrative": "vaers_1990_1997.parquet",
        "abstract": "arxiv_abstracts_60k.parquet",
        "textbook": "openstax.parquet",
        "novel": "eltec_eng.parquet",
    }[name]
    rows = pq.read_table(folder / file).to_pylist()
    if name == "narrative":
        return [Document(r["text"].strip(), "clinical", "narrative", r["outcome"]) for r in rows]
    if name == "abstract":
        return [Document(" ".join(r["abstract"].split()), "generic", "abstract", r["primary_cat"]) for r in rows]
    if name == "textbook":
        return [Document(_reflow_lines(r["text"]), "generic", "textbook", r["book"].replace("-", " ")) for r in rows]
    return [Document(_reflow_paragraphs(r["text"]), "generic", "novel") for r in rows]


def held_out_rate(kind: str) -> float:
    """Return the share of documents of a kind that no training sees."""
    return {"narrative": 0.01, "abstract": 0.01, "textbook": 0.02, "novel": 0.05}.get(kind, 0.02)


def split(documents: Sequence[Document]) -> tuple[list[Document], list[Document]]:
    """Return (training, held-out) documents."""
    train: list[Document] = []
    held: list[Document] = []
    for document in documents:
        (held if is_held_out(document.text, held_out_rate(document.kind)) else train).append(document)
    return train, held


def read_samples(seeds: Sequence[int], count: int) -> list[Document]:
    """Return project-made documents: `count` of each kind for every seed."""
    from engine.training import samples

    documents = []
    for sample_id, (domain, kind) in SAMPLE_KINDS.items():
        for seed in seeds:
            frame = samples.generate(sample_id, count, seed)
            for row in frame.to_dict("records"):
                spans = row.get("spans")
                documents.append(
                    Document(
                        row["text"], domain, kind, str(row.get("label") or ""), list(spans) if spans is not None else []
                    )
                )
    return documents


def chunks(text: str, words: int, rng: random.Random) -> Iterator[str]:
    """Yield consecutive pieces of a long text, each of about `words` words, cut at paragraph or sentence ends."""
    pieces = re.split(r"(?<=[.!?\"”])\s+(?=[A-Z\"“])|\n\n", text)
    buffer: list[str] = []
    size, target = 0, rng.randint(words // 3, words)
    for piece in pieces:
        length = len(piece.split())
        if not 0 < length <= words:
            continue
        if buffer and size + length > target:
            yield " ".join(buffer)
            buffer, size, target = [], 0, rng.randint(words // 3, words)
        buffer.append(piece)
        size += length
    if buffer:
        yield " ".join(buffer)


def pieces(documents: Sequence[Document], words: int, limit: int, rng: random.Random) -> list[Document]:
    """Return documents cut to about `words` words, up to `limit` characters in all, in random order."""
    cut = [
        replace(d, text=c)
        for d in documents
        for c in (chunks(d.text, words, rng) if len(d.text.split()) > words else [d.text])
        if len(c) >= 30
    ]
    rng.shuffle(cut)
    total, out = 0, []
    for piece in cut:
        total += len(piece.text)
        if total > limit:
            break
        out.append(piece)
    return out


def _reflow_paragraphs(text: str) -> str:
    paragraphs = [" ".join(p.split()) for p in re.split(r"\n\s*\n", text)]
    return "\n\n".join(p for p in paragraphs if p and "releaseChecker" not in p and "ELTeC" not in p)


def _reflow_lines(text: str) -> str:
    return re.sub(r"(?<![.!?:\"])\n(?=\S)", " ", text)
