"""The lines of a ledger as rows: what belongs to one claim is one row, and what is left of a limit in words."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from pages._ui.ledger import lines as ledger_lines
from pages._ui.ledger.left import little, what_is_left
from pages._ui.parts import wrapped

NAN = float("nan")
SURE = "Someone who is 10% sure that a person is in the data could then become"
RUN, OTHER = "r-abcdefghjk", "r-bcdefghjkm"


def line(seq: int, kind: str, run: str = RUN, what: str = "", epsilon: float = NAN, share: float = 0.0) -> dict:
    return {
        "seq": seq, "at": f"2026-11-29T16:{seq:02d}:00+00:00", "actor": "worker", "kind": kind, "run_id": run,
        "what": what, "epsilon": epsilon, "delta": NAN if epsilon != epsilon else 1e-3, "unit": "source",
        "adjacency": "zero-out", "sentence": f"Sentence {seq}.", "share_after": share,
    }  # fmt: skip


SPENT = (
    line(1, "limit", "", epsilon=10.0),
    line(2, "reserve", epsilon=4.0, share=0.3),
    line(3, "spend", what="label histogram", share=0.3),
    line(4, "touch", OTHER, "run"),
    line(5, "spend", what="votes", share=0.3),
    line(6, "settle", what="2 of 2 outputs", share=0.3),
    line(7, "touch", what="examination in part", share=0.3),
    line(8, "touch", what="examination", share=0.3),
    line(9, "touch", what="examination in part", share=0.3),
)


def numbers(*lines: dict) -> list[tuple[int, ...]]:
    return [tuple(one["seq"] for one in use.lines) for use in ledger_lines.folded(pd.DataFrame(lines))]


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        (SPENT, [(1,), (4,), (2, 3, 5, 6), (7, 8), (9,)]),  # at the place of the latest line of each
        (SPENT[::-1], [(1,), (4,), (2, 3, 5, 6), (7, 8), (9,)]),  # whatever order they come in
        ((line(1, "reserve"), line(2, "give_back"), line(3, "reserve"), line(4, "spend")), [(1, 2), (3, 4)]),
        ((line(1, "declared", "", epsilon=1.0), line(2, "declared", "", epsilon=2.0)), [(1,), (2,)]),  # of no run
        ((line(1, "reserve"), line(2, "reserve", OTHER), line(3, "settle")), [(2,), (1, 3)]),
        ((line(1, "touch", what="run"), line(2, "touch", what="examination")), [(1,), (2,)]),
    ],
)  # fmt: skip
def test_what_belongs_to_one_claim_is_one_row(lines, rows):
    assert numbers(*lines) == rows


def test_a_row_says_what_was_claimed_and_drawn_on_one_line():
    uses = ledger_lines.folded(pd.DataFrame(SPENT))
    shown = ledger_lines.table(uses, {RUN: "Votes on invented texts", OTHER: "Replace what identifies"})
    assert list(shown["What"]) == ["Limit set", "Read without a guarantee", "Spent", "Examined", "Examined in part"]
    assert list(shown["ε"]) == ["10", "–", "4", "–", "–"]
    assert list(shown["In use after"]) == ["0%", "0%", "30%", "30%", "30%"]
    widths = {name: ledger_lines.WIDTHS[name] for name in ("What", "Run")}
    assert wrapped.row_height(shown, widths) == wrapped.LINE
    whole = ledger_lines.in_full(uses[2], {RUN: "Votes on invented texts"})
    assert whole["Claimed"].startswith("ε = 4 at δ = 0.001, ")
    assert whole["Drawn"].startswith("shares of the labels (budget line 3, ")
    assert "; votes for the invented texts (budget line 5, " in whole["Drawn"]
    assert whole["Verdict"] == "Sentence 2. Sentence 6."
    assert whole["Budget lines"] == "2, 3, 5, 6"
    assert whole["Protects"] == "each person (compared with data without them)"
    assert whole["Who"] == "the program"
    limit = ledger_lines.in_full(uses[0], {})
    assert "Claimed" not in limit, "nobody claims a limit"
    assert limit["Meaning"] == "Sentence 1."
    over = "The run is over: 2 of 2 planned outputs were drawn and count as spent."
    assert ledger_lines.sentence(over) == over.replace("outputs", "noisy answers")


def test_an_unbounded_total_stays_so_for_every_later_row():
    uses = ledger_lines.folded(pd.DataFrame([*SPENT, line(10, "release"), line(11, "limit", "", epsilon=5.0)]))
    assert [use.unbounded for use in uses] == [False] * 5 + [True, True]


def test_missing_numbers_are_spoken_of_where_some_are_missing():
    assert not ledger_lines.gaps([1, 2, 3])
    assert ledger_lines.gaps([1, 3])
    assert not ledger_lines.gaps([])


@pytest.mark.parametrize(
    ("share", "remaining", "begins", "amber"),
    [
        (0.0, 10.0, f"**Left:** a further run may claim ε = 10. {SURE} more than 99.9% sure", False),
        (0.5, 4.0, f"**Left:** a further run may claim ε = 4. {SURE} at most 85.9% sure", False),
        # 0.1 e^0.334 / (0.9 + 0.1 e^0.334) = 0.1343
        (
            0.995, 0.334,
            f"**Almost nothing is left:** a further run may claim ε = 0.334. {SURE} at most 13.5% sure",
            True,
        ),
        (1.0, 0.0, "**Nothing is left.** No further run", True),
        (0.7, 0.0, "**Nothing is left.** No further run", True),  # a first run by its own exact accounting
    ],
)  # fmt: skip
def test_what_is_left_is_said_as_the_certainty_that_it_allows(share, remaining, begins, amber):
    view = SimpleNamespace(share=share, remaining_epsilon=remaining)
    assert what_is_left(view).startswith(begins)
    assert little(view) == amber
