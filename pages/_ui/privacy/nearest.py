"""Closeness to single training records, beside closeness to records that nobody used."""

from __future__ import annotations

from collections.abc import Sequence

import engine
from pages._ui.privacy import beside as privacy_beside
from pages._ui.privacy.data import Examined

NAME = "nearest_similarity"
MISSING = "Closeness was not measured in this examination (no encoder or no holdout)."


def draw(workspace: engine.Workspace, sides: Sequence[Examined]) -> None:
    """Draw how similar the nearest record is, as a share of synthetic records."""
    from engine.figures.privacy.privacy import closeness

    tables = [workspace.examinations.table(side.run.id, "nearest_quantiles") for side in sides]
    said = [engine.embedder_sentence([f for f in side.findings if f.name == NAME]) for side in sides]
    privacy_beside.draw(
        [None if t is None or t.empty else closeness(t, s.findings) for t, s in zip(tables, sides, strict=True)],
        [side.name for side in sides],
        key="privacy.nearest",
        missing=MISSING,
        limits=" ".join(["A line further to the right means closer.", *dict.fromkeys(filter(None, said))]),
    )
