"""Rules of the packs on text that is there to hold them up, and short English notes with names from elsewhere."""

from __future__ import annotations

import time

import pytest

from engine.pii.languages.pack import codes
from engine.pii.languages.rules import LanguageRules, expressions
from engine.pii.languages.telling import told

HOSTILE = {
    "field and blanks": "Name:" + " " * 20_000,
    "titles": "Dr. med. " * 3_000,
    "title and blanks": "Dr" + " " * 20_000,
    "lines": "\n" * 20_000,
    "brackets": "Name (" * 3_000,
    "capitals": "Anna-Maria " * 2_000,
}


@pytest.mark.parametrize("code", sorted(codes()))
@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_no_rule_is_held_up(code, text):
    """Processor time, so that other work of the machine does not count; a rule that squares takes minutes here."""
    for expression in expressions(code):
        begin = time.process_time()
        list(expression.pattern.finditer(text, timeout=60))
        assert time.process_time() - begin < 5, expression.id


@pytest.mark.parametrize(
    "text",
    [
        "Patient Maria de la Cruz, MRN 123456, SSN 219-09-9999, DOB 04/05/1961.",
        "Pt Juan de los Santos y Garcia, 82 yo, MRN 445566, seen today.",
        "Name: De La Cruz, Maria Sex: F DOB: 1/2/1960 SSN: 219-09-9999 MRN: 778899",
        "Mr. Van der Berg, 54 yo, MRN: 123456.",
    ],
)
def test_a_short_english_note_with_a_name_from_elsewhere_keeps_its_numbers(text):
    code = told(text)
    assert code in (None, "en")
    rules = LanguageRules()
    for other in sorted(codes()):  # and where a corpus tells it otherwise
        found = {span.label for span in rules.find(text, other)}
        assert found & {"MEDICAL_ID", "NATIONAL_ID"}, (other, found)
