"""Detector settings: round trip, refusals without private values, patterns that would never end."""

from __future__ import annotations

import pytest

from engine.errors import UserError
from engine.pii.detect.settings import CustomPattern, DetectorSettings, KnownIdentifier, check_pattern

FULL = DetectorSettings(
    disabled=frozenset({"url"}),
    thresholds={"DATE": 0.7},
    known=(KnownIdentifier(value="Ana Ruiz", label="patient"),),
    fuzzy=False,
    allow=("Oslo",),
    deny=("blue falcon",),
    patterns=(CustomPattern(name="ward", pattern=r"ward \d+", label="ORG", score=0.8),),
    tagger=False,
)


def test_json_round_trip() -> None:
    assert DetectorSettings.from_json(FULL.to_json()) == FULL
    assert DetectorSettings.from_json("{}") == DetectorSettings()


def test_labels_become_ours() -> None:
    assert FULL.known[0].label == "PERSON"
    assert FULL.patterns[0].label == "ORGANISATION"
    assert (FULL.threshold("DATE"), FULL.threshold("PERSON")) == (0.7, 0.5)


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        ({"thresholds": {"FOO": 0.5}}, "'FOO' is no label"),
        ({"thresholds": {"DATE": 1.5}}, "thresholds.DATE"),
        ({"surprise": 1}, "surprise"),
        ({"patterns": [{"name": "a", "pattern": "(", "label": "CODE"}]}, "does not compile"),
        ({"patterns": [{"name": "a", "pattern": "x*", "label": "CODE"}]}, "matches the empty text"),
        ({"patterns": [{"name": "a", "pattern": "x"}, {"name": "a", "pattern": "y"}]}, "same name"),
        ({"known": [{"value": ""}]}, "known.0.value"),
    ],
)
def test_refusals(values: dict, rule: str) -> None:
    with pytest.raises(UserError, match="detector settings") as caught:
        DetectorSettings.from_dict(values)
    assert rule in str(caught.value)


def test_a_refusal_never_shows_a_private_value() -> None:
    with pytest.raises(UserError) as caught:
        DetectorSettings.from_dict({"known": [{"value": "Ana Ruiz", "label": 7}], "deny": [["Ana Ruiz"]]})
    assert "Ruiz" not in str(caught.value)


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$"])
def test_catastrophic_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"takes more than|matches the empty"):
        check_pattern(pattern)


def test_ordinary_patterns_pass() -> None:
    for pattern in (r"\bW-\d{4}\b", r"ward\s+\d+", r"[A-Z]{2}\d{6}"):
        check_pattern(pattern)
