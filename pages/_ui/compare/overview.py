"""The table under the board: a line a run, and what is ticked goes side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

import engine
from engine import MEASURES, Finding, Sentence, Use, headline, privacy_verdict, show_measure, use_table
from pages._ui.compare import rests
from pages._ui.compare.table import cell
from pages._ui.parts import wrapped
from pages._ui.privacy.verdict import LEVELS
from pages._ui.texts import count_of, method_name, plain
from pages._ui.utility.verdict import enough

if TYPE_CHECKING:
    from engine.figures.board import BoardRun

MOST = 4
NUMBER = 105  # pixels of a number with its interval
DIGITS = 14  # pixels by which a line of digits is longer than one of as many letters
ASKED = 12  # runs of which it is asked which policy they meet: all are held against each
FEW = "too few to tell"  # in a narrow column, for what Privacy says in full
NONE, OUT_OF_DATE = "none", "out of date"
UNSEEN = "no leak seen"
SUITED = {"tick": "suited", "warning": "with care", "cross": "not suited", "unknown": "not known"}  # mark of a use
VIEW = "compare.view"
CHOSEN = "compare.runs"
COULD = "Could meet"
COUNTED = ("leak", "slight", "unsure", "chance")


def draw(
    runs: Mapping[str, engine.RunSummary],
    drawn: Mapping[str, BoardRun],
    findings: Mapping[str, Sequence[Finding]],
    chosen: Mapping[str, str],
    equal: Mapping[str, Sequence[Finding]],
    cut: Mapping[str, int],
    attacks: Mapping[str, pd.DataFrame | None],
    readers: Mapping[str, engine.Audience],
) -> None:
    """Draw the runs, newest first; two to four ticked ones can be put side by side.

    Args:
        chosen: group -> the finding that the board holds runs against each other by. equal: what was found of the
            runs on the board, those at one number of texts, as it draws them. cut: which number, where it is not each
            run's own. attacks: each run's table of attacks. readers: to whom each run's text may go, as `asked`.
    """
    from engine.figures.board import called

    titles = {name: called(findings, name) for name in chosen.values()}
    order = sorted(runs, key=lambda run_id: drawn[run_id].number, reverse=True)
    rows = [
        _row(runs[one], drawn[one], findings[one], equal.get(one), chosen, cut)
        | {"Leaks": leaks(findings[one], attacks.get(one))}
        for one in order
    ]
    if readers:
        rows = [
            {"Run": row["Run"], "Method": row["Method"], COULD: policy_met(readers[one], runs[one])} | row
            for one, row in zip(order, rows, strict=True)
        ]
    frame = pd.DataFrame(rows)
    numbers = {MEASURES[name].title: NUMBER - DIGITS for name in chosen.values()}
    event = st.dataframe(
        frame, hide_index=True, key="compare.overview", on_select="rerun", selection_mode="multi-row",
        height="content", row_height=wrapped.whole(frame, {"Uses": 82, "Leaks": 82, "Method": 95, **numbers}),
        alt="Every examined run with its promise, leaks and use",
        column_config={
            "Run": st.column_config.NumberColumn(width=40),
            "Method": st.column_config.TextColumn(width=95),
            COULD: st.column_config.TextColumn(
                width=80, help="The widest policy that is met by what was measured, as Privacy says it; a person's "
                "approval and signature taken as given. Findings that are out of date meet no rule",
            ),
            "Proof": st.column_config.TextColumn(width=62),
            "Uses": st.column_config.TextColumn(
                width=82, help="Of the uses on the Utility page: which the text suits, needs care in, does not suit",
            ),
            "Leaks": st.column_config.TextColumn(
                width=82,
                help="Of the sentences on the Privacy page, by the words there; “too few to tell”: not above chance, "
                "in so few records that a leak is not excluded",
            ),
            **{MEASURES[name].title: st.column_config.TextColumn(
                group.capitalize(), width=NUMBER, alignment="right",
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
        if found is not None:
            said = f"{rests.first(findings, name)}{_two_shares(findings, found)}{said}{rests.beside(findings, name)}"
        texts = None if found is None else found.settings.get("texts_a_side")
        if equal is None and name in cut and texts:  # not on the board, so of all its texts
            said += f", of {int(texts):,} texts"
        shown[MEASURES[name].title] = said
    return shown


def asked(workspace: engine.Workspace, runs: Mapping[str, engine.RunSummary]) -> dict[str, engine.Audience]:
    """Return to whom each run's text may go by what was measured; nothing where there are too many runs to ask."""
    return {run: workspace.releases.audience(run) for run in runs} if len(runs) <= ASKED else {}


