"""What was typed for a release, kept with its run until it is released: a look at another page forgets nothing.

How to use: `fill(workspace, run)` before the fields are drawn, `keep` as each field's callback, `forget` once released.
The name of the second person is kept like the other words; that they signed is not (see `second`).
"""

from __future__ import annotations

from datetime import UTC, date, datetime

import streamlit as st

import engine
from pages._ui.sign_in.visitor import may
from pages._ui.states import act

OF = "release.card.of"  # the run that the fields are about
SECOND = "second"
WORDS = ("title", "source", "contact", "licence", "purpose", "recipient")
FIELDS = (*WORDS, "review", SECOND)
OFFERED = ("source", "contact", "licence", "recipient")  # again with the next release of a corpus


def key_of(name: str) -> str:
    """Return the key of a field."""
    return "release.second" if name == SECOND else f"release.card.{name}"


def fill(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Fill the fields that hold nothing of this run: with what was typed for it, else with what was released last."""
    anew = st.session_state.get(OF) != run.id
    empty = [name for name in FIELDS if anew or key_of(name) not in st.session_state]
    st.session_state[OF] = run.id
    if not empty:
        return
    known, last = (
        _all(workspace, run.corpus_id).get(run.id, {}),
        next(iter(workspace.releases.all(run.corpus_id)), None),
    )
    for name in empty:
        offered = last.words.get(name, "") if last and name in OFFERED else ""
        said = str(known.get(name, offered) or "")
        st.session_state[key_of(name)] = _day(said) if name == "review" else said


def keep(workspace: engine.Workspace, run: engine.RunSummary, name: str) -> None:
    """Keep a field with the run, a callback; for whoever may change nothing it stands for this session."""
    value = st.session_state.get(key_of(name))
    said = value.isoformat() if isinstance(value, date) else str(value or "")
    known = _all(workspace, run.corpus_id)
    _store(workspace, run.corpus_id, {**known, run.id: {**known.get(run.id, {}), name: said}})


def forget(workspace: engine.Workspace, run_id: str) -> None:
    """Forget what was typed for a run that is released: the release holds it."""
    corpus_id = workspace.runs.get(run_id).corpus_id
    known = _all(workspace, corpus_id)
    if known.pop(run_id, None) is not None:
        _store(workspace, corpus_id, known)


def _all(workspace: engine.Workspace, corpus_id: str) -> dict[str, engine.JSONObject]:
    """Return what is kept of each run of a corpus, by run."""
    found = workspace.settings.get(_setting(corpus_id))
    return {run: kept for run, kept in found.items() if isinstance(kept, dict)} if isinstance(found, dict) else {}


def _store(workspace: engine.Workspace, corpus_id: str, kept: dict[str, engine.JSONObject]) -> None:
    if may(engine.Right.MANAGE):
        runs = {run.id for run in workspace.runs.all(corpus_id)}
        value: engine.JSONObject = {run: words for run, words in kept.items() if run in runs}
        act(workspace.settings.set, _setting(corpus_id), value, corpus_id=corpus_id)


def _setting(corpus_id: str) -> str:
    return f"release.words.{corpus_id}"  # what ends in a corpus' id goes with it


def _day(said: str) -> date | None:
    """Return a day to come, or None."""
    try:
        day = date.fromisoformat(said)
    except ValueError:
        return None
    return day if day > datetime.now(UTC).date() else None
