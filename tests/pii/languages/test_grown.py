"""A person's name to its full extent in German print: ranks, letters set apart, halves, genitives, lists of people."""

from __future__ import annotations

from typing import Any

import pytest
import regex

import engine.pii.languages.grown as grown_module
from engine.pii.languages.grown import grown
from engine.pii.spans import Span


def persons(text: str, *found: str, label: str = "PERSON") -> list[str]:
    """Return the persons of a text in which the tagger found some words."""
    spans = [Span("", at, at + len(f), label, 0.8, "tagger", "direct") for f in found for at in [text.index(f)]]
    return [text[s.start : s.end] for s in sorted(grown(text, spans, "de")) if s.label == "PERSON"]


@pytest.mark.parametrize(
    ("text", "found", "whole"),
    [
        ("Auch Gräfin Emma kam.", ["Emma"], ["Gräfin Emma"]),  # the rank belongs to the name
        ("Der Freiherr v. Hessing sprach.", ["Hessing"], ["Freiherr v. Hessing"]),
        ("Der General von Psuelen sprach.", ["Psuelen"], ["von Psuelen"]),  # a title's particle
        ("in der Sache J. K. Lindqvarn", ["Lindqvarn"], ["J. K. Lindqvarn"]),
        ("Es starb: W e l e k Maria, Magd.", ["Maria"], ["W e l e k Maria"]),  # letters set apart
        ("Es starb vor- gestrn: Schif f mann Franz, Koch.", ["mann", "Franz"], ["Schif f mann", "Franz"]),
        ("Es starb: Gran n i ch Johann, Koch.", ["Gran", "Johann"], ["Gran n i ch Johann"]),
        ("Es starb: Welkgruber Maria, Magd.", ["Maria"], ["Welkgruber Maria"]),  # a list, the surname in front
        ("als sich Musso lini zur Versamm- lung erhob", ["Musso"], ["Musso lini"]),  # a line's end broke it
        ("das Ansuchen des Mathias Holz- nerik", ["Mathias Holz-"], ["Mathias Holz- nerik"]),
        ("Kossuther's Verwaltung", ["Kossuther"], ["Kossuther's"]),
        ("Herr Fraa««sco sang", ["Fraa"], ["Fraa««sco"]),  # letters misread
        ("Er war bei F r i e d l a n d e r zu Gast.", [], ["F r i e d l a n d e r"]),
    ],
)
def test_a_name_is_whole(text: str, found: list[str], whole: list[str]) -> None:
    assert persons(text, *found) == whole


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Im Haus saß Anna, die Magd.", "Anna"),  # a common noun stands far in front
        ("Es starb: Die Tochter Maria, Magd.", "Maria"),  # a common noun is no surname
        ("Karl ging heim.", "Karl"),  # a word, not a half
        ("Musso kam an.", "Musso"),
        ("Otto er ist hier.", "Otto"),
        ("Herr Dr. Lindqvarn", "Lindqvarn"),
    ],
)
def test_what_is_none_of_a_name_stays_outside(text: str, found: str) -> None:
    assert [p for p in persons(text, found) if found in p] == [found]


@pytest.mark.parametrize(
    ("text", "found"),
    [  # the same shapes in a text that lost no letter: as they came from letters, decisions and sentences of today
        ("Herr Felix Richter aß die halbe Portion.", "Felix Richter"),
        ("Visite mit Dr. Helga Krause um 8.30 Uhr.", "Helga Krause"),
        ("Konsil durch Dr. Birgit Werner am 2. März 2022.", "Birgit Werner"),
        ("vgl. Widmann in Widmann / Mayer, Absatz 2 Buchstabe b des Gesetzes", "Widmann"),
        ("mit dem Eingangsdatum von Jena gelocht worden", "Jena"),
        ("Herr Lurch entblößte sein Gesicht.", "Lurch"),
        ("Molly krallte sich eine Schachtel.", "Molly"),
        ("Wie Alexander so sprechen kann, ein- bis zweimal, Vor- und Nachname", "Alexander"),
        ("Schmidt|oder Meyer", "Schmidt"),
    ],
)
def test_a_text_that_lost_no_letter_is_left_alone(text: str, found: str) -> None:
    assert persons(text, found) == [found]


@pytest.mark.parametrize(
    ("text", "found"),
    [  # small words, titles and particles beside a name in a text that did lose letters
        ("die Versamm- lung mit Musso in Florenz", "Musso"),
        ("die Versamm- lung, Herrn v. Binderl", "v. Binderl"),
        ("die Versamm- lung, Herrn binderl", "binderl"),  # the text ends with the name
    ],
)
def test_small_words_stay_outside_in_damaged_text_too(text: str, found: str) -> None:
    assert persons(text, found) == [found]


def test_a_particle_joins_a_name_to_the_place_behind_it() -> None:
    text = "die Sängerin Susanne Jonak von Freyenwald sang"
    place = text.index("Freyenwald")
    spans = [
        Span("", text.index("Susanne"), text.index(" von"), "PERSON", 0.8, "tagger", "direct"),
        Span("", place, place + len("Freyenwald"), "LOCATION", 0.8, "tagger", "quasi"),
    ]
    assert [text[s.start : s.end] for s in sorted(grown(text, spans, "de"))] == ["Susanne Jonak von", "Freyenwald"]


def test_headings_whose_letters_are_set_apart_name_nobody() -> None:
    assert persons("G r ü n d e\nDer Kläger hat recht.") == []


def test_suggestions_rules_and_other_languages_are_left_alone() -> None:
    text = "Auch Gräfin Emma kam."
    for span, code in (
        (Span("", 12, 16, "PERSON", 0.45, "tagger", "direct"), "de"),
        (Span("", 12, 16, "PERSON", 0.9, "de.title", "direct"), "de"),
        (Span("", 12, 16, "LOCATION", 0.9, "tagger", "quasi"), "de"),
        (Span("", 12, 16, "PERSON", 0.9, "tagger", "direct"), "nl"),
    ):
        assert grown(text, [span], code) == [span]


@pytest.mark.parametrize("unit", ["A a b ", "Aa- bb ", "A. ", "Gräfin ", "a ", "«A", "A^", "A «b"])
def test_the_work_grows_as_the_text(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(length: int) -> int:
        text, asked = unit * (length // len(unit)), 0

        class Counted:
            def __init__(self, pattern: regex.Pattern[str]) -> None:
                self.pattern = pattern

            def __getattr__(self, name: str) -> Any:
                nonlocal asked
                asked += 1
                return getattr(self.pattern, name)

        with monkeypatch.context() as patch:
            for name in ("JUNK", "PIECE_AFTER", "WORD", "GENITIVE", "OTHER_HALF"):
                patch.setattr(grown_module, name, Counted(getattr(grown_module, name)))
            letters = [at + (not text[at].isalpha()) for at in range(0, length - 40, 40)]
            grown(text, [Span("", at, at + 1, "PERSON", 0.8, "tagger", "direct") for at in letters], "de")
        return asked

    counted(400)  # what is read once a process
    assert counted(20_000) < 2.5 * counted(10_000)
