"""What examinations measure meaning by: the built-in embeddings, character n-grams or a sentence model in a folder."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.models.suggested import KEY as SUGGESTED
from pages._ui.states import act
from pages._ui.texts import plain

KEY = "models.meaning"
FOLDER = "folder"
CHOICES = {
    "auto": "Automatic: by the language of the text",
    "english": "Built-in, English",
    "ngrams": "Character n-grams, any language",
    FOLDER: "A sentence model in a folder",
}


def draw(workspace: engine.Workspace) -> None:
    """Draw the choice, the folder where one is named, and the model proposed for the language chosen above."""
    kept = workspace.models.embedder()
    named = kept not in CHOICES
    choice = st.selectbox(
        "Measure meaning in examinations by", list(CHOICES), index=list(CHOICES).index(FOLDER if named else kept),
        key=f"{KEY}.choice", format_func=CHOICES.__getitem__, on_change=_choose, args=(workspace,),
        help="Automatic takes the built-in embeddings where at least half of the text looks English, else character "
        "n-grams. Examinations made before keep what they were measured by; mechanisms always use the built-in ones.",
    )  # fmt: skip
    if choice == FOLDER:
        st.text_input(
            "Folder of a sentence model on this machine", value=kept if named else "", key=f"{KEY}.folder",
            placeholder="/media/disk/sentence-model",
            help="It holds config.json, modules.json and model.safetensors; nothing of it is loaded here.",
        )  # fmt: skip
        st.button("Use this folder", icon=":material/check:", key=f"{KEY}.use", on_click=_use, args=(workspace,))
    language = str(st.session_state.get(f"{SUGGESTED}.language") or "en")
    for one in workspace.hub.suggest(language).sentence_models:
        st.caption(plain(f"For the language chosen above: {one.sentence()}"))


def _choose(workspace: engine.Workspace) -> None:
    choice = str(st.session_state[f"{KEY}.choice"])
    if choice != FOLDER:
        act(workspace.models.set_embedder, choice, done="Examinations from now on measure by it.")


def _use(workspace: engine.Workspace) -> None:
    folder = str(st.session_state[f"{KEY}.folder"])
    act(workspace.models.set_embedder, folder, done="Examinations from now on measure by it.")
