"""Settings: the languages, what each has and has not, and how much was found where that was measured."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from engine import known_languages
from pages._ui.texts import number, plain, share


def draw() -> None:
    """Draw one row a language and, below, what was measured."""
    known = known_languages()
    st.markdown(
        "Each record is read in its own language; the detector settings on Review can set one for all. What a language "
        "has not is left to your review."
    )
    st.markdown(f"{len(known)} languages: {plain(', '.join(each.name for each in known))}.")
    with st.expander("What each language has, and what it has not", key="settings.languages"):
        for each in known:  # sentences wrap, cells of a table would be cut
            lacks = plain("; ".join(each.lacks)) or "nothing that English has"
            st.markdown(f"**{plain(each.name)}**  \nIt has: {plain('; '.join(each.has))}.  \nIt has not: {lacks}.")
    rows = [
        (x.name, r.what, _near(r.value), f"{_near(r.low)} to {_near(r.high)}", number(r.n), r.source)
        for x in known
        for r in x.measured
    ]
    if rows:
        st.markdown(
            "**What was found** of the annotated mentions in texts that the tagger was not trained on, masked whole; "
            "higher is better. Precision: of the masked words, those that stand in an annotated mention. Texts of "
            "another kind than these can come out lower."
        )
        st.dataframe(
            pd.DataFrame(rows, columns=["Language", "Of", "Share", "95% interval", "Cases", "In"]),
            hide_index=True,
            alt="What was found, by language and type",
        )


def _near(value: float) -> str:
    """Return a share without decimals; where that would read as all, with them, and never as all unless it is."""
    if value < 0.995 or value >= 1:
        return share(value, 0)
    return f"over {share(math.floor(1000 * value) / 1000)}"
