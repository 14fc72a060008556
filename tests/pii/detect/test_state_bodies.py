"""Bodies of a whole country and bare kinds of courts name nobody; local ones do."""

from __future__ import annotations

import pytest

from engine.pii.detect.plain.plain_words import SUGGESTION, doubted
from engine.pii.detect.plain.state_bodies import names_state_body
from engine.pii.spans import Span


def at(text: str, part: str) -> tuple[int, int]:
    start = text.index(part)
    return start, start + len(part)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("before the Supreme Administrative Court today", "Supreme Administrative Court"),
        ("lodged with the Constitutional Court", "Constitutional Court"),
        ("a letter to the Ministry of Foreign Affairs", "Ministry of Foreign Affairs"),
        ("against the Republic of Austria in 2004", "Republic of Austria"),
        ("against the Republic of Austria in 2004", "of Austria"),  # the tagger cut the name
        ("the 2nd Chamber of the Supreme Court upheld", "2nd Chamber of the"),
        ("the Principal Public Prosecutor asked", "Principal Public"),
        ("the Polish Government replied", "Polish Government"),
        ("the Regional Court’s judgment", "Regional Court’s"),
        ("The District Authority refused", "District Authority"),
        ("the Minister of Labour and Social Security", "Minister of Labour and Social Security"),
    ],
)
def test_a_body_of_the_state_names_nobody(text: str, part: str) -> None:
    assert names_state_body(text, *at(text, part))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("the Cracow Regional Court held", "Cracow Regional Court"),
        ("the Cracow Regional Court held", "Cracow"),
        ("by Riverside General Hospital on", "Riverside General Hospital"),
        ("worked for Nordwerk Ltd then", "Nordwerk Ltd"),
        ("a member of the Green Party since", "Green Party"),
        ("lived in Austria until", "Austria"),  # a country alone is a place
        ("the Farmers' Union of Kent", "Farmers' Union of Kent"),
        ("he left at 5", "5"),
        ("", ""),
    ],
)
def test_a_local_name_stays_a_name(text: str, part: str) -> None:
    assert not names_state_body(text, *at(text, part))


def test_only_the_tagger_s_organisations_become_suggestions() -> None:
    text = "The Supreme Court heard the Cracow Regional Court's file."
    for part, label, score in (
        ("Supreme Court", "ORGANISATION", SUGGESTION),
        ("Cracow Regional Court", "ORGANISATION", 0.9),
        ("Supreme Court", "PERSON", 0.9),
    ):
        span = Span("", *at(text, part), label, 0.9, "tagger", "quasi")
        assert doubted(text, span).score == score
