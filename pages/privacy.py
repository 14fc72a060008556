"""Privacy: verdict, proof and attack on one chart, leaks by example, attacks, people and groups; one run or two."""

from __future__ import annotations

import streamlit as st

from pages._ui import (
    examined_run,
    examined_table,
    privacy_beside,
    privacy_chart,
    privacy_claim,
    privacy_data,
    privacy_details,
    privacy_groups,
    privacy_kinds,
    privacy_leaks,
    privacy_membership,
    privacy_nearest,
    privacy_people,
    privacy_shares,
    privacy_studies,
    privacy_verdict,
)
from pages._ui.guard import guard
from pages._ui.texts import plain

workspace = guard()
VIEWS = ["Leaks", "Membership", "Curves", "Canaries and audit", "People at risk", "Groups", "What the numbers mean",
         "All numbers"]  # fmt: skip

st.title("Privacy", anchor=False)
left, right = st.columns(2)
run, _ = examined_run.choose(workspace, key="privacy", group="privacy", place=left)
with right:
    runs = privacy_beside.choose(workspace, run)
sides = privacy_data.load(workspace, runs)
privacy_verdict.draw(workspace, sides)
privacy_chart.draw(workspace, sides)

view = st.radio("View", VIEWS, key="privacy.view", horizontal=True, label_visibility="collapsed")
if view == "Leaks":
    privacy_leaks.draw(workspace, run)
    st.subheader("How much, against chance", anchor=False)
    privacy_shares.figure(sides)
    privacy_kinds.draw(workspace, run)
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
elif view == "What the numbers mean":
    examined_table.meanings(sides[0].findings)
else:
    privacy_shares.triples(sides)
    examined_table.in_full(sides[0].findings, key=f"privacy.full.{run.id}")
