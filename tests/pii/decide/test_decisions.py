"""Spans, thresholds and decisions in order; undo; all like this."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.errors import UserError
from engine.pii.decide.decisions import Undo, alike, decide_alike, effective, resolve
from engine.pii.spans import Decision

TEXTS = {"a": "Anna Kos and anna kos", "b": "ANNA  KOS in Oslo"}
SPANS = pd.DataFrame(
    [
        ("p-1", "a", 0, 8, "PERSON", 0.9, "tagger", "direct"),
        ("p-2", "a", 13, 21, "PERSON", 0.4, "tagger", "direct"),
        ("p-3", "b", 0, 9, "PERSON", 0.8, "tagger", "direct"),
        ("p-4", "b", 13, 17, "LOCATION", 0.6, "tagger", "quasi"),
        ("p-5", "b", 10, 12, "MISC", 1.0, "custodian", "quasi"),
    ],
    columns=["span_id", "record_id", "start", "end", "label", "score", "recogniser", "identifier_type"],
)


def did(span: str, action: str, label: str | None = None) -> Decision:
    return Decision(span, action, "Kim", "2026-01-01T00:00:00Z", label)  # type: ignore[arg-type]


UNDO = Undo("Kim", "2026-01-01T00:00:01Z")


@pytest.mark.parametrize(
    ("events", "thresholds", "states"),
    [
        # no decision: the threshold decides; a span nobody added is not there
        ([], {}, {"p-1": "A", "p-2": "R", "p-3": "A", "p-4": "A"}),
        ([], {"LOCATION": 0.7, "PERSON": 0.3}, {"p-1": "A", "p-2": "A", "p-3": "A", "p-4": "R"}),
        # decisions beat thresholds; the later one wins
        ([did("p-2", "accept"), did("p-1", "reject")], {}, {"p-1": "r", "p-2": "a", "p-3": "A", "p-4": "A"}),
        ([did("p-1", "reject"), did("p-1", "accept")], {}, {"p-1": "a", "p-2": "R", "p-3": "A", "p-4": "A"}),
        # undo takes back the last one, and a second undo the one before
        ([did("p-1", "reject"), did("p-4", "reject"), UNDO], {}, {"p-1": "r", "p-2": "R", "p-3": "A", "p-4": "A"}),
        (
            [did("p-1", "reject"), did("p-4", "reject"), UNDO, UNDO],
            {},
            {"p-1": "A", "p-2": "R", "p-3": "A", "p-4": "A"},
        ),
        # an added span exists while its event counts
        ([did("p-5", "add", "MISC")], {}, {"p-1": "A", "p-2": "R", "p-3": "A", "p-4": "A", "p-5": "a"}),
        ([did("p-5", "add", "MISC"), UNDO], {}, {"p-1": "A", "p-2": "R", "p-3": "A", "p-4": "A"}),
        # a decision on a span that is gone changes nothing
        ([did("p-99", "reject")], {}, {"p-1": "A", "p-2": "R", "p-3": "A", "p-4": "A"}),
    ],
)
def test_states(events: list, thresholds: dict, states: dict) -> None:
    out = resolve(SPANS, events, thresholds)
    letters = [s[0].upper() if not d else s[0] for s, d in zip(out["state"], out["decided"])]
    assert dict(zip(out["span_id"], letters)) == states


def test_relabel_changes_label_and_type_and_accepts() -> None:
    out = resolve(SPANS, [did("p-2", "relabel", "LOCATION")]).set_index("span_id").loc["p-2"]
    assert (out["label"], out["identifier_type"], out["state"], out["decided"]) == (
        "LOCATION",
        "quasi",
        "accepted",
        True,
    )


def test_the_input_is_left_alone() -> None:
    before = SPANS.copy(deep=True)
    resolve(SPANS, [did("p-1", "relabel", "MISC")])
    pd.testing.assert_frame_equal(SPANS, before)


def test_unknown_label_is_refused() -> None:
    with pytest.raises(UserError, match="'FOO' is unknown"):
        resolve(SPANS, [did("p-1", "relabel", "FOO")])


def test_undo_of_nothing_is_refused() -> None:
    with pytest.raises(UserError, match="no decision is left"):
        effective([did("p-1", "accept"), UNDO, UNDO])


def test_alike_compares_case_folded_values_and_labels() -> None:
    assert alike(SPANS, TEXTS, "p-1") == ["p-1", "p-2", "p-3"]
    assert alike(SPANS, TEXTS, "p-4") == ["p-4"]
    with pytest.raises(UserError, match="no span"):
        alike(SPANS, TEXTS, "p-77")


def test_decide_alike_rejects_them_all() -> None:
    out = resolve(SPANS, decide_alike(SPANS, TEXTS, did("p-2", "reject")))
    assert list(out["state"]) == ["rejected", "rejected", "rejected", "accepted"]
