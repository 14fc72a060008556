"""The state of spans: what detection says, then thresholds, then the custodian's decisions in order.

Events are only appended. An undo is an event too; it takes back the latest decision that still counts,
so that log and state are the same data.

Privacy posture: events and states name spans by id; text is read here only to compare values and never kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from engine.errors import UserError
from engine.pii.detect.settings import DEFAULT_THRESHOLD
from engine.pii.spans import LABELS, Decision, default_identifier_type, folded

ADDED_BY = "custodian"


@dataclass(frozen=True)
class Undo:
    """Take back the latest decision that still counts."""

    actor: str
    at: str


Event = Decision | Undo


def effective(events: Iterable[Event]) -> list[Decision]:
    """Return the decisions that still count, in order.

    Raises:
        UserError: an undo has nothing left to take back.
    """
    kept: list[Decision] = []
    for event in events:
        if isinstance(event, Decision):
            kept.append(event)
        elif kept:
            kept.pop()
        else:
            raise UserError("undo: no decision is left to take back")
    return kept


def resolve(
    spans: pd.DataFrame, decisions: Iterable[Event], thresholds: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Return the spans with `state` (accepted, rejected) and `decided` (bool).

    Args:
        spans: span_id, label, score in [0, 1], recogniser and any other columns. A span the custodian added
            (recogniser `custodian`) is there only while its add decision counts.
        decisions: events in order; a later decision on a span replaces an earlier one.
        thresholds: score from which an undecided span of a label is accepted; 0.5 for other labels.
    """
    limits = dict(thresholds or {})
    counted = effective(decisions)
    added = {d.span_id for d in counted if d.action == "add"}
    out = spans[(spans["recogniser"] != ADDED_BY) | spans["span_id"].isin(added)].copy()
    known = set(out["span_id"])
    limit = out["label"].map(lambda label: limits.get(label, DEFAULT_THRESHOLD)).astype(float)
    state = dict(zip(out["span_id"], (out["score"].astype(float) >= limit).map({True: "accepted", False: "rejected"})))
    label = dict(zip(out["span_id"], out["label"]))
    decided: set[str] = set()
    for decision in counted:
        if decision.span_id not in known:
            continue
        decided.add(decision.span_id)
        state[decision.span_id] = "rejected" if decision.action == "reject" else "accepted"
        if decision.action in {"relabel", "add"} and decision.label is not None:
            label[decision.span_id] = _checked(decision.label)
    changed = out["span_id"].map(label) != out["label"]
    out["label"] = out["span_id"].map(label)
    if "identifier_type" in out:
        out.loc[changed, "identifier_type"] = out.loc[changed, "label"].map(default_identifier_type)
    out["state"] = out["span_id"].map(state)
    out["decided"] = out["span_id"].isin(decided)
    return out


def _checked(label: str) -> str:
    if label not in LABELS:
        raise UserError(f"label: {label!r} is unknown; use one of {', '.join(LABELS)}")
    return label


def alike(spans: pd.DataFrame, texts: Mapping[str, str], span_id: str) -> list[str]:
    """Return the ids of all spans with the same case-folded value and label, the span itself included.

    Raises:
        UserError: no span has this id.
    """
    rows = spans[spans["span_id"] == span_id]
    if rows.empty:
        raise UserError("span_id: no span has this id; load the record again")
    row = rows.iloc[0]
    value = _value(texts, row["record_id"], row["start"], row["end"])
    same = spans[spans["label"] == row["label"]]
    return [
        str(i)
        for i, record, start, end in zip(same["span_id"], same["record_id"], same["start"], same["end"])
        if _value(texts, record, start, end) == value
    ]


def _value(texts: Mapping[str, str], record: str, start: int, end: int) -> str:
    return folded(texts[record][int(start) : int(end)])


def decide_alike(spans: pd.DataFrame, texts: Mapping[str, str], decision: Decision) -> Sequence[Decision]:
    """Return one decision like `decision` for every span alike to its span."""
    return [
        Decision(i, decision.action, decision.actor, decision.at, decision.label)
        for i in alike(spans, texts, decision.span_id)
    ]
