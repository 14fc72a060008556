"""The table under the board: a line a run, and what is ticked goes side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

import engine
from engine import MEASURES, Finding, headline, privacy_verdict, use_table
from pages._ui.compare.table import cell
from pages._ui.parts import wrapped
from pages._ui.privacy.verdict import LEVELS
from pages._ui.texts import count_of, method_name, plain

if TYPE_CHECKING:
    from engine.figures.board import BoardRun

MOST = 4
ASKED = 12  # runs of which it is asked which policy they meet: all are held against each
FEW = f"{LEVELS['chance'][1]} (few)"  # in a narrow column, for what Privacy says in full
NONE, OUT_OF_DATE = "none", "out of date"
SUITED = {"tick": "suited", "warning": "with care", "cross": "not suited", "unknown": "not known"}  # mark of a use
VIEW = "compare.view"
CHOSEN = "compare.runs"
COULD = "Could meet"
COUNTED = ("leak", "slight", "unsure", "chance")


def draw(
    workspace: engine.Workspace,
    runs: Mapping[str, engine.RunSummary],
    drawn: Mapping[str, BoardRun],
    findings: Mapping[str, Sequence[Finding]],
    chosen: Mapping[str, str],
    equal: Mapping[str, Sequence[Finding]],
    cut: Mapping[str, int],
    attacks: Mapping[str, pd.DataFrame | None],
) -> None:
    """Draw the runs, newest first; two to four ticked ones can be put side by side.

    Args:
        chosen: group -> the finding that the board holds runs against each other by. equal: what was found of the
            runs on the board, those at one number of texts, as it draws them. cut: which number, where it is not each
            run's own. attacks: each run's table of attacks.
    """
    from engine.figures.board import called

    titles = {name: called(findings, name) for name in chosen.values()}
    order = sorted(runs, key=lambda run_id: drawn[run_id].number, reverse=True)
    rows = [
        _row(runs[one], drawn[one], findings[one], equal.get(one), chosen, cut)
        | {"Leaks": leaks(findings[one], attacks.get(one))}
        for one in order
    ]
    if len(order) <= ASKED:
        rows = [
            {"Run": row["Run"], "Method": row["Method"], COULD: policy_met(workspace, runs[one])} | row
            for one, row in zip(order, rows, strict=True)
        ]
    event = st.dataframe(
        pd.DataFrame(rows), hide_index=True, key="compare.overview", on_select="rerun", selection_mode="multi-row",
        height="content", row_height=wrapped.ROW, alt="Every examined run with its promise, leaks and use",
        column_config={
            "Run": st.column_config.NumberColumn(width=40),
            "Method": st.column_config.TextColumn(width=100),
            COULD: st.column_config.TextColumn(
                width=90, help="The widest policy that is met by what was measured, as Privacy says it; a person's "
                "approval and signature taken as given. Findings that are out of date meet no rule",
            ),
            "Proof": st.column_config.TextColumn(width=65),
            "Uses": st.column_config.TextColumn(
                width=85, help="Of the uses on the Utility page: which the text suits, needs care in, does not suit",
            ),
            "Leaks": st.column_config.TextColumn(
                width=85,
                help="Of the sentences on the Privacy page, by the words there; “few”: not above chance, in so few "
                "records that a leak is not excluded",
            ),
            **{MEASURES[name].title: st.column_config.TextColumn(
                group.capitalize(), width=95, alignment="right",
                help=f"{titles[name]}{_at(name, cut)}: {MEASURES[name].measure}",
            ) for group, name in chosen.items()},
        },
    )  # fmt: skip
    ticked = [order[row] for row in event["selection"]["rows"] if row < len(order)]
    few, many = len(ticked) < 2, len(ticked) > MOST
    words = "Tick two to four runs to put them side by side" if few else f"Side by side: {count_of(len(ticked), 'run')}"
    st.button(
        f"At most {MOST} runs fit side by side" if many else words, key="compare.put", disabled=few or many,
        icon=":material/compare:", on_click=_side_by_side, args=(ticked,),
    )  # fmt: skip


def _side_by_side(ticked: list[str]) -> None:
    """Choose the runs and turn to the view that shows them; a callback."""
    st.session_state[CHOSEN] = list(reversed(ticked))
    st.session_state[VIEW] = "Side by side"


def _at(name: str, cut: Mapping[str, int]) -> str:
    return f", at {cut[name]:,} texts of each run on the board" if name in cut else ""


def _row(
    run: engine.RunSummary,
    drawn: BoardRun,
    findings: Sequence[Finding],
    equal: Sequence[Finding] | None,
    chosen: Mapping[str, str],
    cut: Mapping[str, int],
) -> dict[str, Any]:
    from engine.figures.board import own

    shown: dict[str, Any] = {
        "Run": drawn.number, "Method": method_name(run), "Proof": drawn.promise,
        "Uses": uses(findings), "Leaks": "",
    }  # fmt: skip
    for name in chosen.values():
        found = own(findings if equal is None else equal, name)
        nothing = float("nan")
        ends = (
            (nothing, nothing) if found is None or found.low is None or found.high is None else (found.low, found.high)
        )
        said = "not measured" if found is None else cell(name, found.value, *ends)
        texts = None if found is None else found.settings.get("texts_a_side")
        if equal is None and name in cut and texts:  # not on the board, so of all its texts
            said += f", of {int(texts):,} texts"
        shown[MEASURES[name].title] = said
    return shown


def policy_met(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return the title of the widest policy that what was measured meets, or why there is none."""
    widest = workspace.releases.audience(run.id).policy
    if widest is not None:
        return widest.title
    return OUT_OF_DATE if run.stale or run.examination_stale else NONE


