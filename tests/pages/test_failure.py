"""What a page says when it fails: the engine's sentence about storage, nothing of any other error; notices once."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from engine.errors import NotAllowedError, ReasonNeededError, StorageError


def fail() -> None:
    """Explain the error that the test put into the session."""
    import streamlit as st

    from pages._ui.failure import explain

    explain(st.session_state["error"])


def shown(error: Exception) -> str:
    app = AppTest.from_function(fail, default_timeout=30)
    app.session_state["error"] = error
    app.run()
    return "\n".join(str(one.value) for kind in (app.error, app.markdown) for one in kind)


def test_a_database_that_left_its_place_is_named(small):
    workspace = small.open()
    away = workspace.folder.database.with_name("moved")
    workspace.folder.database.rename(away)
    with pytest.raises(StorageError) as raised:
        workspace.corpora.all()
    assert "was moved, deleted or replaced" in shown(raised.value)


def test_nothing_of_another_error_is_shown():
    text = shown(ValueError("Anna Berg, born 3 May"))
    assert "This page has a fault" in text
    assert "Berg" not in text


def notice_twice() -> None:
    """Keep the same sentence twice, as two presses do."""
    from pages._ui import states

    states.notice("40 records released.")
    states.notice("40 records released.")
    states.flash()


def test_a_notice_is_said_once():
    app = AppTest.from_function(notice_twice, default_timeout=30).run()
    assert [one.value for one in app.success] == ["40 records released."]


@pytest.mark.parametrize("kind", [NotAllowedError, ReasonNeededError])
def test_a_refusal_in_a_part_that_runs_by_itself_is_no_fault(kind):
    text = shown(kind("Nora is signed in as auditor, and this needs the right to reveal"))
    assert "Refused" in text
    assert "right to reveal" in text
    assert "fault" not in text
