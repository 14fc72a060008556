"""Open models that suit this machine, and fetching one with the custodian's written consent.

Privacy posture: the list ships with the program; nothing is connected until a consent is given.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

import engine
from engine import LANGUAGE_NAMES
from pages._ui.models import hub as models_hub
from pages._ui.models.language import size
from pages._ui.parts import wrapped
from pages._ui.texts import count_of, number, plain

KEY = "models.suggested"
ROLES = {"best": "largest that suits", "first": "a first try"}
VERDICTS = {"fits": "fits", "slow": "slow here", "too large": "too large", "other language": "other languages"}


def draw(workspace: engine.Workspace, description: engine.Description | None) -> None:
    """Draw what suits this machine, the table of all, and the chosen one with its consent."""
    codes = list(LANGUAGE_NAMES)
    language = st.selectbox(
        "Language of the text", codes, index=codes.index(description.language if description else "en"),
        format_func=LANGUAGE_NAMES.__getitem__, key=f"{KEY}.language",
    )  # fmt: skip
    found = workspace.hub.suggest(language)
    st.markdown(
        f"This machine has {plain(found.machine.sentence())}. {_proposal(found)} The built-in model is for trying out: "
        "it is small, and most of what it writes reads badly. None of these is fetched without your written consent."
    )
    with st.container(key=f"{KEY}.table"):
        wrapped.table(_table(found), right=("Memory", "Time for 500 texts"))
    here = {info.source.partition("@")[0] for info in workspace.models.all()}
    models = {one.offer.hub: one for one in found.models if one.offer.hub not in here}
    if not models:
        st.caption("All of them are here.")
        return
    best = next((hub for hub in reversed(models) if models[hub].role), next(iter(models)))
    chosen = st.selectbox(
        "Model", list(models), index=list(models).index(best), key=f"{KEY}.chosen.{language}",
        format_func=lambda hub: hub + (f" ({ROLES[models[hub].role]})" if models[hub].role else ""),
    )  # fmt: skip
    _card(workspace, models[str(chosen)])
    with st.expander("Fetch it", icon=":material/cloud_download:", key=f"{KEY}.fetch.{chosen}"):
        bits = models[str(chosen)].precision
        precision = bits if bits in ("8 bit", "4 bit") else ""
        models_hub.consent(workspace, str(chosen), key=KEY, description=description, precision=precision)
    st.caption(
        "Where this machine has no network: fetch the folder on another one, bring it on a disk, and import it below."
    )


def _proposal(found: engine.Proposals) -> str:
    by_role = {one.role: one for one in found.models if one.role}
    if not by_role:
        return f"None of the open models known here suits it in {LANGUAGE_NAMES.get(found.language, found.language)}."
    best = by_role["best"] if "best" in by_role else by_role["first"]
    said = f"The largest one that suits it is **{plain(best.offer.hub)}**, {_time(best)} for 500 texts."
    if "first" in by_role and "best" in by_role:
        first = by_role["first"]
        said += f" To begin with, **{plain(first.offer.hub)}** is quicker: {_time(first)}."
    return said


def _card(workspace: engine.Workspace, one: engine.Suggestion) -> None:
    offer = one.offer
    served, lacking = workspace.hub.serves(offer)
    with st.container(border=True, key=f"{KEY}.card"):
        st.markdown(f"**{plain(offer.hub)}** · {plain(offer.why)}")
        left, middle, right = st.columns(3)
        left.metric("Numbers in it", f"{offer.parameters / 1e9:.2g} billion")
        middle.metric("Memory at work", size(one.memory_bytes), help=f"In {one.precision or 'the smallest precision'}.")
        right.metric("500 texts", _time(one), help="A rough estimate; the self-test measures.")
        precisions = ", ".join(f"{size(offer.memory_bytes(p))} in {p}" for p in engine.PRECISIONS)
        languages = ", ".join(LANGUAGE_NAMES[code] for code in offer.languages)
        st.markdown(
            f"Licence: {plain(offer.licence)}. Memory: {precisions}. Reads {number(offer.context)} tokens. "
            f"{'Can' if one.trains else 'Cannot'} be tuned on this machine. Languages: {languages}."
        )
        st.markdown(
            f"Serves {count_of(len(served), 'method')}" + (f", all but {', '.join(lacking)}." if lacking else ".")
        )
        st.caption(
            f"Commit {offer.revision}." if offer.revision
            else "No commit of it could be confirmed beforehand: the hub's latest one is taken, shown and kept."
        )  # fmt: skip


def _table(found: engine.Proposals) -> pd.DataFrame:
    return pd.DataFrame(
        [
            (
                one.offer.hub + (f" – {ROLES[one.role]}" if one.role in ROLES else ""),
                VERDICTS[one.verdict] + (f", in {one.precision}" if one.precision else ""),
                size(one.memory_bytes), _time(one), len(one.offer.languages), one.offer.licence,
            )
            for one in found.models
        ],
        columns=["Model", "Here", "Memory", "Time for 500 texts", "Languages", "Licence"],
    )  # fmt: skip


def _time(one: engine.Suggestion) -> str:
    minutes = one.hours * 60
    return f"about {minutes:.0f} minutes" if minutes < 90 else f"about {one.hours:.0f} hours"
