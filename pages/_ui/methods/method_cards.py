"""Cards of the synthesis methods, and the choice between them.

Each card is a button: a press chooses the method, by mouse or by keyboard, and shows at once in the browser.

What a card says of people and noise is the verdict on the run that the standard preset makes at the strength that is
asked for, so that it is what the bar below says once the card is pressed.

How to use: `spec = choose(drafts, runs, recommended, on_choice)`; `badge(kind)` draws a guarantee's badge.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import streamlit as st

import engine
from engine import JSON, Recommended, SignalVerdict
from pages._ui.language import lowered, mark, tr, trn
from pages._ui.plan import certainty, lasting
from pages._ui.plan.leaving import Ways
from pages._ui.plan.model import BUILTIN
from pages._ui.plan.words import FACES, GROUPS, NEEDS, card_of, group_of
from pages._ui.texts import GUARANTEES, number, plain

CHOICE = "plan.method"
BESIDE = f"{CHOICE}.beside"  # of a corpus: what was last chosen beside what is recommended
ALL = "plan.all"
PLANNED, MOST = "plan.cards.planned", 400  # where a session keeps what standard runs come to, and how many
WEAK: dict[str, str] = {  # level of a verdict -> what the badge says after the promise
    "weak": mark("{promise}, weak signal here"),
    "noise": mark("{promise}, mostly noise here"),
}
COMPUTED = mark("{promise}, signal being computed")
STAYS = mark("First choice, stays inside")  # where its text cannot go to the readers
LEAST_WEAK, NEAREST = mark("Least weak here"), mark("First choice here")  # a first method whose signal is weak
SIGNAL: dict[str, str] = {  # level of a verdict on a proven method's run -> its line, where nothing is in the way
    "enough": mark("Enough signal to choose by, where people agree."),
    "pending": mark("Its noise is being computed."),
    "unknown": mark("How far its signal stands out is not known."),
}
_FOLDER = Path(__file__).resolve().parent.parent / "plan"


class Face(TypedDict):
    """What the browser draws of a card."""

    id: str
    name: str
    badge: str
    tone: str
    best: str
    weak: bool
    does: str
    good: str
    mind: str
    takes: str
    signal: str
    cost: str


class Group(TypedDict):
    """Cards under a heading; an empty heading is left out."""

    title: str
    cards: list[Face]


NEARER = {  # what was measured of few texts that are unlike the model's (README, "Which of them when")
    name: mark(
        "Though its signal is weak here: on 300 texts unlike those that the model knows, at ε = 1 and 4, it came "
        "clearly nearer to them than text that reads nothing."
    )
    for name in ("dp-topics", "aug-pe")
}
_COMPONENT = st.components.v2.component(
    "understudy_cards",
    html='<div class="deck"></div>',
    css=(_FOLDER / "cards.css").read_text(encoding="utf-8"),
    js=(_FOLDER / "cards.js").read_text(encoding="utf-8"),
)


@dataclass(frozen=True)
class Planned:
    """What a run by the standard preset would come to."""

    outputs: int
    seconds: float
    verdict: SignalVerdict
    guarantee: engine.Guarantee


def badge(kind: str) -> None:
    """Draw a guarantee's badge with its meaning behind it."""
    text, colour, icon, meaning = GUARANTEES[kind]
    st.badge(tr(text), color=colour, icon=f":material/{icon}:", help=tr(meaning))  # type: ignore[arg-type]


