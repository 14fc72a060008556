"""Parts of an examination that hang on no other: whoever measures them, in any order, finds the same.

What a part keeps in `Prepared.kept` for others follows from the examination alone, its words from what was numbered
before the first part (`settle`), and a text's embedding from the text. Two things hang on other parts: near-duplicates
across the sides are found by `FIRST`, which is measured before; `registry.LAST` compare what all others kept.

How to add one: an entry in `engine.examine.registry` is enough. Parts that would each compute the same first stand
together in `TOGETHER`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine import registry
from engine.examine.expected import LENGTHS, MAP, METRICS, Expected
from engine.examine.findings.part import Part
from engine.examine.prepare import ExamineInput, Prepared

Run = Callable[[Prepared], Part]

FIRST = "near_copies"
TOGETHER = (
    ("found", "entity_mix", "extraction"),  # details detected in samples
    ("words", "style", "record_sets"),  # the word probe
    ("linkage", "attributes"),  # the index of private details
)
AT_ONCE = 256  # texts embedded by one worker at once


@dataclass(frozen=True)
class Texts:
    """Texts of one side that are embedded together: `synthetic`, `train` or `holdout`, and rows of it."""

    side: str
    rows: tuple[int, ...]


def settle(prepared: Prepared) -> None:
    """Number the words of public texts, which several parts read; what a part numbers later is its own."""
    from engine.examine.persons.people import public_texts
    from engine.examine.usefulness.unrelated import shipped_samples

    public_texts(prepared)
    shipped_samples(prepared)


def groups(given: ExamineInput, expected: Sequence[Expected], kept: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the keys of parts that one worker measures after each other, what takes longest first.

    Args:
        given: the examination. expected: what each part takes. kept: names of those that are kept already.
    """
    seconds = {one.key: one.seconds for one in expected}
    wanted = [one.key for one in registry.EXAMINATIONS if given.privacy and one.key != FIRST]
    if given.utility:
        wanted += [LENGTHS, METRICS, *(one.key for one in registry.USEFULNESS)]
        wanted += [MAP] if given.embedder is not None else []
    wanted = [key for key in wanted if kept_as(given, key) not in kept]
    alone = [key for key in wanted if not any(key in group for group in TOGETHER)]
    found = [tuple(key for key in group if key in wanted) for group in TOGETHER]
    found = [group for group in (*found, *((key,) for key in alone)) if group]
    return sorted(found, key=lambda group: -sum(seconds.get(key, 0.0) for key in group))


def embeddings(prepared: Prepared) -> Iterator[Texts]:
    """Yield the texts whose embeddings several parts need, texts of like length together, a side after the other."""
    for side, rows in prepared.embedding_rows().items():
        texts = getattr(prepared, side).texts
        ordered = sorted(rows.tolist(), key=lambda row: (len(texts[row]), row))
        for start in range(0, len(ordered), AT_ONCE):
            yield Texts(side, tuple(ordered[start : start + AT_ONCE]))


def texts_of(prepared: Prepared, chosen: Texts) -> list[str]:
    """Return the texts themselves."""
    side = getattr(prepared, chosen.side)
    return [str(side.texts[row]) for row in chosen.rows]


def embedded(prepared: Prepared, chosen: Texts, rows: NDArray[np.float32]) -> None:
    """Take over embeddings that somebody made."""
    ids = getattr(prepared, chosen.side).record_ids
    prepared.vectors.update({(chosen.side, ids[row]): vector for row, vector in zip(chosen.rows, rows, strict=True)})


def kept_as(given: ExamineInput, key: str) -> str:
    """Return under which name a part is kept: the map's says in which plane of its corpus it is drawn."""
    known = given.corpus_map
    if key != MAP or known is None:
        return key
    return f"{key}-{hashlib.sha256(known.to_csv(index=False).encode()).hexdigest()[:16]}"


def run_of(key: str) -> Run:
    """Return what measures a part."""
    own = {LENGTHS: _lengths, METRICS: _metrics, MAP: _map}
    if key in own:
        return own[key]
    return next(one for one in (*registry.EXAMINATIONS, *registry.USEFULNESS) if one.key == key).run


def _lengths(prepared: Prepared) -> Part:
    from engine.examine.tables import lengths, ngrams

    prepared.report("lengths and phrases", 0, 1)
    return Part(tables={"lengths": lengths(prepared), "ngrams": ngrams(prepared)})


def _metrics(prepared: Prepared) -> Part:
    from engine.examine.usefulness.part import examine_usefulness
    from engine.examine.usefulness.unrelated import unrelated_text

    return Part(examine_usefulness(prepared, unrelated_text(prepared)))


def _map(prepared: Prepared) -> Part:
    from engine.examine.tables import CORPUS_MAP, corpus_map, text_map
    from engine.examine.usefulness.meaning.likeness import likeness
    from engine.examine.usefulness.meaning.topics import topics

    plane = corpus_map(prepared)
    tables: dict[str, pd.DataFrame] = {CORPUS_MAP: plane, "map": text_map(prepared, plane)}
    return Part(tables={**tables, "topics": topics(prepared), "likeness": likeness(prepared)})
