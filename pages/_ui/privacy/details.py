"""Near copies, people singled out by details that stand together, and what can be guessed of a record: three figures.

Privacy posture: ids, similarities, kinds of details and counts; no text is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

import engine
from engine import Finding
from pages._ui.privacy import beside as privacy_beside
from pages._ui.privacy.data import Examined
from pages._ui.sign_in.closed import closed

if TYPE_CHECKING:
    from engine.figures.base import Figure

AGAIN = "examine the run again."
COLUMNS = {
    "near_copies": ["record_id", "reference", "jaccard"],
    "linkage": ["records", "unit", "reference", "asked", "labels"],
    "inference": None,
}


def near(workspace: engine.Workspace, sides: Sequence[Examined]) -> None:
    """Draw how close synthetic records come to a copy."""
    if closed("The records that are nearly copies"):
        return
    from engine.figures.privacy.near_copies import near_copies

    _section(workspace, sides, "near_copies", near_copies, "Nearly copied", "near_copies_05")


def people(workspace: engine.Workspace, sides: Sequence[Examined]) -> None:
    """Draw who is singled out by combined details, and what is guessed of them."""
    if closed("The details that single somebody out"):
        return
    from engine.figures.privacy.inference import inference
    from engine.figures.privacy.linkage import linkage

    _section(workspace, sides, "linkage", linkage, "Singled out by details that stand together", "linkage")
    _section(workspace, sides, "inference", inference, "Guessed from similar records",
             "attribute_inference", "detail_inference")  # fmt: skip


def _section(
    workspace: engine.Workspace,
    sides: Sequence[Examined],
    table: str,
    figure: Callable[[pd.DataFrame, Sequence[Finding]], Figure | None],
    title: str,
    *names: str,
) -> None:
    figures = []
    for side in sides:
        found = workspace.examinations.table(side.run.id, table, columns=COLUMNS[table])
        figures.append(None if found is None else figure(found, side.findings))
    st.subheader(title, anchor=False)
    missing = next((why for side in sides if (why := reason(side.findings, names))), f"Not measured yet: {AGAIN}")
    privacy_beside.draw(figures, [side.name for side in sides], key=f"privacy.{table}", missing=missing)


def reason(findings: Sequence[Finding], names: Sequence[str]) -> str:
    """Return why nothing could be measured, in words; empty where something was, or nobody wrote down why."""
    known = [finding for finding in findings if finding.name in names]
    if any(finding.value == finding.value for finding in known):
        return ""
    why = list(dict.fromkeys(str(f.settings["why"]) for f in known if f.settings.get("why")))
    return f"Not measured: {'; '.join(why)}." if why else ""
