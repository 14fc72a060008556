"""Every line of a ledger as a table: what a run claimed and drew is one row, whose lines stand in full below it.

Nothing here holds record text: ledger lines are public parameters, counts and ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

import engine
from engine.figures.budget import LINES, ledger_timeline
from pages._ui.examined import figure as examined_figure
from pages._ui.ledger import names as ledger_names
from pages._ui.ledger import words
from pages._ui.parts import rows
from pages._ui.parts.pager import offset_of, pager
from pages._ui.texts import count_of, run_title, share, when

PAGE, SEEN = 50, 12  # rows a page, and those that are seen without scrolling inside
# column -> pixels: together no wider than a window of 1,024 leaves them
LINE = "Budget line"  # the audit log numbers its own
WIDTHS = {LINE: 78, "When": 122, "What": 156, "Run": 163, "ε": 52, "In use after": 84}
OF_A_RUN = ("reserve", "spend", "settle", "give_back")  # the lines of one claim, in their order
ENDS = ("settle", "give_back")
IN_PART, EXAMINED = "examination in part", "examination"
NAMES = {kind: name for kind, (name, _, _) in LINES.items()} | {
    "reserve": "Reserved",
    "spend": "Reserved, partly drawn",
    "settle": "Spent",
}
PROTECTS = {"source": "person"}
NEIGHBOURS = {  # what the guarantee compares with: unit -> adjacency -> words
    "source": {"zero-out": "data without them", "replace-one": "data with another person in their place"},
    "record": {"zero-out": "data without it", "replace-one": "data with another record in its place"},
}
ONE_ROW = "A run with a guarantee is one row: the open row below says what it claimed and drew, line by line."
GAPS = "Lines are numbered through the whole workspace: those about other people stand in their own ledgers."


@dataclass(frozen=True)
class Use:
    """One row: lines of the ledger that belong together, in their order, and whether the total ends with them."""

    lines: tuple[Mapping[str, object], ...]
    unbounded: bool

    @property
    def last(self) -> Mapping[str, object]:
        """The latest line, whose place the row takes."""
        return self.lines[-1]

    @property
    def kind(self) -> str:
        """The kind of the latest line."""
        return str(self.last["kind"])


def timeline(workspace: engine.Workspace, view: engine.LedgerView) -> None:
    """Draw the lines in a table, a run's in one row, the open one in full, and as a mark over time."""
    if view.lines.empty:
        st.caption("No line yet: the first run, examination or release writes one.")
        return
    latest = folded(view.lines)[::-1]
    wanted = kinds(latest)
    latest = [use for use in latest if use.kind in wanted]
    begin = offset_of("ledger.lines.page", PAGE)
    begin = begin if begin < len(latest) else 0
    names = ledger_names.read(workspace)
    shown = table(latest[begin : begin + PAGE], names | {run.id: run_title(run) for run in workspace.runs.all()})
    at = rows.chosen(
        shown, key="ledger.lines", ids=[str(line) for line in shown[LINE]], right=("ε", "In use after"),
        widths=WIDTHS, wraps=("What", "Run"), most=SEEN,
        alt="Lines of the ledger, latest first; a run is one row, and a row is shown in full below",
    )  # fmt: skip
    pager(len(latest), key="ledger.lines.page", size=PAGE, counted=count_of(len(latest), "row"))
    rows.in_full(in_full(latest[begin + at], names), key="ledger.lines")
    st.caption(ONE_ROW)
    if gaps(view.lines["seq"]):
        st.caption(GAPS)
    with st.expander("Over time", icon=":material/timeline:", key="ledger.lines.time"):
        examined_figure.draw(ledger_timeline(view.lines, view.limit_epsilon), key="ledger.lines.figure")


def gaps(numbers: Sequence[int] | pd.Series[int]) -> bool:
    """Return whether numbers of lines are missing below the highest one."""
    found = {int(number) for number in numbers}
    return bool(found) and len(found) < max(found)


def folded(lines: pd.DataFrame) -> list[Use]:
    """Return the lines in their order, those of one claim together, and parts of an examination with its end.

    Each stands at the place of its latest line. A run that was given back and claims again is another row.
    """
    in_order = lines.sort_values("seq")
    ends = (in_order["kind"] == "release") & in_order["epsilon"].isna()  # a release with a proof names its ε
    found: dict[int, Use] = {}  # number of its latest line -> row, in that order
    latest: dict[tuple[str, bool], int] = {}  # run, and whether of its claim -> number of that row
    for row in in_order.assign(unbounded=ends.cummax()).to_dict("records"):
        line: Mapping[str, object] = {str(name): value for name, value in row.items()}
        whose = (str(line["run_id"]), line["kind"] in OF_A_RUN)
        begun = found.get(latest.get(whose, -1))
        goes_on = begun is not None and _together(begun.last, line)
        earlier = found.pop(latest[whose]).lines if goes_on else ()
        latest[whose] = int(row["seq"])
        found[latest[whose]] = Use((*earlier, line), bool(line["unbounded"]))
    return list(found.values())


