"""Utility: for which uses the text can stand in, each measure beside real text, map and lengths."""

from __future__ import annotations

import streamlit as st

from pages._ui.examined import run as examined_run
from pages._ui.examined import table as examined_table
from pages._ui.guard import guard
from pages._ui.utility import classifier as utility_classifier
from pages._ui.utility import lengths as utility_lengths
from pages._ui.utility import likeness as utility_likeness
from pages._ui.utility import map as utility_map
from pages._ui.utility import measures as utility_measures
from pages._ui.utility import sentences as utility_sentences
from pages._ui.utility import topics as utility_topics
from pages._ui.utility import verdict as utility_verdict

workspace = guard()
VIEWS = ["Measures", "Map of texts", "Lengths and phrases", "Classifier", "What the numbers mean", "All numbers"]

st.title("Utility", anchor=False)
run, findings = examined_run.choose(workspace, key="utility", group="utility")
every = workspace.examinations.findings(run.id)  # whether it can be read is a finding of privacy
utility_verdict.draw(workspace, run, every)

view = st.radio("View", VIEWS, key="utility.view", horizontal=True, label_visibility="collapsed")
if view == VIEWS[0]:
    with utility_verdict.measures(every):
        utility_verdict.figure(every, run)
        utility_measures.draw(findings, run)
elif view == VIEWS[1]:
    utility_map.draw(workspace, run)
    utility_likeness.draw(workspace, run)
    utility_topics.draw(workspace, run)
elif view == VIEWS[2]:
    utility_lengths.draw(workspace, run)
    utility_lengths.phrases(workspace, run)
elif view == VIEWS[3]:
    utility_classifier.draw(workspace, run)
    utility_classifier.columns(workspace, run)
    utility_classifier.types(workspace, run)
    utility_classifier.trained(workspace, run, findings)
elif view == VIEWS[4]:
    examined_table.meanings(findings, key="utility")
    utility_sentences.language(findings)
    utility_sentences.meaning(findings)
    examined_table.say_unmeasured(examined_table.unmeasured(findings))
else:
    examined_table.in_full(findings, key=f"utility.full.{run.id}")
