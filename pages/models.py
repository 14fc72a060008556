"""Models: what is on this machine, what each can do, its memory, licence, folder and self-test."""

from __future__ import annotations

import streamlit as st

from pages._ui import models_cards
from pages._ui.guard import guard

workspace = guard()

st.title("Models", anchor=False)
st.markdown(
    "These models come with the application and run on this machine alone. None is ever downloaded, "
    "and none of their own code is run: only weights in the safetensors format are read."
)
st.button(
    "Test the files",
    icon=":material/health_and_safety:",
    key="models.test",
    on_click=models_cards.test_all,
    args=(workspace,),
)
for model in models_cards.known(workspace):
    models_cards.card(model)
st.caption("Other models (a folder of your own, an endpoint) are not part of this edition.")
