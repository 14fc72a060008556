"""Parts of a page that hold text of records, for whoever's role shows none: a sentence stands in their place.

How to use, first in what draws the part:

    if closed("The outputs of a run"):
        return
"""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.sign_in import visitor


def closed(what: str) -> bool:
    """Say that a part holds text of records, where this visitor's role shows none, and return whether that is so.

    Args:
        what: begins the sentence; in the plural.
    """
    if visitor.may(engine.Right.REVEAL):
        return False
    st.caption(f":material/lock: {what} hold text of records, which your role does not show.")
    return True
