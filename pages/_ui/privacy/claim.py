"""What is claimed of a run, drawn from its accounting alone: its ε–δ curve, or the sentence that stands for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages._ui.plan.promise import one_point
from pages._ui.privacy import beside as privacy_beside
from pages._ui.privacy.data import Examined
from pages._ui.texts import meaning, plain

if TYPE_CHECKING:
    from engine.figures.base import Figure

NOTHING = "Nothing is proven about this run, so there is no claimed curve: only the studies below can draw one."
PENDING = "The claimed curve is being computed."
ZERO = (
    "No private record went into this run (ε = 0, δ = 0): its claimed curve is zero everywhere. Whatever an attack "
    "shows here is chance, or the proof is wrong."
)


def words(side: Examined) -> str:
    """Return what is said where no curve of the claim is drawn."""
    if side.pending:
        return PENDING
    if side.claim is not None and side.claim.epsilon == 0:
        return ZERO
    if side.claim is not None and side.claim.one_point:
        return one_point(side.run.guarantee)
    if side.run.guarantee.kind == "dp":
        return "The claim is of an older form, whose curve cannot be computed; its sentence above stands."
    return NOTHING


def draw(sides: Sequence[Examined]) -> None:
    """Draw the claimed curve of each run, or say why there is none."""
    from engine.figures.budget import guarantee_curve

    st.subheader("What is claimed", anchor=False, help=meaning("guarantee", "ε (epsilon)", "δ (delta)"))
    figures: list[Figure | None] = [
        guarantee_curve(s.claim.epsilons, s.claim.standard, s.claim.strict, s.claim.epsilon, s.claim.delta)
        if s.claim is not None and s.claim.epsilon > 0 and not s.claim.one_point else None
        for s in sides
    ]  # fmt: skip
    if any(figures):
        missing = next((words(s) for s, f in zip(sides, figures, strict=True) if f is None), NOTHING)
        privacy_beside.draw(figures, [side.name for side in sides], key="privacy.claim", missing=missing)
        return
    for column, side in zip(st.columns(len(sides), gap="medium"), sides, strict=True):
        heading = f"**{plain(side.name)}**  \n" if len(sides) > 1 else ""
        column.markdown(f"{heading}{plain(words(side))}")
