"""The second person: whose name is typed, and that they sign, or the signature of who signed in.

A name alone signs nothing. Where nobody signs in, a tick beside the name says that its bearer saw what is about to
leave; it stands for the run, the policy, the examination and the approved records of that moment, and for that name.
"""

from __future__ import annotations

import hashlib

import streamlit as st

import engine
from pages._ui.language import tr
from pages._ui.release import kept
from pages._ui.sign_in import visitor
from pages._ui.sign_in.settings import current
from pages._ui.states import act
from pages._ui.texts import plain, when


def draw(workspace: engine.Workspace, run: engine.RunSummary, policy: engine.Policy) -> str:
    """Ask for the second person where the policy wants one, and return who signed; who signs in types no name."""
    if not policy.requirements.second_person:
        return ""
    if current() is not None:
        return _signature(workspace, run, policy)
    name = st.text_input(
        tr("Second person"),
        key=kept.key_of(kept.SECOND),
        max_chars=80,
        on_change=kept.keep,
        args=(workspace, run, kept.SECOND),
        persist_state="session",
        help=tr(
            "Someone other than the person acting, who looked at the check-list and a sample of the records. The name "
            "leaves with the release, and stands in the audit log, as typed without a sign-in."
        ),
    )
    if not name.strip():
        return ""
    st.checkbox(
        tr("{name} looked at this check-list and at these records, and signs", name=plain(name)),
        key=_tick(workspace, run, policy, name),
        wrap=True,
        persist_state="session",
        help=tr("Asked anew for another run, and where records, findings or the policy change."),
    )
    return signed(workspace, run, policy)


def signed(workspace: engine.Workspace, run: engine.RunSummary, policy: engine.Policy) -> str:
    """Return the typed name of the second person, where it was said of the run as it is now that they sign."""
    name = str(st.session_state.get(kept.key_of(kept.SECOND)) or "")
    if not policy.requirements.second_person or current() is not None or not name.strip():
        return ""
    return name if st.session_state.get(_tick(workspace, run, policy, name)) else ""


def _tick(workspace: engine.Workspace, run: engine.RunSummary, policy: engine.Policy, name: str) -> str:
    """Return the key of the tick; it names what is signed, and by whom."""
    said = f"{workspace.signatures.stands(run.id, policy.id)}/{name}"
    return f"release.second.signs.{hashlib.sha256(said.encode()).hexdigest()[:16]}"


def _signature(workspace: engine.Workspace, run: engine.RunSummary, policy: engine.Policy) -> str:
    """Draw who signed as the second person, or offer to sign; a name counts only as theirs who signed in."""
    signature = workspace.signatures.of(run.id, policy.id)
    if signature is not None:
        st.caption(tr(
"Signed by {name}, {at}. A change of the records, the examination or the policy undoes "
"it.", name=plain(signature.name), at=when(signature.at)))  # fmt: skip
    elif visitor.may(engine.Right.APPROVE):
        st.button(tr("Sign as the second person"), key="release.sign", icon=":material/draw:", on_click=act,
                  args=(workspace.signatures.sign, run.id, policy.id),
                  help=tr("You looked at the check-list and at records, and somebody else releases."))  # fmt: skip
    else:
        st.caption(tr("Not signed yet: an approver who signs in can sign here."))
    return "" if signature is None else signature.name
