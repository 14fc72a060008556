"""What stands in the place of a part of a page while it is computed.

How to use:
    with loading.waiting(loading.BOX):      # read and compute in here, draw behind it
        view = workspace.ledger.of(corpus.id)
    draw(view)
It must stand in every run of the page, not only in those that compute: where it comes and goes, all below moves a
place, and a component there is made anew under the hands of whoever types into it.
The grey block has about the height of what comes, so nothing below it jumps far. It shows after a moment only: what is
quick never flickers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

BOX, FIGURE, WORK = 240, 420, 560  # pixels: a box of sentences, a figure, a whole pane


@contextmanager
def waiting(height: int) -> Iterator[None]:
    """Show a grey block of a height in pixels while what will stand there is computed."""
    with st.skeleton(height=height):
        yield
