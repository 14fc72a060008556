"""All outputs of a run, a page at a time; a long one is cut after some lines until somebody asks for the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st

import engine
from pages._ui.methods import readable
from pages._ui.navigation import go, page_only
from pages._ui.parts.pager import pager
from pages._ui.plan.model import BUILTIN
from pages._ui.texts import FILTERED, count_of, number

SIZE, WIDE = 6, 2  # texts a page, and columns
MOST = 0.5  # of the texts: where fewer can be read, most of them read badly
LINES, WIDTH = 12, 64  # lines of a text that are seen at first, and characters of such a line, about


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the outputs in the run's order with their label; nothing of the private side."""
    st.subheader(f"Outputs · {count_of(run.kept, 'text')}", anchor=False)
    if not run.kept:
        st.caption("None were kept.")
        return
    if said := tried_out(workspace, run):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.warning(said, icon=":material/warning:")
            if st.button("Models", key="run.outputs.models", icon=":material/memory:", **page_only("models")):
                go("models")
    if said := verdict(workspace, run):
        st.caption(said)
    key = f"run.outputs.page.{run.id}"
    page = max(1, int(st.session_state.get(key, 1) or 1))
    shown = workspace.runs.synthetic(run.id, offset=(page - 1) * SIZE, limit=SIZE)
    outputs = [
        (at, row.label if isinstance(row.label, str) else "", str(row.text))
        for at, row in enumerate(shown.itertuples(), (page - 1) * SIZE + 1)
    ]
    with st.container(key=f"run.outputs.{run.id}"):
        _boxes(run.id, outputs)
    pager(run.kept, key=key, size=SIZE, counted=count_of(run.kept, "output"))


def verdict(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return how many texts of a run can be read, as far as known."""
    said, found = [], _readable(workspace, run)
    if found is not None:
        said.append(
            f"Readability: {number(round(found.value * found.n))} of {count_of(found.n, 'text')} pass. The rules catch "
            "text that says nothing, not text that is poor."
        )
    said.append(readable.told(workspace, run))
    return " ".join(filter(None, said))


def tried_out(workspace: engine.Workspace, run: engine.RunSummary) -> str:
    """Return what is to be thought of texts that the built-in model wrote; empty where another one did, or none."""
    if run.model != BUILTIN or not _writes(workspace, run):
        return ""
    found = _readable(workspace, run)
    if found is not None and found.value < MOST:
        return "**Most of these read badly: the built-in model is for trying out.** Choose a larger one."
    return (
        "**The built-in model wrote these, and it is for trying out.** Read some of them: a larger one writes better."
    )


def _readable(workspace: engine.Workspace, run: engine.RunSummary) -> engine.Finding | None:
    """Return the share of a run's texts that pass the rules of readability; None where nobody measured it."""
    found = workspace.examinations.findings(run.id) if run.examined_at is not None else []
    ours = next((one for one in found if (one.name, one.reference) == ("readable", "none")), None)
    return None if ours is None or not ours.n or math.isnan(ours.value) else ours


def _writes(workspace: engine.Workspace, run: engine.RunSummary) -> bool:
    """Return whether a language model writes the texts of a run's method."""
    method = run.method.removeprefix(FILTERED)
    return any("generator" in spec.needs for spec in workspace.plan.methods() if spec.id == method)


@st.fragment
def _boxes(run_id: str, outputs: Sequence[tuple[int, str, str]]) -> None:
    """Draw texts across, then down: a narrow page has one column in the same order; number, label and text of each."""
    for begin in range(0, len(outputs), WIDE):
        for column, (at, label, text) in zip(st.columns(WIDE), outputs[begin : begin + WIDE], strict=False):
            with column, st.container(border=True, gap="small", height="stretch"):
                st.text(f"{at:,}" + (f" · label: {label}" if label else ""))
                _text(text, f"run.outputs.whole.{run_id}.{at}")


def _text(text: str, key: str) -> None:
    """Draw a text, its beginning alone where it is long and nobody asked for the rest; `key` of that wish."""
    begins, whole = beginning(text), bool(st.session_state.get(key))
    st.text(text if whole else begins)
    if begins != text:
        st.button("Less" if whole else "More", key=f"{key}.button", type="tertiary",
                  on_click=st.session_state.__setitem__, args=(key, not whole))  # fmt: skip


def beginning(text: str) -> str:
    """Return a text, or of one that fills more than `LINES` lines its beginning, with an ellipsis.

    Empty lines do not count, and the cut is at the end of a sentence where one ends in its last line, else at a word.
    """
    left, kept = LINES, list[str]()
    for line in text.splitlines():
        fills = -(-len(line.strip()) // WIDTH)
        if fills > left:
            return "\n".join([*kept, f"{_cut(line[: left * WIDTH])} …"] if left else [*kept, "…"])
        kept.append(line)
        left -= fills
    return text


def _cut(line: str) -> str:
    """Return a line's beginning up to its last whole sentence, or its last whole word where no sentence ends in it."""
    whole = max(line.rfind(end) for end in (". ", "! ", "? "))
    return line[: whole + 1] if whole > 0 else line.rpartition(" ")[0] or line
