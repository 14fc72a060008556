"""Names grow to their full extent, and their kinds are settled."""

from __future__ import annotations

import pytest

from engine.pii.detect.overlap import choose_spans
from engine.pii.spans import Span, default_identifier_type


def spans(text: str, *given: tuple[str, str, float]) -> list[Span]:
    out = []
    for surface, label, score in given:
        start = text.index(surface)
        kind = default_identifier_type(label)
        out.append(Span("", start, start + len(surface), label, score, "tagger", kind))
    return out


def half(_: str) -> float:
    return 0.5


def accepted(text: str, *given: tuple[str, str, float]) -> list[tuple[str, str]]:
    return [(text[s.start : s.end], s.label) for s in choose_spans(text, spans(text, *given), half) if s.score >= 0.5]


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        ("the District of Famagusta", [("Famagusta", "LOCATION", 0.7)], [("District of Famagusta", "LOCATION")]),
        (
            "the D.C. Court of Appeals held",
            [("D.C. Court of", "ORGANISATION", 0.6)],
            [("D.C. Court of Appeals", "ORGANISATION")],
        ),
        ("the Court of it", [("Court of", "ORGANISATION", 0.6)], [("Court", "ORGANISATION")]),
        ("City Of Hayward", [("Of Hayward", "LOCATION", 0.8)], [("City Of Hayward", "LOCATION")]),
        ("by Glenn Profitt II.", [("Glenn Profitt", "PERSON", 0.9)], [("Glenn Profitt II", "PERSON")]),
        (
            "the District Court in Wodzisław Śląski said",
            [("District Court", "ORGANISATION", 0.45), ("Wodzisław Śląski", "LOCATION", 0.8)],
            [("District Court in Wodzisław Śląski", "ORGANISATION")],
        ),
        (
            "Space Museum of McMinnville",
            [("Space Museum", "LOCATION", 0.6), ("McMinnville", "LOCATION", 0.9)],
            [("Space Museum of McMinnville", "LOCATION")],
        ),
        # a person "of" a place stays two
        (
            "Carlo Benedetti of Italy",
            [("Carlo Benedetti", "PERSON", 0.9), ("Italy", "LOCATION", 0.8)],
            [("Carlo Benedetti", "PERSON"), ("Italy", "LOCATION")],
        ),
        # the nationality in the name of a public body waits with it
        ("The Turkish Government said", [("Turkish", "DEMOGRAPHIC", 0.8)], []),
        ("a Turkish national said", [("Turkish", "DEMOGRAPHIC", 0.8)], [("Turkish", "DEMOGRAPHIC")]),
        # an accepted name inside a doubtful longer one makes that one count, whole
        (
            "He left Cracow. The Cracow Court of Appeal sat.",
            [("Cracow", "LOCATION", 0.9), ("Cracow Court of Appeal", "ORGANISATION", 0.45)],
            [("Cracow", "LOCATION"), ("Cracow Court of Appeal", "ORGANISATION")],
        ),
    ],
)
def test_whole_or_not_at_all(text: str, given: list, wanted: list) -> None:
    assert accepted(text, *given) == wanted


def test_what_a_list_found_is_never_grown() -> None:
    text = "the District of Famagusta"
    known = Span("", 16, 25, "LOCATION", 1.0, "known", "quasi")
    assert [(s.start, s.end) for s in choose_spans(text, [known], half)] == [(16, 25)]


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        ("Seller: Arjun  Location: Pune", [("Arjun", "LOCATION", 0.9)], [("Arjun", "PERSON")]),
        ("id 4;name: Leeds;x", [("Leeds", "LOCATION", 0.9)], [("Leeds", "PERSON")]),
        ("Location: Cagayan", [("Cagayan", "PERSON", 0.9)], [("Cagayan", "LOCATION")]),
        # the surname of a person named in full is a person at its other places, a town after "in" is not
        (
            "Mary Preston came. Preston left. Born in Preston too.",
            [("Mary Preston", "PERSON", 0.9), ("Preston left", "LOCATION", 0.4)],
            [("Mary Preston", "PERSON"), ("Preston", "PERSON"), ("Preston", "PERSON")],
        ),
        (
            "Friends since Diaz, Powell and Jarvis met",
            [("Diaz", "LOCATION", 0.7), ("Powell", "PERSON", 0.6), ("Jarvis", "PERSON", 0.7)],
            [("Diaz", "PERSON"), ("Powell", "PERSON"), ("Jarvis", "PERSON")],
        ),
        (
            "my shifts at Bhasin, Jaggi and Dayal.",
            [("Bhasin", "LOCATION", 0.7), ("Jaggi", "LOCATION", 0.6), ("Dayal", "PERSON", 0.7)],
            [("Bhasin, Jaggi and Dayal", "ORGANISATION")],
        ),
        ("a 54-year-old man", [("54-year-old", "DEMOGRAPHIC", 0.7)], [("54-year-old", "AGE")]),
    ],
)
def test_kinds(text: str, given: list, wanted: list) -> None:
    assert accepted(text, *given) == wanted


def test_a_settled_kind_brings_its_identifier_type() -> None:
    text = "Seller: Arjun"
    (found,) = choose_spans(text, spans(text, ("Arjun", "LOCATION", 0.9)), half)
    assert (found.label, found.identifier_type) == ("PERSON", "direct")
