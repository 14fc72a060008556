"""The public list of labels on the plan page: what the training part holds and how many people hold each, and a tick.

The tick declares the list that stood on the screen, by name; the numbers beside it are for whoever ticks.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

import engine
from engine import FEWEST_HOLDERS, LONGEST_LABEL, MOST_LABELS, unusual_labels
from pages._ui import states
from pages._ui.language import mark, tr, trn
from pages._ui.texts import plain, when


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary, method: engine.MethodSpec) -> None:
    """Ask whether the list of labels is public, for methods whose claim depends on it."""
    if method.kind != "dp":
        return
    found = workspace.labels.known(corpus.id)
    if not found.counts and found.declared is None:
        return
    st.markdown(tr("**Labels of the outputs**"))
    key = f"plan.labels.{corpus.id}"
    if found.declared is not None:
        st.caption(
            trn(
                "{n} label, declared public by {actor} on {at}. They stand in prompts and beside outputs.",
                "{n} labels, declared public by {actor} on {at}. They stand in prompts and beside outputs.",
                len(found.declared),
                actor=plain(found.actor),
                at=when(found.at),
            )
        )
        _show(list(found.declared), found.people, key=f"{key}.list")
        if st.button(tr("These labels are not public"), key=f"{key}.withdraw", icon=":material/undo:"):
            states.act(workspace.labels.withdraw, corpus.id)
            st.rerun()
        return
    st.caption(
        tr(
            "These stand in the records, so a method with a proven bound does not use them by itself: one label "
            "that tells something about one person would reach every reader. Read the list. If it may be public, "
            "say so; otherwise the outputs carry no labels."
        )
    )
    listed = list(found.counts)
    if found.rare and len(found.rare) < len(listed):
        left_out = st.checkbox(
            tr("Leave out {labels}; their records count as having no label", labels=_labels_of_few(len(found.rare))),
            value=True, key=f"{key}.rare", wrap=True,
            help=tr(
"A list without them tells readers that {fewest} people or more hold each label "
"that stays; no noise covers that. A list that you name without the file tells nothing "
"of it, and one that a run buys is covered by noise.", fewest=FEWEST_HOLDERS),
        )  # fmt: skip
        listed = [label for label in listed if not left_out or label not in found.rare]
    _show(listed, found.people, key=f"{key}.list")
    if not found.people_named:
        st.caption(
            tr(
                "The file does not say whose each record is, so each counts as one person here: a label that one "
                "person's many records hold looks common."
            )
        )
    few = sum(label in found.rare for label in listed)
    if few:
        st.warning(
            tr(
                "The list holds {labels}. Each tells readers that these people are in the file.",
                labels=_labels_of_few(few),
            ),
            icon=":material/warning:",
        )
    odd = unusual_labels(listed)
    if odd:
        st.warning(
            f"{plain(odd)} "
            + tr(
                "Names of classes are usually shorter than {longest} characters and fewer than {most}; look for "
                "anything about a person.",
                longest=LONGEST_LABEL,
                most=MOST_LABELS,
            ),
            icon=":material/warning:",
        )
    said = tr("I have read this list, and all of it may be public")
    said += f", {tr('long or many as they are')}" * bool(odd)
    tells = tr("with what it tells of single people") if few == 1 else tr("with what they tell of single people")
    said += f", {tells}" * bool(few)
    if st.checkbox(said, key=f"{key}.tick.{few}" if few else f"{key}.tick", wrap=True):
        declared = states.act(workspace.labels.declare, corpus.id, listed, unusual_too=bool(odd))
        if declared is not None:
            st.rerun()
        states.flash()


def _labels_of_few(number: int) -> str:
    return trn(
        "{n} label that fewer than {fewest} people hold",
        "{n} labels that fewer than {fewest} people hold",
        number,
        fewest=FEWEST_HOLDERS,
    )


def _show(labels: list[str], people: dict[str, str], *, key: str) -> None:
    """Show labels beside how many people hold each, as cells, never as Markdown."""
    st.dataframe(
        pd.DataFrame({"Label": labels, "People who hold it": [people[label] for label in labels]}),
        hide_index=True,
        key=key,
        alt=tr("The list of labels, and how many people of the training part hold each"),
        height="content" if len(labels) < 8 else 240,
        column_config={
            name: st.column_config.TextColumn(tr(name)) for name in (mark("Label"), mark("People who hold it"))
        },
    )
