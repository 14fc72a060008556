"""Compare detected spans with gold spans.

Source: Pilán, Lison, Øvrelid, Papadopoulou, Sánchez and Batet 2022 ("The Text Anonymization Benchmark",
Computational Linguistics 48(4), section 4): an entity is protected only if every mention of it is
masked completely; recall is counted over entities, apart for direct and quasi identifiers; precision over
tokens and over mentions. Intervals: Wilson 1927.

Privacy posture: the result holds counts and shares, never text.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Required, TypedDict

import pandas as pd

from engine.pii.detect.plain.function_words import only_function_words
from engine.pii.gold import canonical_type
from engine.pii.spans import canonical_label, default_identifier_type

WORD = re.compile(r"\w+", re.UNICODE)
KINDS = {"PERSON": "person", "USERNAME": "person", "ADDRESS": "place", "LOCATION": "place"} | {
    "ORGANISATION": "organisation", "AGE": "description", "DEMOGRAPHIC": "description",
}  # fmt: skip
NAMES = frozenset({"person", "place", "organisation"})
Z95 = 1.959963984540054


def wilson(hits: int, n: int) -> tuple[float, float]:
    """Return the 95% Wilson score interval of hits / n; (0, 1) where n is 0."""
    if n == 0:
        return 0.0, 1.0
    p, z = hits / n, Z95
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return (0.0 if hits == 0 else centre - half), (1.0 if hits == n else centre + half)


class Share(TypedDict):
    """A share of `n` cases with its 95% interval; value is None where there is no case."""

    value: float | None
    low: float
    high: float
    n: int


class Evaluation(TypedDict):
    """Shares of entities (recalls), of mentions by label, of tokens and of mentions, and how much was measured.

    type_accuracy: of the mentions masked whole, those replaced by something of the same kind. cut_names: of the
    persons, places and organisations of several words, those masked in part.
    """

    direct_recall: Share
    quasi_recall: Share
    mention_recall: dict[str, Share]
    token_precision: Share
    mention_precision: Share
    type_accuracy: Share
    cut_names: Share
    records: int
    gold_spans: int
    predicted_spans: int


class SpanRow(TypedDict, total=False):
    """A row of a frame of spans."""

    start: Required[int]
    end: Required[int]
    label: Required[str]
    identifier_type: str | None
    entity_id: str | float | None


def share(hits: int, n: int) -> Share:
    """Return value, low, high and n of a share; value is None where n is 0."""
    low, high = wilson(hits, n)
    return {"value": hits / n if n else None, "low": low, "high": high, "n": n}


def word_ranges(text: str) -> list[tuple[int, int]]:
    """Return the word ranges (letters, digits, underscores) of a text; punctuation never counts."""
    return [m.span() for m in WORD.finditer(text)]


def _cover(ranges: Iterable[tuple[int, int]], length: int) -> bytearray:
    mask = bytearray(length)
    for start, end in ranges:
        mask[start:end] = b"\x01" * max(0, min(end, length) - start)
    return mask


def _masked(text: str, cover: bytearray, start: int, end: int) -> bool:
    """Return whether every letter and digit of the range is covered."""
    return all(cover[i] or not text[i].isalnum() for i in range(start, min(end, len(text))))


def evaluate(gold: pd.DataFrame, predicted: pd.DataFrame, texts: Mapping[str, str] | pd.DataFrame) -> Evaluation:
    """Measure predicted spans against gold spans.

    Args:
        gold: record_id, start, end, label and, where known, identifier_type and entity_id; rows of
            type `none` are not to be masked.
        predicted: record_id, start, end, label; only the spans that would be masked.
        texts: record id to text, or a frame with record_id and text. Only records with a gold span count.
    """
    if isinstance(texts, pd.DataFrame):
        texts = dict(zip(texts["record_id"].astype(str), texts["text"].astype(str)))
    by_gold, by_found = _grouped(gold), _grouped(predicted)
    entities: dict[tuple[str, str, str], bool] = {}
    mentions: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    tokens, spans, kinds, cuts = [0, 0], [0, 0], [0, 0], [0, 0]
    for record, rows in by_gold.items():
        text = texts.get(record)
        if text is None:
            continue
        cover = _cover(((r["start"], r["end"]) for r in by_found.get(record, ())), len(text))
        _recalls(record, text, cover, rows, entities, mentions)
        _kinds(text, by_found.get(record, ()), rows, kinds, cuts)
        wanted = [(r["start"], r["end"]) for r in rows if _type(r) != "none"]
        _precisions(text, cover, _cover(wanted, len(text)), by_found.get(record, ()), tokens, spans)
    held = {kind: [ok for (_, k, _), ok in entities.items() if k == kind] for kind in ("direct", "quasi")}
    counted = [r for r in by_gold if r in texts]
    return {
        "direct_recall": share(sum(held["direct"]), len(held["direct"])),
        "quasi_recall": share(sum(held["quasi"]), len(held["quasi"])),
        "mention_recall": {label: share(*counts) for label, counts in sorted(mentions.items())},
        "token_precision": share(*tokens),
        "mention_precision": share(*spans),
        "type_accuracy": share(*kinds),
        "cut_names": share(*cuts),
        "records": len(counted),
        "gold_spans": sum(len(by_gold[r]) for r in counted),
        "predicted_spans": sum(len(by_found.get(r, ())) for r in counted),
    }


def _grouped(spans: pd.DataFrame) -> dict[str, list[SpanRow]]:
    out: dict[str, list[SpanRow]] = defaultdict(list)
    for row in spans.to_dict("records"):
        own: SpanRow = {"start": int(row["start"]), "end": int(row["end"]), "label": str(row["label"])}
        own["identifier_type"], own["entity_id"] = row.get("identifier_type"), row.get("entity_id")
        out[str(row["record_id"])].append(own)
    return out


def _type(row: SpanRow) -> str:
    return canonical_type(row.get("identifier_type"), canonical_label(row["label"]))


def _entity(row: SpanRow, text: str) -> str:
    """Return the entity id, else the case-folded surface form, which then stays inside the record."""
    given = row.get("entity_id")
    if given is not None and given == given and str(given):
        return f"id {given}"
    return " ".join(text[row["start"] : row["end"]].casefold().split())


def _recalls(
    record: str,
    text: str,
    cover: bytearray,
    rows: Sequence[SpanRow],
    entities: dict[tuple[str, str, str], bool],
    mentions: dict[str, list[int]],
) -> None:
    """Add a record's entities and mentions; an entity with one direct mention is direct."""
    strongest: dict[str, str] = {}
    for row in rows:
        kind = _type(row)
        if kind != "none":
            entity = _entity(row, text)
            strongest[entity] = "direct" if "direct" in (kind, strongest.get(entity)) else "quasi"
    for row in rows:
        if _type(row) == "none":
            continue
        entity = _entity(row, text)
        ok = _masked(text, cover, row["start"], row["end"])
        key = (record, strongest[entity], entity)
        entities[key] = entities.get(key, True) and ok
        counts = mentions[canonical_label(row["label"])]
        counts[0] += ok
        counts[1] += 1


