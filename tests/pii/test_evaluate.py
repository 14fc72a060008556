"""Evaluation against gold: entity recall, token and mention precision, on hand-counted tables."""

from __future__ import annotations

import pandas as pd
import pytest

from engine.pii.evaluate import evaluate, share, wilson
from engine.pii.gold import canonical_type, gold_frame

#        0         1         2         3         4
#        0123456789012345678901234567890123456789012345
TEXT = "Anna Kos met Bo in Oslo. Anna Kos left Oslo now."


def frame(*rows: tuple[str, int, int, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["record_id", "start", "end", "label"])


GOLD = gold_frame(
    {
        "r": [
            {"start": 0, "end": 8, "label": "PERSON", "identifier_type": "DIRECT", "entity_id": "e1"},
            {"start": 25, "end": 33, "label": "PERSON", "identifier_type": "DIRECT", "entity_id": "e1"},
            {"start": 13, "end": 15, "label": "PERSON", "identifier_type": "QUASI", "entity_id": "e2"},
            {"start": 19, "end": 23, "label": "LOC", "identifier_type": "QUASI", "entity_id": "e3"},
            {"start": 39, "end": 43, "label": "LOC", "identifier_type": "NO_MASK", "entity_id": "e3"},
        ]
    }
)


def test_an_entity_with_one_mention_left_in_is_not_protected() -> None:
    found = frame(("r", 0, 8, "PERSON"), ("r", 13, 15, "PERSON"), ("r", 19, 23, "LOCATION"))
    result = evaluate(GOLD, found, {"r": TEXT})
    assert (result["direct_recall"]["value"], result["direct_recall"]["n"]) == (0.0, 1)  # second "Anna Kos" stays
    assert (result["quasi_recall"]["value"], result["quasi_recall"]["n"]) == (1.0, 2)
    assert (result["mention_recall"]["PERSON"]["value"], result["mention_recall"]["PERSON"]["n"]) == (2 / 3, 3)


@pytest.mark.parametrize(
    ("rows", "direct", "quasi", "token", "mention"),
    [
        # everything exactly: 6 masked words, 6 right; 4 spans, 4 right
        ([(0, 8), (25, 33), (13, 15), (19, 23)], 1.0, 1.0, (1.0, 6), (1.0, 4)),
        # a mention in two pieces still covers both of its words
        ([(0, 4), (5, 8), (25, 33), (13, 15), (19, 23)], 1.0, 1.0, (1.0, 6), (1.0, 5)),
        # half a name: not masked completely
        ([(0, 4), (25, 33)], 0.0, 0.0, (1.0, 3), (1.0, 2)),
        # "met" and the place the annotator left in are wrong: 2 of 8 words
        ([(0, 8), (9, 12), (13, 15), (19, 23), (25, 33), (39, 43)], 1.0, 1.0, (6 / 8, 8), (4 / 6, 6)),
        # nothing found: recall 0, precision unknown
        ([], 0.0, 0.0, (None, 0), (None, 0)),
    ],
)
def test_hand_counted(rows: list, direct: float, quasi: float, token: tuple, mention: tuple) -> None:
    result = evaluate(GOLD, frame(*(("r", a, b, "PERSON") for a, b in rows)), {"r": TEXT})
    assert result["direct_recall"]["value"] == direct
    assert result["quasi_recall"]["value"] == quasi
    assert (result["token_precision"]["value"], result["token_precision"]["n"]) == token
    assert (result["mention_precision"]["value"], result["mention_precision"]["n"]) == mention


def test_without_entity_ids_the_value_inside_a_record_is_the_entity() -> None:
    gold = frame(("r", 0, 8, "PERSON"), ("r", 25, 33, "NAME"), ("q", 0, 8, "PERSON"))
    found = frame(("r", 0, 8, "PERSON"), ("q", 0, 8, "PERSON"))
    result = evaluate(gold, found, pd.DataFrame({"record_id": ["r", "q"], "text": [TEXT, TEXT]}))
    assert (result["direct_recall"]["value"], result["direct_recall"]["n"]) == (0.5, 2)


def test_records_without_gold_do_not_count() -> None:
    result = evaluate(GOLD, frame(("other", 0, 4, "PERSON")), {"r": TEXT, "other": TEXT})
    assert result["token_precision"]["n"] == 0
    assert result["records"] == 1


def test_no_gold_at_all() -> None:
    result = evaluate(gold_frame({}), frame(), {"r": TEXT})
    assert result["direct_recall"] == {"value": None, "low": 0.0, "high": 1.0, "n": 0}


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (0, 0, 0.0, 1.0)],  # R: binom::binom.wilson
)
def test_wilson(hits: int, n: int, low: float, high: float) -> None:
    assert wilson(hits, n) == pytest.approx((low, high), abs=1e-4)


def test_share_holds_its_interval() -> None:
    found = share(3, 4)
    assert found["low"] < found["value"] == 0.75 < found["high"]


@pytest.mark.parametrize(
    ("given", "label", "kind"),
    [
        ("DIRECT", "DATE", "direct"),
        ("NO_MASK", "PERSON", "none"),
        (None, "PERSON", "direct"),
        (float("nan"), "DATE", "quasi"),
        ("?", "AGE", "quasi"),
    ],
)
def test_identifier_types(given: object, label: str, kind: str) -> None:
    assert canonical_type(given, label) == kind


def test_kinds_and_cut_names() -> None:
    text = "Ana Ruiz of the Bank of Oslo, aged 44, met Bo Li."
    gold = gold_frame(
        {
            "r": [
                {"start": 0, "end": 8, "label": "PERSON"},
                {"start": 16, "end": 28, "label": "ORG"},
                {"start": 35, "end": 37, "label": "DEM"},
                {"start": 43, "end": 48, "label": "PERSON"},
            ]
        }
    )
    found = frame(
        ("r", 0, 8, "LOCATION"), ("r", 16, 20, "ORGANISATION"), ("r", 35, 37, "AGE"), ("r", 43, 48, "USERNAME")
    )
    result = evaluate(gold, found, {"r": text})
    # masked whole: Ana Ruiz (as a place), 44 (an age is a description), Bo Li (a user is a person)
    assert (result["type_accuracy"]["value"], result["type_accuracy"]["n"]) == (2 / 3, 3)
    # names of several words: Ana Ruiz, Bank of Oslo (cut), Bo Li
    assert (result["cut_names"]["value"], result["cut_names"]["n"]) == (1 / 3, 3)
    whole = frame(("r", 16, 20, "ORGANISATION"), ("r", 24, 28, "ORGANISATION"))  # "of" may stay
    assert evaluate(gold, whole, {"r": text})["cut_names"]["value"] == 0.0
