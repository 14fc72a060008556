"""Cards of the synthesis methods, and the choice between them.

Each card is a button: a press chooses the method, by mouse or by keyboard, and shows at once in the browser.

How to use: `spec = choose(workspace, corpus, recommended)`; `badge(kind)` draws a guarantee's badge anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypedDict

import streamlit as st

import engine
from engine import Recommended
from pages._ui.language import lowered, tr, trn
from pages._ui.language.words import code
from pages._ui.plan.words import FACES, GROUPS, NEEDS, card_of, group_of
from pages._ui.texts import GUARANTEES, seconds

CHOICE = "plan.method"
ALL = "plan.all"
_FOLDER = Path(__file__).resolve().parent.parent / "plan"


class Face(TypedDict):
    """What the browser draws of a card."""

    id: str
    name: str
    badge: str
    tone: str
    does: str
    good: str
    mind: str
    cost: str


class Group(TypedDict):
    """Cards under a heading; an empty heading is left out."""

    title: str
    cards: list[Face]


_COMPONENT = st.components.v2.component(
    "understudy_cards",
    html='<div class="deck"></div>',
    css=(_FOLDER / "cards.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "cards.js").read_text(encoding="utf-8"),
)


def badge(kind: str) -> None:
    """Draw a guarantee's badge with its meaning behind it."""
    text, colour, icon, meaning = GUARANTEES[kind]
    st.badge(tr(text), color=colour, icon=f":material/{icon}:", help=tr(meaning))  # type: ignore[arg-type]


def choose(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    recommended: Sequence[Recommended],
    on_choice: Callable[[str], None],
) -> engine.MethodSpec:
    """Draw what is recommended, then every method folded, by what they promise; return the chosen specification."""
    methods = {spec.id: spec for spec in workspace.plan.methods()}
    if st.session_state.get(CHOICE) not in methods:
        st.session_state[CHOICE] = recommended[0].method if recommended else next(iter(methods))
    chosen = str(st.session_state[CHOICE])
    faces = [face_of(workspace, corpus, methods[one.method], one) for one in recommended]
    named = {one.method for one in recommended}
    if chosen not in named:
        faces.append(face_of(workspace, corpus, methods[chosen]))
    _deck([{"title": "", "cards": faces}], chosen, tr("Recommended methods"), "plan.cards", on_choice)
    box = st.expander(
        tr("All {n} methods, by what they promise", n=len(methods)), icon=":material/apps:", key=ALL, on_change="rerun"
    )
    if box.open:
        with box:
            groups: list[Group] = [
                {"title": tr(title), "cards": [face_of(workspace, corpus, spec) for spec in found]}
                for name, title in GROUPS.items()
                if (found := [spec for spec in methods.values() if group_of(spec) == name])
            ]
            _deck(groups, chosen, tr("All methods"), "plan.cards.all", on_choice)
    return methods[chosen]


def _deck(groups: list[Group], chosen: str, label: str, key: str, on_choice: Callable[[str], None]) -> None:
    def picked() -> None:
        name = st.session_state[key].get("picked")
        if isinstance(name, str) and name:
            st.session_state[CHOICE] = name
            on_choice(name)

    _COMPONENT(
        key=key,
        data={"groups": groups, "chosen": chosen, "label": label, "good": tr("Good for"), "mind": tr("Mind")},
        on_picked_change=picked,
    )


def face_of(
    workspace: engine.Workspace, corpus: engine.CorpusSummary, spec: engine.MethodSpec, one: Recommended | None = None
) -> Face:
    """Return what the browser draws of a method's card; `one` says whether it fits."""
    words, (face, tone) = card_of(spec), FACES[group_of(spec)]
    promise = tr(face)
    few = one is not None and not one.fits
    return {
        "id": spec.id,
        "name": words.name,
        "badge": tr("{promise}, too few people here", promise=promise) if few else promise,
        "tone": "few" if few else tone,
        "does": words.does,
        "good": _lower(words.good),
        "mind": _lower(words.mind),
        "cost": _cost(workspace, corpus.id, spec.id, code()),
    }


def needs(names: Iterable[str]) -> str:
    """Return what a method needs that a custodian has to see to; empty where that is nothing."""
    return ", ".join(tr(NEEDS[name]) for name in names if name in NEEDS)


def _lower(sentence: str) -> str:
    return lowered(sentence[:1]) + sentence[1:]


@st.cache_data(scope="session", show_spinner=False, max_entries=200)
def _cost(_workspace: engine.Workspace, corpus_id: str, method_id: str, language: str) -> str:
    """Return what a run by the standard preset takes, in a language; a corpus never changes, so neither does this."""
    spec = next(spec for spec in _workspace.plan.methods() if spec.id == method_id)
    standard = next(preset for preset in engine.presets_of(method_id) if preset.id == "standard")
    wanted = needs(spec.needs)
    asked = f"; {tr('needs {wanted}', wanted=wanted)}" if wanted else ""
    try:
        count = standard.count(spec, _workspace.ledger.facts(corpus_id))
        plan = _workspace.plan.draft(corpus_id, method_id, count=count, parameters=dict(standard.parameters)).plan
    except engine.UserError:
        return tr("Time not known yet") + asked
    return (
        trn("About {time} for {n} text", "About {time} for {n} texts", plan.outputs, time=seconds(plan.seconds)) + asked
    )
