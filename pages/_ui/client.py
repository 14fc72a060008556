"""The engine client of the web process.

How to use: `client()` returns the one `Workspace` of this process; pages get it from `guard()`.
Only the client is cached, and it holds no record text; pages read through it on every run.

The folder is chosen by `streamlit run app.py -- --workspace FOLDER`, else by the environment
variable UNDERSTUDY_WORKSPACE, else it is the default under the user's data directory.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import streamlit as st

import engine


def workspace_path(arguments: list[str] | None = None) -> Path | None:
    """Return the folder named on the command line or in the environment, or None for the default."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    for position, word in enumerate(words):
        if word == "--workspace" and position + 1 < len(words):
            return engine.workspace_folder(words[position + 1])
        if word.startswith("--workspace="):
            return engine.workspace_folder(word.partition("=")[2])
    named = os.environ.get("UNDERSTUDY_WORKSPACE", "").strip()
    return engine.workspace_folder(named) if named else None


@st.cache_resource(show_spinner=False)
def _open(path: str | None) -> engine.Workspace:
    return engine.open_workspace(Path(path) if path else None)


def client() -> engine.Workspace:
    """Return the opened workspace; raises `StorageError` where the folder cannot be used.

    An error is not cached: after the custodian has freed the disk, a reload is enough.
    """
    path = workspace_path()
    return _open(str(path) if path else None)
