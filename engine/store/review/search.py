"""The texts of a corpus, and which of them hold some words."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from engine.store.records import read_rows, read_texts
from engine.store.session import Session


def texts_of(session: Session, corpus_id: str) -> pa.ChunkedArray:
    """Return the texts of a corpus in the order of their positions."""
    return read_texts(session.folder.records(corpus_id))


def matching(session: Session, corpus_id: str, search: str) -> set[int]:
    """Return the positions of records whose text contains `search`, whatever the case."""
    hits = pc.match_substring(texts_of(session, corpus_id), search.strip(), ignore_case=True)
    return set(pc.indices_nonzero(hits).to_pylist())


def texts_at(session: Session, corpus_id: str, positions: list[int]) -> dict[int, str]:
    """Return the texts of some records by position."""
    if not positions:
        return {}
    return dict(zip(positions, read_rows(session.folder.records(corpus_id), positions)["text"].astype(str)))
