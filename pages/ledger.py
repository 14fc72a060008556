"""Ledger and audit: the formal budget and what is left of it, every use and release, the audit log."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._ui import states
from pages._ui.current import current_corpus
from pages._ui.guard import guard
from pages._ui.ledger import budget as ledger_budget
from pages._ui.ledger import events as ledger_events
from pages._ui.pager import offset_of, pager

workspace = guard()
SCOPES = ["This corpus", "Whole workspace"]

st.title("Ledger and audit", anchor=False)
corpus = current_corpus(workspace)
scope = SCOPES[1]
if corpus is not None:
    scope = st.radio("Scope", SCOPES, key="ledger.scope", horizontal=True)

st.subheader("Formal budget", anchor=False)
st.caption("ε (epsilon) bounds how much one person's text can change what leaves. Attacks and reviews never lower it.")
if corpus is None or scope == SCOPES[1]:
    ledger_budget.overview(workspace)
    frame = ledger_events.events(workspace, None)
    st.subheader("Uses and releases", anchor=False)
    if frame.empty:
        states.empty(
            "Nothing has happened yet",
            "Loading a corpus is the first line here.",
            action="Load a file",
            page="load",
            key="ledger.load",
        )
    else:
        ledger_events.timeline(frame)
else:
    view = workspace.ledger.of(corpus.id)
    ledger_budget.headline(workspace, corpus, view)
    left, right = st.columns(2, gap="large")
    with left:
        ledger_budget.what_if(workspace, corpus, view)
    with right:
        ledger_budget.set_limit(workspace, corpus, view)
        with st.expander("Whose budget is this?", icon=":material/groups:", key="ledger.population"):
            ledger_budget.join(workspace, corpus, view)
    st.subheader("Spends, touches and releases", anchor=False)
    ledger_budget.runs(view, {run.id: run for run in workspace.runs.all()})
    ledger_budget.timeline(view)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Check the ledger's chain",
            icon=":material/link:",
            key="ledger.lines.verify",
            on_click=ledger_budget.check,
            args=(workspace,),
        )
        st.download_button(
            "Export as JSON",
            data=partial(ledger_budget.exported, workspace, corpus.id),
            file_name="ledger.json",
            mime="application/json",
            key="ledger.lines.export",
            icon=":material/download:",
            on_click="ignore",
        )
    ledger_budget.answer()

st.subheader("Audit log", anchor=False)
lines = int(workspace.audit.lines(limit=1)["seq"].max()) if len(workspace.audit.lines(limit=1)) else 0
with st.container(horizontal=True, vertical_alignment="center"):
    st.button(
        "Check the chain",
        icon=":material/link:",
        key="ledger.verify",
        on_click=ledger_events.check,
        args=(workspace,),
        disabled=not lines,
    )
    st.download_button(
        "Export as CSV",
        data=lambda: ledger_events.all_lines(workspace),
        file_name="audit.csv",
        mime="text/csv",
        key="ledger.export",
        icon=":material/download:",
        on_click="ignore",
        disabled=not lines,
    )
ledger_events.answer()
if lines:
    page = workspace.audit.lines(limit=ledger_events.PAGE, offset=offset_of("ledger.page", ledger_events.PAGE))
    st.dataframe(ledger_events.audit_table(page), hide_index=True, alt="Audit lines, latest first")
    pager(lines, key="ledger.page", size=ledger_events.PAGE, noun="lines")
st.caption("The log holds who did what and when, with counts, ids and the reasons people typed; never record text.")
