"""What one browser tab is looking at on the review page: the fixed order, the open text, what was answered.

The order is made when the queue is opened or asked for otherwise, and stays while one works.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import streamlit as st


@dataclass
class Desk:
    """One corpus' desk in one tab.

    `asked` is what the order was made for; `moves` rises whenever the server, not the browser, opens a text; `page` is
    a page of the list that was turned to, None for that of the open text; `see` is what the browser asked to be shown
    instead, until it is.
    """

    asked: object = None
    order: list[str] = field(default_factory=list)
    record: str | None = None
    span: str | None = None
    page: int | None = None
    moves: int = 0
    read: bool = False
    reply: int = 0
    done: list[list[object]] = field(default_factory=list)
    trouble: str = ""
    see: str = ""


def desk(corpus_id: str) -> Desk:
    """Return this tab's desk of a corpus."""
    found: Desk = st.session_state.setdefault(f"_ui.review.desk.{corpus_id}", Desk())
    return found


def show(corpus_id: str, record_id: str | None) -> None:
    """Have the browser open a text, whatever it looks at."""
    mine = desk(corpus_id)
    mine.record, mine.span, mine.page = record_id, None, None
    mine.moves += 1
