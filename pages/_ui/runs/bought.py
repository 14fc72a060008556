"""What ε bought: a run with a guarantee beside the same prompts without any private input (ε = 0)."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

import engine
from engine import headline, tells_nothing, use_table
from pages._ui import states
from pages._ui.compare import table as compare_table
from pages._ui.current import show_run
from pages._ui.parts import once, wrapped
from pages._ui.parts.progress import ACTIVE
from pages._ui.sign_in.closed import only
from pages._ui.texts import meaning, number, plain, run_title, when

REFERENCE = "public"
WITHOUT, THIS = "Without private text", "This run"  # what the two are called wherever they stand side by side
ROWS, NAN = 3, float("nan")  # measures that are seen before the others are unfolded


def draw(workspace: engine.Workspace, run: engine.RunSummary, runs: list[engine.RunSummary]) -> None:
    """Draw the comparison, or what is missing for it."""
    if run.guarantee.kind != "dp" or run.method == REFERENCE or run.state != "done":
        return
    st.subheader("What ε bought", anchor=False, help=meaning("ε (epsilon)", "noise (σ)"))
    other = reference(run, runs)
    if other is None:
        _missing(workspace, run)
    elif other.state in ACTIVE:
        st.caption("The reference without private input is being made.")
    elif not (run.examined_at and other.examined_at):
        _unexamined(workspace, run, other)
    else:
        _beside(workspace, run, other)


def reference(run: engine.RunSummary, runs: list[engine.RunSummary]) -> engine.RunSummary | None:
    """Return the run without private input to hold `run` against: examined first, then as many outputs, then newest."""
    fitting = [other for other in runs if other.method == REFERENCE and other.state in ("done", *ACTIVE)]
    return max(
        fitting,
        key=lambda other: (other.examined_at is not None, -abs(other.count - run.count), other.created),
        default=None,
    )


def _missing(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Offer to make the reference."""
    st.markdown("Held against nothing yet: there is no run of the same prompts without private text on this corpus.")
    st.button(
        f"Make {number(run.count)} outputs without private text (ε = 0)", icon=":material/add:", key="run.bought.make",
        on_click=_make, args=(workspace, run), **only(engine.Right.MANAGE),
    )  # fmt: skip
    once.rearm("run.bought.make")


def _make(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Start the reference with the run's own settings as far as it knows them; a callback."""
    spec = next((spec for spec in workspace.plan.methods() if spec.id == REFERENCE), None)
    if spec is None:
        states.notice("This edition has no method without private input.", kind="problem")
        return
    known = {name: value for name, value in run.parameters.items() if name in spec.parameters.model_fields}
    reference = partial(
        workspace.jobs.synthesize, run.corpus_id, REFERENCE, count=run.count, parameters=known, seed=run.seed,
        model=run.model,
    )  # fmt: skip
    done = "The reference without private text was asked for."
    once.act("run.bought.make", partial(states.act, reference, done=done))


def _unexamined(workspace: engine.Workspace, run: engine.RunSummary, other: engine.RunSummary) -> None:
    """Say which of the two still has to be examined."""
    open_ones = [item for item in (run, other) if not item.examined_at]
    names = " and ".join("this run" if item.id == run.id else "the reference" for item in open_ones)
    st.markdown(f"To compare, {names} must be examined first. Examinations are internal and cost no budget.")
    st.button("Examine", icon=":material/science:", key="run.bought.examine",
              on_click=_examine, args=(workspace, [item.id for item in open_ones]),
              **only(engine.Right.MANAGE))  # fmt: skip


def _examine(workspace: engine.Workspace, run_ids: list[str]) -> None:
    for run_id in run_ids:
        states.act(workspace.jobs.examine, run_id)
    states.notice("The examination was asked for; its findings appear here.")


def _beside(workspace: engine.Workspace, run: engine.RunSummary, other: engine.RunSummary) -> None:
    """Draw both runs' utility with the verdict on each measure."""
    table = workspace.examinations.compare([other.id, run.id])
    findings = workspace.examinations.findings(run.id)
    empty = [name for name in dict.fromkeys(table["name"]) if tells_nothing(findings, str(name))]
    table = table[~table["name"].isin(empty)]
    judged = table.loc[table["group"] == "utility", f"{run.id} against first"]
    counts = judged[judged != ""].value_counts()
    better, worse, same = (int(counts.get(word, 0)) for word in ("better", "worse", "same"))
    unsure = int(counts.get("cannot tell", 0)) + same
    st.markdown(bought(run.guarantee.bound[0], better, worse, unsure))
    st.markdown(f"**Utility says of this run:** {headline(use_table(findings))}")
    shown = told_apart(table, run.id, other.id)
    if len(shown):
        if better + worse > len(shown):
            st.caption(f"The first {len(shown)} of {better + worse} that tell them apart:")
        wrapped.table(shown, right=(WITHOUT, THIS), bold="Measure")
    names = {other.id: f"A · {WITHOUT}: ε = 0", run.id: f"B · {THIS}: {plain(run_title(run))}"}
    box = st.expander(
        "All measures, with intervals", icon=":material/table_rows:", key="run.bought.all",
        on_change="rerun",
    )  # fmt: skip
    if box.open:
        with box:
            compare_table.draw(table, names, "utility", context=False)
            compare_table.explain()
    st.caption(
        f"The reference: {number(other.kept)} outputs, {when(other.created)}. These figures were measured against "
        "private text, so they are internal."
    )
    st.button("Show the reference", key="run.bought.show", on_click=show_run, args=(other.id,))


def told_apart(table: pd.DataFrame, run_id: str, other_id: str) -> pd.DataFrame:
    """Return the measures that tell a run from its reference, the first few in their own order, a column a run.

    Args:
        table: of `examinations.compare`, the reference first. run_id, other_id: the run and its reference.
    """
    against = f"{run_id} against first"
    found = table[(table["group"] == "utility") & table[against].isin(compare_table.CLEAR)]
    place = {name: at for at, name in enumerate(engine.MEASURES)}
    found = found.sort_values("name", key=lambda names: names.map(place), kind="stable").drop_duplicates("name")
    return pd.DataFrame(
        [
            {
                "Measure": _titled(str(row["name"])),
                WITHOUT: compare_table.cell(str(row["name"]), row[f"{other_id} value"], NAN, NAN),
                THIS: compare_table.cell(str(row["name"]), row[f"{run_id} value"], NAN, NAN),
                "Good is": str(row["direction"]),
                "This run is": compare_table.OUTCOMES[str(row[against])],
            }
            for _, row in found.head(ROWS).iterrows()
        ]
    )


def _titled(name: str) -> str:
    return engine.MEASURES[name].title if name in engine.MEASURES else name.replace("_", " ")


def bought(epsilon: float, better: int, worse: int, unsure: int) -> str:
    """Return the takeaway of the comparison."""
    total = better + worse + unsure
    if not total:
        return "Nothing about utility was measured on both."
    start = f"ε = {epsilon:g} made the text better than no private input at all on {better} of {total} measures"
    ends = [f"worse on {worse}"] if worse else []
    ends += [f"on {unsure} one cannot tell"] if unsure else []
    advice = " So far the budget bought nothing that shows." if not better else ""
    return start + ("; " + ", ".join(ends) if ends else "") + "." + advice
