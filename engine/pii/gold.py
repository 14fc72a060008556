"""Gold spans as other tools write them, in our terms.

Privacy posture: positions and types only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NotRequired, TypedDict

import pandas as pd

from engine.pii.spans import IdentifierType, canonical_label, default_identifier_type

TYPES: dict[str, IdentifierType] = {"direct": "direct", "quasi": "quasi", "none": "none", "no_mask": "none"}
COLUMNS = ["record_id", "start", "end", "label", "identifier_type", "entity_id"]


class MarkedSpan(TypedDict):
    """A span as a gold file marks it."""

    start: int
    end: int
    label: str
    identifier_type: NotRequired[str | None]
    entity_id: NotRequired[str | None]


def canonical_type(value: object, label: str) -> IdentifierType:
    """Return direct, quasi or none for what a gold file says; the label's own type where it says nothing."""
    text = str(value).strip().lower().replace("-", "_") if value is not None and value == value else ""
    return TYPES.get(text, default_identifier_type(label))


def gold_frame(spans: Mapping[str, Iterable[MarkedSpan]]) -> pd.DataFrame:
    """Return a frame with `COLUMNS` from record id to spans."""
    rows = []
    for record, found in spans.items():
        for span in found:
            label = canonical_label(str(span["label"]))
            kind = canonical_type(span.get("identifier_type"), label)
            rows.append((record, int(span["start"]), int(span["end"]), label, kind, span.get("entity_id")))
    return pd.DataFrame(rows, columns=COLUMNS)
