"""The privacy page's figures of details, its cards of studies not run yet, and what they fill in."""

from __future__ import annotations

import pytest

from engine.methods import get_method
from pages._ui.privacy.offer import settings_line
from tests.pages.test_privacy_attacks import promise, words


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({}, ""),
        ({"epochs": 7}, "epochs=7"),
        ({"epochs": get_method("finetune").spec.parameters.model_fields["epochs"].default}, ""),
        ({"epochs": 7, "rank": 3}, "epochs=7, rank=3"),
        ({"gone": 1}, ""),
    ],
)
def test_only_settings_that_differ_are_filled_in(parameters, line):
    assert settings_line("finetune", parameters) == line


def test_settings_that_would_be_read_otherwise_are_left_out():
    assert settings_line("public", {"kind": "a note, words=3 lines"}) == ""
    assert settings_line("public", {"kind": "a note"}) == 'kind="a note"'
    assert settings_line("no-such-method", {"a": 1}) == ""


def test_near_copies_details_and_guesses_are_drawn(seeded, visit):
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.beside": seeded.other, "privacy.view": "Leaks"})
    assert "of the synthetic records nearly repeat a training record" in words(app, "markdown")
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "People at risk"})
    shown = words(app, "markdown")
    assert "Combined details of one record point to" in shown
    assert "Guessed right" in shown or "guessed right" in shown


def test_an_older_examination_says_what_is_missing(seeded, visit):
    workspace = seeded.open()
    for name in ("near_copies", "linkage", "inference"):
        (workspace.folder.run(seeded.run) / f"{name}.parquet").unlink()
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "People at risk"})
    assert words(app, "caption").count("Not measured yet: examine the run again.") == 2


@pytest.mark.parametrize(
    ("method", "view", "study"),
    [
        ("finetune", "Canaries and audit", "canary-audit"),
        ("finetune", "Curves", "pairs"),
        ("finetune", "Curves", "surprisal"),
        ("rpsg", "Membership", "nll-filter"),
    ],
)
def test_a_study_not_run_yet_says_its_cost_and_is_filled_in(seeded, visit, method, view, study):
    from engine.store.database.schema import runs

    own = {"finetune": {"epochs": 7}, "rpsg": {"oversampling": 12}}[method]
    with seeded.open().session.db.write() as connection:
        connection.execute(runs.update().where(runs.c.id == seeded.run).values(method=method, parameters=own))
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": view})
    card = app.container(key=f"privacy.offer.{study}.{seeded.run}")
    assert "Not run yet for this method." in words(card, "markdown")
    assert "Costs" in words(card, "caption")
    app.button(key=f"privacy.study.{study}.{seeded.run}").click().run()
    assert not app.exception
    assert app.selectbox(key="study.which").value == study
    (name, value) = next(iter(own.items()))
    assert app.text_input(key=f"study.settings.{study}.settings").value == f"{name}={value}"
    if study != "nll-filter":
        assert app.text_input(key=f"study.settings.{study}.method").value == method


def test_the_claimed_curve_is_drawn_before_any_study(seeded, visit):
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Curves"})
    assert "Nothing is proven about this run, so there is no claimed curve" in words(app, "markdown")
    before = len(app.get("plotly_chart"))
    promise(seeded, seeded.run, 2.0)
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Curves"})
    assert "is one point: the same run also has" in words(app, "markdown")
    assert len(app.get("plotly_chart")) == before + 1


def test_a_run_on_public_text_has_a_sentence_for_its_curve(seeded, visit):
    from engine.dp.guarantee import Guarantee
    from engine.store.database.schema import runs

    claim = Guarantee("dp", "No private record was read.", "the run's complete output", 0.0, 0.0)
    with seeded.open().session.db.write() as connection:
        connection.execute(runs.update().where(runs.c.id == seeded.run).values(guarantee=claim.as_dict()))
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Curves"})
    assert "its claimed curve is zero everywhere" in words(app, "markdown")


def test_a_failed_examination_can_be_started_again_beside_older_findings(seeded, visit, add_job):
    workspace = seeded.open()
    add_job(workspace, "examine", "failed", corpus_id=seeded.corpus, run_id=seeded.run, error="no space left")
    app = visit("privacy", **{"_ui.run": seeded.run})
    assert "The last examination failed" in "\n".join(str(e.value) for e in app.error)
    assert app.button(key=f"privacy.examine.{seeded.run}").label == "Examine again"
