"""Common words of German that the tagger takes for names: held back alone, cut off a name's edges."""

from __future__ import annotations

import gzip

import pytest

from engine.pii.languages.common import common_words, is_common, without_common
from engine.pii.languages.pack import FOLDER, pack
from engine.pii.languages.pools import read_pools
from engine.pii.spans import SUGGESTION, Span


def told(text: str, found: str, label: str = "LOCATION", score: float = 0.7, code: str = "de") -> tuple[str, float]:
    """Return (words, score) of what the tagger found, after common words were looked at."""
    at = text.index(found)
    (span,) = without_common(text, [Span("", at, at + len(found), label, score, "tagger", "quasi")], code)
    return text[span.start : span.end], span.score


@pytest.mark.parametrize(
    ("text", "found", "label"),
    [
        ("Sie saß an der Tabelle im Haus.", "Tabelle", "LOCATION"),
        ("Die Zuführung nach der Wertguthabenvereinbarung endet.", "Wertguthabenvereinbarung", "LOCATION"),
        ("Sie lebt mit der Schuhmachers-Gattin hier.", "Gattin", "PERSON"),
        ("Sie kam. Heute geht es ihr gut.", "Heute", "PERSON"),  # written small elsewhere
        ("Es ging um Rede und Antwort hier.", "Rede und Antwort", "LOCATION"),
    ],
)
def test_common_words_wait(text: str, found: str, label: str) -> None:
    assert told(text, found, label) == (found, SUGGESTION)


@pytest.mark.parametrize(
    ("text", "found", "kept", "label"),
    [
        ("Sie wird nach Genf reisen wollen.", "Genf reisen", "Genf", "LOCATION"),
        ("Sie sah Herrn Lindqvarn gestern im Haus.", "Lindqvarn gestern im", "Lindqvarn", "PERSON"),
        ("Sie lebt in Deutsch lands Mitte.", "Deutsch lands", "Deutsch lands", "LOCATION"),  # half a name
        ("Sie kam aus Oester reich zurück.", "Oester reich", "Oester reich", "LOCATION"),
        ("Er ging zu von Hessing nach Haus.", "von Hessing", "von Hessing", "PERSON"),
        ("Am 3. Tag waren es 83 Jahre für ihn.", "83 Jahre", "83 Jahre", "LOCATION"),  # a number tells something
        ("Die Praxis am Markt ist zu.", "Praxis am Markt", "Praxis am Markt", "ORGANISATION"),
        ("Danach las sie die Alpenzeitung dort.", "Alpenzeitung", "Alpenzeitung", "ORGANISATION"),
        ("Da ging Frau Weiß zur Tür.", "Weiß", "Weiß", "PERSON"),  # a surname
    ],
)
def test_names_keep_what_is_theirs(text: str, found: str, kept: str, label: str) -> None:
    assert told(text, found, label) == (kept, 0.7)


def test_a_person_of_whom_the_tagger_is_sure_stays() -> None:
    assert told("Sie sah Hand im Haus.", "Hand", "PERSON", 0.95) == ("Hand", 0.95)
    assert told("Sie sah Hand im Haus.", "Hand", "PERSON", 0.7)[1] == SUGGESTION


def test_a_text_all_in_small_or_large_letters_tells_nothing() -> None:
    assert told("SIE SASS AN DER TABELLE.", "TABELLE") == ("TABELLE", 0.7)
    assert told("Tabelle", "Tabelle") == ("Tabelle", 0.7)


def test_languages_without_a_list_are_left_alone() -> None:
    assert told("Ta tuli ja istus Tabelle taga.", "Tabelle", code="et") == ("Tabelle", 0.7)
    assert not common_words("et")


def test_the_list_holds_no_names_and_no_time_of_writing() -> None:
    words, pools, data = common_words("de"), read_pools("de"), pack("de").data
    assert len(words) > 10_000
    assert not words & {*pools.forenames, *pools.surnames, *(t.name for t in pools.towns), *data.months, *data.weekdays}
    raw = (FOLDER / "de" / "common.txt.gz").read_bytes()
    assert raw[4:8] == b"\0\0\0\0"
    assert gzip.decompress(raw).decode("utf-8").split("\n")[:-1] == sorted(words)


def test_institutions_that_are_put_together_are_none() -> None:
    assert not is_common("Bundesverfassungsgericht", "de")
    assert is_common("Verschlechterung", "de")
