"""Training data of the tagger: documents with spans from several sources, turned into windows.

A document is a list of segments (text, label or None). Sources annotate different types; a token a
source leaves untagged may be of any type that source does not annotate, and the loss lets it be
(see `allowed_table`).
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np
from numpy.typing import NDArray

from engine.models.builtin.tagger.tagger import MAX_PIECES, TAGS, TYPES, encode

if TYPE_CHECKING:
    from tokenizers import Tokenizer


Segments = list[tuple[str, str | None]]
FULL = frozenset(TYPES)
SETS: tuple[frozenset[str], ...] = (
    FULL,
    FULL,
    frozenset({"PERSON", "LOCATION", "ORGANISATION"}),
    frozenset({"PERSON", "LOCATION", "ORGANISATION", "DATE"}),
    FULL - {"MISC", "QUANTITY"},
    frozenset({"PERSON", "ORGANISATION", "DEMOGRAPHIC", "CODE"}),
)
ALL, MADE, THREE, FOUR, PRESIDIO, PLAIN = range(6)

TAB_LABELS = {"PERSON": "PERSON", "ORG": "ORGANISATION", "LOC": "LOCATION", "DATETIME": "DATE"} | {
    "CODE": "CODE", "QUANTITY": "QUANTITY", "DEM": "DEMOGRAPHIC", "MISC": "MISC",
}  # fmt: skip
NER_LABELS = {"PER": "PERSON", "LOC": "LOCATION", "ORG": "ORGANISATION", "DATE": "DATE"}
PRESIDIO_LABELS = {
    "PERSON": "PERSON", "STREET_ADDRESS": "LOCATION", "GPE": "LOCATION", "ZIP_CODE": "LOCATION",
    "ORGANIZATION": "ORGANISATION", "DATE_TIME": "DATE", "CREDIT_CARD": "CODE", "US_SSN": "CODE",
    "US_DRIVER_LICENSE": "CODE", "PHONE_NUMBER": "CODE", "IBAN_CODE": "CODE", "IP_ADDRESS": "CODE",
    "AGE": "DEMOGRAPHIC", "NRP": "DEMOGRAPHIC",
}  # fmt: skip
STATE_BODY = re.compile(
    r"\b(?:Supreme|Constitutional|Ministry|Minister|Government|Republic|Parliament|Congress|Senate|House of|Cabinet"
    r"|Court|Department of|Secretary|Council of|Commission|European|United Nations|UN|EU|Union|Federal|National)\b"
)
NAMELESS = re.compile(r"[a-z][a-z ,;:'/()&-]*\.?")
IDENTIFYING = re.compile(
    r"\b(?:dr|mr|mrs|ms|miss|hosp\w*|clinic\w*|center|centre|univ\w*|school|college|dept|old|age|male|female|white|black"
    r"|hispanic|caucasian|asian|indian|nurse|teacher|student|work\w*|employ\w*|soldier|military|army|navy|retired|lot|name"
    r"|retard\w*|pregnan\w*|disab\w*|diabet\w*|january|march|april|may|june|july|august)\b"
)


@dataclass(frozen=True)
class Document:
    """One text as segments, with the number of the set of types its source annotates."""

    segments: Segments
    types: int


def allowed_table() -> NDArray[np.bool_]:
    """Return (len(SETS), 2 len(TAGS), len(TAGS)) booleans: the tags a gold tag may stand for in each set.

    The upper half of the gold tags means "this or nothing": the annotator saw the mention and left it in.
    """
    one = np.eye(len(TAGS), dtype=bool)
    optional = one.copy()
    optional[:, 0] = True
    table = np.repeat(np.concatenate([one, optional])[None], len(SETS), axis=0)
    for row, types in enumerate(SETS):
        for column, tag in enumerate(TAGS):
            if tag != "O" and tag[2:] not in types:
                table[row, 0, column] = True
    return table


def from_spans(text: str, spans: Iterable[tuple[int, int, str]], types: int) -> Document:
    """Return a document from character spans; of overlapping spans the longer stays."""
    taken: list[tuple[int, int, str]] = []
    for start, end, label in sorted(spans, key=lambda s: (s[0] - s[1], s[0])):
        if all(end <= a or start >= b for a, b, _ in taken):
            taken.append((start, end, label))
    segments: Segments = []
    at = 0
    for start, end, label in sorted(taken):
        segments += [(text[at:start], None), (text[start:end], label)]
        at = end
    segments.append((text[at:], None))
    return Document([s for s in segments if s[0]], types)


class TabSpan(TypedDict):
    """A span as the Text Anonymization Benchmark has it."""

    start: int
    end: int
    label: str
    identifier_type: str


class Line(TypedDict, total=False):
    """A line of a corpus: a judgment with spans, or a sentence in tokens with their tags."""

    id: str
    text: str
    spans: list[TabSpan]
    source: str
    split: str
    tokens: list[str]
    tags: list[str]


def read_tab(path: Path) -> list[tuple[str, Document]]:
    """Return (id, document) of the Text Anonymization Benchmark (Pilán et al. 2022)."""
    out = []
    for row in _lines(path):
        spans = [(s["start"], s["end"], _tab_label(s)) for s in row["spans"]]
        out.append((row["id"], from_spans(row["text"], spans, ALL)))
    return out


def _tab_label(span: TabSpan) -> str:
    """Return the label; `?` marks what the annotator left in, `-` an organisation left in (courts, governments)."""
    label = TAB_LABELS[span["label"]]
    if span["identifier_type"] != "NO_MASK":
        return label
    return "-" if label == "ORGANISATION" else f"?{label}"


def read_presidio(path: Path) -> list[Document]:
    """Return the template sentences; titles, domains and mail addresses are left to the rules."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = json.load(file)
    out = []
    for row in rows:
        spans = [
            (s["start_position"], s["end_position"], PRESIDIO_LABELS[s["entity_type"]])
            for s in row["spans"]
            if s["entity_type"] in PRESIDIO_LABELS
        ]
        out.append(from_spans(row["full_text"], spans, PRESIDIO))
    return out