def _together(earlier: Mapping[str, object], line: Mapping[str, object]) -> bool:
    """Return whether a line goes on with what the one before it of the same run began."""
    if not line["run_id"]:
        return False
    if line["kind"] == "touch":
        return earlier["what"] == IN_PART and line["what"] in (IN_PART, EXAMINED)
    return line["kind"] in OF_A_RUN and not (line["kind"] == "reserve" and earlier["kind"] in ENDS)


def kinds(uses: Sequence[Use]) -> list[str]:
    """Draw the filter by kind, and return the kinds that are wanted: all of them where none is chosen."""
    here = [kind for kind in NAMES if any(use.kind == kind for use in uses)]
    wanted = st.pills(
        "Kinds of lines", here, selection_mode="multi", format_func=NAMES.__getitem__, key="ledger.kinds",
        label_visibility="collapsed",
    )  # fmt: skip
    return list(wanted) or [use.kind for use in uses]


def table(uses: Sequence[Use], names: Mapping[str, str]) -> pd.DataFrame:
    """Return rows as people read them, each by its latest line; `names` of what they speak of, by id."""
    return pd.DataFrame(
        {
            LINE: [use.last["seq"] for use in uses],
            "When": [when(str(use.last["at"])) for use in uses],
            "What": [what(use) for use in uses],
            "Run": [ledger_names.named(text(use.last["run_id"]), names) for use in uses],
            "ε": [short(_first(use, "epsilon"), ".4g") for use in uses],
            "In use after": [
                "unbounded" if use.unbounded else share(_number(use.last["share_after"]), 0) for use in uses
            ],
        },
        columns=list(WIDTHS),
    )


def what(use: Use) -> str:
    """Return what a row is, in a few words."""
    told = text(use.last["what"]).replace("_", " ")
    if told.endswith("declared public"):
        return "Opened"  # without noise, and at no cost: an assumption of the guarantee
    if use.kind == "touch" and told in (EXAMINED, IN_PART):  # holds the text against private records
        return "Examined" if told == EXAMINED else "Examined in part"
    return NAMES.get(use.kind, use.kind)


def in_full(use: Use, names: Mapping[str, str]) -> dict[str, str]:
    """Return what the lines of a row say, by its name: a claim with each noisy answer that was drawn for it."""
    drawn = [
        f"{words.drawn(text(line['what']))} (budget line {line['seq']}, {when(str(line['at']))})"
        for line in use.lines
        if line["kind"] == "spend"
    ]
    others = [line for line in use.lines if line["kind"] != "spend" or len(use.lines) == 1]
    said = list(dict.fromkeys(sentence(text(line["sentence"])) for line in others))
    return {
        "What": what(use),
        "Run": ledger_names.named(text(use.last["run_id"]), names),
        "Claimed" if use.lines[0]["kind"] == "reserve" else "Amount": _amount(use),
        "Drawn": "; ".join(drawn),
        "Verdict" if use.lines[0]["kind"] == "reserve" else "Meaning": " ".join(one for one in said if one != "–"),
        "Protects": _protects(use),
        "Budget lines": ", ".join(str(line["seq"]) for line in use.lines) if len(use.lines) > 1 else "",
        "Who": ", ".join(dict.fromkeys(ledger_names.who(text(line["actor"])) for line in use.lines)),
    }


def _amount(use: Use) -> str:
    """Return ε and δ of a row, and when a run claimed them; empty where it names none."""
    epsilon, delta = _first(use, "epsilon"), _first(use, "delta")
    if epsilon is None:
        return ""
    at = f", {when(str(use.lines[0]['at']))}" if use.lines[0]["kind"] == "reserve" else ""
    return f"ε = {epsilon:.4g}" + (f" at δ = {delta:.3g}" if delta is not None else "") + at


def _protects(use: Use) -> str:
    unit, adjacency = (
        next((str(line[name]) for line in use.lines if isinstance(line[name], str)), "")
        for name in ("unit", "adjacency")
    )
    compared = NEIGHBOURS.get(unit, {}).get(adjacency, adjacency)
    return f"each {PROTECTS.get(unit, unit)}" + (f" (compared with {compared})" if compared else "") if unit else ""


def sentence(line: str) -> str:
    """Return a line's own sentence with its moments as people read them, and answers called as everywhere else."""
    return ledger_names.dated(line).replace("planned outputs were drawn", "planned noisy answers were drawn")


def _first(use: Use, name: str) -> float | None:
    return next((found for line in use.lines if (found := _number(line[name])) is not None), None)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and value == value else None


def text(value: object) -> str:
    """Return words of a line, or a dash where it has none."""
    return value if isinstance(value, str) and value else "–"


def short(value: float | None, digits: str) -> str:
    """Return a number of a line as `digits` writes it, or a dash where it has none."""
    return "–" if value is None or value != value else format(float(value), digits)
