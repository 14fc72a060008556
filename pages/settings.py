"""Settings: the interface's language, who acts, self-check, storage, backup, deletion, languages, prompts, policies."""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.guard import guard
from pages._ui.language import choice
from pages._ui.methods import prompt_templates
from pages._ui.settings import languages as settings_languages
from pages._ui.settings import parts as settings_parts
from pages._ui.settings import policies as settings_policies
from pages._ui.sign_in import people
from pages._ui.sign_in.closed import barred

workspace = guard()

st.title("Settings", anchor=False)
GENERAL, ROLES, LANGUAGES, PROMPTS, POLICIES = st.tabs(
    ["General", "Who may do what", "Languages", "Prompt templates", "Policies"]
)
with GENERAL:
    choice.ask(workspace)
    left, right = st.columns(2, gap="large")
with left:
    st.subheader("People and text", anchor=False)
    if not barred("Saying who acts, and what the text is about,", engine.Right.MANAGE):
        settings_parts.person(workspace)
    st.subheader("Does anything leave this machine?", anchor=False)
    settings_parts.self_check(workspace)
    st.subheader("Backup", anchor=False)
    if not barred("Writing a backup", engine.Right.MANAGE):
        settings_parts.backup(workspace)
with right:
    st.subheader("Storage", anchor=False)
    settings_parts.storage(workspace)
    st.subheader("Delete a corpus", anchor=False)
    if not barred("Deleting a corpus", engine.Right.MANAGE):
        settings_parts.delete(workspace)

with ROLES:
    people.draw(workspace)
with LANGUAGES:
    settings_languages.draw()
with PROMPTS:
    prompt_templates.draw(workspace)
with POLICIES:
    settings_policies.draw(workspace)
