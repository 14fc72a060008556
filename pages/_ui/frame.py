"""The style of the frame around every page: how much of a narrow window is margin.

How to use: nothing to do in a page; `main.py` draws it once in each run.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_STYLE = st.components.v2.component(
    "understudy_frame",
    css=(Path(__file__).resolve().parent / "frame.css").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def draw() -> None:
    """Give the page its style; nothing is shown."""
    _STYLE(key="frame-style")
