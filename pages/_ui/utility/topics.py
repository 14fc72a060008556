"""The topics of the corpus by their most telling words, with the share of texts in each on both sides."""

from __future__ import annotations

import pandas as pd
import streamlit as st

import engine
from pages._ui.sign_in.closed import closed


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw a row a topic."""
    if closed("Topics"):
        return
    table = workspace.examinations.table(run.id, "topics")
    if table is None or table.empty:
        return
    st.markdown("**Topics.** Groups of texts that are close in meaning, named by words that tell one from the others.")
    shown = pd.DataFrame(
        {
            "Telling words": table["words"].astype(str).where(table["words"].astype(bool), "(none is common enough)"),
            "Of synthetic texts": 100 * table["synthetic_share"],
            "Of private texts": 100 * table["real_share"],
            "Difference": 100 * (table["synthetic_share"] - table["real_share"]),
        }
    )
    share = st.column_config.NumberColumn(format="%.1f%%")
    st.dataframe(
        shown,
        hide_index=True,
        height="content" if len(shown) <= 12 else 320,
        alt="Topics with the share of texts on both sides",
        column_config={name: share for name in shown.columns if name != "Telling words"},
    )
    st.caption(
        "Words are named that at least ten people's records share and that no accepted span holds. This list holds "
        "words of the private text. It is internal and never leaves with a release."
    )
