"""Tables whose cells wrap: what a table says is read whole, at every width.

How to use:
    wrapped.table(frame)                                    # few rows, words of this program or of a policy
    st.dataframe(frame, row_height=wrapped.ROW, ...)        # many rows: each three lines high
    high = wrapped.row_height(frame, {"Run": 290})          # so high that what stands under Run is read whole
Record text never goes through `table`: it is Markdown, escaped or not.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from pages._ui.texts import plain

LINES, WRAPPED = 3, 20  # lines of such a row, and the pixels of one more
ROW, LINE = 64, 35  # pixels; above 60 a frame's cells wrap, and this shows three lines; below it they show one
LETTER, EDGE = 5.3, 17  # pixels of a letter in a cell, about, and of what is left free at its two sides
NO_BREAK = "\u00a0"  # a space at which no line ends


def row_height(frame: pd.DataFrame, widths: Mapping[str, int]) -> int:
    """Return how high a frame's rows stand, in pixels: one line, or more where a cell is longer than its column.

    Args:
        widths: column -> pixels, of those whose cells must be read whole.
    """
    cells = [(len(str(cell)), width) for name, width in widths.items() for cell in frame[name]]
    return ROW if any(LETTER * letters + EDGE > width for letters, width in cells) else LINE


def whole(frame: pd.DataFrame, widths: Mapping[str, int]) -> int:
    """Return how high a frame's rows stand, in pixels, so that no cell is cut: three lines, or as many as one needs.

    Args:
        widths: column -> pixels, as for `row_height`.
    """
    lines = [
        len(textwrap.wrap(str(cell), max(1, int((width - EDGE) / LETTER))))
        for name, width in widths.items() for cell in frame[name]
    ]  # fmt: skip
    return ROW + WRAPPED * max(0, max(lines, default=0) - LINES)


def table(frame: pd.DataFrame, *, right: tuple[str, ...] = (), bold: str = "") -> None:
    """Draw a table of words.

    Args:
        frame: its rows, drawn as they stand; the index is left out.
        right: columns of numbers, set to the right; a line ends before a bracket or before "to" in it alone.
        bold: a column whose cells are set in bold.
    """
    names = [str(name) for name in frame.columns]
    lines = [_line([plain(name) for name in names]), _line(["--:" if name in right else ":--" for name in names])]
    for row in frame.itertuples(index=False):
        cells = [plain(value) for value in row]
        lines.append(_line([_set(cell, name, right, bold) for cell, name in zip(cells, names, strict=True)]))
    st.markdown("\n".join(lines))


def _set(cell: str, name: str, right: tuple[str, ...], bold: str) -> str:
    if name in right:
        whole = cell.replace(" ", NO_BREAK)
        return whole.replace(f"{NO_BREAK}(", " (").replace(f"{NO_BREAK}to{NO_BREAK}", f" to{NO_BREAK}")
    return f"**{cell}**" if name == bold and cell else cell


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
