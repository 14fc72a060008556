"""A record's spans as a table, a row each, with the fields of `SpanView` as columns."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import TYPE_CHECKING

import pandas as pd

from engine.store.views import SpanView

if TYPE_CHECKING:
    from engine import Workspace
    from engine.store.store import Store


def span_table(store: Store | Workspace, corpus_id: str, record_id: str) -> pd.DataFrame:
    """Return the spans in force of a record, in text order."""
    columns = [field.name for field in fields(SpanView)]
    return pd.DataFrame([astuple(span) for span in store.review.spans(corpus_id, record_id)], columns=columns)