def choose(
    drafts: Drafts,
    runs: Sequence[engine.RunSummary],
    recommended: Sequence[Recommended],
    on_choice: Callable[[str], None],
    ways: Ways | None = None,
) -> engine.MethodSpec:
    """Draw what is recommended, then every method folded, by what they promise; return the chosen specification.

    runs: those of the corpus; their times are told. ways: under which policies a run could leave to the readers.
    """
    methods = {spec.id: spec for spec in drafts.workspace.plan.methods()}
    first = best(drafts, recommended) if recommended else ""
    if st.session_state.get(CHOICE) not in methods:
        st.session_state[CHOICE] = first or next(iter(methods))
    chosen = str(st.session_state[CHOICE])
    recommended = sorted(recommended, key=lambda one: one.method != first)
    ran = {name: took for name in methods if (took := lasting.last(runs, name, BUILTIN)) is not None}
    title = _title(drafts, recommended, methods)
    faces = [
        face_of(drafts, methods[one.method], one, ran, title if one.method == first else "") for one in recommended
    ]
    if ways is not None and faces and _way(drafts, recommended[0], ways) is None:
        title = tr(STAYS)
        lead_out(drafts, recommended, faces, ways)
    named = {one.method for one in recommended}
    decks: list[Group] = [{"title": "", "cards": faces}]
    if beside := _beside(drafts.corpus.id, chosen, named):
        decks.insert(0, {"title": "", "cards": [face_of(drafts, methods[beside], None, ran)]})
    _deck(decks, chosen, tr("Recommended methods"), "plan.cards", on_choice)
    for one in recommended:
        if one.method == first:
            name = plain(card_of(methods[first]).name)
            nearer = first in NEARER and _weak(drafts, one)  # how weak stands on the card and above Start
            short = tr(NEARER[first]) if nearer else plain(_in_short(drafts, one))
            alone = tr("None of these works well for so few people.") if _hopeless(drafts, recommended, methods) else ""
            st.caption(f"**{title}: {name}.** {f'{alone} ' if alone else ''}{short}")
    box = st.expander(
        tr("All {n} methods, by what they promise", n=len(methods)), icon=":material/apps:", key=ALL, on_change="rerun"
    )
    if box.open:
        with box:
            groups: list[Group] = [
                {"title": tr(title), "cards": [face_of(drafts, spec, None, ran) for spec in found]}
                for name, title in GROUPS.items()
                if (found := [spec for spec in methods.values() if group_of(spec) == name])
            ]
            _deck(groups, chosen, tr("All methods"), "plan.cards.all", on_choice, as_list=True)
    return methods[chosen]


def forget(corpus_id: str) -> None:
    """Forget what was chosen beside what is recommended: it was chosen for other answers."""
    st.session_state.pop(f"{BESIDE}.{corpus_id}", None)


def _beside(corpus_id: str, chosen: str, recommended: Collection[str]) -> str:
    """Return the method that was last chosen beside what is recommended; empty where none was.

    It stays when another is chosen: else every card would move under the pointer.
    """
    key = f"{BESIDE}.{corpus_id}"
    if chosen not in recommended:
        st.session_state[key] = chosen
    last = str(st.session_state.get(key, ""))
    return "" if last in recommended else last


def lead_out(drafts: Drafts, recommended: Sequence[Recommended], faces: Sequence[Face], ways: Ways) -> None:
    """Mark that text of the first card cannot go to the readers, and the first card whose text can."""
    faces[0]["best"], faces[0]["weak"] = tr(STAYS), True
    for one, face in zip(recommended[1:], faces[1:], strict=False):
        if one.fits and (policy := _way(drafts, one, ways)) is not None:
            face["best"] = tr("Can be released: {policy}", policy=plain(policy.title))
            return


def _way(drafts: Drafts, one: Recommended, ways: Ways) -> engine.Policy | None:
    """Return the policy under which text of a method's standard run could go to the readers."""
    found = drafts.of(engine.get_method(one.method).spec)
    return None if found is None else ways.way(found.guarantee)


def best(drafts: Drafts, recommended: Sequence[Recommended]) -> str:
    """Return the first method that suits and whose standard run is not mostly noise; the first where each is.

    The order is measured (README, "Which of them when"): a weak signal alone does not overturn it.
    """
    return next((one.method for one in recommended if not _drowned(drafts, one)), recommended[0].method)


