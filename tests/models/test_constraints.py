"""Blocked values in finished text, and at the end of a growing one."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.models.constraints import Blocklist, Guard, Tail

VALUES = ["Hasslund", "Henrik Hasslund", "36244/06", "(555) 013-4267", "31 August 2006", "Wołosiewicz", "a+b", "12"]
WORDS = ["Hass", "lund", "Henrik", "36244", "06", "/", "-", "555", "013", "4267", "31", "st", "August", "2006", " "]
WORDS += [
    "\n",
    ", ",
    "Wolo",
    "siewicz",
    "Wołosiewicz",
    "\u00ad",
    "’s",
    "a",
    "b",
    "the",
    "12",
    "1",
    "young",
    "Ms ",
    "Lee",
]


@pytest.mark.parametrize(
    ("values", "tail", "addition", "final", "expected"),
    [
        (["Ann"], "saw ", "Ann", False, None),  # may still become Anniversary
        (["Ann"], "saw ", "Ann", True, 4),
        (["Ann"], "saw Ann", " went", False, 4),
        (["Ann"], "saw Ann", "iversary ", False, None),
        (["ann"], "saw ÁNN", ".", False, 4),
        (["New  York"], "in new", " york,", False, 7),  # back to the last word
        (["Hasslund"], "met Esther Hasslu", " Practice", False, 11),
        (["16444/07"], "no. 16444/0", "9,", False, 4),  # back to the beginning of the code: its endings are all near
        (["31 August 2006"], "on August 31,", " 2006.", False, 3),
        (["Hasslund"], "Henrik", "Hasslund ", False, 6),
        ([], "anything", " at all", True, None),
        (["  "], "anything", " at all", True, None),
    ],
)
def test_where_a_completed_value_begins(values, tail, addition, final, expected):
    assert Blocklist(values).completed(tail, tail + addition, final) == expected
    pieces = [tail.encode(), addition.encode()]
    guard, grown = Guard(values, pieces), Tail()
    if guard:
        guard.add(grown, 0)
        assert guard.refuses(grown, 1, final) == expected


def test_contains_and_cut():
    blocked = Blocklist(["Zorblat Quux"])
    assert blocked.contains("met ZORBLAT quux today")
    assert not blocked.contains("met Zorblat today")
    assert blocked.cut("we met Zorblat Quux today") == "we met"
    assert blocked.cut("we met the zorblatquuxs") == "we met the"
    assert blocked.cut("nothing here") == "nothing here"
    assert Blocklist(["Hasslund"]).cut("Dear Hass") == "Dear Hass"
    assert not Blocklist(["Hasslund"]).contains(Blocklist(["Hasslund"]).cut("Dear Hasslu Hasslu"))


def test_everyday_names_are_blocked_where_they_are_names():
    blocked = Blocklist((), ["Young"])
    assert blocked.contains("Ms Young came")
    assert not blocked.contains("a young woman")


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14), st.integers(0, 2**32))
def test_a_text_let_through_token_by_token_holds_no_value(words, seed):
    """However a text is cut into tokens, bytes of one character apart, what the guard lets through is clean."""
    rng = random.Random(seed)
    raw = "".join(words).encode()
    tokens = []
    while raw:
        size = min(len(raw), rng.choice([1, 1, 2, 3, 5, 9]))
        tokens.append(raw[:size])
        raw = raw[size:]
    guard, tail = Guard(VALUES, tokens, ["Lee"]), Tail()
    blocked = Blocklist(VALUES, ["Lee"])
    seen = b""
    for i in range(len(tokens)):
        if guard.refuses(tail, i, final=i == len(tokens) - 1) is not None:
            break
        guard.add(tail, i)
        seen += tokens[i]
    else:
        assert not blocked.contains(seen.decode())
        return
    assert blocked.contains((seen + tokens[i]).decode(errors="replace"))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=2, max_size=12), st.data())
def test_taking_back_leaves_what_was_there_before(words, data):
    pieces = [word.encode() for word in words]
    guard = Guard(VALUES, pieces)
    tail = guard.tail(range(len(pieces)))
    place = data.draw(st.integers(0, len(tail.text)))
    count = guard.take_back(tail, place)
    assert 1 <= count <= len(pieces)
    fresh = guard.tail(range(len(pieces) - count))
    assert (tail.text, tail.partial, tail.ends, tail.pending) == (fresh.text, fresh.partial, fresh.ends, fresh.pending)
    assert len(tail.text) <= place
    assert tail.closed < max(1, len(tail.text))
