"""Fetching a language model by its hub id, with the custodian's written consent.

Privacy posture: the page connects to nothing; the worker does, after the consent stands in the audit log.
"""

from __future__ import annotations

import streamlit as st

import engine
from pages._ui.parts.progress import job_progress, running_job
from pages._ui.states import act, failed, notice
from pages._ui.texts import plain

FORM = "models.hub"


def draw(workspace: engine.Workspace) -> None:
    """Offer to fetch a model: its id, what is consented to, why, and the host typed out."""
    st.markdown(
        "For a machine that may use the network once. Weights, settings, tokenizer and licence are fetched, held "
        "against the hub's digests and checked like an imported folder. Where the hub library's cache on this machine "
        "has the model already, it is taken from there and nothing is connected."
    )
    left, right = st.columns(2)
    model = left.text_input("Hub id", key=f"{FORM}.model", placeholder="owner/model", max_chars=200).strip()
    right.text_input("Branch, tag or commit", value="main", key=f"{FORM}.revision", max_chars=200)
    if not model:
        return
    consent(workspace, model, key=FORM, description=None)


def consent(
    workspace: engine.Workspace, model: str, *, key: str, description: engine.Description | None, precision: str = ""
) -> None:
    """Ask for a written consent to fetch a model; the revision is what `key`.revision holds, else the listed one."""
    try:
        said, host = workspace.hub.statement(model), workspace.hub.host()
    except engine.UserError as error:
        st.error(plain(str(error)), icon=":material/block:")
        return
    st.warning(plain(said), icon=":material/public:")
    suggested = "".join(c if c.isalnum() or c in "._-" else "-" for c in model.rpartition("/")[2].lower()).strip("-._")
    left, right = st.columns(2)
    left.text_input("Name here", value=suggested[:40], key=f"{key}.name.{model}", max_chars=40)
    right.text_input(f"Type the host to confirm: {host}", key=f"{key}.host")
    st.text_area(
        "Why this is allowed, in your words", key=f"{key}.text", max_chars=1000,
        placeholder="The decision, who took it, the model's licence",
        help="At least 20 characters. It stands in the audit log with your name and the time.",
    )  # fmt: skip
    st.caption(f"Acting: {plain(workspace.actor)}. Change the name on the Settings page.")
    st.button(
        "I consent; fetch it", type="primary", icon=":material/cloud_download:", key=f"{key}.fetch", on_click=_fetch,
        args=(workspace, model, key, description, precision),
    )  # fmt: skip


def _fetch(
    workspace: engine.Workspace, model: str, key: str, description: engine.Description | None, precision: str
) -> None:
    typed = {part: str(st.session_state.get(f"{key}.{part}", "")) for part in ("text", "host", "revision")}
    name = str(st.session_state[f"{key}.name.{model}"])
    job = act(
        workspace.hub.fetch, model, name, typed["text"], typed["host"], revision=typed["revision"].strip(),
        description=description, precision=precision,
    )  # fmt: skip
    if job is not None:
        st.session_state[f"{FORM}.job"] = job
        notice(
            "Your consent is in the audit log. The model is tested once it is here, before anything private is read."
        )
        for part in ("model", "text", "host"):
            st.session_state[f"{key}.{part}"] = ""


def state(workspace: engine.Workspace) -> None:
    """Draw the download that is under way, or why the latest one of this session failed."""
    job = running_job(workspace, kind="fetch")
    if job is not None:
        job_progress(workspace, job.id, key=f"{FORM}.progress")
        return
    latest = st.session_state.get(f"{FORM}.job")
    if latest is None:
        return
    try:
        ended = workspace.jobs.get(latest)
    except engine.NotFoundError:
        return
    if ended.state == "failed":
        failed("The model was not fetched", ended.error, "Nothing of it was kept.")
