"""What detection missed and marked wrongly in annotated text: hand-checked rows."""

from __future__ import annotations

from engine.training.word_tagger.data import Document
from engine.training.word_tagger.misses import line, missed, wrong

NAMES = frozenset({"PERSON", "LOCATION", "ORGANISATION"})
TEXT = "Ann Lee saw Bo in Ulm on Monday."
GOLD = ((0, 7, "PERSON"), (12, 14, "PERSON"), (18, 21, "LOCATION"), (25, 31, "*"))


def document(types: frozenset[str] = NAMES) -> Document:
    return Document(TEXT, GOLD, types, "xx", "made/3")


def test_a_name_masked_in_part_is_missed() -> None:
    found = [(0, 3, "PERSON"), (18, 21, "ORGANISATION")]  # Ann without Lee; Ulm, whatever the type
    assert list(missed(document(), found)) == [(0, 7, "PERSON"), (12, 14, "PERSON")]


def test_what_is_annotated_as_anything_is_no_false_alarm() -> None:
    found = [(0, 7, "PERSON"), (8, 11, "PERSON"), (25, 31, "PERSON"), (22, 24, "CODE")]
    assert list(wrong(document(), found)) == [(8, 11, "PERSON")]
    assert list(wrong(document(frozenset({"LOCATION"})), found)) == []  # the set annotates no persons


def test_a_line_shows_where_it_stands() -> None:
    assert line(document(), 12, 14, "PERSON") == "PERSON made: Ann Lee saw [[Bo]] in Ulm on Monday."
