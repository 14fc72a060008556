"""Parts of a page that a visitor's role does not open: a sentence stands in their place, or a button is grey.

How to use, first in what draws a part that holds text of records, or that changes something:

    if closed("The outputs of a run"):
        return
    if barred("Setting a limit", engine.Right.MANAGE):
        return
    st.button("Delete", **only(engine.Right.MANAGE))          # or: disabled=not chosen or lacks(engine.Right.MANAGE)

The engine refuses all the same; this spares people buttons that would.
"""

from __future__ import annotations

from typing import TypedDict

import streamlit as st

import engine
from pages._ui.language import mark, tr
from pages._ui.sign_in import visitor

WHOSE = {
    engine.Right.REVIEW: mark("a reviewer or custodian"),
    engine.Right.APPROVE: mark("an approver or custodian"),
    engine.Right.REVEAL: mark("somebody whose role shows text"),
}


class Grey(TypedDict, total=False):
    """What makes a button grey, and says why."""

    disabled: bool
    help: str


def closed(what: str) -> bool:
    """Say that a part holds text of records, where this visitor's role shows none, and return whether that is so.

    Args:
        what: begins the sentence; in the plural.
    """
    if visitor.may(engine.Right.REVEAL):
        return False
    st.caption(tr(":material/lock: {what} hold text of records, which your role does not show.", what=what))
    return True


def lacks(right: engine.Right) -> bool:
    """Return whether this visitor's role does not allow something."""
    return not visitor.may(right)


def only(right: engine.Right) -> Grey:
    """Return what makes a button grey for whoever's role does not allow what it does; nothing for others."""
    return (
        {"disabled": True, "help": tr("This is for {right}; your role does not do it.", right=_whose(right))}
        if lacks(right)
        else {}
    )


def barred(what: str, right: engine.Right) -> bool:
    """Say whose act this part is, where this visitor's role does not allow it, and return whether that is so.

    Args:
        what: begins the sentence; in the singular.
    """
    if not lacks(right):
        return False
    st.caption(tr(":material/lock: {what} is for {right}; your role does not do it.", what=what, right=_whose(right)))
    return True


def read_only() -> None:
    """Tell a visitor whose role only reads that what changes something is grey, or left out."""
    who = visitor.person()
    if who is not None and who.rights == {engine.Right.READ}:
        st.caption(
            tr(
                ":material/visibility: Your role reads: what changes something, or shows text of records, is grey "
                "or left out on every page. Custodians, reviewers and approvers do that."
            )
        )


def _whose(right: engine.Right) -> str:
    return tr(WHOSE.get(right, mark("a custodian")))
