"""Privacy: verdict, proof and attack on one chart, leaks by example, attacks, people and groups; one run or two."""

from __future__ import annotations

import streamlit as st

from pages._ui.examined import run as examined_run
from pages._ui.examined import table as examined_table
from pages._ui.guard import guard
from pages._ui.parts import loading
from pages._ui.privacy import beside as privacy_beside
from pages._ui.privacy import chart as privacy_chart
from pages._ui.privacy import claim as privacy_claim
from pages._ui.privacy import data as privacy_data
from pages._ui.privacy import details as privacy_details
from pages._ui.privacy import groups as privacy_groups
from pages._ui.privacy import kinds as privacy_kinds
from pages._ui.privacy import leaks as privacy_leaks
from pages._ui.privacy import membership as privacy_membership
from pages._ui.privacy import nearest as privacy_nearest
from pages._ui.privacy import people as privacy_people
from pages._ui.privacy import shares as privacy_shares
from pages._ui.privacy import studies as privacy_studies
from pages._ui.privacy import verdict as privacy_verdict
from pages._ui.texts import meaning, plain

workspace = guard()
PICKER = 430  # pixels in which a run's name, promise and time are read whole
PROOF, LEAKS = "Proof and attacks", "Leaks"
VIEWS = [LEAKS, PROOF, "People at risk", "Membership", "Curves", "Canaries and audit", "Groups", "All numbers"]

st.title("Privacy", anchor=False)
pickers = st.grid(2, min_column_width=PICKER)
run, _ = examined_run.choose(workspace, key="privacy", group="privacy", place=pickers)
with pickers:
    runs = privacy_beside.choose(workspace, run)
with loading.waiting(loading.BOX):
    sides = privacy_data.load(workspace, runs)
st.session_state.setdefault("privacy.view", LEAKS)
privacy_verdict.draw(workspace, sides, folded=st.session_state["privacy.view"] != LEAKS)  # a view begins above the fold
view = st.radio("View", VIEWS, key="privacy.view", horizontal=True, label_visibility="collapsed")
if view == PROOF:
    privacy_chart.draw(workspace, sides)
elif view == LEAKS:
    privacy_leaks.draw(workspace, run)
    st.subheader("How much, against chance", anchor=False, help=meaning("holdout", "identifier"))
    privacy_shares.figure(sides)
    privacy_leaks.shared(workspace, run)
    privacy_kinds.draw(workspace, run)
    with st.expander("Nearly copied, and how close in meaning", key=f"privacy.close.{run.id}"):
        privacy_nearest.draw(workspace, sides)
        privacy_details.near(workspace, sides)
elif view == "Membership":
    privacy_membership.draw(sides)
    privacy_studies.draw(workspace, run, (privacy_studies.FILTER,))
elif view in ("Curves", "Canaries and audit"):
    if view == "Curves":
        privacy_claim.draw(sides)
    studies = privacy_studies.CURVES if view == "Curves" else (privacy_studies.AUDIT,)
    for column, side in zip(st.columns(len(sides), gap="medium"), sides, strict=True):
        with column:
            if len(sides) > 1:
                st.markdown(f"**{plain(side.name)}**")
            privacy_studies.draw(workspace, side.run, studies)
    if view == "Curves":
        privacy_studies.draw(workspace, run, (privacy_studies.DIRECT,))
elif view == "People at risk":
    for side in sides:
        if len(sides) > 1:
            st.markdown(f"**{plain(side.name)}**")
        privacy_people.draw(side)
    privacy_details.people(workspace, sides)
elif view == "Groups":
    privacy_groups.draw(sides)
else:
    privacy_shares.triples(sides)
    with st.expander("What a number means", key="privacy.meanings"):
        examined_table.meanings(sides[0].findings, key="privacy")
    examined_table.in_full(sides[0].findings, key=f"privacy.full.{run.id}")
