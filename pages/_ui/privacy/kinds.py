"""Which kinds of identifiers leak: one row a type, the records used beside those set aside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

import engine
from pages._ui.texts import label_name

DIRECT = "strict_elp_direct"  # the finding whose settings count identifiers of one person alone, as the box says them
HEADINGS = {  # column -> what stands above it, its pixels, and its help
    "Type": ("Type", 165, "Type"),
    "Points at a person": ("Points", 90, "Points at a person"),
    "In the training part": ("In use", 85, "Different values in the records used"),
    "Of these in the synthetic text": ("In synthetic", 92, "Of these in the synthetic text"),
    "Share": ("Share", 62, "Share of the values in the records used"),
    "Share, holdout": ("Set aside", 72, "Share of the values in the records set aside"),
    "Of one person only": ("One person's", 98, "In the synthetic text, of one person only"),
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
    for name, (said, width, told) in HEADINGS.items():  # narrow enough that the last one is seen
        config[name] = {**config.get(name, {}), "label": said, "width": width, "help": told}
    st.dataframe(table, hide_index=True, alt="Leaked identifiers by type", column_config=config)
    st.caption(
        "Nobody used the records set aside, so their share is what chance gives. Different values are counted, each "
        "once."
    )
    here = int(found.one_persons)
    if why := two_counts(here, workspace.examinations.findings(run.id)):
        st.caption(why)


def two_counts(here: int, findings: Sequence[engine.Finding]) -> str:
    """Return why this table counts other values of one person alone than the line above it; empty where it does not.

    Args:
        here: how many it counts that point at somebody directly.
    """
    settings = next((f.settings for f in findings if f.name == DIRECT and f.reference == "train"), {})
    alone = settings.get("alone")
    if alone is None or int(alone) == here:
        return ""
    return (
        f"One person's: {here:,} here, {int(alone):,} in the line on identifiers of one person alone. This table "
        "counts every marked value that points at somebody directly, parts of names too, if it is marked for one "
        "person alone. That line counts full names, numbers and addresses, if no other person's text holds them, "
        "marked or not. People at risk is about those of this table."
    )


@dataclass(frozen=True)
class Kinds:
    """Rows of the table: names of types and counts, never text."""

    rows: list[dict[str, Any]]

    @property
    def one_persons(self) -> int:
        """How many values in the synthetic text point at somebody directly and are of one person alone."""
        return sum(row["Of one person only"] for row in self.rows if row["Points at a person"] == "directly")

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
