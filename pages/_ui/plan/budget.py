"""What a planned run does to the budget of the people behind a corpus, and what that budget buys."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

import engine
from engine import JSONObject
from pages._ui import states
from pages._ui.language import tr
from pages._ui.plan.promise import wait
from pages._ui.texts import NO_CLAIM, meaning, plain, share, significant


def draw(guarantee: engine.Guarantee, what_if: engine.Admission | None) -> None:
    """Draw the budget before and after this run."""
    st.subheader(tr("What it does to the budget"), anchor=False, help=meaning("budget (ε)", "ledger"))
    if guarantee.kind != "dp":
        st.markdown(tr(NO_CLAIM))
        return
    if guarantee.epsilon == 0:
        st.markdown(tr("Nothing private is read, so nothing is spent."))
        return
    if guarantee.pending or not what_if:
        st.caption(tr(":material/hourglass_top: Known once the exact accounting is there."))
        return
    both(what_if)
    st.caption(plain(what_if.sentence))


def both(what_if: engine.Admission) -> None:
    """Draw the limit's use before and, where it fits, after what is planned."""
    st.progress(_part(what_if.share_before), text=_line(tr("Before"), what_if.share_before, what_if.remaining_before))
    if what_if.allowed:
        st.progress(_part(what_if.share_after), text=_line(tr("After"), what_if.share_after, what_if.remaining_after))


def _part(value: float) -> float:
    return min(1.0, max(0.0, float(value)))


def _line(title: str, used: float, remaining: float) -> str:
    left = (
        tr("a further run may claim up to ε = {remaining}", remaining=significant(remaining))
        if remaining > 0
        else tr("nothing is left")
    )
    return tr("{title}: {used} of the limit in use, {left}", title=title, used=share(used, 0), left=left)


def buys(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    method: engine.MethodSpec,
    parameters: JSONObject,
    guarantee: engine.Guarantee,
    count: int | None = None,
) -> None:
    """Draw what the budget buys on public text of this corpus' size, and advice where it buys nothing."""
    if guarantee.kind != "dp" or not guarantee.epsilon:
        return
    st.subheader(tr("What the budget buys"), anchor=False)
    asked = dict(parameters)
    found = states.act(workspace.plan.buys, corpus.id, method.id, asked, count)
    states.flash()
    if found is None:
        return
    if found.pending:
        wait(
            lambda: workspace.plan.buys(corpus.id, method.id, asked, count).pending,
            key="plan.wait.buys", what=tr("What the budget buys"),
        )  # fmt: skip
    else:
        for sentence in found.advice:
            st.warning(plain(sentence), icon=":material/lightbulb:")
        if found.rows:
            st.dataframe(table(found.rows), hide_index=True, alt=tr("What the budget buys, a row a figure"))
    st.caption(tr("Computed on public text for as many records and outputs; the private text itself is not looked at."))


def table(rows: Sequence[JSONObject]) -> pd.DataFrame:
    """Return the rows with names as words."""
    frame = pd.DataFrame([dict(row) for row in rows])
    return frame.rename(columns={name: str(name).replace("_", " ").capitalize() for name in frame.columns})
