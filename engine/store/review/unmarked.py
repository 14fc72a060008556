"""The same words where nothing is marked: a name accepted once and left standing elsewhere is still there to read.

Privacy posture: texts are searched in memory; rows hold positions and keyed digests.
"""

from __future__ import annotations

from collections.abc import Sequence

import regex
from sqlalchemy import Connection, or_, select

from engine.pii.decide.rules import ADDED_BY
from engine.pii.spans import default_identifier_type
from engine.store.database.schema import spans
from engine.store.review.spans import CHUNK, value_key
from engine.store.views import SpanView

Place = tuple[int, int, int]  # record position, start, end


def free_places(text: str, surface: str, taken: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return where the words of `surface` stand in `text`, case and spacing aside, and touch nothing in `taken`."""
    words = surface.split()
    if not words or not any(c.isalnum() for c in surface):
        return []
    before = r"(?<![\p{L}\p{M}\p{N}_])" if words[0][0].isalnum() else ""
    after = r"(?![\p{L}\p{M}\p{N}_])" if words[-1][-1].isalnum() else ""
    pattern = regex.compile(before + r"\s+".join(map(regex.escape, words)) + after, regex.IGNORECASE)
    found = (m.span() for m in pattern.finditer(text))
    return [(a, b) for a, b in found if all(b <= start or a >= end for start, end in taken)]


def free_in(text: str, found: Sequence[SpanView]) -> dict[str, list[tuple[int, int]]]:
    """Return where the words of a record's spans stand unmarked in it, by value key and label (`KEY.LABEL`)."""
    free: dict[str, list[tuple[int, int]]] = {}
    for span in found:
        key = f"{span.value_key}.{span.label}"
        if key not in free:
            taken = [(s.start, s.end) for s in found if s.state == "accepted" or s.decided or s.label == span.label]
            free[key] = free_places(text, text[span.start : span.end], taken)
    return {key: places for key, places in free.items() if places}


def unmarked(connection: Connection, corpus_id: str, texts: dict[int, str], surface: str, label: str) -> list[Place]:
    """Return the places of the words in these records that no finding covers.

    A suggestion of another type that nobody decided on covers nothing: its words stay to be read.
    """
    taken = _taken(connection, corpus_id, list(texts), label)
    return [
        (position, start, end)
        for position, text in sorted(texts.items())
        for start, end in free_places(text, surface, taken.get(position, ()))
    ]


def add(
    connection: Connection, corpus_id: str, places: Sequence[Place], texts: dict[int, str], label: str, key: bytes
) -> list[int]:
    """Insert accepted and decided spans of the custodian at these places; return their numbers."""
    numbers = []
    for position, start, end in places:
        made = connection.execute(
            spans.insert().values(
                corpus_id=corpus_id,
                position=position,
                start=start,
                end=end,
                label=label,
                first_label=label,
                score=1.0,
                recogniser=ADDED_BY,
                identifier_type=default_identifier_type(label),
                origin=ADDED_BY,
                active=True,
                state="accepted",
                decided=True,
                value_key=value_key(key, texts[position][start:end]),
            )
        )
        numbers.append(int((made.inserted_primary_key or (0,))[0]))
    return numbers


def _taken(
    connection: Connection, corpus_id: str, positions: Sequence[int], label: str
) -> dict[int, list[tuple[int, int]]]:
    out: dict[int, list[tuple[int, int]]] = {}
    for begin in range(0, len(positions), CHUNK):
        query = select(spans.c.position, spans.c.start, spans.c.end).where(
            spans.c.corpus_id == corpus_id,
            spans.c.active.is_(True),
            spans.c.position.in_(list(positions[begin : begin + CHUNK])),
            or_(spans.c.state == "accepted", spans.c.decided.is_(True), spans.c.label == label),
        )
        for row in connection.execute(query):
            out.setdefault(row.position, []).append((row.start, row.end))
    return out
