"""The thirteen pages, in the order of the work, and how to go to one.

How to use: `go("plan")` inside a page body or callback; `page_path("plan")` for `AppTest.switch_page`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import streamlit as st
from streamlit.navigation.page import StreamlitPage

import engine
from pages._ui import states
from pages._ui.sign_in import visitor

PAGES_FOLDER = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class PageInfo:
    """One page: file name without suffix, title, Material icon and the sentence behind `help`.

    The stations stand in one line without their icons: with them the last one, Release, does not fit beside the sidebar
    at 1024 pixels, and Streamlit hides what does not fit behind a number.
    """

    id: str
    title: str
    icon: str
    help: str
    section: str = ""
    right: engine.Right = engine.Right.READ  # what whoever opens it must be allowed
    shows_text: bool = False  # of records: whoever signed in says first why they look


PAGES: tuple[PageInfo, ...] = (
    PageInfo("home", "Home", "home", "Your corpora, how far each one is, and its next step."),
    PageInfo("load", "Load", "upload_file", "Bring in a file of private text and say who must be protected.",
             right=engine.Right.MANAGE),
    PageInfo("review", "Review", "fact_check", "Find what identifies people in the text and decide on each finding.",
             right=engine.Right.REVIEW, shows_text=True),
    PageInfo("plan", "Plan", "edit_note", "Choose a method, read what it promises and costs, and start a run.",
             right=engine.Right.MANAGE),
    PageInfo("run", "Runs", "play_circle", "Watch the queue, the outputs and the history of runs.",
             shows_text=True),
    PageInfo("privacy", "Privacy", "shield", "See how much of the original leaks into the synthetic text.",
             shows_text=True),
    PageInfo("utility", "Utility", "insights", "See how well the synthetic text stands in for the original.",
             shows_text=True),
    PageInfo("compare", "Compare", "compare", "Put runs side by side on the same axes.",
             shows_text=True),
    PageInfo("release", "Release", "outbox", "Approve records, pass the policy and export the bundle.",
             shows_text=True),
    PageInfo("ledger", "Ledger", "receipt_long", "Every use of private data in order, and the audit log.", "Workspace"),
    PageInfo("pool", "Pools", "library_books", "Have text made elsewhere, and bring it in.", "Workspace",
             engine.Right.MANAGE),
    PageInfo("models", "Models", "memory", "The models on this machine and what each can do.", "Workspace",
             engine.Right.MANAGE),
    PageInfo("settings", "Settings", "settings", "Self-check, storage, names and policies.", "Workspace"),
)  # fmt: skip


def page_path(page_id: str) -> str:
    """Return the absolute path of a page's script."""
    if page_id not in {page.id for page in PAGES}:
        raise KeyError(page_id)
    return str(PAGES_FOLDER / f"{page_id}.py")


def streamlit_pages(may: Callable[[engine.Right], bool]) -> dict[str, list[st.Page]]:
    """Return the pages for `st.navigation` that a visitor may open, the stations first and the rest in a section."""
    sections: dict[str, list[st.Page]] = {}
    for page in PAGES:
        path = page_path(page.id)
        if not Path(path).exists() or not may(page.right):
            continue
        sections.setdefault(page.section, []).append(
            st.Page(
                path,
                title=page.title,
                icon=f":material/{page.icon}:" if page.section else None,
                url_path=page.id,
                default=page.id == "home",
                help=page.help,
            )
        )
    return sections


def shows_text(page: StreamlitPage) -> bool:
    """Return whether a page shows text of records."""
    return any(known.shows_text for known in PAGES if known.title == page.title)


def go(page_id: str) -> NoReturn:
    """Leave for another page; who signed in and may not open it stays, and is told."""
    info = next(page for page in PAGES if page.id == page_id)
    if not visitor.may(info.right):
        states.notice(f"{info.title} is not open to your role. Ask a custodian of this workspace.", kind="refused")
        st.rerun()
    st.switch_page(page_path(page_id))
