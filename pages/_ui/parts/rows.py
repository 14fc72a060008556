"""A table whose rows are chosen; a click on a row, or on one of its cells, chooses it, and the page shows it below.

How to use:
    at = rows.chosen(frame, key="ledger.lines", widths={"When": 125, ...}, alt="…")
    rows.in_full({"Sentence": frame["Sentence"].iloc[at], ...}, key="ledger.lines")
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import pandas as pd
import streamlit as st

from pages._ui.parts import wrapped
from pages._ui.parts.pager import digest
from pages._ui.texts import plain

HEAD, MOST, TALL = 36, 10, 7  # pixels of the headings; rows that are seen at once, and where they are tall


def chosen(
    frame: pd.DataFrame,
    *,
    key: str,
    widths: Mapping[str, int],
    alt: str,
    right: Collection[str] = (),
    wraps: Collection[str] = (),
    helps: Mapping[str, str] | None = None,
    ids: Sequence[str] | None = None,
    at: int = 0,
    most: int = MOST,
) -> int:
    """Draw the columns that have a width, a line a row, and return the number of the row that is open.

    Args:
        frame: one row at least. key: of the choice; the frame's own has a digest of its rows behind it.
        widths: column -> pixels, in the order they are drawn. right: columns set to the right.
        wraps: columns that are never cut: where a cell is longer than its column, all rows are higher.
        ids: what each row stands for, so that the choice follows it; its number where there is none.
        at: the row that is open at first. most: rows that are seen without scrolling inside.
    """
    high = wrapped.row_height(frame, {name: widths[name] for name in wraps})
    most = most if high == wrapped.LINE else min(most, TALL)
    names = [str(number) for number in range(len(frame))] if ids is None else list(ids)
    drawn, kept = f"{key}.{digest([*names, *frame.iloc[:, 0]])}", f"{key}.open"
    last = st.session_state.get(kept)
    row = names.index(last) if last in names else at

    def selected() -> None:
        taken = st.session_state[drawn]["selection"]
        picked = next((int(cell[0]) for cell in taken["cells"]), next(iter(taken["rows"]), None))
        if picked is not None and picked < len(names):
            st.session_state[kept] = names[picked]

    if st.session_state.get(drawn, {}).get("selection", {}).get("rows") not in (None, [row]):
        st.session_state[drawn] = {"selection": {"rows": [row]}}  # chosen by a click on a cell, or elsewhere
    st.dataframe(
        frame, key=drawn, on_select=selected, selection_mode=("single-row-required", "single-cell"),
        selection_default={"selection": {"rows": [row]}}, hide_index=True, column_order=list(widths),
        height=HEAD + high * min(len(frame), most), row_height=high, alt=alt,
        column_config={
            name: st.column_config.TextColumn(
                width=width, alignment="right" if name in right else None, help=(helps or {}).get(name)
            )
            for name, width in widths.items()
        },
    )  # fmt: skip
    if len(frame) > most:
        st.caption(f"{most} of {len(frame)} rows are in view: scroll inside the table for the others.")
    return row


def in_full(parts: Mapping[str, object], *, key: str) -> None:
    """Draw the parts of the open row that say something, each behind its name."""
    said = [f"**{name}** {plain(part)}" for name, part in parts.items() if str(part) not in ("", "–", "nan", "None")]
    with st.container(border=True, key=f"{key}.full"):
        st.markdown("  \n".join(said))