def read_sentences(path: Path, *, rng: random.Random) -> list[Document]:
    """Return the sentence corpora as documents of one to six consecutive sentences a source.

    The benchmark's sentences are left out (its whole documents are read by `read_tab`), and so are those of
    the template file and three quarters of the messages without any name. Bodies of a whole country, which these
    corpora call organisations, may be one or nothing: they identify nobody.
    """
    by_source: dict[str, list[Line]] = {}
    for row in _lines(path):
        if row["split"] == "synth_dataset_v2" or row["source"] == "tab":
            continue
        if row["source"] in {"btc", "wnut17"} and rng.random() < 0.75 and all(t == "O" for t in row["tags"]):
            continue
        by_source.setdefault(row["source"], []).append(row)
    out = []
    for source, rows in by_source.items():
        types = THREE if source in {"wnut17", "btc", "wikigold"} else FOUR
        at = 0
        while at < len(rows):
            n = rng.randint(1, 6)
            segments: Segments = []
            for row in rows[at : at + n]:
                segments += [*_join(row["tokens"], row["tags"]), (rng.choice((" ", " ", "\n")), None)]
            segments = [(t, f"?{x}" if x == "ORGANISATION" and STATE_BODY.search(t) else x) for t, x in segments]
            out.append(Document(segments, types))
            at += n
    return out


def read_plain(path: Path, count: int, rng: random.Random) -> list[Document]:
    """Return `count` documents of one to five narrative sentences in which nobody can be named.

    Kept are sentences in lower case without a figure and without a word that stands beside a name, a place of
    work or a description of a person; untagged, they teach the tagger to leave clinical words alone.
    """
    import pandas as pd

    texts = pd.read_parquet(path, columns=["text"])["text"]
    out: list[Document] = []
    for text in texts.sample(min(len(texts), 4 * count), random_state=rng.randrange(2**31)):
        found = [s.strip() for s in re.split(r"(?<=[.;])\s*|\n", str(text))]
        found = [s for s in found if len(s) > 20 and _nameless(s)]
        if found and len(out) < count:
            out.append(Document([("; ".join(s.rstrip(".;") for s in found[: rng.randint(1, 5)]), None)], PLAIN))
    return out


def _nameless(sentence: str) -> bool:
    """Return whether a sentence, its first letter aside, is lower case without figures or identifying words."""
    low = sentence[0].lower() + sentence[1:].rstrip(".;")
    return NAMELESS.fullmatch(low) is not None and IDENTIFYING.search(low) is None


def _join(tokens: Sequence[str], tags: Sequence[str]) -> Segments:
    """Join tokens into text with usual spacing, keeping tagged runs as segments."""
    segments: Segments = []
    glue = ""
    for token, tag in zip(tokens, tags):
        space = "" if token in {".", ",", ";", ":", ")", "]", "'s", "n't", "%", "?", "!", "”"} else glue
        label = NER_LABELS[tag[2:]] if tag != "O" else None
        if tag.startswith("I-") and segments and segments[-1][1] == label:
            segments[-1] = (segments[-1][0] + space + token, label)
        else:
            segments += [(space, None), (token, label)] if space else [(token, label)]
        glue = "" if token in {"(", "[", "“", "$", "£", "#", "@"} else " "
    return segments