def _title(drafts: Drafts, recommended: Sequence[Recommended], methods: Mapping[str, engine.MethodSpec]) -> str:
    """Return what the first method is called: recommended, or what it is where its signal is weak."""
    if not recommended or not _weak(drafts, recommended[0]):
        return tr("Recommended")
    if recommended[0].method in NEARER and _another(drafts, recommended, methods):
        return tr(NEAREST)
    return tr(LEAST_WEAK)


def _hopeless(drafts: Drafts, recommended: Sequence[Recommended], methods: Mapping[str, engine.MethodSpec]) -> bool:
    """Return whether the first method's signal is weak, and no other proven one's is enough."""
    return _weak(drafts, recommended[0]) and not _another(drafts, recommended, methods)


def _another(drafts: Drafts, recommended: Sequence[Recommended], methods: Mapping[str, engine.MethodSpec]) -> bool:
    """Return whether another proven method than the first has signal enough."""
    found = [drafts.of(methods[one.method]) for one in recommended[1:] if methods[one.method].kind == "dp"]
    return any(one is not None and one.verdict.level == "enough" for one in found)


def why(drafts: Drafts, one: Recommended) -> str:
    """Return why a method is recommended; the verdict on its run where noise is in the way of that."""
    found = drafts.of(engine.get_method(one.method).spec)
    return one.why if found is None or found.verdict.level not in WEAK else found.verdict.sentence


def _weak(drafts: Drafts, one: Recommended) -> bool:
    found = drafts.of(engine.get_method(one.method).spec)
    return found is not None and found.verdict.level in WEAK


def _in_short(drafts: Drafts, one: Recommended) -> str:
    """Return the verdict on a method's run where it can be given, else the first sentence of why it is recommended."""
    found = drafts.of(engine.get_method(one.method).spec)
    if found is not None and (found.verdict.level == "enough" or found.verdict.level in WEAK):
        return found.verdict.sentence
    return f"{one.why.partition('. ')[0].removesuffix('.')}."


def _drowned(drafts: Drafts, one: Recommended) -> bool:
    found = drafts.of(engine.get_method(one.method).spec)
    return not one.fits or (found is not None and found.verdict.level == "noise")


def _deck(
    groups: list[Group], chosen: str, label: str, key: str, on_choice: Callable[[str], None], *, as_list: bool = False
) -> None:
    def picked() -> None:
        name = st.session_state[key].get("picked")
        if isinstance(name, str) and name:
            st.session_state[CHOICE] = name
            on_choice(name)

    _COMPONENT(
        key=key,
        data={
            "groups": groups,
            "chosen": chosen,
            "label": label,
            "list": as_list,
            "good": tr("Good for"),
            "mind": tr("Mind"),
        },
        on_picked_change=picked,
    )


def face_of(
    drafts: Drafts,
    spec: engine.MethodSpec,
    one: Recommended | None = None,
    ran: Mapping[str, engine.RunSummary] | None = None,
    title: str = "",
) -> Face:
    """Return what the browser draws of a method's card.

    one: says whether it fits. ran: the last run of each method here. title: of the method that is marked as the
    first, empty for the others.
    """
    words, (face, tone) = card_of(spec), FACES[group_of(spec)]
    promise, found = tr(face), drafts.of(spec)
    said = promise
    if one is not None and not one.fits:
        said = tr("{promise}, too few people here", promise=promise)
    elif found is not None and found.verdict.level in WEAK:
        said = tr(WEAK[found.verdict.level], promise=promise)
    elif spec.kind == "dp" and found is not None and found.verdict.level == "pending":
        said = tr(COMPUTED, promise=promise)
    return {
        "id": spec.id,
        "name": words.name,
        "badge": said,
        "tone": tone if said in (promise, tr(COMPUTED, promise=promise)) else "few",
        "best": title,
        "weak": found is not None and found.verdict.level in WEAK,
        "does": words.does,
        "good": _lower(words.good),
        "mind": _lower(words.mind),
        "takes": "" if found is None else _takes(found.verdict, drafts.facts),
        "signal": _signal(spec, found),
        "cost": _cost(drafts, spec, found, (ran or {}).get(spec.id)),
    }


