"""What a run kept out of its texts, and which common words it let through and why.

Privacy posture: the words stand in private records; they are common ones, drawn as table cells, and stay inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

import engine
from engine import JSONObject, as_number, as_object
from pages._ui.texts import count_of, number

if TYPE_CHECKING:
    import pandas as pd

    import engine

REASONS = {
    "under two letters or digits": "Under two letters or digits: blocking it would bar single letters everywhere.",
    "function words alone": "Function words alone: no text can be written without them.",
    "a form of address alone": "A form of address alone, such as the initials DR or MR: they begin most letters.",
    "a short number": "A number of one or two digits among quasi-identifiers: it stands in most texts.",
    "everyday words": "One or two everyday lower-case words among quasi-identifiers: they identify nobody alone.",
}
ROWS = 200


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw what was blocked and what was let through; nothing for runs that block nothing."""
    noted = workspace.runs.diagnostics(run.id)
    blocked = noted.get("blocked_values")
    if not isinstance(blocked, int | float) or not (blocked or noted.get("exempt_values")):
        return
    st.subheader("Values kept out", anchor=False)
    st.badge("internal, may not be released", color="orange", icon=":material/lock:")
    passed = sum(int(as_number(n) or 0) for n in as_object(noted.get("exempt_values")).values())
    st.markdown(
        f"{count_of(int(blocked), 'form')} of private values of the records shown were barred, counted once a batch; "
        f"{number(passed)} values were let through because they cannot identify."
    )
    found = let_through(noted)
    if len(found):
        st.dataframe(
            found.head(ROWS), hide_index=True, key=f"run.blocked.{run.id}",
            alt="Values that were let through, with the reason and how often",
        )  # fmt: skip
        if len(found) > ROWS:
            st.caption(f"The {ROWS} met most often of {number(len(found))}.")


def let_through(noted: JSONObject) -> pd.DataFrame:
    """Return the values let through, why, and in how many batches, most often met first."""
    import pandas as pd

    rows = [
        (word, REASONS.get(why, why), int(as_number(n) or 0))
        for why, own in as_object(noted.get("exempt_words")).items()
        for word, n in as_object(own).items()
    ]
    rows.sort(key=lambda row: (-row[2], row[0]))
    return pd.DataFrame(rows, columns=["Value", "Why it was let through", "Batches"])
