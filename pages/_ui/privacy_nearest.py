"""Closeness to single training records, beside closeness to records that nobody used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

import engine
from engine.analysis.findings import Finding
from pages._ui import examined_figure


def draw(workspace: engine.Workspace, run: Any, findings: Sequence[Finding]) -> None:
    """Draw how similar the nearest record is, as a share of synthetic records."""
    from engine.figures.privacy import closeness

    quantiles = workspace.table(run.id, "nearest_quantiles")
    if quantiles is None or quantiles.empty:
        st.caption("Closeness was not measured in this examination (no encoder or no holdout).")
        return
    examined_figure.draw(
        closeness(quantiles, findings),
        key=f"privacy.nearest.{run.id}",
        limits="A line further to the right means closer.",
    )
