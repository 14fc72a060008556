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
from pages._ui.language import mark, tr
from pages._ui.sign_in import visitor
from pages._ui.sign_in.closed import Grey, only

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
    translated: bool = False  # into the languages of the interface; others are in English whatever was chosen


FIRST = "home"
WORKSPACE = mark("Workspace")  # the section of the pages that are not stations
PAGES: tuple[PageInfo, ...] = (
    PageInfo("home", mark("Home"), "home", mark("Your corpora, how far each one is, and its next step.")),
    PageInfo(
        "load",
        mark("Load"),
        "upload_file",
        mark("Bring in a file of private text and say who must be protected."),
        right=engine.Right.MANAGE,
        translated=True,
    ),
    PageInfo(
        "review",
        mark("Review"),
        "fact_check",
        mark("Find what identifies people in the text and decide on each finding."),
        right=engine.Right.REVIEW,
        shows_text=True,
        translated=True,
    ),
    PageInfo(
        "plan",
        mark("Plan"),
        "edit_note",
        mark("Choose a method, read what it promises and costs, and start a run."),
        right=engine.Right.MANAGE,
        translated=True,
    ),
    PageInfo(
        "run",
        mark("Runs"),
        "play_circle",
        mark("Watch the queue, the outputs and the history of runs."),
        shows_text=True,
    ),
    PageInfo(
        "privacy",
        mark("Privacy"),
        "shield",
        mark("See how much of the original leaks into the synthetic text."),
        shows_text=True,
    ),
    PageInfo(
        "utility",
        mark("Utility"),
        "insights",
        mark("See how well the synthetic text stands in for the original."),
        shows_text=True,
    ),
    PageInfo("compare", mark("Compare"), "compare", mark("Put runs side by side on the same axes."), shows_text=True),
    PageInfo(
        "release",
        mark("Release"),
        "outbox",
        mark("Approve records, pass the policy and export the bundle."),
        shows_text=True,
        translated=True,
    ),
    PageInfo(
        "ledger",
        mark("Ledger"),
        "receipt_long",
        mark("Every use of private data in order, and the audit log."),
        WORKSPACE,
    ),
    PageInfo(
        "pool",
        mark("Pools"),
        "library_books",
        mark("Have text made elsewhere, and bring it in."),
        WORKSPACE,
        engine.Right.MANAGE,
    ),
    PageInfo(
        "models",
        mark("Models"),
        "memory",
        mark("The models on this machine and what each can do."),
        WORKSPACE,
        engine.Right.MANAGE,
    ),
    PageInfo("settings", mark("Settings"), "settings", mark("Self-check, storage, names and policies."), WORKSPACE),
)


def page_path(page_id: str) -> str:
    """Return the absolute path of a page's script."""
    if page_id not in {page.id for page in PAGES}:
        raise KeyError(page_id)
    return str(PAGES_FOLDER / f"{page_id}.py")


def _first() -> None:
    """Go to the first page, which has no path of its own: what `/home` leads to."""
    st.switch_page(page_path(FIRST))


def streamlit_pages(may: Callable[[engine.Right], bool]) -> dict[str, list[st.Page]]:
    """Return the pages for `st.navigation` that a visitor may open, the stations first and the rest in a section.

    The first one answers at `/` alone, so a hidden one leads to it from `/home`.
    """
    sections: dict[str, list[st.Page]] = {}
    for page in PAGES:
        path = page_path(page.id)
        if not Path(path).exists() or not may(page.right):
            continue
        sections.setdefault(tr(page.section) if page.section else "", []).append(
            st.Page(
                path,
                title=tr(page.title),
                icon=f":material/{page.icon}:" if page.section else None,
                url_path=f"{FIRST}-page" if page.id == FIRST else page.id,  # the first one is at / whatever it says
                default=page.id == FIRST,
                help=tr(page.help),
            )
        )
    home = st.Page(_first, title=tr(PAGES[0].title), url_path=FIRST, visibility="hidden")
    sections.setdefault("", []).append(home)
    return sections


def shows_text(page: StreamlitPage) -> bool:
    """Return whether a page shows text of records."""
    return any(known.shows_text for known in PAGES if tr(known.title) == page.title)


def translated(page: StreamlitPage) -> bool:
    """Return whether a page is translated into the languages of the interface."""
    return any(known.translated for known in PAGES if tr(known.title) == page.title)


def page_only(page_id: str) -> Grey:
    """Return what makes a button grey that leads to a page which this visitor's role does not open."""
    return only(next(page for page in PAGES if page.id == page_id).right)


def go(page_id: str) -> NoReturn:
    """Leave for another page; who signed in and may not open it stays, and is told."""
    info = next(page for page in PAGES if page.id == page_id)
    if not visitor.may(info.right):
        states.notice(
            tr("{page} is not open to your role. Ask a custodian of this workspace.", page=tr(info.title)),
            kind="refused",
        )
        st.rerun()
    st.switch_page(page_path(page_id))
