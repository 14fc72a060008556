"""Studies behind the privacy page: canary audit and pair experiments of this corpus and method, or a way to start one.

Privacy posture: a study's tables hold numbers; they are internal like everything on this page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import streamlit as st

import engine
from pages._ui.examined import figure as examined_figure
from pages._ui.parts.progress import ACTIVE
from pages._ui.privacy import offer as privacy_offer
from pages._ui.sign_in.closed import closed
from pages._ui.sign_in.visitor import may
from pages._ui.studies import table as study_table
from pages._ui.texts import plain, when

if TYPE_CHECKING:
    import pandas as pd

    from engine.figures.privacy.lbf import Drawn, Kind
    from engine.figures.privacy.proof_attack import Audited

AUDIT = "canary-audit"
PAIRS = "pairs"
SURPRISAL = "surprisal"
FILTER = "nll-filter"
DIRECT = "ngram-curves"
CURVES = (PAIRS, SURPRISAL)  # of a method; DIRECT is of the corpus alone
SCORES = ("against untuned", "a token", "surprisal")  # of the surprisal study, the sharpest first
METHODS = {FILTER: ("rpsg", "rpsg-public"), SURPRISAL: ("finetune", "goldfish", "dp-finetune")}  # others take any
VIOLATION = "violation"  # verdict of an audit whose bound exceeds the claim
# study -> what it would add, as words in a sentence; one line on what it does
WORDS = {
    AUDIT: ("an audited lower bound on ε",
            "Canary audit: made-up records are planted by fair coins, the method is run, and their echo is counted."),
    PAIRS: ("synthetic text with and without some people, beside its null curve",
            "Pair experiment: the method is run with and without some people, and on the same data twice."),
    SURPRISAL: ("how much a tuned model itself remembers",
                "Surprisal study: models are tuned with and without some records and asked how surprised they are."),
    FILTER: ("what the likelihood filter changes",
             "Filter study: RPSG with and without its likelihood filter, and fresh models trained on both outputs."),
    DIRECT: ("what the records' own words give away",
             "Direct drawing: a word, or three in a row, straight from the records, with and without some people."),
}  # fmt: skip

# kind of a curve in a pair experiment's table -> what it is called here, and how it is drawn
PAIR_CURVES: dict[str, tuple[str, Kind]] = {
    "direct": ("word forms drawn directly from the records", "direct"),
    "synthetic pooled": ("synthetic text, all runs pooled", "synthetic"),
    "synthetic matched": ("synthetic text, half of the runs", "synthetic"),
    "null": ("null: the same data twice, half of the runs", "null"),
}


def known(workspace: engine.Workspace) -> dict[str, engine.StudySpec]:
    """Return the studies this page can use, by id, as far as they exist."""
    return {spec.id: spec for spec in workspace.studies.all() if spec.id in WORDS}


def suits(study: str, run: engine.RunSummary) -> bool:
    """Return whether a study is about the run's method."""
    return run.method in METHODS.get(study, (run.method,))


def latest(workspace: engine.Workspace, run: engine.RunSummary, study: str) -> engine.StudyRun | None:
    """Return the newest study of this kind on the run's corpus and with its method that has something to show."""
    for found in workspace.studies.runs(run.corpus_id):
        if found.study == study and found.parameters.get("method", run.method) == run.method and found.done:
            return found
    return None


def under_way(workspace: engine.Workspace, run: engine.RunSummary, study: str) -> engine.StudyRun | None:
    """Return the study of this kind that waits or runs, if any."""
    for found in workspace.studies.runs(run.corpus_id):
        fits = found.parameters.get("method", run.method) == run.method
        if found.study == study and fits and found.state in ACTIVE:
            return found
    return None


def audited(workspace: engine.Workspace, run: engine.RunSummary) -> Audited | None:
    """Return the audited lower bound of the newest canary audit, the row that was declared beforehand."""
    from engine.figures.privacy.proof_attack import Audited

    found = latest(workspace, run, AUDIT) if may(engine.Right.REVEAL) else None
    bounds = workspace.studies.results(found.id).get("bounds") if found is not None else None
    if bounds is None or bounds.empty:
        return None
    chosen = bounds[bounds["decides"].astype(bool)]
    row = (chosen if len(chosen) else bounds).iloc[0]
    return Audited(
        float(row["epsilon_lower"]), float(row["delta"]), float(row["ceiling"]), str(row["verdict"]) == VIOLATION
    )


