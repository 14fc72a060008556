"""Which language this session speaks: what was chosen in Settings, else what the start says, else English.

How to use, in `main.py` alone: `begin()` before anything is drawn, `settle(workspace)` once the workspace is open,
`page(translated)` before a page. `offer(workspace)` and `ask(workspace)` draw the two places of a choice.

A choice is kept by the engine: with the person where people sign in, else with the workspace.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

import engine
from pages._ui.language.catalogue import ENGLISH, Catalogue, available, catalogue
from pages._ui.language.words import ACTIVE, active, tr
from pages._ui.states import act

CHOSEN = "_ui.language.chosen"
VARIABLE = "UNDERSTUDY_LANGUAGE"
FIELD = "settings.language"


def at_start(arguments: list[str] | None = None) -> str:
    """Return the language that `--language` or the environment names, or an empty string."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for place, word in enumerate(words):
        if word == "--language" and place + 1 < len(words):
            return words[place + 1]
        if word.startswith("--language="):
            return word.partition("=")[2]
    return os.environ.get(VARIABLE, "").strip()


def begin() -> None:
    """Let the menu and the sidebar speak the chosen language, whatever the page before spoke."""
    if CHOSEN not in st.session_state:
        st.session_state[CHOSEN] = catalogue(at_start())
    st.session_state[ACTIVE] = st.session_state[CHOSEN]


def settle(workspace: engine.Workspace) -> None:
    """Take the language that this person or workspace keeps; run the page anew where that is another one."""
    wanted = catalogue(workspace.settings.language() or at_start())
    if wanted != st.session_state.get(CHOSEN):
        st.session_state[CHOSEN] = wanted
        st.rerun()


def page(translated: bool) -> None:
    """Let what follows speak the chosen language where its page is translated, else English: never half of each."""
    st.session_state[ACTIVE] = st.session_state.get(CHOSEN) if translated else None


def note(translated: bool) -> None:
    """Say once a page what stands in English, and why."""
    if active() is None:
        return
    st.caption(
        tr("Promises, findings, rules and refusals stand in English: that is how they are computed and signed.")
        if translated
        else tr("This page is in English; it is not translated yet.")
    )


def offer(workspace: engine.Workspace) -> None:
    """Offer the browser's language where it is translated and nobody has chosen yet; nothing changes by itself."""
    preferred = (st.context.locale or "").replace("_", "-").partition("-")[0].lower()
    if preferred == ENGLISH or at_start() or workspace.settings.language():
        return
    there = catalogue(preferred)
    if there is None:
        return
    with st.container(key="language.offer", gap="xsmall"):
        with _speaking(there):
            said, yes = tr("This program also speaks {language}.", language=there.name), tr("Change the language")
        st.caption(said)
        with st.container(horizontal=True):
            st.button(yes, key="language.offer.yes", on_click=_keep, args=(workspace, there.code))
            st.button("Stay with English", key="language.offer.no", on_click=_keep, args=(workspace, ENGLISH))


def ask(workspace: engine.Workspace) -> None:
    """Draw the choice, in the chosen language on a page that is not translated too."""
    chosen: Catalogue | None = st.session_state.get(CHOSEN)
    names = {ENGLISH: "English"} | {one: there.name for one in available() if (there := catalogue(one)) is not None}
    st.session_state[FIELD] = ENGLISH if chosen is None else chosen.code
    with _speaking(chosen):
        st.selectbox(
            tr("Language of the interface"), list(names), format_func=names.__getitem__, key=FIELD, width=260,
            on_change=_chosen, args=(workspace,),
            help=tr("What leaves, and what is signed, stays in English. The language of your texts is another matter."),
        )  # fmt: skip
        if chosen is not None:
            st.caption(tr("Translated so far: Load, Review, Plan and Release, the menu and the sidebar."))


def _chosen(workspace: engine.Workspace) -> None:
    _keep(workspace, str(st.session_state[FIELD]))


def _keep(workspace: engine.Workspace, code: str) -> None:
    """Keep a choice; a callback. It speaks from the run that follows on."""
    act(workspace.settings.set_language, code)
    if workspace.settings.language() == code:
        st.session_state[CHOSEN] = st.session_state[ACTIVE] = catalogue(code)


@contextmanager
def _speaking(there: Catalogue | None) -> Iterator[None]:
    before = st.session_state.get(ACTIVE)
    st.session_state[ACTIVE] = there
    try:
        yield
    finally:
        st.session_state[ACTIVE] = before
