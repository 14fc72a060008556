"""Ledger and audit: what formal budget is left, every use and release, the audit log."""

from __future__ import annotations

import streamlit as st

from pages._ui import ledger_events, states
from pages._ui.current import current_corpus
from pages._ui.guard import guard
from pages._ui.pager import offset_of, pager

workspace = guard()
SCOPES = ["This corpus", "Whole workspace"]

st.title("Ledger and audit", anchor=False)
corpus = current_corpus(workspace)
scope = SCOPES[1]
if corpus is not None:
    scope = st.radio("Scope", SCOPES, key="ledger.scope", horizontal=True)
corpus_id = corpus.id if corpus is not None and scope == SCOPES[0] else None

st.subheader("Formal budget", anchor=False)
runs = {run.id: run for run in workspace.runs(corpus_id)}
headline, explanation, unbounded = ledger_events.statement(workspace.releases(corpus_id), runs)
box = st.warning if unbounded else st.info
box(
    f"**{headline}** {explanation}",
    icon=":material/all_inclusive:" if unbounded else ":material/account_balance_wallet:",
)
st.caption("ε (epsilon) bounds how much one person's text can change what leaves. Attacks and reviews never lower it.")

st.subheader("Uses and releases", anchor=False)
frame = ledger_events.events(workspace, corpus_id)
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

st.subheader("Audit log", anchor=False)
lines = int(workspace.audit(limit=1)["seq"].max()) if len(workspace.audit(limit=1)) else 0
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
    page = workspace.audit(limit=ledger_events.PAGE, offset=offset_of("ledger.page", ledger_events.PAGE))
    st.dataframe(ledger_events.audit_table(page), hide_index=True, alt="Audit lines, latest first")
    pager(lines, key="ledger.page", size=ledger_events.PAGE, noun="lines")
st.caption("The log holds who did what and when, with counts, ids and the reasons people typed; never record text.")