def _signal(spec: engine.MethodSpec, found: Planned | None) -> str:
    """Return how a proven method's standard run stands to its noise, where that is not in the way or not known."""
    said = SIGNAL.get(found.verdict.level) if found is not None and spec.kind == "dp" else None
    return tr(said) if said else ""


def needs(names: Iterable[str], *, searched: bool = False) -> str:
    """Return what a method needs that a custodian has to see to; empty where that is nothing.

    searched: whether identifiers of the corpus were looked for, or came with the file.
    """
    return ", ".join(tr(NEEDS[name]) for name in names if name in NEEDS and not (searched and name == "spans"))


def _lower(sentence: str) -> str:
    return lowered(sentence[:1]) + sentence[1:]


class Drafts:
    """What a corpus' runs by the standard preset come to at the strength that is asked for, for one draw of a page.

    A session keeps what was found for as long as nothing that it follows from changes, and not while something is being
    computed. `facts` are asked for once a draw.
    """

    def __init__(
        self, workspace: engine.Workspace, corpus: engine.CorpusSummary, facts: engine.Facts | None = None
    ) -> None:
        """Take the facts, or ask for them; nothing is drafted yet."""
        self.workspace, self.corpus = workspace, corpus
        self.facts = facts or workspace.ledger.facts(corpus.id)
        self._found: dict[str, Planned | None] = {}

    def of(self, spec: engine.MethodSpec) -> Planned | None:
        """Return what a method's run comes to; None where nothing can tell."""
        if spec.id not in self._found:
            self._found[spec.id] = _planned(self, spec)
        return self._found[spec.id]


def _planned(drafts: Drafts, spec: engine.MethodSpec) -> Planned | None:
    workspace, corpus, facts = drafts.workspace, drafts.corpus, drafts.facts
    epsilon = certainty.held(workspace, corpus.id) if certainty.applies(spec) else None
    known: dict[tuple[str, ...], Planned] = st.session_state.setdefault(PLANNED, {})
    key = (corpus.id, spec.id, repr(facts), repr(epsilon))
    if key in known:
        return known[key]
    standard = next(preset for preset in engine.presets_of(spec.id) if preset.id == "standard")
    settings: dict[str, JSON] = dict(standard.parameters)
    if epsilon is not None and epsilon != spec.parameters.model_fields["epsilon"].get_default():
        settings["epsilon"] = epsilon
    try:
        count = standard.count(spec, facts)
        draft = workspace.plan.draft(corpus.id, spec.id, count=count, parameters=settings)
    except engine.UserError:
        return None
    found = Planned(draft.plan.outputs, draft.plan.seconds, draft.verdict, draft.guarantee)
    if found.verdict.level != "pending":
        if len(known) >= MOST:
            known.clear()
        known[key] = found
    return found


def _takes(verdict: SignalVerdict, facts: engine.Facts) -> str:
    """Return how many it would take, where that is more than there are."""
    if verdict.units is None:
        return ""
    least, here = number(verdict.units), number(facts.units)
    if facts.unit == "source":
        return tr("Needs about {least} people; there are {here}.", least=least, here=here)
    return tr("Needs about {least} records; there are {here}.", least=least, here=here)


def _cost(drafts: Drafts, spec: engine.MethodSpec, found: Planned | None, last: engine.RunSummary | None) -> str:
    """Return what a run by the standard preset takes, going by the last one where there is one, and what it needs."""
    parts = [tr("Time not known yet")]
    if found is not None:
        time = lasting.about(lasting.pace(drafts.workspace, last).of(found.seconds))
        parts = [trn("{time} for {n} text", "{time} for {n} texts", found.outputs, time=time)]
    if last is not None:
        parts.append(lasting.last_words(last))
    if wanted := needs(spec.needs, searched=drafts.corpus.span_source is not None):
        parts.append(tr("needs {wanted}", wanted=wanted))
    return "; ".join(parts)
