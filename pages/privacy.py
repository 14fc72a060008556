"""Privacy: verdict, what was measured against train, holdout and baseline, leaks by example."""

from __future__ import annotations

import streamlit as st

from pages._ui import examined_run, examined_table, privacy_kinds, privacy_leaks, privacy_nearest, privacy_verdict
from pages._ui.guard import guard

workspace = guard()
VIEWS = ["Leaks", "Types", "Closeness", "What the numbers mean", "All numbers"]
COLUMNS = ("train", "holdout", "baseline", "excess", "none")

st.title("Privacy", anchor=False)
run, findings = examined_run.choose(workspace, key="privacy", group="privacy")
privacy_verdict.draw(findings, run)
privacy_verdict.figure(findings, run)
examined_table.triples(
    findings,
    COLUMNS,
    key=f"privacy.triples.{run.id}",
    alt="Privacy findings against training part, holdout and real records",
)
st.caption(
    "Brackets hold the 95 % interval. The holdout was never shown to any method: "
    "what stands in both columns is chance. All numbers are internal: they were computed on private text "
    "and never leave with a release."
)

view = st.radio("View", VIEWS, key="privacy.view", horizontal=True, label_visibility="collapsed")
if view == VIEWS[0]:
    privacy_leaks.draw(workspace, run)
elif view == VIEWS[1]:
    privacy_kinds.draw(workspace, run)
elif view == VIEWS[2]:
    privacy_nearest.draw(workspace, run, findings)
elif view == VIEWS[3]:
    examined_table.meanings(findings)
else:
    examined_table.in_full(findings, key=f"privacy.full.{run.id}")
