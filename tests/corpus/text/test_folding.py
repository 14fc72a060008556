"""The one folded form in which private values and texts are compared."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.corpus.text.folding import atoms, dates, fold_characters, folded, folded_words, spellings

SAME = [
    ("Wołosiewicz", "Wolosiewicz"), ("Yıldırım", "YILDIRIM"), ("Søren", "SOREN"), ("Đorđević", "Dordevic"),
    ("Straße", "STRASSE"), ("Þórr", "thorr"), ("Hassl\u00adund", "Hasslund"), ("Hass\u200blund", "Hasslund"),
    ("Ha\u0455\u0455lund", "Hasslund"), ("\u041d\u0430\u0455\u0455lund", "Hasslund"), ("\uff28asslund", "hasslund"),
    ("Jose\u0301", "José"), ("O’Brien’s", "O'Brien"), ("O'Brien", "OBRIEN"), ("Hasslund’s", "hasslund"),
    ("Henrik\u00a0 Hasslund", "henrik\nhasslund"), ("Anna\u2011Lisa", "Anna-Lisa"), ("Anna–Lisa", "anna lisa"),
    ("36244 / 06", "36244/06"), ("36244-06", "36244/06"), ("(555) 013-4267", "555-013-4267"), ("1,570", "1 570"),
    ("T09/2675", "T 09 2675"), ("٣٦٢٤٤/٠٦", "36244/06"), ("_Hasslund_", "Hasslund"), ("𝐇asslund", "hasslund"),
    ("31st August 2006", "2006-08-31"), ("31 of August, 2006", "August 31, 2006"), ("31/08/2006", "2006.08.31"),
    ("the 31st day of August 2006", "the August 31st 2006"), ("31 Aug. 06", "31/8/2006"), ("08-31-2006", "31.8.2006"),
    ("５ May ２００６", "5/5/2006"), ("17 Sept 2010", "17 September 2010"), ("Sept. 17, 2010", "17/9/2010"),
]  # fmt: skip
DIFFERENT = [
    ("31/08/2006", "30/08/2006"), ("01/02/2006", "2006-02-01"), ("16444/07", "16444/09"), ("Hasslund", "Hasslunds"),
    ("Lee", "Leigh"), ("the case of A", "the case of B"), ("", "a"),
]  # fmt: skip
ALPHABET = "aAbs ' ’-/.,()_\u00ad\u200b\u0301\nßøıАн3104٣½㏂年龍ไทย"
WORDS = st.sampled_from(
    ["31", "st", "of", "August", "2006", "Aug", "the", "08", "5", "12", "06", "Hass", "lund", "'s", "’", "O", "1,570"]
)
MIXED = st.lists(st.tuples(WORDS, st.sampled_from(["", " ", "/", "-", ", ", " (", "\u00ad", "\n"])), max_size=10).map(
    lambda pairs: "".join(word + mark for word, mark in pairs)
)


@pytest.mark.parametrize(("one", "two"), SAME)
def test_spellings_of_one_thing_meet(one, two):
    assert folded(one) == folded(two)


@pytest.mark.parametrize(("one", "two"), DIFFERENT)
def test_other_things_stay_apart(one, two):
    assert folded(one) != folded(two)


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=60), st.text(ALPHABET, max_size=40), MIXED))
def test_folding_twice_is_folding_once(text):
    assert folded(folded(text)) == folded(text)
    flat, _ = fold_characters(text)
    assert fold_characters(flat)[0] == flat


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(max_size=60), st.text(ALPHABET, max_size=40), MIXED))
def test_offsets_lead_to_what_was_folded(text):
    flat, places = fold_characters(text)
    assert len(flat) == len(places)
    assert list(places) == sorted(places)
    for part in (*folded_words(text), *atoms(text)):
        assert 0 <= part.start < part.end <= len(text)
        assert part.key in folded(text[part.start : part.end]).replace(" ", "") or "-" in part.key
    for word in folded_words(text):
        inside = folded(text[word.start : word.end])
        assert word.key in inside
    starts = [atom.start for atom in atoms(text)]
    assert starts == sorted(starts)


@settings(max_examples=200, deadline=None)
@given(st.text("abcdeHL", min_size=1, max_size=20), st.data())
def test_what_cannot_be_seen_changes_nothing(word, data):
    at = data.draw(st.integers(0, len(word)))
    hidden = data.draw(st.sampled_from("\u00ad\u200b\u200c\u200d\u2060\ufeff\ufe0f\u202e\u0301"))
    assert folded(word[:at] + hidden + word[at:]) == folded(word)


def test_joints_are_where_a_joined_name_may_begin():
    (atom,) = atoms("HenrikHasslund’s")
    assert (atom.key, atom.start, atom.end, atom.joints) == ("henrikhasslund", 0, 16, ((6, 6),))
    (atom,) = atoms("d’Hasslund")
    assert atom.joints == ((1, 2),)
    assert atoms("HASSLUND")[0].joints == ()


def test_both_orders_of_an_ambiguous_date_are_read():
    text = "seen 01/02/2006, again 3.4.98"
    found = [(first, last, [day.isoformat() for day in days]) for first, last, days in dates(text, atoms(text))]
    assert found == [
        (1, 3, ["2006-02-01", "2006-01-02"]),
        (5, 7, ["1998-04-03", "2098-04-03", "1998-03-04", "2098-03-04"]),
    ]


def test_other_plain_spellings_of_a_name():
    assert set(spellings("Müller")) == {"muller", "mueller"}
    assert set(spellings("Mueller")) == {"mueller", "muller"}
    assert set(spellings("Søren Ås")) >= {"sorenas", "soerenaas"}
    assert spellings("Lee") == ("lee",)
