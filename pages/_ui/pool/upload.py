"""Bringing text that was made elsewhere in: the file, where it is from, and the declaration that every claim rests on.

Privacy posture: an upload stays in this session's memory until it is imported, then the uploader is emptied. Texts are
shown in tables alone, never as Markdown.
"""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

import engine
from engine import POOL_DECLARED, POOL_SUFFIXES
from pages._ui import states
from pages._ui.parts import once
from pages._ui.pool import view
from pages._ui.texts import count_of, plain

KEY = "pool.in"
NONE = "(none)"
PREVIEW = "_ui.pool.preview"
FORMS = {"batch output": "answers of a language-model service", "plain text": "plain text", "table": "a table"}
SHOWN = 5


def draw(workspace: engine.Workspace) -> None:
    """Draw the questions of an import."""
    generation = st.session_state.setdefault("_ui.pool.generation", 0)
    upload = st.file_uploader(
        "Answers, or any public or licensed text", type=[*POOL_SUFFIXES], key=f"{KEY}.file.{generation}",
        help="Answers in the batch formats of language-model services, plain text, or a table with a column of texts.",
    )  # fmt: skip
    typed = st.text_input("Or its path on this machine", key=f"{KEY}.path", placeholder="/data/answers.jsonl").strip()
    source: Path | bytes | None = (
        upload.getvalue() if upload is not None else Path(typed).expanduser() if typed else None
    )
    if source is None:
        st.caption("Nothing is stored before you import. Plain text is cut at lines of dashes, or else at blank lines.")
        return
    name = upload.name if upload is not None else Path(typed).name
    mark = hashlib.sha256(f"{name}:{_identity(source)}".encode()).hexdigest()[:12]
    found = _preview(workspace, source, name, mark)
    if found is None:
        return
    _facts(found)
    text, label = _columns(found, mark)
    first = [one.text for one in found.candidates[:SHOWN]]
    if text is None or text == found.text:
        st.dataframe(
            pd.DataFrame({"Text": first}), hide_index=True, key=f"{KEY}.rows.{mark}", alt="The first texts of the file",
            column_config={"Text": st.column_config.TextColumn()},
        )  # fmt: skip
    _provenance(workspace, mark)
    declared = st.checkbox(POOL_DECLARED, key=f"{KEY}.declared.{mark}", wrap=True)
    if not st.button(
        "Import as a pool", type="primary", icon=":material/download:", key=f"{KEY}.import", disabled=not declared
    ):
        once.rearm(f"{KEY}.{mark}")
    elif _imported(workspace, source, name, mark, text, label, declared):
        st.rerun()


def _identity(source: Path | bytes) -> str:
    """Return what tells one content from another, so that another file is declared anew."""
    if isinstance(source, bytes):
        return hashlib.sha256(source).hexdigest()
    return f"{source}:{source.stat().st_mtime_ns if source.exists() else 0}"


def _preview(workspace: engine.Workspace, source: Path | bytes, name: str, mark: str) -> engine.Gathered | None:
    """Return what a file holds, read once, or draw why it cannot be read."""
    kept = st.session_state.get(PREVIEW)
    if kept is not None and kept[0] == mark:
        known: engine.Gathered = kept[1]
        return known
    st.session_state.pop(PREVIEW, None)
    try:
        with st.spinner("Reading the file …"):
            fresh = workspace.pools.preview(source, name)
    except engine.UserError as error:
        states.failed("This file cannot be read", str(error), "Nothing was stored. Correct it and choose it again.")
        return None
    st.session_state[PREVIEW] = (mark, fresh)
    return fresh


def _facts(found: engine.Gathered) -> None:
    """Say what the file was read as."""
    st.success(
        f"Read as {FORMS[found.form]}: {count_of(len(found.candidates), 'text')}"
        + (f"; {count_of(found.failed, 'answer')} failed at the service" if found.failed else "") + ".",
        icon=":material/check_circle:",
    )  # fmt: skip
    for warning in found.warnings:
        st.warning(plain(warning), icon=":material/warning:")