def curves(workspace: engine.Workspace, run: engine.RunSummary) -> tuple[dict[str, Drawn], list[str]]:
    """Return the ε–δ curves of the newest pair experiment and surprisal study, and what is missing, in words."""
    there = known(workspace)
    if not may(engine.Right.REVEAL):
        return {}, []
    found = latest(workspace, run, PAIRS) if PAIRS in there else None
    drawn = pair_curves(workspace.studies.results(found.id)) if found is not None else {}
    asked = latest(workspace, run, SURPRISAL) if SURPRISAL in there and suits(SURPRISAL, run) else None
    if asked is not None:
        drawn |= surprisal_curves(workspace.studies.results(asked.id))
    missing = [WORDS[PAIRS][0]] if PAIRS in there and not drawn else []
    if AUDIT in there and audited(workspace, run) is None:
        missing.append(WORDS[AUDIT][0])
    return drawn, missing


def pair_curves(tables: Mapping[str, pd.DataFrame]) -> dict[str, Drawn]:
    """Return the curves in a pair experiment's tables: of the shortest n-grams and the most people left out."""
    table = tables.get("curves")
    if table is None or table.empty:
        return {}
    for name, choose in (("n", min), ("excluded", max), ("set", min)):
        if name in table:
            table = table[table[name] == choose(table[name])]
    drawn: dict[str, Drawn] = {}
    matched = bool((table["kind"] == "synthetic matched").any())
    for kind, (words, sort) in PAIR_CURVES.items():
        rows = table[table["kind"] == kind].sort_values("epsilon")
        if rows.empty:
            continue
        if kind == "synthetic pooled" and matched:
            sort = "single"  # the null curve belongs to the half
        drawn[words] = _drawn(rows, sort)
    return drawn


def surprisal_curves(tables: Mapping[str, pd.DataFrame]) -> dict[str, Drawn]:
    """Return the curves of an attacker who asks the tuned model itself, and of the control beside them."""
    from engine import attack_curve, curves_are_current

    table = tables.get("curves")
    if table is None or not curves_are_current(table):
        return {}
    if "words" in table:  # beside a run's text belong the models of text as it is written
        table = table[table["words"] == "forms"]
    if table.empty:
        return {}
    score = next(name for name in (*SCORES, str(table["score"].iloc[0])) if (table["score"] == name).any())
    rows = table[table["score"] == score]
    sides: tuple[tuple[str, str, Kind], ...] = (
        ("main", "surprisal of the tuned model", "attack"),
        ("control", "surprisal, control: nobody left out", "single"),
    )
    parts = {words: (rows[rows["comparison"] == side], sort) for side, words, sort in sides}
    return {words: attack_curve(part, sort) for words, (part, sort) in parts.items() if len(part)}


def _drawn(rows: pd.DataFrame, sort: Kind) -> Drawn:
    from engine import Curve
    from engine.figures.privacy.lbf import Drawn

    columns = [rows[c].to_numpy(float) for c in ("epsilon", "delta", "delta_standard")]
    low, high = (rows[c].to_numpy(float) for c in ("standard_low", "standard_high"))
    curve = Curve(columns[0], columns[1], columns[2], str(rows["observed"].iloc[0]))
    if bool(((low == low) & (high == high)).all()):
        return Drawn(curve, sort, low, high)
    return Drawn(curve, sort)


def offer(
    workspace: engine.Workspace,
    run: engine.RunSummary,
    studies: tuple[str, ...] = (AUDIT, PAIRS),
    *,
    short: bool = True,
) -> None:
    """Offer to start what is missing, in a line or (`short` off) a card with its costs; say what runs."""
    there = known(workspace)
    for study in studies:
        if study not in there or not suits(study, run) or latest(workspace, run, study) is not None:
            continue
        if under_way(workspace, run, study) is not None:
            st.info(f"{plain(there[study].title)}: under way, its first numbers appear here.",
                    icon=":material/hourglass_top:")  # fmt: skip
        elif short:
            privacy_offer.line(study, WORDS[study][1], run)
        else:
            privacy_offer.card(study, there[study].title, run)


def draw(workspace: engine.Workspace, run: engine.RunSummary, studies: tuple[str, ...]) -> None:
    """Draw the figures and tables of the newest study of each kind, or offer to start it."""
    from engine import study_figures

    there = known(workspace)
    if closed(f"The results of {' and '.join(there[study].title for study in studies if study in there) or 'studies'}"):
        return
    for study in studies:
        found = latest(workspace, run, study) if study in there and suits(study, run) else None
        if found is None:
            continue
        st.subheader(plain(there[study].title), anchor=False)
        if found.state != "done":
            st.caption(f"As far as it is: {found.done} of {found.total}.")
        about = "this corpus; no method takes part" if study == DIRECT else "this corpus and with this method"
        st.caption(f"Study of {when(found.created)}, on {about}; not of this run's own text.")
        tables = workspace.studies.results(found.id)
        for name, figure in study_figures(study, tables):
            examined_figure.draw(figure, key=f"privacy.study.{run.id}.{found.id}.{name}")
        with st.expander("Its tables", key=f"privacy.study.tables.{run.id}.{found.id}"):
            study_table.draw(tables, f"privacy.{run.id}.{found.id}")
    offer(workspace, run, studies, short=False)
