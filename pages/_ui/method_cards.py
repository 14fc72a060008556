"""Cards of the synthesis methods, and the choice between them.

How to use: `spec = choose(workspace, corpus)`; `badge(kind)` draws a guarantee's badge anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

import engine
from pages._ui import readable
from pages._ui.texts import GUARANTEES, plain, seconds

CHOICE = "plan.method"
SHOWN, ALL = "plan.shown", "All methods"
PROMISES: dict[str, tuple[str, ...]] = {  # what is promised -> kinds of guarantee
    "A proven bound": ("dp",),
    "A noisy choice, no bound": ("selection-only",),
    "Nothing proven": ("heuristic", "none"),
}
NEEDS = {
    "generator": "a language model",
    "operators": "prompt formats",
    "embedder": "a sentence model",
    "detector": "the detector",
    "spans": "reviewed findings",
    "instruct": "a model that follows instructions",
    "train": "a model that can be trained",
    "block_tokens": "a model that can be kept from writing given words",
    "logits": "a model whose probabilities can be read",
    "sentiment": "a sentiment model",
    "classifier": "a classifier",
    "pool": "a pool of texts made elsewhere",
}


def badge(kind: str) -> None:
    """Draw a guarantee's badge with its meaning behind it."""
    text, colour, icon, meaning = GUARANTEES[kind]
    st.badge(text, color=colour, icon=f":material/{icon}:", help=meaning)  # type: ignore[arg-type]


def choose(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> engine.MethodSpec:
    """Draw one card a method, by what they promise; return the chosen specification."""
    methods = {spec.id: spec for spec in workspace.plan.methods()}
    if st.session_state.get(CHOICE) not in methods:
        st.session_state[CHOICE] = next(iter(methods))
    shown = _shown(methods)
    st.radio(
        "Method",
        list(shown),
        format_func=lambda method_id: methods[method_id].title,
        key=CHOICE,
        horizontal=True,
        persist_state="session",
    )
    for kinds in PROMISES.values():
        group = [spec for spec in shown.values() if spec.kind in kinds]
        if not group:
            continue
        with st.grid(3, min_column_width=320):
            for spec in group:
                _card(workspace, corpus, spec, chosen=spec.id == st.session_state[CHOICE])
    return methods[st.session_state[CHOICE]]


def _shown(methods: Mapping[str, engine.MethodSpec]) -> dict[str, engine.MethodSpec]:
    """Draw the choice of a promise and return the methods that make it; the chosen method is always among them."""
    promises = {name: kinds for name, kinds in PROMISES.items() if any(spec.kind in kinds for spec in methods.values())}
    if len(promises) < 2 or methods[st.session_state[CHOICE]].kind not in promises.get(
        str(st.session_state.get(SHOWN)), ()
    ):
        st.session_state[SHOWN] = ALL
    chosen = st.segmented_control(
        "Show", [ALL, *promises], key=SHOWN, required=True, persist_state="session",
        on_change=_first, args=(methods,),
    )  # fmt: skip
    kinds = promises.get(chosen or ALL)
    return {name: spec for name, spec in methods.items() if kinds is None or spec.kind in kinds}


def _first(methods: Mapping[str, engine.MethodSpec]) -> None:
    """Choose the first method that makes the promise asked for, if the chosen one does not; a callback."""
    kinds = PROMISES.get(st.session_state[SHOWN])
    if kinds is not None and methods[st.session_state[CHOICE]].kind not in kinds:
        st.session_state[CHOICE] = next(name for name, spec in methods.items() if spec.kind in kinds)


def _card(workspace: engine.Workspace, corpus: engine.CorpusSummary, spec: engine.MethodSpec, *, chosen: bool) -> None:
    with st.container(border=True, height="stretch", key=f"plan.card.{spec.id}"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{plain(spec.title)}**{' :material/check: chosen' if chosen else ''}")
            badge(spec.kind)
        st.markdown(plain(spec.summary))
        needs = ", ".join(NEEDS.get(need, need) for need in spec.needs if need != "operators") or "nothing else"
        said = readable.at_first(spec)
        st.markdown(
            f"**Good for** {plain(_lower(spec.good_for))}  \n"
            f"**Bad for** {plain(_lower(spec.bad_for))}  \n"
            f"**Needs** {plain(needs)}  \n"
            + (f"**Text that says nothing** {said}  \n" if said else "")
            + f"**Costs here** {_cost(workspace, corpus.id, spec.id)}"
        )
        st.caption(plain(spec.citation))


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


@st.cache_data(scope="session", show_spinner=False, max_entries=200)
def _cost(_workspace: engine.Workspace, corpus_id: str, method_id: str) -> str:
    """Return the time of a run with the method's defaults; a corpus never changes, so neither does this."""
    spec = next(spec for spec in _workspace.plan.methods() if spec.id == method_id)
    try:
        plan = _workspace.plan.draft(corpus_id, method_id).plan
    except engine.UserError:
        return "not known yet"
    cost = f"{seconds(plan.seconds)} for {plan.outputs:,} outputs, roughly"
    if "epsilon" not in spec.parameters.model_fields or spec.kind != "dp":
        return cost
    return f"{cost}; at first ε = {spec.parameters.model_fields['epsilon'].get_default():g} of the budget"
