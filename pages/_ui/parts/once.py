"""A press that starts work counts once, however often the button is pressed before the page is drawn anew.

Two quick presses reach the server as two runs of the script. The second starts in a thread of its own while the
first still works, and the first ends at its next Streamlit call; each would start the work: a second run that draws
its own noise and spends its own budget, a second import of the same file.

How to use:
    if st.button("Start", key="plan.start"):
        run_id = once.act("plan.start", lambda: workspace.synthesize(...))
    else:
        once.rearm("plan.start")     # the button stands on the page unpressed: the next press is a new one
In a callback call `once.act` alone, and `once.rearm` where the button is drawn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import streamlit as st

Result = TypeVar("Result")
PLACES = threading.Lock()  # held while a session's place for a result is looked up, never during the work


@dataclass
class Kept:
    """The result of a press, and the lock that a second press waits at while the first works."""

    result: Any = None
    lock: threading.Lock = field(default_factory=threading.Lock)


def act(key: str, call: Callable[[], Result]) -> Result:
    """Make a call and return its result; until `rearm`, return the same result without another call.

    A call that returns None, or raises, may be made again. `call` itself uses no Streamlit element, so that
    nothing can interrupt it between the work and the note that it was done.
    """
    with PLACES:
        kept: Kept = st.session_state.setdefault(_place(key), Kept())
    with kept.lock:
        if kept.result is None:
            kept.result = call()
        found: Result = kept.result
    return found


def rearm(key: str) -> None:
    """Let the next press count; to be called where the button was drawn and is not pressed."""
    st.session_state.pop(_place(key), None)


def _place(key: str) -> str:
    return f"_ui.once.{key}"
