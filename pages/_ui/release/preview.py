"""A look at a run's records inside the team: on this page alone, marked as such, never a file.

Privacy posture: synthetic records of a run that nobody released; drawn as plain text.
"""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.current import run_label
from pages._ui.language import tr
from pages._ui.parts.pager import offset_of, pager
from pages._ui.release.records import DECISIONS
from pages._ui.sign_in.closed import closed
from pages._ui.texts import count_of, number, plain

SIZE = 10


def show(workspace: engine.Workspace, run_id: str, total: int) -> None:
    """Open the records over the page."""
    st.dialog(tr("Internal preview, not a release"), width="large")(_show)(workspace, run_id, total)


def _show(workspace: engine.Workspace, run_id: str, total: int) -> None:
    """Show the records, ten at a time, each under the mark."""
    if closed(tr("The outputs of this run")):
        return
    run = workspace.runs.get(run_id)
    st.warning(
        tr(
            "**For the team that may read the original.** Nothing leaves, the budget stays as it is, and there is "
            "no file to download. The audit log says that you looked."
        ),
        icon=":material/visibility:",
    )
    key, called = f"release.preview.{run_id}", plain(run_label(workspace, run))
    start = offset_of(key, SIZE)
    rows = workspace.runs.synthetic(run_id, offset=start, limit=SIZE)
    for place, (text, decision) in enumerate(zip(rows["text"], rows["approval"]), start + 1):
        with st.container(border=True, gap="small"):
            st.markdown(
                tr(
                    ":orange-badge[Internal preview · not a release] :small[{place} of {total} · {decision} "
                    "· {called}]",
                    place=number(place),
                    total=number(total),
                    decision=tr(DECISIONS[decision]),
                    called=called,
                )
            )
            st.text(str(text))
    pager(total, key=key, size=SIZE, counted=count_of(total, "record"))
