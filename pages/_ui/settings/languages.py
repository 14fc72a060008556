"""Settings: the languages, what each has and has not, and how much was found where that was measured."""

from __future__ import annotations

import math

import pandas as pd
import streamlit as st

from engine import known_languages
from pages._ui.language.words import active
from pages._ui.texts import number, plain, share

RIGHTLY = "precision"  # as what is measured calls it


def draw() -> None:
    """Draw one row a language and, below, what was measured."""
    known = known_languages()
    st.markdown(
        "Each record is read in its own language; the detector settings on Review can set one for all. Where the "
        "program knows less of a language, more is left for you to find on Review."
    )
    st.markdown(f"{len(known)} languages: {plain(', '.join(each.name for each in known))}.")
    with st.expander("What each language has, and what it has not", key="settings.languages"):
        for each in known:  # sentences wrap, cells of a table would be cut
            lacks = plain("; ".join(each.lacks)) or "nothing that English has"
            st.markdown(f"**{plain(each.name)}**  \nIt has: {plain('; '.join(each.has))}.  \nIt has not: {lacks}.")
    spoken = active()
    first = "" if spoken is None else spoken.code
    rightly = {
        (x.code, r.source): _share(r.value, r.low, r.high) for x in known for r in x.measured if r.what == RIGHTLY
    }
    rows = [
        (x.name, r.what, _share(r.value, r.low, r.high), number(r.n), rightly.get((x.code, r.source), "–"), r.source)
        for x in sorted(known, key=lambda each: (each.code != first, each.code != "en"))
        for r in x.measured
        if r.what != RIGHTLY
    ]
    unmeasured = [each.name for each in known if not each.measured]
    if unmeasured:
        st.caption(
            f"{plain(', '.join(unmeasured))}: no such measurement comes with the program. A spot check on Review "
            "measures on your own texts, in any language."
        )
    if rows:
        st.markdown(
            "**What was found** of the annotated mentions in texts that the tagger was not trained on, masked whole; "
            "higher is better. Marked rightly: of all masked words of such texts, those that stand in an annotated "
            "mention. In brackets: 95% intervals. Texts of another kind than these can come out lower."
        )
        st.dataframe(
            pd.DataFrame(rows, columns=["Language", "Mentions of", "Found", "Mentions", "Marked rightly", "In"]),
            hide_index=True,
            alt="What was found, by language and type",
        )


def _share(value: float, low: float, high: float) -> str:
    return f"{_near(value)} ({_near(low)} to {_near(high)})"


def _near(value: float) -> str:
    """Return a share without decimals; where that would read as all, with them, and never as all unless it is."""
    if value < 0.995 or value >= 1:
        return share(value, 0)
    return f"over {share(math.floor(1000 * value) / 1000)}"
