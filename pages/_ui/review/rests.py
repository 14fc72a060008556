"""What rests on the review as it is: runs that a decision makes out of date, told before it is taken.

How to use: `rests.draw(workspace, corpus.id)` beside the title.
"""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.language import trn
from pages._ui.texts import FILTERED


def draw(workspace: engine.Workspace, corpus_id: str) -> None:
    """Say how many runs were made or measured with the review as it is; nothing where none was."""
    count = len(resting(workspace.runs.all(corpus_id)))
    if count:
        st.caption(
            ":material/history: "
            + trn(
                "{n} run rests on this review: a decision that changes it makes the run out of date.",
                "{n} runs rest on this review: a decision that changes it makes them out of date.",
                count,
            ),
            width="content",
            help=trn(
                "It was made or measured with the review as it is.", "They were made or measured with the review as it "
                "is.", count,
            ),
        )  # fmt: skip


def resting(runs: list[engine.RunSummary]) -> list[engine.RunSummary]:
    """Return the finished runs that are up to date and that a decision leaves behind, or their measurements."""
    return [
        run for run in runs
        if run.state == "done" and not run.stale and not run.examination_stale and (run.examined_at or _uses(run))
    ]  # fmt: skip


def _uses(run: engine.RunSummary) -> bool:
    return "spans" in engine.get_method(run.method.removeprefix(FILTERED)).spec.needs
