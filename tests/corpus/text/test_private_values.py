"""Private values in text: as written, re-formatted, joined, cut short, nearly so; and what is none of these."""

import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.corpus.text.private_values import PrivateValues

EVERYDAY = frozenset("young brown hunter station practice the was people house paper".split())
WHOLE = [
    ("Wołosiewicz", "met Wolosiewicz."), ("Yıldırım", "Yildirim"), ("Yıldırım", "YILDIRIM"), ("Søren", "Soren"),
    ("Søren", "Soeren"), ("Đorđević", "Dordevic"), ("Müller", "Mueller"), ("Mueller", "Müller"),
    ("Hasslund", "Hass\u00adlund"), ("Hasslund", "Hass\u200blund"), ("Hasslund", "Hаsslund"), ("Hasslund", "_Hasslund"),
    ("Hasslund", "Hass lund"), ("Hasslund", "HenrikHasslund"), ("Henrik Hasslund", "henrikhasslund"),
    ("Hasslund", "Hasslund’s"), ("O’Brien", "O'BRIEN"), ("O'Brien", "O Brien"), ("Anna-Lisa", "Anna\u2011Lisa"),
    ("New York", "in NEW\n york"), ("36244/06", "36244 / 06"), ("36244/06", "36244-06"), ("36244/06", "no. 3624406."),
    ("(555) 013-4267", "555-013-4267"), ("(555) 013-4267", "+1 555 013 4267"), ("+46 70 123 45 67", "070-1234567"),
    ("31 August 2006", "31st August 2006"), ("31 August 2006", "August 31, 2006"), ("31 August 2006", "31/08/2006"),
    ("31 August 2006", "31.8.06"), ("01/02/2006", "1 February 2006"), ("01/02/2006", "January 2nd 2006"),
    ("1,570", "1570"), ("1570", "1 570"), ("日本太郎", "は日本太郎です"),
]  # fmt: skip
PARTIAL = [
    ("Hasslund", "the Hasslunds"), ("Hasslund", "henrikhasslund"), ("Hasslund", "hasslundhouse"),
    ("Hasslund", "Esther Hasslu"), ("Hasslund", "Hasslu Practice"), ("Hasslund", "asslund"),
    ("36244/06", "ref 91362440677"),
]  # fmt: skip
NEAR = [
    ("16444/07", "16444/09"), ("T09/2675", "T09/2674"), ("55220/31", "55220/30"), ("55220/31", "55202/31"),
    ("Hasslund", "Haslund"), ("Hasslund", "Hasslunt"), ("Wołosiewicz", "Wolosevicz"), ("12345", "12346"),
]  # fmt: skip
ABSENT = [
    ("Ann", "Anniversary"), ("Hasslund", "the house"), ("16444/07", "16558/09"), ("16444/07", "1644"),
    ("16444/07", "16444"),
    ("31 August 2006", "30 August 2006"), ("12", "120"), ("1.5", "15"), ("Hunter", "Hunted"), ("station", "stations"),
    ("Lee", "sleep"), ("Henrik Hasslund", "Henrik met Hass"), ("AB", "a b"), ("***", "***"), ("Brown", "Browne"),
]  # fmt: skip


def found(value, text):
    return {hit.how for hit in PrivateValues([value], (), EVERYDAY).find(text)}


@pytest.mark.parametrize(("value", "text"), WHOLE)
def test_another_way_of_writing_is_the_value(value, text):
    assert "whole" in found(value, text)


@pytest.mark.parametrize(("value", "text"), PARTIAL)
def test_a_part_gives_the_value_away(value, text):
    assert "partial" in found(value, text)


@pytest.mark.parametrize(("value", "text"), NEAR)
def test_a_near_miss_is_found(value, text):
    assert found(value, text) == {"near"}


@pytest.mark.parametrize(("value", "text"), ABSENT)
def test_what_is_something_else_is_not_found(value, text):
    assert found(value, text) - ({"partial"} if value == "station" else set()) == set()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Young", "Ms Young came", True),
        ("Young", "Mr. Young came", True),
        ("Young", "seen with H. Young", True),
        ("Young", "we met Young there", True),
        ("Young", "Young people came", False),
        ("Young", "he is young", False),
        ("Young", "THE YOUNG ONES", False),
        ("Young", "MS YOUNG", True),
        ("Young", "She left. Young people came", False),
        ("Young", "Thanks,\nYoung", True),
        ("Young", "Young: I fell", True),
        ("May", "in May he", False),
        ("May", "Dr May said", True),
        ("Ng", "told Ng that", True),
    ],
)
def test_an_everyday_name_counts_where_it_stands_as_one(name, text, expected):
    assert PrivateValues([], [name], EVERYDAY).contains(text) is expected


def test_places_are_those_of_the_text():
    text = "saw Mrs Hass\u00adlund’s file 36244 / 06."
    values = PrivateValues(["Hasslund", "36244/06"], (), EVERYDAY)
    assert {text[hit.start : hit.end] for hit in values.find(text)} == {"Hass\u00adlund’s", "36244 / 06"}


@settings(max_examples=200, deadline=None)
@given(st.text("abcdefgh", min_size=6, max_size=14), st.data())
def test_one_edit_of_a_distinctive_word_is_always_near(word, data):
    at = data.draw(st.integers(0, len(word) - 1))
    kind = data.draw(st.sampled_from(["drop", "change", "double", "swap"]))
    other = {
        "drop": word[:at] + word[at + 1 :],
        "change": word[:at] + "z" + word[at + 1 :],
        "double": word[:at] + "z" + word[at:],
        "swap": word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :] if at else word,
    }[kind]
    assert PrivateValues([word], (), EVERYDAY).contains(f"so {other} it is")


@settings(max_examples=200, deadline=None)
@given(st.text("0123456789", min_size=7, max_size=10), st.data())
def test_two_digits_of_a_long_code_are_always_near_and_three_are_not(code, data):
    places = data.draw(st.lists(st.integers(0, len(code) - 1), min_size=3, max_size=3, unique=True))
    values = PrivateValues([f"X{code}"], (), EVERYDAY)

    def changed(count):
        return "X" + "".join("x" if i in places[:count] else c for i, c in enumerate(code)).replace("x", "_")

    def filled(text):
        return "".join(str((int(code[i - 1]) + 5) % 10) if c == "_" else c for i, c in enumerate(text))

    assert values.contains(filled(changed(1)))
    assert values.contains(filled(changed(2)))


def test_no_values_find_nothing():
    assert not PrivateValues([])
    assert PrivateValues([]).find("anything 123456") == []
    assert not PrivateValues(["", "  ", "--"])


@pytest.mark.parametrize("value", ["1" * 3_000, "x@" * 800, "word" * 6_000, "1.1.1." * 280, "a " * 1_200, "7 " * 1_200])
def test_a_value_as_long_as_a_text_is_found_whole_and_costs_no_more_than_its_length(value):
    """Every way of writing 1,200 digits with two of them left out would be nearly a gigabyte."""
    tracemalloc.start()
    try:
        known = PrivateValues([value, "Ada Lovelace"])
        assert [one.how for one in known.find(f"Seen: {value}, by Ada Lovelace.") if one.value == 0] == ["whole"]
        assert tracemalloc.get_traced_memory()[1] < 300e6
    finally:
        tracemalloc.stop()
    assert not [one for one in known.find("Nothing of it.") if one.value == 0]
