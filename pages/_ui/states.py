"""What a page shows when there is nothing yet, something runs, failed, or is out of date.

How to use:
    states.empty("No runs yet", "Plan one first.", action="Plan a run", page="plan", key="run.empty")
    states.failed("Detection stopped", job.error, "Start it again: finished batches are kept.")
    states.stale("The review changed after this run started.")
    states.act(workspace.decide, corpus_id, ids, "accept")   # in callbacks: errors become a notice
    states.notice("3 spans accepted.")                        # shown once, at the top of the next run
`act` returns the call's result, or None where the engine refused; `flash()` is called by main.py.
Sentences are escaped (`texts.plain`), so a file name cannot smuggle Markdown in. Record text never
goes through here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

import engine
from pages._ui.language import localised, tr
from pages._ui.texts import on_page, plain

Result = TypeVar("Result")
NOTICES = "_ui.notices"


def full_page(title: str, what: str, remedy: str, command: str | None = None) -> None:
    """Draw a page that only says what is wrong and what to do; a command stands in its own line, unchanged."""
    st.title(title)
    st.error(plain(what), icon=":material/error:")
    st.markdown(plain(remedy))
    if command:
        st.code(command, language=None, wrap_lines=True)


def empty(
    title: str, sentence: str, *, action: str | None = None, page: str | None = None, key: str = "empty.action"
) -> None:
    """Say that there is nothing yet, and offer the page where the next step is; grey where a role does not open it."""
    with st.container(border=True, key=f"{key}.box"):
        st.subheader(title, anchor=False)
        st.markdown(plain(sentence))
        if action and page:
            from pages._ui.navigation import go, page_only

            if st.button(action, type="primary", key=key, **page_only(page)):
                go(page)


def failed(title: str, why: str | None, remedy: str) -> None:
    """Say that a job failed, why, and what can be done."""
    st.error(f"**{plain(title)}.** {plain(why or tr('No reason was recorded.'))}", icon=":material/error:")
    st.caption(plain(remedy))


def stale(sentence: str) -> None:
    """Say that what is shown was computed from inputs that have changed since."""
    st.warning(tr("**Out of date.** {sentence}", sentence=plain(sentence)), icon=":material/history:")


def refused(sentence: str, remedy: str) -> None:
    """Say that a gate or a rule refused the request, without the commands by which it is done elsewhere."""
    st.error(tr("**Refused.** {sentence}", sentence=plain(on_page(sentence))), icon=":material/block:")
    st.caption(plain(remedy))


def notice(sentence: str, *, kind: str = "done") -> None:
    """Keep a sentence for the top of the next run, once; `kind` is done, problem or refused."""
    waiting: list[tuple[str, str]] = st.session_state.setdefault(NOTICES, [])
    if (kind, sentence) not in waiting:
        waiting.append((kind, sentence))


def flash() -> None:
    """Draw the kept notices once, as a region that a screen reader finds."""
    waiting: list[tuple[str, str]] = st.session_state.pop(NOTICES, [])
    draw = {"done": (st.success, "check_circle"), "problem": (st.error, "error"), "refused": (st.error, "block")}
    for kind, sentence in waiting:
        box, icon = draw[kind]
        box(plain(sentence), icon=f":material/{icon}:")


def act(call: Callable[..., Result], *args: object, done: str | None = None, **kwargs: object) -> Result | None:
    """Run one engine call in a callback; a refusal becomes a notice instead of a crash.

    Args:
        call: the engine call.
        done: sentence to show when it succeeded; `{}` in it takes the result.

    Returns:
        The call's result, or None where it was refused.
    """
    try:
        result = call(*args, **kwargs)
    except engine.RefusedError as error:
        notice(str(error), kind="refused")
        return None
    except engine.UserError as error:
        notice(str(error), kind="problem")
        return None
    if done:
        notice(done.replace("{}", localised(f"{result:,}") if isinstance(result, int) else str(result)))
    return result
