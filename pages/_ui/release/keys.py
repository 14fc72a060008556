"""Keys on the records to approve: each counts for the record that is seen, or is said not to have counted.

How to use: `keys.draw(record, closed="")` below the buttons whose shortcuts they are, in each run that draws them.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import streamlit as st

from pages._ui.language import tr

_FOLDER = Path(__file__).resolve().parent
_COMPONENT = st.components.v2.component(
    "understudy_release_keys",
    html='<div class="early" role="status" aria-live="polite"></div>',
    css=".early { font-size: 0.875rem; color: var(--st-text-color); } .early:empty { display: none; }",
    js=(_FOLDER / "keys.js").read_text(encoding="utf-8"),
)
_DRAWN = itertools.count()  # what is drawn anew differs from what was drawn before


def draw(record: str, *, closed: str = "") -> None:
    """Let keys count from now on for the record that is drawn; `closed` is said instead where none may decide."""
    _COMPONENT(
        key="release.keys",
        data={
            "record": record,
            "drawn": next(_DRAWN),
            "closed": closed,
            "words": tr("A key came before the record was drawn, and was not counted."),
        },
    )
