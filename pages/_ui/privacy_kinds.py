"""Which kinds of identifiers leak: one row a type, training part beside holdout."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

import engine
from pages._ui.texts import label_name


def draw(workspace: engine.Workspace, run: Any) -> None:
    """Draw the table of leaked identifiers by type."""
    table = workspace.table(run.id, "elp")
    if table is None or table.empty:
        st.caption("No accepted identifier was there to look for.")
        return
    sides = {name: table[table["reference"] == name].set_index("label") for name in ("train", "holdout")}
    order = sides["train"].sort_values("leaked", ascending=False).index
    rows = []
    for label in order:
        train = sides["train"].loc[label]
        holdout = sides["holdout"].loc[label] if label in sides["holdout"].index else None
        rows.append(
            {
                "Type": label_name(str(label)),
                "Points at a person": "directly" if train["identifier_type"] == "direct" else "with others",
                "In the training part": int(train["entities"]),
                "Of these in the synthetic text": int(train["leaked"]),
                "Share": float(train["leaked"] / train["entities"]),
                "Share, holdout": float(holdout["leaked"] / holdout["entities"])
                if holdout is not None
                else float("nan"),
                "Of one person only": int(train["rare_leaked"]),
            }
        )
    worst = rows[0]
    st.markdown(
        f"Most often it is the type **{worst['Type']}**: {worst['Of these in the synthetic text']:,} of "
        f"{worst['In the training part']:,} different ones stand in the synthetic text."
    )
    shares = st.column_config.NumberColumn(format="percent")
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        alt="Leaked identifiers by type",
        column_config={"Share": shares, "Share, holdout": shares},
    )
    st.caption("Nobody used the holdout, so its share is what chance gives. Different values are counted, each once.")
