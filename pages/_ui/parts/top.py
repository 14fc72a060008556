"""Back to the head of the page: where a press replaces what is drawn, the browser would stay where the press was.

How to use: `top.scroll()` once, in the run that draws what is new.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_COMPONENT = st.components.v2.component(
    "understudy_top", js=(Path(__file__).resolve().parent / "top.js").read_text(encoding="utf-8"), isolate_styles=False
)


def scroll() -> None:
    """Scroll to the head of the page."""
    _COMPONENT(key="page.top")
