"""Ledger and audit: the privacy budget and what is left of it, every use and release, the audit log."""

from __future__ import annotations

from functools import partial

import streamlit as st

from pages._ui import states
from pages._ui.current import current_corpus
from pages._ui.guard import guard
from pages._ui.ledger import budget as ledger_budget
from pages._ui.ledger import events as ledger_events
from pages._ui.ledger import lines as ledger_lines
from pages._ui.ledger import people as ledger_people
from pages._ui.parts import loading
from pages._ui.texts import meaning

workspace = guard()
SCOPES = ["This corpus", "Whole workspace"]
BUDGET = "How much all runs with a guarantee together may give away about each person, and how much of that is used up."

st.title("Ledger and audit", anchor=False)
corpus = current_corpus(workspace)
scope = SCOPES[1]
if corpus is not None:
    scope = st.radio("Scope", SCOPES, key="ledger.scope", horizontal=True)

if corpus is None and ledger_events.events(workspace, None).empty:
    states.empty(
        "No budget and no use yet", "Here stand what each run spent of the privacy budget, every use of private text "
        "and every release. The first line comes with a corpus.", action="Load a file", page="load", key="ledger.load",
    )  # fmt: skip
    if workspace.audit.count():
        st.subheader("Audit log", anchor=False)
        ledger_events.audit_log(workspace, None)
    st.stop()

whole = corpus is None or scope == SCOPES[1]
budget, uses, log = st.tabs(["Privacy budget", "Uses and releases", "Audit log"], key="ledger.tabs")
if corpus is None or whole:
    with loading.waiting(loading.BOX):
        frame = ledger_events.events(workspace, None)
    with budget:
        st.caption(BUDGET, help=meaning("budget (ε)", "population"))
        ledger_budget.overview(workspace)
    with uses:
        ledger_events.timeline(frame)
else:
    with loading.waiting(loading.BOX):
        view = workspace.ledger.of(corpus.id)
    with budget:
        st.caption(BUDGET, help=meaning("budget (ε)", "population"))
        ledger_budget.headline(workspace, corpus, view)
        left, right = st.columns(2, gap="large")
        with left:
            ledger_budget.what_if(workspace, corpus, view)
        with right:
            ledger_budget.set_limit(workspace, corpus, view)
            with st.expander("Whose budget is this?", icon=":material/groups:", key="ledger.population"):
                ledger_people.join(workspace, corpus, view)
        ledger_budget.runs(view, {run.id: run for run in workspace.runs.all()})
    with uses:
        ledger_lines.timeline(workspace, view)
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
with log:
    ledger_events.audit_log(workspace, None if corpus is None or whole else corpus.id)
