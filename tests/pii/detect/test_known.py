"""Known identifiers: written differently, misspelt, reformatted; and what must stay unmarked."""

from __future__ import annotations

from datetime import date

import pytest

from engine.pii.detect.known import KnownIdentifiers, parse_date
from engine.pii.detect.settings import KnownIdentifier


def finder(*pairs: tuple[str, str], fuzzy: bool = True) -> KnownIdentifiers:
    return KnownIdentifiers([KnownIdentifier(value=v, label=x) for v, x in pairs], fuzzy=fuzzy)


def surfaces(finder: KnownIdentifiers, text: str, at_least: float = 0.5) -> set[str]:
    return {text[s.start : s.end] for s in finder.find(text) if s.score >= at_least}


NAME = finder(("Margarethe Oehlenschläger", "PERSON"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("saw Margarethe Oehlenschläger today", "Margarethe Oehlenschläger"),
        ("saw MARGARETHE OEHLENSCHLAGER today", "MARGARETHE OEHLENSCHLAGER"),  # case and accents
        ("Oehlenschläger, Margarethe: seen", "Oehlenschläger, Margarethe"),  # turned round
        ("by M. Oehlenschläger.", "M. Oehlenschläger"),  # initial and last name
        ("signed M.O. at noon", "M.O."),  # initials
        ("Ms Oehlenschläger left", "Oehlenschläger"),  # a part
        ("Margarethe  \n Oehlenschläger", "Margarethe  \n Oehlenschläger"),  # white space
        ("saw Margarete Oehlenschlager today", "Margarete Oehlenschlager"),  # one letter less
        ("saw Margarethe Oelhenschlager today", "Margarethe Oelhenschlager"),  # two letters swapped
        ("x🙂é Margarethe Oehlenschla\u0308ger", "Margarethe Oehlenschla\u0308ger"),  # combining mark
    ],
)
def test_forms_of_a_name(text: str, found: str) -> None:
    assert found in surfaces(NAME, text)


@pytest.mark.parametrize("text", ["", "the margin was oval", "M and O", "momo", "Oehl met Marga"])
def test_other_words_stay(text: str) -> None:
    assert surfaces(NAME, text) == set()


def test_without_fuzzy_a_misspelling_stays() -> None:
    exact = finder(("Margarethe Oehlenschläger", "PERSON"), fuzzy=False)
    assert surfaces(exact, "Margarete Oehlenschlagr") == set()
    assert surfaces(NAME, "Margarete Oehlenschlagr") == {"Margarete Oehlenschlagr", "Oehlenschlagr"}


@pytest.mark.parametrize(
    "text",
    [
        "14.03.1961",
        "14/3/61",
        "1961-03-14",
        "3/14/1961",
        "14 March 1961",
        "March 14, 1961",
        "14th of March 1961",
        "14MAR1961",
        "14-Mar-61",
    ],
)
def test_a_date_in_other_formats(text: str) -> None:
    days = finder(("14 March 1961", "DATE"))
    assert surfaces(days, f"born {text}, in") == {text}
    assert surfaces(days, "born 15 March 1961 or 14 April 1961", 0.7) == set()


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("14 March 1961", date(1961, 3, 14)),
        ("1961-03-14", date(1961, 3, 14)),
        ("3/14/61", date(1961, 3, 14)),
        ("01/02/2003", date(2003, 2, 1)),  # day first
        ("31.02.2003", None),
        ("Mr March Smith", None),
        ("1-2", None),
    ],
)
def test_parse_date(value: str, found: date | None) -> None:
    assert parse_date(value) == found


def test_numbers_match_whatever_separates_the_digits() -> None:
    codes = finder(("H-22.91.07", "MEDICAL_ID"), ("555 0199 22", "PHONE"))
    assert surfaces(codes, "file h229107 or (5550) 199-22") == {"h229107", "5550) 199-22"}
    assert surfaces(codes, "file 229107") == set()


def test_labels_are_canonical_and_scores_ordered() -> None:
    text = "Ana Ruiz; Ruiz, Ana; A. Ruiz; Ana"
    found = finder(("Ana Ruiz", "PATIENT")).find(text)
    assert {s.label for s in found} == {"PERSON"}
    score = {text[s.start : s.end]: s.score for s in found}
    assert score["Ana Ruiz"] > score["Ruiz, Ana"] > score["A. Ruiz"] > score["Ana"] >= 0.5
