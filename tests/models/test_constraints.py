"""Blocked values at the end of a growing text."""

import pytest

from engine.models.constraints import Blocklist, fold


@pytest.mark.parametrize(
    ("values", "tail", "addition", "final", "expected"),
    [
        (["Ann"], "saw ", "Ann", False, False),  # may still become Anniversary
        (["Ann"], "saw ", "Ann", True, True),
        (["Ann"], "saw Ann", " went", False, True),
        (["Ann"], "saw Ann", "iversary", False, False),
        (["Ann"], "saw Jo", "Ann ", False, False),  # not a word of its own
        (["ann"], "saw ÁNN", ".", False, True),  # case and accent
        (["New  York"], "in new", " york,", False, True),
        (["New York"], "in new\n", "YORK,", False, True),
        (["O'Neil"], "Mr O'Neil", " x", False, True),
        (["a+b"], "is a+b", " x", False, True),
        ([], "anything", " at all", True, False),
        (["  "], "anything", " at all", True, False),
    ],
)
def test_completes(values, tail, addition, final, expected):
    assert Blocklist(values).completes(tail, addition, final) is expected


def test_contains_and_cut():
    blocked = Blocklist(["Zorblat Quux"])
    assert blocked.contains("met ZORBLAT quux today")
    assert not blocked.contains("met Zorblat today")
    assert "quux" not in blocked.cut("we met Zorblat Quux today").lower()
    assert blocked.cut("nothing here") == "nothing here"


def test_fold_drops_case_and_accents():
    assert fold("ÉCOLE") == fold("ecole")
    assert fold("Straße") == fold("STRASSE")
