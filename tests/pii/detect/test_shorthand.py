"""The label of a field, the shorthand for a role or a ward, and a title alone name nobody; what follows them does."""

from __future__ import annotations

import pytest

from engine.pii.detect.detector import RecordDetector
from engine.pii.detect.plain.plain_words import names_nobody, without_field
from engine.pii.spans import Span


def nobody(surface: str, label: str) -> bool:
    return names_nobody(surface, Span("", 0, len(surface), label, 0.9, "tagger", "direct"))


@pytest.mark.parametrize("label", ["PERSON", "ORGANISATION", "CODE"])
@pytest.mark.parametrize(
    "surface",
    ["D.o.b.", "DOB", "D.O.B.", "d.o.b", "dob", "D. O. B.", "DOB:", "GP", "GPs", "G.P.", "Dr", "Dr.", "dr", "A&E",
     "A & E", "GP, Dr", "MRN", "Doctor", "doctor", "Professor", "addressee", "Colleague"],
)  # fmt: skip
def test_shorthand_is_no_name_and_no_code(surface: str, label: str) -> None:
    assert nobody(surface, label)


@pytest.mark.parametrize(
    ("surface", "label"),
    [
        ("Dob", "PERSON"),  # a surname
        ("DR", "PERSON"),  # somebody's initials
        ("GP Moreau", "PERSON"),
        ("Dr Aline Moreau", "PERSON"),
        ("Doctor Moreau", "PERSON"),
        ("A&E Stores", "ORGANISATION"),
        ("DOB 4411", "CODE"),
        ("gp", "USERNAME"),
    ],
)
def test_a_name_or_a_code_among_it_stays(surface: str, label: str) -> None:
    assert not nobody(surface, label)


@pytest.mark.parametrize(
    ("text", "found", "kept"),
    [
        ("Aline Moreau\nD.o.b. 1961", "Aline Moreau\nD.o.", "Aline Moreau"),  # the span ends within the label
        ("Aline Moreau, DOB: 1961", "Aline Moreau, DOB", "Aline Moreau"),
        ("Aline Moreau GP DOB", "Aline Moreau GP DOB", "Aline Moreau"),
        ("Riverside Hospital A&E said", "Riverside Hospital A&E", "Riverside Hospital"),
        ("Anna Dob came", "Anna Dob", "Anna Dob"),
        ("Dr Aline Moreau saw", "Dr Aline Moreau", "Dr Aline Moreau"),
        ("A&E Stores sell", "A&E Stores", "A&E Stores"),
        ("DOB 1961", "DOB", "DOB"),  # nothing before it; `names_nobody` takes it out
    ],
)
def test_a_name_does_not_hold_the_label_behind_it(text: str, found: str, kept: str) -> None:
    span = Span("", 0, len(found), "PERSON", 0.9, "tagger", "direct")
    cut = without_field(text, span)
    assert text[cut.start : cut.end] == kept
    ruled = Span("", 0, len(found), "PERSON", 0.9, "known", "direct")
    assert without_field(text, ruled) == ruled  # what a person listed is never changed


@pytest.fixture(scope="module")
def detector() -> RecordDetector:
    return RecordDetector()


@pytest.mark.parametrize(
    ("note", "wanted"),
    [
        ("Patient: Aline Moreau\nD.o.b. 12 March 1961\nSeen in clinic today.", {"Aline Moreau", "12 March 1961"}),
        ("DOB: 12/03/1961. Letter to GP Dr Aline Moreau.", {"12/03/1961", "Dr Aline Moreau"}),
        ("D.O.B. 12 March 1961\nDear Dr Moreau,\nThank you for seeing him in A&E.", {"12 March 1961", "Dr Moreau"}),
        ("Dear GP,\nI saw Mr Bogdan Nowak today.", {"Mr Bogdan Nowak"}),
        ("Dear Doctor,\nI saw Mr Bogdan Nowak today.", {"Mr Bogdan Nowak"}),
        ("To be opened by addressee\n\nMr Bogdan Nowak\nSalford", {"Mr Bogdan Nowak"}),
    ],
)
def test_real_names_and_dates_after_shorthand_are_found(detector: RecordDetector, note: str, wanted: set[str]) -> None:
    spans = detector.find([note])[0]
    assert wanted <= {note[s.start : s.end] for s in spans if s.score >= 0.5}
    named = {note[s.start : s.end].strip(" .:,") for s in spans if s.label in {"PERSON", "ORGANISATION"}}
    assert not named & {"D.o.b", "DOB", "D.O.B", "GP", "Dr", "A&E", "Doctor", "addressee"}
