"""Resolving spans that overlap: who wins, what stays covered, what joins."""

from __future__ import annotations

import pytest

from engine.pii.detect.overlap import choose_spans
from engine.pii.detect.plain.plain_words import doubted
from engine.pii.spans import Span


def span(text: str, surface: str, label: str, score: float = 0.9, recogniser: str = "tagger") -> Span:
    start = text.index(surface)
    return Span("", start, start + len(surface), label, score, recogniser, "quasi")


def half(_: str) -> float:
    return 0.5


@pytest.mark.parametrize(
    ("text", "given", "kept"),
    [
        # the longer span wins
        (
            "at Leeds City Hospital",
            [("Leeds", "LOCATION", 0.99, "tagger"), ("Leeds City Hospital", "ORGANISATION", 0.6, "tagger")],
            [("Leeds City Hospital", "ORGANISATION")],
        ),
        # of equal spans the validated format wins over the tagger
        (
            "call 555-0199",
            [("555-0199", "CODE", 0.99, "tagger"), ("555-0199", "PHONE", 0.75, "phone_format")],
            [("555-0199", "PHONE")],
        ),
        # a suggestion never displaces an accepted span, and keeps what is left of it
        (
            "Ana Ruiz Lopez",
            [("Ana Ruiz", "PERSON", 0.9, "tagger"), ("Ruiz Lopez", "LOCATION", 0.3, "tagger")],
            [("Ana Ruiz", "PERSON"), ("Lopez", "LOCATION")],
        ),
        # partial overlap: nothing is uncovered
        (
            "Ruiz Hospital Rye",
            [("Ruiz Hospital", "ORGANISATION", 0.9, "tagger"), ("Hospital Rye", "LOCATION", 0.9, "tagger")],
            [("Ruiz Hospital", "ORGANISATION"), ("Rye", "LOCATION")],
        ),
        # a known identifier wins over a longer span, whose rest stays
        (
            "the Quill Foundation",
            [("Quill Foundation", "ORGANISATION", 0.99, "tagger"), ("Quill", "PERSON", 1.0, "known")],
            [("Quill", "PERSON"), ("Foundation", "ORGANISATION")],
        ),
        # a title joins its name
        ("by Dr. Ana Ruiz", [("Ana Ruiz", "PERSON", 0.9, "tagger")], [("Dr. Ana Ruiz", "PERSON")]),
        # a second title begins a second person
        (
            "Dr. Lind, Mrs Ana Ruiz left",
            [("Dr. Lind, Mrs Ana Ruiz", "PERSON", 0.9, "tagger")],
            [("Dr. Lind", "PERSON"), ("Mrs Ana Ruiz", "PERSON")],
        ),
        # date and time, weekday and date, incomplete and complete date: one span
        (
            "on 4 May 2010 at 10:30",
            [("4 May 2010", "DATE", 0.9, "x"), ("10:30", "DATE", 0.6, "time")],
            [("4 May 2010 at 10:30", "DATE")],
        ),
        (
            "on Tuesday, 4 May 2010",
            [("Tuesday", "DATE", 0.6, "x"), ("4 May 2010", "DATE", 0.9, "x")],
            [("Tuesday, 4 May 2010", "DATE")],
        ),
        (
            "26 and 27 October 1994",
            [("26", "DATE", 0.6, "x"), ("27 October 1994", "DATE", 0.9, "x")],
            [("26 and 27 October 1994", "DATE")],
        ),
        ("1993 and 1994", [("1993", "DATE", 0.6, "x"), ("1994", "DATE", 0.9, "x")], [("1993 and 1994", "DATE")]),
        # two complete dates stay two
        (
            "4 May 2010, 5 May 2011",
            [("4 May 2010", "DATE", 0.9, "x"), ("5 May 2011", "DATE", 0.9, "x")],
            [("4 May 2010", "DATE"), ("5 May 2011", "DATE")],
        ),
        # a person found once is found again, by last name too, and lower-case words stay
        (
            "Ana Ruiz came. Ruiz left; ruiz",
            [("Ana Ruiz", "PERSON", 0.9, "tagger")],
            [("Ana Ruiz", "PERSON"), ("Ruiz", "PERSON")],
        ),
        # punctuation alone is no span
        ("a -- b", [("--", "CODE", 0.9, "tagger")], []),
    ],
)
def test_rules(text: str, given: list, kept: list) -> None:
    spans = [span(text, *g) for g in given]
    assert [(text[s.start : s.end], s.label) for s in choose_spans(text, spans, half)] == kept


def test_allow_list() -> None:
    text = "Oslo and Quill"
    spans = [span(text, "Oslo", "LOCATION"), span(text, "Quill", "PERSON", 1.0, "known")]
    kept = choose_spans(text, spans, half, frozenset({"oslo", "quill"}))
    assert [text[s.start : s.end] for s in kept] == ["Quill"]


@pytest.mark.parametrize(
    ("text", "surface", "label", "accepted"),
    [
        ("pt recv vax 4DEC98", "recv vax", "PERSON", False),  # shorthand
        ("the European Commission of Human Rights", "European Commission of Human Rights", "ORGANISATION", False),
        ("BP 168/98 today", "168/98", "CODE", False),  # a reading
        ("file 168/98 today", "168/98", "CODE", True),
        ("fever T102 today", "T102", "CODE", False),
        ("took 8 of them", "8", "CODE", False),
        ("by K. today", "K", "PERSON", True),  # an initial
        ("o to go", "o", "DEMOGRAPHIC", False),
        ("Ana Ruiz MD", "Ana Ruiz MD", "PERSON", True),
    ],
)
def test_second_thoughts_about_the_tagger(text: str, surface: str, label: str, accepted: bool) -> None:
    assert (doubted(text, span(text, surface, label)).score >= 0.5) is accepted
