"""Approving what is of high risk asks first: a record by itself, and records together; an answer holds for what it saw.

The risk of a record can change between the question and its answer, or after the page was drawn, and somebody else can
decide on it. What is pressed is held against the run as it stands then: an answer counts for the risk that was named.
"""

from __future__ import annotations

import pandas as pd

import engine
from pages._ui.language import tr, trn
from pages._ui.texts import decimal

LOW = 0.5  # risk up to which records may be approved without a question


def asks_first(risk: float) -> bool:
    """Return whether a record is approved only after a question: one whose risk is too high to approve it with others.

    Args:
        risk: in [0, 1]; not a number where the run was not examined.
    """
    return risk > LOW


def changed(workspace: engine.Workspace, run_id: str, row: pd.Series, state: str) -> str:
    """Return why a decision does not count on a record that is another by now than it was drawn; empty where it counts.

    Args:
        row: the record as it was drawn, with its approval and risk. state: that is to hold.
    """
    found = workspace.runs.synthetic(run_id, ids=[str(row["record_id"])])
    if found.empty:
        return tr("This record is no longer there.")
    approval, risk = str(found["approval"].iloc[0]), float(found["risk"].iloc[0])
    if approval not in (str(row["approval"]), state):
        return tr("Somebody decided on this record after it was drawn here. See what holds, and decide anew.")
    if state == "approved" and asks_first(risk) and risk != float(row["risk"]):
        return tr("The risk of this record changed after it was drawn here, and nothing was approved.")
    return ""


def question(risk: float, marked: int) -> str:
    """Return what is asked before a record of high risk is approved."""
    said = (
        trn(
            "**Risk {risk}**, and {n} marked place stands in the originals too.",
            "**Risk {risk}**, and {n} marked places stand in the originals too.",
            marked,
            risk=decimal(risk, 2),
        )
        if marked
        else tr("**Risk {risk}**, which is high.", risk=decimal(risk, 2))
    )
    return f"{said} {tr('Approve this record all the same? Press A again, or X to reject it.')}"
