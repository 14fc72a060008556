"""Release: the policy's check-list, record approval, sign-off, the bundle and its downloads."""

from __future__ import annotations

import streamlit as st

from pages._ui import states
from pages._ui.examined import run as examined_run
from pages._ui.guard import guard
from pages._ui.release import bundle as release_bundle
from pages._ui.release import policy as release_policy
from pages._ui.release import records as release_records

workspace = guard()

st.title("Release", anchor=False)
run = examined_run.finished(workspace, key="release")
if run.stale or run.examination_stale:
    states.stale(
        "The review changed after this run was made or examined. The gate stays closed until that is repeated."
    )

st.subheader("1 · Policy", anchor=False)
policy = release_policy.choose(workspace)
signed = release_bundle.second_person(policy)
verdict = workspace.releases.gate(run.id, policy.id, signed_off_by=signed)
release_policy.check_list(verdict, policy)

st.subheader("2 · Records", anchor=False)
release_records.draw(workspace, run, workspace.runs.approval_counts(run.id))

st.subheader("3 · Build", anchor=False)
release_bundle.build(workspace, run, policy, verdict, signed)

st.subheader("Releases", anchor=False)
release_bundle.releases(workspace, run)
