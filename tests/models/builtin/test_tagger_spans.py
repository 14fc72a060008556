"""Spans from word probabilities: names of several words are found whole, separators end a name."""

from __future__ import annotations

import numpy as np
import pytest
import regex

from engine.models.builtin.tagger.tagger import TAGS, TYPES, Pieces
from engine.models.builtin.tagger.tagger_spans import Tagged, spans_of

THRESHOLDS = np.full(len(TYPES), 0.2, dtype=np.float32)


def decoded(text: str, given: dict[str, tuple[str, float]]) -> list[Tagged]:
    """Return the spans of a text whose words have the given tag with the given probability."""
    places = [m.span() for m in regex.finditer(r"[\p{L}\p{N}]+|[^\s\p{L}\p{N}]", text)]
    found = np.zeros((len(places), len(TAGS)), dtype=np.float32)
    for row, (a, b) in zip(found, places):
        tag, p = given.get(text[a:b], ("O", 1.0))
        row[TAGS.index(tag)] = p
        row[0] += 1 - p
    n = len(places)
    pieces = Pieces(
        np.zeros(n, np.int32),
        np.zeros(n, np.int8),
        np.array([a for a, _ in places], np.int32),
        np.array([b for _, b in places], np.int32),
        np.arange(n, dtype=np.int32),
    )
    return spans_of(text, pieces, found, THRESHOLDS)


def accepted(text: str, given: dict[str, tuple[str, float]]) -> list[tuple[str, str]]:
    return [(text[s.start : s.end], s.label) for s in decoded(text, given) if s.score >= 0.5]


@pytest.mark.parametrize(
    ("text", "given", "wanted"),
    [
        # a weak "of" is carried by its neighbours
        (
            "in District of Kyrenia now",
            {"District": ("B-LOCATION", 0.5), "of": ("I-LOCATION", 0.1), "Kyrenia": ("I-LOCATION", 0.9)},
            [("District of Kyrenia", "LOCATION")],
        ),
        # the second of two capitalised words just under its threshold
        (
            "from Costa Verde today",
            {"Costa": ("B-LOCATION", 0.9), "Verde": ("I-LOCATION", 0.18)},
            [("Costa Verde", "LOCATION")],
        ),
        # parts of one written word
        (
            "by O'Donnell alone",
            {"O": ("B-PERSON", 0.6), "'": ("I-PERSON", 0.02), "Donnell": ("I-PERSON", 0.9)},
            [("O'Donnell", "PERSON")],
        ),
        # a possessive or a full stop is no part of the name
        ("by Torrens's men", {"Torrens": ("B-PERSON", 0.9)}, [("Torrens", "PERSON")]),
        # one type for one name
        (
            "the Bank of Cyprus paid",
            {"Bank": ("B-ORGANISATION", 0.9), "of": ("I-ORGANISATION", 0.6), "Cyprus": ("I-ORGANISATION", 0.19)},
            [("Bank of Cyprus", "ORGANISATION")],
        ),
        # a weak word that stands alone stays
        ("we verde on", {"verde": ("B-LOCATION", 0.15)}, []),
        # two names side by side with a new beginning stay two
        (
            "Anna Bruno left",
            {"Anna": ("B-PERSON", 0.95), "Bruno": ("B-PERSON", 0.95)},
            [("Anna", "PERSON"), ("Bruno", "PERSON")],
        ),
    ],
)
def test_a_name_is_found_whole(text: str, given: dict, wanted: list) -> None:
    assert accepted(text, given) == wanted


@pytest.mark.parametrize("mark", [";", "|", "\t", " ; ", " | "])
def test_table_separators_end_a_name(mark: str) -> None:
    text = f"7{mark}Anna Kos{mark}Leeds{mark}x"
    given = {"Anna": ("B-PERSON", 0.9), "Kos": ("I-PERSON", 0.9), "Leeds": ("I-PERSON", 0.9)}
    given |= {";": ("I-PERSON", 0.9), "|": ("I-PERSON", 0.9)}
    assert [t for t, _ in accepted(text, given)] == ["Anna Kos", "Leeds"]


def test_suggestions_stay_under_one_half_and_never_overlap_what_is_accepted() -> None:
    spans = decoded("Anna saw Bruno", {"Anna": ("B-PERSON", 0.9), "Bruno": ("B-PERSON", 0.17)})
    assert [round(s.score, 1) >= 0.5 for s in spans] == [True, False]


def test_no_division_earns_more_than_the_one_found() -> None:
    """Compare the decoder with every division of a short text."""
    from itertools import product

    from engine.models.builtin.tagger import tagger_spans as m

    rng = np.random.default_rng(4)
    for _ in range(60):
        n = 4
        scores = rng.random((n, 2)).astype(np.float32)
        joins = rng.normal(size=n).astype(np.float32)
        words = m.Words(np.arange(n), np.arange(n) + 1, scores, np.zeros(n, np.float32))
        gains = np.clip(np.log(scores / (1 - scores)), -m.LIMIT, m.LIMIT)

        def earned(states: tuple[int, ...], gains: np.ndarray = gains, joins: np.ndarray = joins) -> float:
            """Earnings where state 0 is the rest, 1 and 2 go on, 3 and 4 open a span of type 0 and 1."""
            total, last = 0.0, -1
            for i, s in enumerate(states):
                kind = -1 if s == 0 else (s - 1) % 2
                if 0 < s < 3 and last != kind:
                    return -np.inf
                total += 0.0 if kind < 0 else gains[i, kind] + (-m.START if s > 2 else joins[i])
                last = kind
            return total

        best = max(earned(s) for s in product(range(5), repeat=n))
        mine = m._decode(words, joins, 0.0)
        got = 0.0
        for first, last, kind in mine:
            got += gains[first:last, kind].sum() - m.START + joins[first + 1 : last].sum()
        assert got == pytest.approx(best, abs=1e-4)
