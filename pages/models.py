"""Models: what is here and what would suit this machine; what each can do, its memory and test; adding one."""

from __future__ import annotations

import streamlit as st

from pages._ui.current import current_corpus
from pages._ui.guard import guard
from pages._ui.models import add as models_add
from pages._ui.models import cards as models_cards
from pages._ui.models import describe as models_describe
from pages._ui.models import hub as models_hub
from pages._ui.models import meaning as models_meaning
from pages._ui.models import table as models_table
from pages._ui.parts.progress import job_progress, running_job

workspace = guard()

st.title("Models", anchor=False)
st.markdown(
    "Nothing is downloaded before you confirm it by name. Only weights in the safetensors format are read, never code. "
    "Choose a row to see its model below."
)
if (job := running_job(workspace, kind="selftest")) is not None:
    job_progress(workspace, job.id, key="models.testing")
models_hub.state(workspace)

corpus = current_corpus(workspace)
description = None if corpus is None else workspace.descriptions.get(corpus.id)
models_table.draw(workspace, corpus, description)
if corpus is not None:
    models_describe.form(workspace, corpus, "models")

st.subheader("Add a language model", anchor=False)
from_folder, from_server, from_hub = st.tabs(["From a folder", "A server", "From the hub"])
with from_folder:
    models_add.folder(workspace)
with from_server:
    models_add.server(workspace)
with from_hub:
    models_hub.draw(workspace)

helpers = {model_id: model for model_id, model in models_cards.known(workspace).items() if model_id != "builtin"}
missing = [model_id for model_id, model in helpers.items() if model is None]
with st.expander("Built-in helpers: taggers, tone, likeness", icon=":material/handyman:", key="models.helpers",
                 expanded=bool(missing)):  # fmt: skip
    st.button(
        "Check the files of built-in models",
        icon=":material/health_and_safety:",
        key="models.test",
        on_click=models_cards.test_all,
        args=(workspace,),
    )
    models_meaning.draw(workspace)
    for model_id, model in helpers.items():
        models_cards.card(model_id, model)
