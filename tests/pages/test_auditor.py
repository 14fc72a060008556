"""An auditor on every page and in every view: no button there would be refused, and what is grey says why."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.at_rest import keys
from engine.at_rest.header import Secret
from engine.store.disk.encryption import encryption
from engine.store.people.roles import RIGHTS, Role
from pages._ui.navigation import PAGES
from pages._ui.sign_in import settings, visitor
from pages._ui.sign_in.settings import SignIn
from tests.moving import moved
from tests.pages.conftest import add_job, add_run, held
from tests.pages.test_sign_in import VIEWS, everything, members

__all__ = ["members"]
READ = [info for info in PAGES if info.right in RIGHTS[Role.AUDITOR]]
FIELDS = ("text_input", "text_area", "selectbox", "toggle", "checkbox")
SIGNED_OUT = {"sidebar.sign_out"}
READS = "Your role reads"
SAYS = {
    "home": ("Renaming or deleting it is for a custodian",),
    "run": ("Naming a run is for a custodian",),
    "release": ("Building a release is for a custodian", "Answering these questions is for a custodian"),
    "settings": (
        "Writing a backup is for a custodian",
        "Deleting a corpus is for a custodian",
        "Changing a template is for a custodian",
        "Changing policies is for a custodian",
    ),
}


@pytest.fixture(autouse=True)
def _as_auditor(monkeypatch: pytest.MonkeyPatch):
    settings.choose(SignIn("X-User", b"s" * 32))
    monkeypatch.setattr(visitor, "identity_of", lambda chosen: "auditor@example.org")
    yield
    settings.choose(None)


def refused(seeded: Any) -> list[str]:
    """Return what the log tells of calls that were refused."""
    workspace = seeded.open()
    try:
        lines = workspace.audit.lines(limit=100_000)
        return list(lines.loc[lines["action"] == "refused", "detail"])
    finally:
        workspace.close()


def shown(visit: Any, seeded: Any, page: str, view: str, key: str) -> Any:
    app = visit(page, **{"_ui.run": seeded.run, "_ui.corpus": seeded.corpus})
    if key and view:
        app.radio(key=key).set_value(view).run()
    return app


@pytest.mark.parametrize("page", [info.id for info in READ])
def test_an_auditor_may_press_whatever_can_be_pressed(members, visit, page):
    key, views = VIEWS.get(page, ("", [""]))
    if page == "ledger":
        key, views = "ledger.scope", ["This corpus", "Whole workspace"]
    before, pressed = refused(members), 0
    for view in views:
        app = shown(visit, members, page, view, key)
        assert READS in everything(app)
        for sentence in SAYS.get(page, ()):
            assert sentence in everything(app)
        pressed += press_all(app, page, lambda: shown(visit, members, page, view, key))  # noqa: B023 - used at once
    assert refused(members) == before
    assert pressed or page in ("privacy", "utility", "compare")


def press_all(app: Any, page: str, again: Any) -> int:
    """Press whatever can be pressed on a page, and return how often; `again` opens it anew."""
    assert not app.exception, page
    done: set[str] = set()
    for field in (one for kind in FIELDS for one in app.get(kind)):
        keeps = str(field.key).startswith(("settings.", "home.", "prompts.text", "run.name", "release.assessment"))
        if field.key == "settings.language":  # everybody's own
            continue
        assert field.disabled or not keeps, f"{page}: {field.key} can be typed into, and keeps nothing"
    for name in [str(one.key) for one in app.button if one.key and not one.disabled]:
        if name in done | SIGNED_OUT or (name.startswith("home.") and "go" in name.split(".")):
            continue
        done.add(name)
        if name not in {str(one.key) for one in app.button}:
            app = again()
        app.button(key=name).click().run()
        assert not app.exception, name
        assert "**Refused.**" not in everything(app), name
        assert "not open to your role" not in everything(app), name
    return len(done)


def nothing(seeded: Any, workspace: Any) -> None:
    """No corpus at all."""
    workspace.corpora.delete(seeded.corpus)


def no_run(seeded: Any, workspace: Any) -> None:
    """A corpus without a run."""
    workspace.runs.delete(seeded.run)
    workspace.runs.delete(seeded.other)


def at_work(seeded: Any, workspace: Any) -> None:
    """A run and an examination under way."""
    run = add_run(workspace, seeded.corpus, [], state="running")
    add_job(workspace, "synthesize", "running", corpus_id=seeded.corpus, run_id=run)
    add_job(workspace, "examine", "running", corpus_id=seeded.corpus, run_id=seeded.run)


def failed(seeded: Any, workspace: Any) -> None:
    """A run and an examination that failed."""
    run = add_run(workspace, seeded.corpus, [], state="failed", error="The disk is full.")
    add_job(workspace, "synthesize", "failed", corpus_id=seeded.corpus, run_id=run, error="The disk is full.")
    add_job(workspace, "examine", "failed", corpus_id=seeded.corpus, run_id=seeded.run, error="The disk is full.")


def released(seeded: Any, workspace: Any) -> None:
    """One bundle released, one withdrawn."""
    workspace.runs.approve_all_pending(seeded.run)
    workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
    made = workspace.releases.make(seeded.run, "exploratory", accept_unbounded=True)
    workspace.releases.revoke(made.id, "It was made by mistake.")


STATES = (nothing, no_run, at_work, failed, released)


@pytest.mark.parametrize("state", STATES, ids=[state.__name__ for state in STATES])
def test_an_auditor_finds_no_button_that_refuses_in_any_state(members, visit, state):
    workspace = members.open()
    words = [text[:60] for text in workspace.corpora.records(members.corpus)["text"] if len(text) >= 60]
    state(members, workspace)
    workspace.close()
    walk(members, visit, words)


def test_an_auditor_finds_no_button_that_refuses_in_an_encrypted_workspace(members, visit, tmp_path, monkeypatch):
    workspace = members.open()
    words = [text[:60] for text in workspace.corpora.records(members.corpus)["text"] if len(text) >= 60]
    workspace.close()
    path = moved(members.path, tmp_path / "encrypted")
    encryption.encrypt(Secret("key file", b"v" * 32), path)
    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(path))
    try:
        with held(path):
            walk(replace(members, path=path), visit, words)
    finally:
        keys.drop(path)


def walk(seeded: Any, visit: Any, words: list[str]) -> None:
    """Open each page that an auditor may open, press what can be pressed where states differ, and look for text."""
    before = refused(seeded)
    for info in READ:

        def opened(page: str = info.id) -> Any:
            return visit(page, **{"_ui.run": seeded.run, "_ui.corpus": seeded.corpus})

        app = opened()
        said = everything(app)
        assert "**Refused.**" not in said, info.id
        assert not [text for text in words if text in said], info.id
        if info.id in ("home", "run", "release", "ledger"):
            press_all(app, info.id, opened)
    assert refused(seeded) == before


def test_grey_buttons_say_whose_they_are(members, visit):
    app = visit("home")
    grey = {str(one.key): one for one in app.button if one.disabled}
    assert grey["home.load"].help.startswith("This is for a custodian")
    assert any(name.startswith("home.sample.try.") for name in grey)


def test_a_custodian_s_buttons_are_as_before(members, visit, monkeypatch):
    monkeypatch.setattr(visitor, "identity_of", lambda chosen: "custodian@example.org")
    app = visit("home")
    assert READS not in everything(app)
    assert not app.button(key="home.load").disabled
    assert not [one.key for one in app.button if one.disabled and str(one.key).startswith("home.sample")]
