"""Who signed in to this session, and the workspace as they may use it.

A person's roles are read at each run of a page, so that what is taken from them is gone at once. A session ends after a
rest; what shows text on the screen goes with it, also where nobody presses a key.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import streamlit as st

import engine
from pages._ui import states
from pages._ui.sign_in import screens
from pages._ui.sign_in.oidc import NotCountedError, Oidc, SignedIn
from pages._ui.sign_in.settings import Way, current, header_values

KEPT = "_ui.visitor"
STRANGER = "_ui.stranger"
LOOK_EVERY = 30.0  # seconds between looks at whether a session rests too long


@dataclass
class Kept:
    """What a session keeps of its visitor: their workspace, who they are, and which sign-in of a provider it was."""

    workspace: engine.Workspace
    person: engine.Person
    sign_in: str = ""


def admit(workspace: engine.Workspace, chosen: Way) -> engine.Workspace:
    """Return the workspace as whoever signed in may use it, or end the page with what is missing."""
    identity = identity_of(chosen)
    if not identity:
        screens.sign_in(chosen)
    person = _known(workspace, chosen, identity)
    kept: Kept | None = st.session_state.get(KEPT)
    if kept is not None and (person is None or person.identity != kept.person.identity):
        _forget()  # another person, or one without a role, on the same screen: nothing of the one before stays
        kept = None
    if person is None:
        _note_stranger(workspace, identity)
        screens.no_role(identity, chosen, nobody=not workspace.people.all(), other=partial(leave, workspace))
    assert person is not None
    if kept is not None and _over(kept):
        screens.ended(chosen.minutes, partial(_again, kept))
    if kept is None or kept.person != person:
        acting = workspace.acting_as(person, rest=chosen.minutes * 60)
        if kept is not None:
            _take_over(kept.workspace, acting)
        elif acting.visit is not None:
            acting.visit.note("in")
        kept = Kept(acting, person, _sign_in_of(chosen))
        st.session_state[KEPT] = kept
        st.rerun()  # the menu is drawn anew, with what this person may open
    if kept.workspace.visit is not None:
        kept.workspace.visit.active = time.monotonic()
    if isinstance(chosen, Oidc):
        chosen.sign_ins.use(kept.sign_in)
    _watch()
    return kept.workspace


def _known(workspace: engine.Workspace, chosen: Way, identity: str) -> engine.Person | None:
    """Return the person behind an identity; ends the page where a provider's account is not theirs."""
    account = signed_in(chosen)
    if account is None:
        return workspace.people.person(identity)
    try:
        return workspace.people.recognise(identity, account.account)
    except engine.NotAllowedError as error:
        _forget()
        screens.turned_away(f"{error}.", partial(leave, workspace))


def signed_in(chosen: Way) -> SignedIn | None:
    """Return whom a provider vouches for in this session, None where nobody, or no provider, does.

    Raises:
        NotCountedError: the sign-in does not count, or no longer.
    """
    return chosen.signed_in(st.user.to_dict()) if isinstance(chosen, Oidc) else None


def _sign_in_of(chosen: Way) -> str:
    account = signed_in(chosen)
    return "" if account is None else account.key


def _note_stranger(workspace: engine.Workspace, identity: str) -> None:
    """Write into the audit log, once a session, that somebody signed in who holds no role here."""
    if st.session_state.get(STRANGER) != identity:
        st.session_state[STRANGER] = identity
        states.act(workspace.people.note_stranger, identity)


def _take_over(before: engine.Workspace, acting: engine.Workspace) -> None:
    """Take over the reason that a person gave before their roles changed."""
    if before.visit is not None and before.visit.reason and acting.visit is not None:
        acting.visit.take_over(before.visit)


def identity_of(chosen: Way) -> str:
    """Return what the sign-in vouches for, empty where nobody signed in; ends the page where it does not count."""
    if not isinstance(chosen, Oidc):
        return chosen.identity(header_values(st.context.headers, chosen.header))
    try:
        account = signed_in(chosen)
    except NotCountedError as error:
        _forget()
        screens.turned_away(f"{error}.", screens.to_provider)
    return "" if account is None else account.identity


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
    """End this session's visit, and with a provider this sign-in in every tab; used as a callback."""
    if workspace.visit is not None:
        states.act(workspace.visit.note, "out")
    _forget()
    chosen = current()
    if isinstance(chosen, Oidc):
        with suppress(NotCountedError):  # it was over already
            chosen.sign_ins.end(_sign_in_of(chosen))
        st.logout()


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
    if isinstance(current(), Oidc):
        screens.to_provider()


@st.fragment(run_every=LOOK_EVERY)
def _watch() -> None:
    kept: Kept | None = st.session_state.get(KEPT)
    if kept is not None and (_over(kept) or _signed_out_elsewhere()):
        st.rerun(scope="app")


def _signed_out_elsewhere() -> bool:
    chosen = current()
    try:
        return isinstance(chosen, Oidc) and signed_in(chosen) is None
    except NotCountedError:
        return True
