"""How much is set aside, and what that will be able to show: here it can still be changed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import streamlit as st

import engine
from engine import least_aside, open_share, share_allowed
from pages._ui.language import localised, tr
from pages._ui.load import mapping as load_mapping
from pages._ui.parts.sliders import slider
from pages._ui.texts import number, plain, share

if TYPE_CHECKING:
    from engine import ColumnMapping
    from pages._ui.load.file import Chosen

FIRST = "internal"  # the policy for the nearest readers outside the team
KEY = "load.holdout"
OF = "_ui.load.holdout.of"  # the table that the share was chosen for
# Percent. Where the slider stands at first is a constant, whatever file was chosen; what a file would need is offered,
# as far as the slider goes, and counts once a person asks for it.
START, MOST = 20, 50


def ask(
    workspace: engine.Workspace, preview: engine.FilePreview, chosen: Chosen, mapping: ColumnMapping, unit: str
) -> float:
    """Ask how much is set aside, say why, and what so many will be able to show; return the fraction."""
    st.markdown(
        tr(
            "Some people or records are drawn by lot and never shown to any method (the holdout). If synthetic text "
            "resembles the rest more than it resembles them, it remembers what it should not."
        )
    )
    if st.session_state.get(OF, chosen.place) != chosen.place:  # what one table needed says nothing of another
        st.session_state[KEY] = float(START)
    st.session_state[OF] = chosen.place
    st.session_state.setdefault(KEY, float(START))
    percent = slider(tr("Set aside"), 5, MOST, None, 1, key=KEY, unit="%", persist=True)
    people = load_mapping.people(mapping, unit, chosen)
    every = preview.total_rows if people is None else people
    if every and (unit == "record" or people is not None):
        _meaning(workspace.releases.policies(), every, percent, is_people=people is not None)
    return percent / 100


def _meaning(policies: tuple[engine.Policy, ...], every: int, percent: float, *, is_people: bool) -> None:
    """Say how many are set aside of how many, and whether measuring can show more than that text is for inside."""
    aside = round(every * percent / 100)
    about = {"some": number(aside), "every": number(every)}
    said = (
        tr("About **{some}** of {every} people.", **about)
        if is_people
        else tr("About **{some}** of {every} records.", **about)
    )
    first = next((policy for policy in policies if policy.id == FIRST), None)
    least, allowed = (None, None) if first is None else (least_aside(first), share_allowed(first))
    if first is None or least is None or allowed is None:
        st.caption(said)
        return
    if aside >= least:
        st.caption(f"{said} {_wider(policies, aside)}".rstrip())
        return
    few = tr("That is too few to show by measuring that text is safe outside the team.")
    why = tr(
        "Where a text gives away none of them, up to {open} of others like them could still be in it, and the policy "
        "“{policy}” allows {limit}. Beside more set aside, only a proof helps (policy “Proof alone”, for a run that "
        "nobody examined).",
        open=share(open_share(aside), 0), policy=plain(first.title), limit=share(allowed, 0),
    )  # fmt: skip
    needed = math.ceil(100 * least / every)
    if needed <= MOST:
        way = tr("{percent}% would do: by a rule of thumb it takes {least}.", least=number(least), percent=needed)
    else:
        takes = {"least": number(least), "all": number(2 * least)}
        way = (
            tr(
                "No share of this file is enough: it takes about {least}, so a file of {all} people at least.",
                **takes,
            )
            if is_people
            else tr(
                "No share of this file is enough: it takes about {least}, so a file of {all} records at least.",
                **takes,
            )
        )
    st.warning(f"{said} {few} {way}", icon=":material/warning:")
    st.caption(why)
    if needed <= MOST:
        st.button(
            tr("Set aside {share}", share=localised(f"{needed}%")),
            icon=":material/tune:",
            key="load.holdout.needed",
            on_click=st.session_state.__setitem__,
            args=(KEY, float(needed)),
        )


def _wider(policies: tuple[engine.Policy, ...], aside: int) -> str:
    """Return for which policies so many are enough by the rule of thumb, and from how many on the next one is."""
    known = sorted((least, policy.title) for policy in policies if (least := least_aside(policy)) is not None)
    enough = [title for least, title in known if least <= aside]
    more = [(least, title) for least, title in known if least > aside]
    said = tr("By number enough for “{policy}”.", policy=plain(enough[-1])) if enough else ""
    if more:
        least, title = more[0]
        said += " " + tr("“{policy}” takes {least}.", policy=plain(title), least=number(least))
    return said