def _two_shares(findings: Sequence[Finding], excess: Finding) -> str:
    """Return the two shares that a difference is of, as Privacy says them, before it; empty where they are not known.

    They are named only where they give the difference, which is sometimes taken of values that few people share.
    """
    name = excess.name.removesuffix("_excess")
    sides = {f.reference: f for f in findings if f.name == name and f.reference in ("train", "holdout")}
    if name == excess.name or len(sides) < 2:
        return ""
    equal = sides["train"].settings.get("equal_size_value")
    if equal is None or abs(float(equal) - sides["holdout"].value - excess.value) > 1e-6:
        return ""
    return f"{show_measure(name, float(equal))} against {show_measure(name, sides['holdout'].value)} by chance: "


def policy_met(found: engine.Audience, run: engine.RunSummary) -> str:
    """Return the title of the widest policy that what was measured meets, or why there is none."""
    if found.policy is not None:
        return found.policy.title
    return OUT_OF_DATE if run.stale or run.examination_stale else NONE


def uses(findings: Sequence[Finding]) -> str:
    """Return how many uses a text suits, needs care in, and does not suit, as Utility counts."""
    marks: list[str] = [use.mark for use in use_table(findings)]
    return ", ".join(f"{marks.count(mark)} {word}" for mark, word in SUITED.items() if mark in marks)


def draw_leaks(
    names: Mapping[str, str], runs: Mapping[str, engine.RunSummary], findings: Mapping[str, Sequence[Finding]],
    attacks: Mapping[str, pd.DataFrame | None],
) -> dict[str, int]:  # fmt: skip
    """Say what the sentences of Privacy call a leak, and how many uses a text suits, run by run.

    Args:
        names: run id -> how it is called here. attacks: each run's table of attacks.

    Returns:
        How many leaks there are, run by run.
    """
    judged = {
        run_id: privacy_verdict(findings[run_id], attacks.get(run_id), runs[run_id].guarantee.as_dict())
        for run_id in names
    }
    uses_of = {run_id: use_table(findings[run_id]) for run_id in names}
    kept = {run_id: runs[run_id].kept for run_id in names}
    for line in (fewest_leaks(names, judged, uses_of), most_uses(names, uses_of, kept)):
        lead, rest = line.split(": ", 1)
        st.markdown(f"**{lead}:** {plain(rest)}")
    said, counts = [], {}
    for run_id, name in names.items():
        found = judged[run_id]
        titles = [one.text.partition(":")[0] for one in found if one.level == "leak"]
        counts[run_id] = len(titles)
        what = ", ".join(f"{title[:1].lower()}{title[1:]}" for title in titles)
        unseen = f"{UNSEEN}, {OUT_OF_DATE}" if runs[run_id].stale or runs[run_id].examination_stale else UNSEEN
        leaked = f"{count_of(len(titles), 'leak')} ({what})" if titles else unseen
        said.append(f"{name}: {leaked}. {headline(uses_of[run_id])}")
    st.markdown("Run by run:\n" + "\n".join(f"- {plain(one)}" for one in said))
    return counts


