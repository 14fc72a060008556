"""Groups: whether some labels, lengths or people are told apart more easily than others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from engine import blind_row, judge_attacks
from pages._ui.privacy import beside as privacy_beside
from pages._ui.privacy.data import Examined
from pages._ui.texts import plain

if TYPE_CHECKING:
    from engine.figures.base import Figure

WHO = "People or records"
OLD = "Groups were not measured in this examination: examine the run again."


def draw(sides: Sequence[Examined]) -> None:
    """Draw the areas of one attack within the groups of one grouping, and the table of them."""
    tables = [side.groups for side in sides]
    known = [table for table in tables if table is not None and not table.empty]
    if not known:
        st.caption(OLD)
        return
    groupings = list(dict.fromkeys(name for table in known for name in table["group_by"]))
    attacks = _titles(sides, known)
    left, right = st.columns(2)
    by = left.selectbox("Groups by", groupings, key="privacy.groups.by", format_func=str.capitalize)
    attack = right.selectbox("Attack", list(attacks), key="privacy.groups.attack", format_func=lambda i: attacks[i])
    from engine.figures.privacy.groups import by_group

    figures: list[Figure | None] = []
    for table in tables:
        cells = None if table is None else table[(table["group_by"] == by) & (table["attack"] == attack)]
        figures.append(None if cells is None or cells.empty else by_group(cells, attacks[attack]))
    names = [side.name for side in sides]
    greyed = next((side for side in sides if _greyed(side, attack)), None)
    if greyed is not None:
        st.warning(_why(greyed), icon=":material/visibility_off:")
    if not any(figures) or any(_has_numbers(table, by, attack) for table in tables):
        privacy_beside.draw(figures, names, key="privacy.groups", missing=OLD)
    else:
        st.markdown("Every group is too small for a number of its own: fewer than 20 people or records on one side.")
    for side, table in zip(sides, tables, strict=True):
        if table is None or not _has_numbers(table, by, attack):
            continue
        if len(sides) > 1:
            st.markdown(f"**{plain(side.name)}**")
        _table(table[(table["group_by"] == by) & (table["attack"] == attack)], side.run.id)


def _has_numbers(table: pd.DataFrame | None, by: str, attack: str) -> bool:
    if table is None:
        return False
    return bool(table.loc[(table["group_by"] == by) & (table["attack"] == attack), "auc"].notna().any())


def _titles(sides: Sequence[Examined], tables: Sequence[pd.DataFrame]) -> dict[str, str]:
    known = {name for table in tables for name in table["attack"]}
    titles: dict[str, str] = {}
    for side in sides:
        if side.attacks is not None:
            titles |= {
                k.attack: k.title for k in judge_attacks(side.attacks) if k.attack in known and k.attack not in titles
            }
    return titles or {name: name for name in sorted(known)}


def _greyed(side: Examined, attack: str) -> bool:
    return side.attacks is not None and bool(side.attacks[side.attacks["attack"] == attack]["greyed"].any())


def _why(side: Examined) -> str:
    text = "This attack is greyed: members and others can be told apart without any model."
    if (blind := blind_row(side.attacks)) is None:
        return text
    area, low, high = blind
    return f"{text} Words alone reach an area of {area:.3f} ({low:.3f} to {high:.3f}): hold the groups against that."


def cells(table: pd.DataFrame) -> pd.DataFrame:
    """Return the groups as they are drawn; small cells show no number, their sizes neither."""
    small = table["auc"].isna()
    area = [f"{a:.3f} ({low:.3f} to {high:.3f})" for a, low, high in zip(table["auc"], table["low"], table["high"],
                                                                        strict=True)]  # fmt: skip
    counts = {name: [f"{int(n):,}" for n in table[column]] for name, column in
              (("Members", "members"), ("Others", "others"), (WHO, "units"))}  # fmt: skip
    shown = pd.DataFrame({"Group": table["group"].to_numpy(), "Area (AUC)": area, **counts})
    shown.loc[small.to_numpy(), "Area (AUC)"] = "too few (under 20)"
    shown.loc[small.to_numpy(), list(counts)] = ""
    return shown


def _table(table: pd.DataFrame, run_id: str) -> None:
    config: dict[str, Any] = {
        name: st.column_config.TextColumn(alignment="right") for name in ("Area (AUC)", "Members", "Others", WHO)
    }
    st.dataframe(cells(table), hide_index=True, column_config=config, key=f"privacy.groups.table.{run_id}",
                 alt="Attack by group", height="content")  # fmt: skip
