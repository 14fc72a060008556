"""Open models that suit this machine, and fetching one with the custodian's written consent.

Privacy posture: the list ships with the program; nothing is connected until a consent is given.
"""

from __future__ import annotations

import streamlit as st

import engine
from engine import LANGUAGE_NAMES
from pages._ui.models import hub as models_hub
from pages._ui.models.chosen import choose
from pages._ui.models.language import size
from pages._ui.plan.words import names
from pages._ui.texts import count_of, number, plain

KEY, WAY = "models.suggested", "models.suggested.way"
TEXTS = 500  # that the hours of a suggestion are for, and the most a run makes unasked
ROLES = {"best": "largest that suits", "first": "a first try"}
VERDICTS = {"fits": "fits", "slow": "slow here", "too large": "too large", "other language": "other languages"}


def asked(workspace: engine.Workspace, description: engine.Description | None, texts: int) -> engine.Proposals:
    """Ask for the language of the text, say which open models suit this machine, and return all of them."""
    codes = list(LANGUAGE_NAMES)
    left, right = st.columns([1, 4], vertical_alignment="bottom")
    language = left.selectbox(
        "Language of the text", codes, index=codes.index(description.language if description else "en"),
        format_func=LANGUAGE_NAMES.__getitem__, key=f"{KEY}.language",
    )  # fmt: skip
    found = workspace.hub.suggest(language)
    right.markdown(
        f"This machine has {plain(found.machine.sentence())}. {_proposal(found, texts)} The built-in model is for "
        "trying out: it is small, and most of what it writes reads badly."
    )
    offered = {one.role: one for one in found.models if one.role}
    if offered:
        with st.container(horizontal=True, key=f"{KEY}.look"):
            for role, one in offered.items():
                st.button(
                    f"Look at {short_name(one)}, {'the ' if role == 'best' else ''}{ROLES[role]}",
                    icon=":material/visibility:", key=f"{KEY}.look.{role}", on_click=choose, args=(one.offer.hub,),
                )  # fmt: skip
    return found


def _proposal(found: engine.Proposals, texts: int) -> str:
    by_role = {one.role: one for one in found.models if one.role}
    if not by_role:
        return f"None of the open models known here suits it in {LANGUAGE_NAMES.get(found.language, found.language)}."
    best = by_role["best"] if "best" in by_role else by_role["first"]
    said = f"The largest one that suits it is **{plain(short_name(best))}**, {time(best, texts)} for "
    said += f"{count_of(texts, 'text')}."
    if "first" in by_role and "best" in by_role:
        first = by_role["first"]
        said += f" To begin with, **{plain(short_name(first))}** is quicker: {time(first, texts)}."
    return said


def card(
    workspace: engine.Workspace, one: engine.Suggestion, description: engine.Description | None, texts: int
) -> None:
    """Draw an open model that is not here, with what it needs and the two ways to get it."""
    offer = one.offer
    served, lacking = workspace.hub.serves(offer)
    called = names()
    others = ", ".join(called.get(one, one) for one in lacking)
    with st.container(border=True, key=f"{KEY}.card"):
        st.markdown(f"**{plain(offer.hub)}** · {plain(offer.why)}")
        st.markdown(
            f"Takes {time(one, texts)} for {count_of(texts, 'text')} here (a rough estimate; the self-test measures). "
            f"Licence: {plain(offer.licence)}. {'Can' if one.trains else 'Cannot'} be tuned on this machine. "
            f"Serves {count_of(len(served), 'method')}" + (f", all but: {others}." if others else ".")
        )
        with st.container(horizontal=True):
            st.button(
                "Fetch it from the hub", type="primary", icon=":material/cloud_download:", key=f"{KEY}.way.hub",
                on_click=st.session_state.__setitem__, args=(WAY, "hub"),
                help="Opens the consent: nothing is connected before you type the host and say why it is allowed.",
            )  # fmt: skip
            st.button(
                "I bring it on a disk", icon=":material/hard_drive:", key=f"{KEY}.way.disk",
                on_click=st.session_state.__setitem__, args=(WAY, "disk"),
                help="Opens what to bring: for a machine without a network.",
            )  # fmt: skip
        way = st.session_state.get(WAY)
        if way == "hub":
            precision = one.precision if one.precision in ("8 bit", "4 bit") else ""
            models_hub.consent(workspace, offer.hub, key=KEY, description=description, precision=precision)
        elif way == "disk":
            at = f", commit {offer.revision}" if offer.revision else ""
            st.markdown(
                f"On a machine with a network, load the files of **{plain(offer.hub)}**{at}: config.json, the "
                "tokenizer's files and every *.safetensors. Bring their folder on a disk, and name it under “Add a "
                "language model”, “From a folder”, below."
            )
        with st.expander("Details: size, memory, languages, commit", key=f"{KEY}.details.{offer.hub}"):
            precisions = ", ".join(f"{size(offer.memory_bytes(p))} in {p}" for p in engine.PRECISIONS)
            languages = ", ".join(LANGUAGE_NAMES[code] for code in offer.languages)
            st.markdown(
                f"{offer.parameters / 1e9:.2g} billion numbers. Memory at work: {precisions}. Reads "
                f"{number(offer.context)} tokens. Languages: {languages}."
            )
            st.caption(
                f"Commit {offer.revision}." if offer.revision
                else "No commit of it could be confirmed beforehand: the hub's latest one is taken, shown and kept."
            )  # fmt: skip


def short_name(one: engine.Suggestion) -> str:
    """Return what a model is called here: its name at the hub without its owner's, which its card says."""
    return one.offer.hub.partition("/")[2]


def time(one: engine.Suggestion, texts: int, *, short: bool = False) -> str:
    """Return how long so many texts would take; `short` for a cell. A suggestion's own hours are for 500."""
    hours = one.hours * texts / TEXTS
    minutes = max(1.0, hours * 60)
    if short:
        return f"{minutes:.0f} min" if minutes < 90 else f"{hours:.0f} h"
    if minutes < 90:
        return f"about {count_of(round(minutes), 'minute')}"
    return f"about {hours:.0f} hours"
