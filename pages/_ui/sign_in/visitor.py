"""Who signed in to this session, and the workspace as they may use it.

A person's roles are read at each run of a page, so that what is taken from them is gone at once. A session ends after a
rest; what shows text on the screen goes with it, also where nobody presses a key.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import streamlit as st

import engine
from pages._ui import states
from pages._ui.sign_in import screens
from pages._ui.sign_in.settings import SignIn, current, header_values

KEPT = "_ui.visitor"
STRANGER = "_ui.stranger"
LOOK_EVERY = 30.0  # seconds between looks at whether a session rests too long


@dataclass
class Kept:
    """What a session keeps of its visitor: their workspace, and who they are."""

    workspace: engine.Workspace
    person: engine.Person


def admit(workspace: engine.Workspace, chosen: SignIn) -> engine.Workspace:
    """Return the workspace as whoever signed in may use it, or end the page with what is missing."""
    identity = identity_of(chosen)
    if not identity:
        screens.sign_in()
    person = workspace.people.person(identity)
    kept: Kept | None = st.session_state.get(KEPT)
    if kept is not None and (person is None or person.identity != kept.person.identity):
        _forget()  # another person, or one without a role, on the same screen: nothing of the one before stays
        kept = None
    if person is None:
        _note_stranger(workspace, identity)
        screens.no_role(identity, nobody=not workspace.people.all())
    assert person is not None
    if kept is not None and _over(kept):
        screens.ended(chosen.minutes, partial(_again, kept))
    if kept is None or kept.person != person:
        acting = workspace.acting_as(person, rest=chosen.minutes * 60)
        if kept is not None:
            _take_over(kept.workspace, acting)
        elif acting.visit is not None:
            acting.visit.note("in")
        kept = Kept(acting, person)
        st.session_state[KEPT] = kept
        st.rerun()  # the menu is drawn anew, with what this person may open
    if kept.workspace.visit is not None:
        kept.workspace.visit.active = time.monotonic()
    _watch()
    return kept.workspace


def _note_stranger(workspace: engine.Workspace, identity: str) -> None:
    """Write into the audit log, once a session, that somebody signed in who holds no role here."""
    if st.session_state.get(STRANGER) != identity:
        st.session_state[STRANGER] = identity
        states.act(workspace.people.note_stranger, identity)


def _take_over(before: engine.Workspace, acting: engine.Workspace) -> None:
    """Take over the reason that a person gave before their roles changed."""
    if before.visit is not None and before.visit.reason and acting.visit is not None:
        acting.visit.take_over(before.visit)


def identity_of(chosen: SignIn) -> str:
    """Return what the sign-in vouches for, empty where nobody signed in."""
    return chosen.identity(header_values(st.context.headers, chosen.header))


def person() -> engine.Person | None:
    """Return who signed in to this session, None where nobody has to or nobody did yet."""
    kept: Kept | None = st.session_state.get(KEPT)
    return None if kept is None else kept.person


def may(right: engine.Right) -> bool:
    """Return whether this session may do something.

    Everything where nobody has to sign in. Before somebody did, too: the menu has to know the page whose address they
    opened, and no page is drawn before `admit`.
    """
    who = person()
    return current() is None or who is None or right in who.rights


def owes_reason() -> bool:
    """Return whether this session has to say why it looks at text: its person may see text, and has not said it."""
    kept: Kept | None = st.session_state.get(KEPT)
    visit = None if kept is None else kept.workspace.visit
    return visit is not None and engine.Right.REVEAL in visit.person.rights and not visit.reason


def leave(workspace: engine.Workspace) -> None:
    """End this session's visit; used as a callback."""
    if workspace.visit is not None:
        states.act(workspace.visit.note, "out")
    _forget()


def _over(kept: Kept) -> bool:
    return kept.workspace.visit is not None and kept.workspace.visit.over


def _forget() -> None:
    for key in list(st.session_state):
        del st.session_state[key]


def _again(kept: Kept) -> None:
    """Begin again after a rest: as the same person, with nothing on the screen and no reason given yet."""
    if kept.workspace.visit is not None:
        states.act(kept.workspace.visit.note, "rest")
    _forget()


@st.fragment(run_every=LOOK_EVERY)
def _watch() -> None:
    kept: Kept | None = st.session_state.get(KEPT)
    if kept is not None and _over(kept):
        st.rerun(scope="app")
