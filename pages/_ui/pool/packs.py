"""What left: every prompt pack that was logged, what was in it, and its files."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

import engine
from engine import PACK_FORMATS, PACK_NEEDS_MODEL
from pages._ui.pool import view
from pages._ui.texts import count_of, plain, when

KEY = "pool.left"


def draw(workspace: engine.Workspace) -> None:
    """Draw a box a pack, latest first."""
    packs = workspace.packs.all()
    if not packs:
        view.nothing(
            "Nothing has left this machine", "No prompt pack was written in this workspace.",
            [("Write prompts", view.PROMPTS, ":material/outbox:", "pool.left.none.prompts")], key="pool.left.none",
        )  # fmt: skip
        return
    st.caption(
        "A pack stays here as it left; the audit log holds its checksum and a line for each file that was made. Packs "
        "with winners of a run stand in the ledger of its people too."
    )
    for pack in packs:
        with st.container(border=True, key=f"{KEY}.{pack.id}"):
            _pack(workspace, pack)


def _pack(workspace: engine.Workspace, pack: engine.PackSummary) -> None:
    source = f"winners of run {plain(pack.run_id)}" if pack.run_id else "public words alone"
    st.markdown(
        f"**{pack.id}** · {count_of(pack.prompts, 'prompt')} · {source} · {when(pack.created)}, {plain(pack.actor)}"
    )
    with st.expander("What was in it", key=f"{KEY}.what.{pack.id}"):
        st.dataframe(
            pd.DataFrame(
                [(one.what, one.content, one.why) for one in pack.listed], columns=["What", "Content", "Why it might"]
            ),
            hide_index=True, key=f"{KEY}.listed.{pack.id}", alt="What left with the pack",
            column_config={name: st.column_config.TextColumn() for name in ("What", "Content", "Why it might")},
        )  # fmt: skip
        st.caption(f"Declared: “{plain(pack.statement)}” SHA-256 of the prompts: {pack.digest}.")
    left, right = st.columns(2)
    form = left.selectbox(
        "Format", list(PACK_FORMATS), format_func=lambda one: PACK_FORMATS[one][0], key=f"{KEY}.form.{pack.id}"
    )
    model = ""
    if form in PACK_NEEDS_MODEL:
        model = right.text_input("Model, as the service calls it", key=f"{KEY}.model.{pack.id}", max_chars=120)
    if form in PACK_NEEDS_MODEL and not model.strip():
        st.caption("This format names the model in each line.")
        return
    st.download_button(
        "Download the prompts", data=partial(_content, workspace, pack.id, form, model), icon=":material/download:",
        file_name=f"prompts-{pack.id}-{form}{'.txt' if form == 'text' else '.jsonl'}", key=f"{KEY}.file.{pack.id}",
        on_click="ignore",
    )  # fmt: skip


def _content(workspace: engine.Workspace, pack_id: str, form: str, model: str) -> bytes:
    """Return a file's content; the audit log has its line by then."""
    return workspace.packs.file(pack_id, form, model)[1]