def _lines(path: Path) -> Iterable[Line]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _recase(text: str, how: str) -> str:
    """Change case by character, keeping the length."""
    if how == "title":
        return "".join(
            c.upper() if (i == 0 or text[i - 1] == " ") and len(c.upper()) == 1 else c for i, c in enumerate(text)
        )
    change = str.lower if how == "lower" else str.upper
    return "".join(change(c) if len(change(c)) == 1 else c for c in text)


def _misspell(text: str, rng: random.Random, rate: float) -> str:
    """Drop, double or swap letters inside words."""
    out = list(text)
    for i in range(len(out) - 2, 0, -1):
        if out[i].isalpha() and out[i - 1].isalpha() and rng.random() < rate:
            kind = rng.random()
            if kind < 0.4:
                del out[i]
            elif kind < 0.6:
                out.insert(i, out[i])
            elif out[i + 1].isalpha():
                out[i], out[i + 1] = out[i + 1], out[i]
    return "".join(out)


def noisy(document: Document, rng: random.Random) -> Document:
    """Return the document with the case or the spelling disturbed in a part of the draws."""
    segments = document.segments
    draw = rng.random()
    if draw < 0.10:
        segments = [(_recase(t, "lower"), x) for t, x in segments]
    elif draw < 0.14:
        segments = [(_recase(t, "upper"), x) for t, x in segments]
    elif draw < 0.16:
        segments = [(_recase(t, "title"), x) for t, x in segments]
    elif draw < 0.20:
        segments = [(_recase(t, "lower") if x else t, x) for t, x in segments]
    if rng.random() < 0.10:
        segments = [(_misspell(t, rng, 0.03), x) for t, x in segments]
    return Document(segments, document.types)


@dataclass(frozen=True)
class Window:
    """Training item: ids (n,), shapes (n,), tags (n,) as indices of TAGS, number of the type set."""

    ids: NDArray[np.int32]
    shapes: NDArray[np.int8]
    tags: NDArray[np.int8]
    types: int


def spans_of(document: Document) -> tuple[str, list[tuple[int, int, str]]]:
    """Return the text and its character spans."""
    at, spans = 0, []
    for text, label in document.segments:
        if label is not None and text.strip():
            spans.append((at, at + len(text), label))
        at += len(text)
    return "".join(t for t, _ in document.segments), spans


def windows(tokenizer: Tokenizer, documents: Sequence[Document], rng: random.Random) -> list[Window]:
    """Return windows of at most `MAX_PIECES` pieces; long documents are cut at random places."""
    plain = [spans_of(d) for d in documents]
    out = []
    for document, (_, spans), pieces in zip(documents, plain, encode(tokenizer, [t for t, _ in plain])):
        tags = np.zeros(len(pieces.ids), dtype=np.int8)
        for start, end, label in spans:
            inside = np.flatnonzero((pieces.starts < end) & (pieces.ends > start))
            if not len(inside) or label == "-":
                continue
            shift = len(TAGS) if label.startswith("?") else 0
            tags[inside] = TAGS.index(f"I-{label.lstrip('?')}") + shift
            first = pieces.words[inside] == pieces.words[inside[0]]
            tags[inside[first]] = TAGS.index(f"B-{label.lstrip('?')}") + shift
        at = 0
        while at < len(tags):
            size = MAX_PIECES if len(tags) <= MAX_PIECES else rng.choice((96, 160, 224, MAX_PIECES))
            cut = slice(at, at + size)
            out.append(Window(pieces.ids[cut], pieces.shapes[cut], tags[cut], document.types))
            at += size
    return out


def batches(items: Sequence[Window], pieces: int, rng: random.Random) -> list[list[Window]]:
    """Return shuffled batches of windows of like length, at most `pieces` padded pieces each."""
    order = sorted(items, key=lambda w: len(w.ids) + rng.randint(0, 12))
    out: list[list[Window]] = [[]]
    for item in order:
        if out[-1] and (len(out[-1]) + 1) * (len(item.ids) + 2) > pieces:
            out.append([])
        out[-1].append(item)
    rng.shuffle(out)
    return [b for b in out if b]
