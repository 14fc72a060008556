"""Settings: the languages, what each has and has not, and how much was found where that was measured."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine import known_languages
from pages._ui.texts import number, share


def draw() -> None:
    """Draw one row a language and, below, what was measured."""
    known = known_languages()
    st.markdown(
        "Each record is read in its own language; the detector settings on Review can set one for all. What a language "
        "has not is left to your review."
    )
    st.dataframe(
        pd.DataFrame(
            [(x.name, "; ".join(x.has), "; ".join(x.lacks) or "nothing that English has") for x in known],
            columns=["Language", "Has", "Has not"],
        ),
        hide_index=True,
        row_height=72,
        alt="What each language has and has not",
        column_config={
            "Language": st.column_config.TextColumn(width=90),
            "Has": st.column_config.TextColumn(width="large"),
            "Has not": st.column_config.TextColumn(width="medium"),
        },
    )
    rows = [
        (x.name, r.what, share(r.value, 0), f"{share(r.low, 0)} to {share(r.high, 0)}", number(r.n), r.source)
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
            pd.DataFrame(rows, columns=["Language", "Of", "Found", "95 % interval", "Cases", "In"]),
            hide_index=True,
            alt="What was found, by language and type",
        )
