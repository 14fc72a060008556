"""What a browser looked at, kept over a reload: Streamlit begins a new session then, and forgets.

How to use, in the sidebar alone: `restore()` before the corpus is picked, `keep()` after it.

Privacy posture: ids of a corpus and a run, in the memory of this process, under a digest of the cookie by which
Streamlit tells forged requests. Nothing is written; a browser without that cookie is not remembered.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict

import streamlit as st

from pages._ui.current import CORPUS, RUN
from pages._ui.sign_in import visitor

COOKIE = "_streamlit_xsrf"
MOST = 1_000  # browsers
SEEN = "_ui.reload.seen"
Looked = tuple[str, str | None]  # corpus, run
_KEPT: OrderedDict[str, Looked] = OrderedDict()  # by the digest of a browser and whoever signed in there


def restore() -> None:
    """Choose, in a session that begins, what this browser looked at last."""
    if st.session_state.get(SEEN) or st.session_state.get(CORPUS):
        return
    st.session_state[SEEN] = True
    looked = _KEPT.get(_browser())
    if looked is not None:
        st.session_state[CORPUS], st.session_state[RUN] = looked


def keep() -> None:
    """Keep what is looked at now."""
    browser, corpus = _browser(), st.session_state.get(CORPUS)
    if not browser or not corpus:
        return
    _KEPT[browser] = (str(corpus), st.session_state.get(RUN))
    _KEPT.move_to_end(browser)
    while len(_KEPT) > MOST:
        _KEPT.popitem(last=False)


def _browser() -> str:
    """Return what tells this browser, and who signed in there, from others; empty where it sent no cookie."""
    token = unmasked(st.context.cookies.get(COOKIE) or "")
    person = visitor.person()
    named = "" if person is None else person.identity
    return hashlib.sha256(token + named.encode()).hexdigest() if token else ""


def unmasked(cookie: str) -> bytes:
    """Return the token of a cookie `2|mask|masked token|time`, whose mask changes at each answer; else nothing."""
    parts = cookie.split("|")
    if len(parts) != 4:
        return b""
    try:
        mask, masked = bytes.fromhex(parts[1]), bytes.fromhex(parts[2])
    except ValueError:
        return b""
    return bytes(one ^ mask[place % len(mask)] for place, one in enumerate(masked)) if mask else b""
