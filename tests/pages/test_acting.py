"""The name of the person acting: asked for where the first decision is taken, and never taken from a default."""

from __future__ import annotations

import pytest

import engine
from tests.pages.small import words


@pytest.fixture
def unnamed(empty):
    """Return a workspace with a sample and a run, in which nobody gave a name."""
    workspace = engine.open_workspace(empty)
    workspace.corpora.import_sample("support_tickets")
    return workspace


def test_a_review_begins_with_a_name(unnamed, visit):
    app = visit("review")
    assert "Who is at work here?" in words(app)
    assert not [radio for radio in app.radio if radio.key == "review.view"], "nothing can be decided yet"
    app.button(key="review.actor.keep").click().run()
    assert "must not be empty" in words(app)
    app.text_input(key="review.actor").set_value("  Ann   [Lee](x) ").run()
    assert not app.exception
    assert "Who is at work here?" not in words(app)
    assert [radio for radio in app.radio if radio.key == "review.view"]
    assert unnamed.settings.get("actor") == "Ann [Lee](x)"
    assert "Who is at work here?" not in words(visit("review")), "it is asked once"


def test_approvals_and_releases_wait_for_a_name_too(unnamed, visit, add_run):
    corpus = unnamed.corpora.all()[0]
    add_run(unnamed, corpus.id, [{"text": "A made-up text.", "label": None, "lineage": None}])
    app = visit("release")
    assert "Each approval and each release" in words(app)
    assert not [button for button in app.button if (button.key or "").startswith(("release.approved", "release.build"))]
    app.text_input(key="release.actor").set_value("Ann Lee").run()
    assert [button for button in app.button if (button.key or "").startswith("release.approved")]


def test_whoever_is_called_like_the_default_is_asked_once_too(unnamed):
    assert not unnamed.settings.named
    unnamed.settings.set_actor("custodian")
    assert unnamed.settings.named
    assert engine.open_workspace(unnamed.path).settings.named


def test_settings_show_no_name_that_nobody_gave(unnamed, visit):
    assert visit("settings").text_input(key="settings.actor").value == ""
