"""Which kinds of identifiers leak: one row a type, training part beside holdout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

import engine
from pages._ui.texts import label_name

HEADINGS = {
    "Type": ("Type", 165),
    "Points at a person": ("Points", 90),
    "In the training part": ("In training", 85),
    "Of these in the synthetic text": ("In synthetic", 92),
    "Share": ("Share", 62),
    "Share, holdout": ("Holdout", 72),
    "Of one person only": ("One person's", 98),
}


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the table of leaked identifiers by type."""
    table = workspace.examinations.table(run.id, "elp")
    if table is None or not (table["reference"] == "train").any():
        st.caption("No accepted identifier was there to look for.")
        return
    found = kinds(table)
    st.markdown(found.sentence)
    table = pd.DataFrame(found.rows)
    config: dict[str, Any] = {
        name: st.column_config.NumberColumn(format="localized") for name in table.columns if table[name].dtype == int
    }
    for name in ("Share", "Share, holdout"):
        table[name] = ["–" if share != share else f"{100 * share:.1f}%" for share in table[name]]
        config[name] = st.column_config.TextColumn(alignment="right")
    for name, (said, width) in HEADINGS.items():  # narrow enough that the last one is seen
        config[name] = {**config.get(name, {}), "label": said, "width": width, "help": name}
    st.dataframe(table, hide_index=True, alt="Leaked identifiers by type", column_config=config)
    st.caption("Nobody used the holdout, so its share is what chance gives. Different values are counted, each once.")


@dataclass(frozen=True)
class Kinds:
    """Rows of the table: names of types and counts, never text."""

    rows: list[dict[str, Any]]

    @property
    def sentence(self) -> str:
        """What leaks most."""
        said = []
        for how, words in (("directly", "Pointing at a person directly"), ("with others", "Together with others")):
            found = [row for row in self.rows if row["Points at a person"] == how]
            named = [
                f"{row['Of these in the synthetic text']:,} of {row['In the training part']:,} different values of the "
                f"type **{row['Type']}**"
                for row in found if row["Of these in the synthetic text"]
            ]  # fmt: skip
            if found:
                said.append(f"{words}: {', '.join(named[:2]) if named else 'none'}.")
        return f"In the synthetic text stand: {' '.join(said)}"


def kinds(table: pd.DataFrame) -> Kinds:
    """Return a row a type and way of pointing at a person, direct ones and most leaked first; a type may be both."""
    keys = ["label", "identifier_type"]
    sides = {name: table[table["reference"] == name].set_index(keys) for name in ("train", "holdout")}
    rows = []
    leaked = sides["train"].sort_values("leaked", ascending=False, kind="stable").index
    for label, how in sorted(leaked, key=lambda key: key[1] != "direct"):
        train = sides["train"].loc[(label, how)]
        holdout = sides["holdout"].loc[(label, how)] if (label, how) in sides["holdout"].index else None
        rows.append(
            {
                "Type": label_name(str(label)),
                "Points at a person": "directly" if how == "direct" else "with others",
                "In the training part": int(train["entities"]),
                "Of these in the synthetic text": int(train["leaked"]),
                "Share": float(train["leaked"] / train["entities"]),
                "Share, holdout": float("nan") if holdout is None else float(holdout["leaked"] / holdout["entities"]),
                "Of one person only": int(train["rare_leaked"]),
            }
        )
    return Kinds(rows)
