"""A record's spans as a table, a row each, with the fields of `SpanView` as columns."""

from __future__ import annotations

import secrets
from dataclasses import astuple, fields
from itertools import count
from typing import TYPE_CHECKING

import pandas as pd

from engine.errors import UserError
from engine.store.review.desk.steps import Step
from engine.store.views import SpanView

if TYPE_CHECKING:
    from engine import Workspace
    from engine.store.store import Store

_CLIENT, _NUMBERS = secrets.token_hex(8), count(1)


def span_table(store: Store | Workspace, corpus_id: str, record_id: str) -> pd.DataFrame:
    """Return the spans in force of a record, in text order."""
    columns = [field.name for field in fields(SpanView)]
    return pd.DataFrame([astuple(span) for span in store.review.spans(corpus_id, record_id)], columns=columns)


def add_span(store: Store | Workspace, corpus_id: str, record_id: str, start: int, end: int, label: str) -> str:
    """Add a span as a browser does; return its id, or raise what it was refused with."""
    step = Step(_CLIENT, next(_NUMBERS), "add", record=record_id, places=((start, end),), label=label)
    (taken,) = store.review.take(corpus_id, [step])
    if taken.refused:
        raise UserError(taken.refused)
    assert taken.span is not None
    return taken.span
