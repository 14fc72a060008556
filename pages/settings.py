"""Settings: who acts, self-check, storage, backup, deletion, languages, prompts, policies."""

from __future__ import annotations

import streamlit as st

from pages._ui import prompt_templates
from pages._ui.guard import guard
from pages._ui.settings import languages as settings_languages
from pages._ui.settings import parts as settings_parts
from pages._ui.settings import policies as settings_policies
from pages._ui.sign_in import people

workspace = guard()

st.title("Settings", anchor=False)
left, right = st.columns(2, gap="large")
with left:
    st.subheader("People and text", anchor=False)
    settings_parts.person(workspace)
    st.subheader("Does anything leave this machine?", anchor=False)
    settings_parts.self_check(workspace)
    st.subheader("Backup", anchor=False)
    settings_parts.backup(workspace)
with right:
    st.subheader("Storage", anchor=False)
    settings_parts.storage(workspace)
    st.subheader("Delete a corpus", anchor=False)
    settings_parts.delete(workspace)

st.subheader("Who may do what", anchor=False)
people.draw(workspace)
st.subheader("Languages", anchor=False)
settings_languages.draw()
st.subheader("Prompt templates", anchor=False)
prompt_templates.draw(workspace)
st.subheader("Policies", anchor=False)
settings_policies.draw(workspace)
