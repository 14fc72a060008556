"""The public list of labels on the plan page: what the training part holds and how many people hold each, and a tick.

The tick declares the list that stood on the screen, by name; the numbers beside it are for whoever ticks.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

import engine
from engine import FEWEST_HOLDERS, LONGEST_LABEL, MOST_LABELS, unusual_labels
from pages._ui import states
from pages._ui.texts import count_of, plain, when


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary, method: engine.MethodSpec) -> None:
    """Ask whether the list of labels is public, for methods whose claim depends on it."""
    if method.kind != "dp":
        return
    found = workspace.labels.known(corpus.id)
    if not found.counts and found.declared is None:
        return
    st.markdown("**Labels of the outputs**")
    key = f"plan.labels.{corpus.id}"
    if found.declared is not None:
        st.caption(
            f"{count_of(len(found.declared), 'label')}, declared public by {plain(found.actor)} on "
            f"{when(found.at)}. They stand in prompts and beside outputs."
        )
        _show(list(found.declared), found.people, key=f"{key}.list")
        if st.button("These labels are not public", key=f"{key}.withdraw", icon=":material/undo:"):
            states.act(workspace.labels.withdraw, corpus.id)
            st.rerun()
        return
    st.caption(
        "These stand in the records, so a method with a proven bound does not use them by itself: one label that tells "
        "something about one person would reach every reader. Read the list. If it may be public, say so; otherwise "
        "the outputs carry no labels."
    )
    listed = list(found.counts)
    if found.rare and len(found.rare) < len(listed):
        left_out = st.checkbox(
            f"Leave out {_labels_of_few(len(found.rare))}; their records count as having no label",
            value=True, key=f"{key}.rare", wrap=True,
            help=f"A list without them tells readers that {FEWEST_HOLDERS} people or more hold each label that stays; "
            "no noise covers that. A list that you name without the file tells nothing of it, and one that a run buys "
            "is covered by noise.",
        )  # fmt: skip
        listed = [label for label in listed if not left_out or label not in found.rare]
    _show(listed, found.people, key=f"{key}.list")
    if not found.people_named:
        st.caption(
            "The file does not say whose each record is, so each counts as one person here: a label that one person's "
            "many records hold looks common."
        )
    few = sum(label in found.rare for label in listed)
    if few:
        st.warning(
            f"The list holds {_labels_of_few(few)}. Each tells readers that these people are in the file.",
            icon=":material/warning:",
        )
    odd = unusual_labels(listed)
    if odd:
        st.warning(
            f"{plain(odd)} Names of classes are usually shorter than {LONGEST_LABEL} characters and fewer "
            f"than {MOST_LABELS}; look for anything about a person.",
            icon=":material/warning:",
        )
    said = "I have read this list, and all of it may be public" + (", long or many as they are" * bool(odd))
    said += f", with what {'it tells' if few == 1 else 'they tell'} of single people" * bool(few)
    if st.checkbox(said, key=f"{key}.tick.{few}" if few else f"{key}.tick", wrap=True):
        declared = states.act(workspace.labels.declare, corpus.id, listed, unusual_too=bool(odd))
        if declared is not None:
            st.rerun()
        states.flash()


def _labels_of_few(number: int) -> str:
    return f"{count_of(number, 'label')} that fewer than {FEWEST_HOLDERS} people hold"


def _show(labels: list[str], people: dict[str, str], *, key: str) -> None:
    """Show labels beside how many people hold each, as cells, never as Markdown."""
    st.dataframe(
        pd.DataFrame({"Label": labels, "People who hold it": [people[label] for label in labels]}), hide_index=True,
        key=key, alt="The list of labels, and how many people of the training part hold each",
        height="content" if len(labels) < 8 else 240,
        column_config={"Label": st.column_config.TextColumn(), "People who hold it": st.column_config.TextColumn()},
    )  # fmt: skip