def uses(findings: Sequence[Finding]) -> str:
    """Return how many uses a text suits, needs care in, and does not suit, as Utility counts."""
    marks: list[str] = [use.mark for use in use_table(findings)]
    return ", ".join(f"{marks.count(mark)} {word}" for mark, word in SUITED.items() if mark in marks)


def draw_leaks(
    names: Mapping[str, str], runs: Mapping[str, engine.RunSummary], findings: Mapping[str, Sequence[Finding]],
    attacks: Mapping[str, pd.DataFrame | None],
) -> None:  # fmt: skip
    """Say what the sentences of Privacy call a leak, and how many uses a text suits, run by run.

    Args:
        names: run id -> how it is called here. attacks: each run's table of attacks.
    """
    said = []
    for run_id, name in names.items():
        found = privacy_verdict(findings[run_id], attacks.get(run_id), runs[run_id].guarantee.as_dict())
        titles = [one.text.partition(":")[0] for one in found if one.level == "leak"]
        what = ", ".join(f"{title[:1].lower()}{title[1:]}" for title in titles)
        leaked = f"{count_of(len(titles), 'leak')} ({what})" if titles else "none"
        said.append(f"{name}: {leaked}. {headline(use_table(findings[run_id]))}")
    st.markdown(
        "Leaks found, as Privacy says, and uses, as Utility does:\n" + "\n".join(f"- {plain(one)}" for one in said)
    )


def leaks(findings: Sequence[Finding], attacks: pd.DataFrame | None = None) -> str:
    """Return how many privacy sentences speak of a leak, of nothing to be told, and of chance, as Privacy counts."""
    sentences = [one for one in privacy_verdict(findings, attacks) if one.finding != "guarantee"]
    words = [FEW if one.nothing else LEVELS[one.level][1] for one in sentences if one.level in COUNTED]
    order = [*(LEVELS[level][1] for level in COUNTED), FEW]
    counts = {word: words.count(word) for word in order if word in words}
    plural = {LEVELS[level][1] for level in ("leak", "slight")}
    said = [count_of(n, word) if word in plural else f"{n} {word}" for word, n in counts.items()]
    return ", ".join(said) or "not measured"