def _columns(found: engine.Gathered, mark: str) -> tuple[str | None, str | None]:
    """Ask which column holds the texts and which the labels, where the file is a table."""
    if not found.columns:
        return None, None
    columns = list(found.columns)
    left, right = st.columns(2)
    text = left.selectbox("Column of texts", columns, index=columns.index(found.text), key=f"{KEY}.text.{mark}")
    options = [NONE, *(name for name in columns if name != text)]
    index = options.index(found.label) if found.label in options else 0
    label = right.selectbox(
        "Column of labels", options, index=index, key=f"{KEY}.label.{mark}",
        help="Classes such as outcomes. Records then vote within their own label, where their list is public.",
    )  # fmt: skip
    return text, "" if label == NONE else label


def _provenance(workspace: engine.Workspace, mark: str) -> None:
    left, right = st.columns(2)
    left.text_input("Name here", key=f"{KEY}.name.{mark}", max_chars=60, placeholder="invented-letters-1")
    packs = [one.id for one in workspace.packs.all()]
    right.selectbox(
        "Answers to the prompt pack", [NONE, *packs], key=f"{KEY}.pack.{mark}",
        help="Answers that name their prompts say so themselves. A pack with winners of a run must be named: the next "
        "run's claim counts that run.",
    )  # fmt: skip
    left.text_input(
        "Where the texts are from", key=f"{KEY}.origin.{mark}", max_chars=300,
        placeholder="written by MODEL from pack k-…, or the public corpus …",
    )  # fmt: skip
    right.text_input("Licence", key=f"{KEY}.licence.{mark}", max_chars=300, placeholder="CC0, own, or as agreed in …")
    with st.expander("What is left out", icon=":material/filter_alt:", key=f"{KEY}.more.{mark}"):
        st.caption("Texts of fewer than three words, longer than 20,000 characters, or equal to another are left out.")
        st.checkbox(
            "Leave out texts that say nothing (public rules)", value=True, key=f"{KEY}.unread.{mark}", wrap=True
        )
        st.checkbox(
            "Leave out texts that nearly equal an earlier one", value=False, key=f"{KEY}.near.{mark}", wrap=True
        )
        st.checkbox(
            "Let a pack's winners join their variations", value=True, key=f"{KEY}.winners.{mark}", wrap=True,
            help="As in private evolution: a winner that none of its variations beats stays.",
        )  # fmt: skip


def _imported(
    workspace: engine.Workspace, source: Path | bytes, name: str, mark: str, text: str | None, label: str | None,
    declared: bool,
) -> bool:  # fmt: skip
    """Import in one engine call; say beneath the button why it was refused."""

    def field(of: str) -> str:
        return str(st.session_state.get(f"{KEY}.{of}.{mark}") or "")

    chosen = field("pack")
    importing = partial(
        workspace.pools.import_file, source, name, name=field("name"), origin=field("origin"), licence=field("licence"),
        declared=declared, text=text, label=label, pack_id="" if chosen == NONE else chosen,
        with_winners=bool(st.session_state.get(f"{KEY}.winners.{mark}", True)),
        unread="drop" if st.session_state.get(f"{KEY}.unread.{mark}", True) else "keep",
        near="drop" if st.session_state.get(f"{KEY}.near.{mark}", False) else "keep",
    )  # fmt: skip
    try:
        with st.spinner("Reading and checking the texts …"):
            pool = once.act(f"{KEY}.{mark}", importing)
    except (engine.UserError, engine.RefusedError) as error:
        states.failed("Nothing was imported", str(error), "Your answers are kept. Correct them, then import again.")
        return False
    st.session_state.pop(PREVIEW, None)
    st.session_state["_ui.pool.generation"] = st.session_state.get("_ui.pool.generation", 0) + 1
    view.lead_on(view.CHOOSE)
    states.notice(
        f"The pool {pool.name} is here: {count_of(pool.texts, 'text')}. "
        "Plan a run of “Choose from texts made elsewhere”."
    )
    return True