def fewest_leaks(
    names: Mapping[str, str], judged: Mapping[str, Sequence[Sentence]], uses_of: Mapping[str, Sequence[Use]]
) -> str:
    """Return which runs show the fewest leaks of those of which most is known, and whether they suit any use.

    Args:
        names: run id -> how it is called here. judged: its sentences of Privacy. uses_of: its uses.
    """

    def count(run: str, level: str) -> int:
        return sum(one.level == level for one in judged[run])

    unknown = min(count(run, "unknown") for run in names)
    known = [run for run in names if count(run, "unknown") == unknown]
    least = min((count(run, "leak"), count(run, "slight")) for run in known)
    best = [run for run in known if (count(run, "leak"), count(run, "slight")) == least]
    found = [count_of(n, word) for n, word in zip(least, ("leak", "slight leak"), strict=True) if n] or ["none seen"]
    if len(best) == len(names) > 1:
        return f"Fewest leaks found: as many in every run ({', '.join(found)})."
    for nothing, word in ((False, LEVELS["unsure"][1]), (True, FEW)):
        most = max(sum(one.level == "unsure" and one.nothing is nothing for one in judged[run]) for run in best)
        if most:
            found.append(f"{most} {word}" if len(best) == 1 else f"up to {most} {word}")
    said = f"Fewest leaks found: {listed([names[run] for run in best])} ({', '.join(found)})"
    marks = {use.mark for run in best for use in uses_of[run]}
    if not marks & {"tick", "warning"}:
        it = "it suits" if len(best) == 1 else "they suit"
        said += f", but {it} no use that could be judged" if "unknown" in marks else f", but {it} no use"
    return f"{said}."


def most_uses(names: Mapping[str, str], uses_of: Mapping[str, Sequence[Use]], kept: Mapping[str, int]) -> str:
    """Return which runs suit the most uses, or why that is not known.

    Args:
        names: run id -> how it is called here. uses_of: its uses with their marks. kept: how many texts it has.
    """
    suited = {run: [sum(use.mark == mark for use in uses_of[run]) for mark in ("tick", "warning")] for run in names}
    most = max(suited.values())
    if any(most):
        best = [names[run] for run in names if suited[run] == most]
        counts = [f"{n} {SUITED[mark]}" for n, mark in zip(most, ("tick", "warning"), strict=True) if n]
        return f"Most uses: {listed(best)} ({', '.join(counts)})."
    open_ = {run: [use for use in uses_of[run] if use.mark == "unknown"] for run in names}
    if not any(open_.values()):
        return "Most uses: no run suits any."
    waiting = {run: [use for use in uses if use.waits] for run, uses in open_.items()}
    short = [(use.least or 0, run, use) for run, uses in waiting.items() for use in uses]
    if not short:
        return "Most uses: not yet known; Utility says why."
    _, run, near = min(short, key=lambda one: one[0])
    few = f"{names[run]} has too few texts to judge ({near.size or 0:,} beside real ones; {near.least:,} are needed)"
    more = f"plan about {enough(waiting[run], kept[run]):,}"
    judged = any(use.mark == "cross" for uses in uses_of.values() for use in uses)
    said = "no run suits one that could be judged" if judged else "not yet known"
    return f"Most uses: {said}. {few}: {more}."


def listed(called: Sequence[str], word: str = "and") -> str:
    """Return names as a list in a sentence."""
    return f" {word} ".join(called) if len(called) < 3 else f"{', '.join(called[:-1])} {word} {called[-1]}"


def leaks(findings: Sequence[Finding], attacks: pd.DataFrame | None = None) -> str:
    """Return how many privacy sentences speak of a leak, of nothing to be told, and of chance, as Privacy counts."""
    sentences = [one for one in privacy_verdict(findings, attacks) if one.finding != "guarantee"]
    words = [FEW if one.nothing else LEVELS[one.level][1] for one in sentences if one.level in COUNTED]
    order = [*(LEVELS[level][1] for level in COUNTED), FEW]
    counts = {word: words.count(word) for word in order if word in words}
    plural = {LEVELS[level][1] for level in ("leak", "slight")}
    said = [count_of(n, word) if word in plural else f"{n} {word}" for word, n in counts.items()]
    return ", ".join(said) or "not measured"
