"""Paging of long lists, and keys that follow the rows they belong to.

How to use:
    offset, limit = pager(total, key="review.queue", size=50, counted=count_of(total, "record"))
    frame, total = workspace.review_queue(corpus_id, offset=offset, limit=limit)
    st.dataframe(frame, key=f"review.queue.{digest(frame.record_id)}")
A keyed dataframe keeps selections by position when its rows change; the digest of the row ids in
the key makes it forget them instead of moving an approval to another record.
Where the total comes with the rows, call `offset_of(key, size)` first and `pager(...)` below them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import streamlit as st

from pages._ui.language import tr
from pages._ui.texts import number


def digest(ids: Iterable[object]) -> str:
    """Return twelve hexadecimal digits that change whenever the ids or their order do."""
    return hashlib.sha256("\x1f".join(str(i) for i in ids).encode()).hexdigest()[:12]


def pages_of(total: int, size: int) -> int:
    """Return how many pages `total` rows make; at least one."""
    return max(1, -(-total // size))


def offset_of(key: str, size: int) -> int:
    """Return the offset of the page last chosen under `key`, zero at first."""
    return (max(1, int(st.session_state.get(key, 1) or 1)) - 1) * size


def pager(total: int, *, key: str, size: int = 50, counted: str) -> tuple[int, int]:
    """Draw the pager and the line "51 to 100 of 20,706 records"; return offset and limit.

    Args:
        total: how many rows there are. key: of the page that is shown. size: rows of a page.
        counted: the total in words, by `texts.count_of`.
    """
    count = pages_of(total, size)
    if int(st.session_state.get(key, 1) or 1) > count:
        st.session_state[key] = count
    page = int(st.session_state.get(key, 1) or 1)
    offset = (page - 1) * size
    with st.container(horizontal=True, vertical_alignment="center", key=f"{key}.bar"):
        if count > 1:
            st.pagination(count, key=key, max_visible_pages=5, persist_state="session")
        if count > 1:
            st.caption(
                tr(
                    "{first} to {last} of {counted}",
                    first=number(offset + 1),
                    last=number(min(offset + size, total)),
                    counted=counted,
                )
            )
        else:
            st.caption(counted)
    return offset, size
