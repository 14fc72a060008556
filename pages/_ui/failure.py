"""What happens when a page itself fails: a sentence on the screen, the place in the log.

Privacy posture: an exception's message may quote data, so only its type and the lines of code it
passed are logged, and nothing of it is shown; the engine's sentences about storage alone are.
"""

from __future__ import annotations

import logging
import traceback

import streamlit as st

import engine
from pages._ui.texts import plain


def place(error: BaseException) -> str:
    """Return the type of an error and the code lines it passed, innermost last, without its message."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "streamlit" not in frame.filename]
    lines = [f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in ours]
    return "\n".join([type(error).__name__, *lines])


class Wordless(logging.Filter):
    """Takes the message and the traceback out of Streamlit's own report of a page's failure."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record; it is always passed on."""
        if record.exc_info and record.exc_info[1] is not None:
            record.msg, record.args = place(record.exc_info[1]), ()
            record.exc_info = record.exc_text = None
        return True


def guard_log() -> None:
    """Install the filter on the logger that Streamlit reports failures with."""
    logger = logging.getLogger("streamlit.error_util")
    if not any(isinstance(known, Wordless) for known in logger.filters):
        logger.addFilter(Wordless())


def explain(error: Exception) -> bool:
    """Say what to do; return True, so that nothing else is shown; Streamlit has logged it, through `Wordless`."""
    if isinstance(error, engine.StorageError):  # its sentences are the engine's own and hold no data
        st.error(f"**The workspace cannot be used.** {plain(str(error))}", icon=":material/error:")
        st.markdown("Then reload the page.")
        return True
    if isinstance(error, engine.NotAllowedError | engine.ReasonNeededError):  # in a part that runs by itself
        st.error(f"**Refused.** {plain(str(error))}.", icon=":material/block:")
        return True
    st.error("**This page has a fault.** Nothing was lost: everything you decided is saved.", icon=":material/error:")
    st.markdown(
        "Reload the page. If it happens again, run `python -m engine doctor --bundle support.zip`: it makes a "
        "file without any record text that you can pass on with a description of what you did."
    )
    return True
