"""Text with marks: with the review's desk, the one place where record text meets HTML.

Privacy posture: text reaches the browser as segments and becomes DOM text nodes through
`textContent`; nothing in it is ever parsed. Offsets are Unicode code points on both sides.

How to use:
    parts = segments(text, [Mark(start, end, "person name", hue=0, decided=True)])
    highlight(parts, key=f"release.marks.{record_id}")
It only shows; the review's desk (`pages/_ui/review/desk.py`) draws the same marks and decides. Marks carry a visible
label; colour (`hue`, see `LABEL_HUES`) and opacity (`strength`) only add to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Required, TypedDict

import streamlit as st

from pages._ui.language import tr

_FOLDER = Path(__file__).resolve().parent

# Hues are places in the Okabe-Ito order of highlight.css.
LABEL_HUES: dict[str, int] = {
    "PERSON": 0, "USERNAME": 0,
    "EMAIL": 1, "PHONE": 1, "ADDRESS": 1, "URL": 1, "IP": 1,
    "LOCATION": 2,
    "DATE": 3, "AGE": 3,
    "ORGANISATION": 4,
    "CODE": 5, "NATIONAL_ID": 5, "MEDICAL_ID": 5, "CARD": 5, "IBAN": 5,
    "DEMOGRAPHIC": 6, "QUANTITY": 6, "MISC": 6,
}  # fmt: skip


@dataclass(frozen=True)
class Mark:
    """One marked stretch of text.

    `start` and `end` are half-open code-point offsets, `label` is shown beside the text, `hue` is 0 to 6,
    `strength` (0 to 1) is the confidence, `decided` draws a solid frame; `fate` bars what
    `goes` and outlines what `stays`.
    """

    start: int
    end: int
    label: str
    hue: int = 0
    strength: float = 1.0
    decided: bool = False
    fate: str = ""


class Segment(TypedDict, total=False):
    """A piece of a text; one that is marked has all of these, a plain one its text alone."""

    text: Required[str]
    label: str
    hue: int
    strength: float
    decided: bool
    fate: str


def segments(text: str, marks: Iterable[Mark]) -> list[Segment]:
    """Cut a text into plain and marked segments whose texts join to the text.

    Where marks overlap, the earlier one wins and the later one keeps what is left of it.

    Returns:
        Mappings with `text`, and for marks also `label, hue, strength, decided, fate`.
    """
    parts: list[Segment] = []
    cursor = 0
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        start, end = max(mark.start, cursor), min(mark.end, len(text))
        if start >= end:
            continue
        if start > cursor:
            parts.append({"text": text[cursor:start]})
        parts.append(
            {
                "text": text[start:end], "label": mark.label, "hue": mark.hue, "strength": mark.strength,
                "decided": mark.decided, "fate": mark.fate,
            }
        )  # fmt: skip
        cursor = end
    if cursor < len(text):
        parts.append({"text": text[cursor:]})
    return parts


_COMPONENT = st.components.v2.component(
    "understudy_highlight",
    html='<div class="sheet">\n<div class="text" dir="auto"></div>\n</div>',
    css=(_FOLDER / "highlight.css").read_text(encoding="utf-8"),
    js="\n".join((_FOLDER / name).read_text(encoding="utf-8") for name in ("marks.js", "highlight.js")),
)


def highlight(parts: list[Segment], *, key: str, label: str = "") -> None:
    """Draw the text.

    Args:
        parts: result of `segments`.
        key: widget key; put the record's id into it.
        label: what a screen reader announces for the region.
    """
    _COMPONENT(key=key, data={"segments": parts, "label": label or tr("Text with marks")})