def _kinds(text: str, found: Iterable[SpanRow], rows: Iterable[SpanRow], kinds: list[int], cuts: list[int]) -> None:
    """Add the mentions masked whole that got a replacement of their kind, and the names masked in part.

    A mention's kind is that of the span over most of its words. Function words and a possessive ("the", "of", "'s")
    make no name cut.
    """
    label_at: dict[int, str] = {}
    for row in found:
        kind = surrogate_kind(row["label"])
        label_at |= dict.fromkeys(range(row["start"], row["end"]), kind)
    for row in rows:
        if _type(row) == "none":
            continue
        wanted = surrogate_kind(row["label"])
        places = [(row["start"] + a, row["start"] + b) for a, b in word_ranges(text[row["start"] : row["end"]])]
        telling = [(a, b) for a, b in places if not only_function_words([text[a:b]])]
        whole = [all(i in label_at for i in range(a, b)) for a, b in telling]
        if len(telling) > 1 and wanted in NAMES:
            cuts[0] += any(whole) and not all(whole)
            cuts[1] += 1
        if telling and all(whole):
            given = Counter(label_at[a] for a, _ in telling).most_common(1)[0][0]
            kinds[0] += given == wanted
            kinds[1] += 1


def surrogate_kind(label: str) -> str:
    """Return the kind of replacement that a label calls for: a person, a place, a date, a code …"""
    canonical = canonical_label(label)
    return KINDS.get(canonical, "code" if default_identifier_type(canonical) == "direct" else canonical.casefold())


def _precisions(
    text: str,
    cover: bytearray,
    wanted: bytearray,
    found: Iterable[SpanRow],
    tokens: list[int],
    spans: list[int],
) -> None:
    """Add a record's masked words that gold masks too, and spans that touch a gold word."""
    for start, end in word_ranges(text):
        if any(cover[start:end]):
            tokens[0] += any(wanted[start:end])
            tokens[1] += 1
    for row in found:
        spans[0] += any(wanted[row["start"] : row["end"]])
        spans[1] += 1
