"""Models as cards: what each does here, its size, licence, where it lies, and a self-test of its files.

The self-test reads files in this process; no model is loaded here, that is the worker's part.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

import engine
from pages._ui.models import describe as models_describe
from pages._ui.models import language as models_language
from pages._ui.plan.words import names
from pages._ui.texts import number, plain

TITLES = {
    "builtin": "Built-in language model, for trying out",
    "builtin-tagger": "Built-in tagger",
    "builtin-word-tagger": "Built-in tagger for several languages",
    "builtin-sentiment": "Built-in sentiment classifier",
    "encoder": "Sentence encoder",
}
ICONS = {"language model": "edit_note", "tagger": "sell", "encoder": "hub"}
CAPABILITIES = {
    "tagger": ("marks names, places, organisations, dates",),
    "encoder": ("turns text into vectors", "base of the tagger"),
}
EXPECTED = ("builtin", "builtin-tagger", "encoder")
RESULTS = "models.tested"
BYTES_A_PARAMETER = 4  # the worker computes with 32-bit numbers


def known(workspace: engine.Workspace) -> dict[str, engine.BuiltInModel | None]:
    """Return the built-in models and the encoder they build on by id, None for one that is missing."""
    found: dict[str, engine.BuiltInModel | None] = {model.id: model for model in workspace.models.built_in()}
    return {**found, **{model_id: None for model_id in EXPECTED if model_id not in found}}


def card(
    model_id: str,
    model: engine.BuiltInModel | None,
    workspace: engine.Workspace | None = None,
    corpus: engine.CorpusSummary | None = None,
    beside: Callable[[], None] | None = None,
) -> None:
    """Draw one built-in model, None for a missing one; with a workspace, also what the worker found in its test.

    `beside` draws what stands beside the button of the self-test.
    """
    name = TITLES.get(model_id, model_id)
    with st.container(border=True, key=f"models.card.{model_id}"):
        if model is None:
            st.markdown(f":material/error: **{plain(name)}**")
            st.error("Not on this machine. Install the application again.", icon=":material/error:")
            return
        st.markdown(f":material/{ICONS.get(model.kind, 'memory')}: **{plain(name)}** · {plain(model.use)}")
        if workspace is not None:
            st.markdown(plain(workspace.models.verdict(model_id, names())))
        else:
            with st.container(horizontal=True):
                for word in CAPABILITIES.get(model.kind, ()):
                    st.badge(word, color="gray")
        with st.expander("Details: size, licence, where it lies", key=f"models.where.{model_id}"):
            if workspace is not None:
                models_language.capabilities(workspace.models.info(model_id))
            memory = model.parameters * BYTES_A_PARAMETER
            left, middle, right = st.columns(3)
            left.metric("On disk", _size(model.bytes))
            middle.metric(
                "Memory in the worker", f"about {_size(memory)}", help="Numbers alone, without the text at work."
            )
            right.metric("Numbers in it", _millions(model.parameters))
            st.markdown(f"Licence: {plain(model.licence)}. Works without a network.")
            st.code(f"{model.folder}\nSHA-256 {model.sha256}", language=None, wrap_lines=True)
        _result(model_id)
        if workspace is not None:
            models_language.self_test(workspace, model_id, beside)
            if corpus is not None:
                models_describe.first_texts(workspace, model_id, corpus)


def _result(model_id: str) -> None:
    answer = st.session_state.get(RESULTS, {}).get(model_id)
    if answer is not None:
        ok, sentence = answer
        (st.success if ok else st.error)(plain(sentence), icon=":material/check_circle:" if ok else ":material/error:")


def test_all(workspace: engine.Workspace) -> None:
    """Check every model's files and keep the answers for this session."""
    st.session_state[RESULTS] = {
        model_id: workspace.models.check_files(model) for model_id, model in known(workspace).items() if model
    }


def _size(count: int) -> str:
    if count < 1e5:
        return f"{number(count / 1e3, 1)} kB"
    return f"{number(count / 1e6, 0 if count >= 1e7 else 1)} MB"


def _millions(count: int) -> str:
    if count < 1e5:
        return number(count)
    return f"{count / 1e6:.1f} million"
