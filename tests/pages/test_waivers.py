"""Waivers on the release page: offered where the policy allows them, shown, taken back, void where they do not hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from engine.examine.findings.findings import Finding
from engine.store.runs.runs import run_row
from tests.pages.small import words
from tests.store.making import examine, made_with

RULE = "identifiers-in-records"
GIVE = f"release.waive.{RULE}.give"
OPEN = {"release.policy.choice": "internal"}
DAY = datetime.now(UTC).date() + timedelta(days=9)
VALUES = [
    ("pipp_excess", "holdout", 0.3145), ("pipp_direct", "train", 0.0), ("pipp_direct", "holdout", 0.0),
    ("strict_alone_excess", "holdout", 0.0), ("label_direct", "train", 0.0),
    ("verbatim_8gram", "train", 0.0),
]  # fmt: skip


def measured(workspace, run: str, excess: float = 0.3145) -> None:
    values = [(name, ref, excess if name == "pipp_excess" else value) for name, ref, value in VALUES]
    found = [Finding(n, v, v, v, 300, ref, n, "lower is safer", "privacy", {}) for n, ref, v in values]  # type: ignore[arg-type]
    with workspace.session.db.read() as connection:  # as the corpus is now
        revision = run_row(connection, run).corpus_revision
    made_with(workspace.session, run, revision=revision)
    examine(workspace, run, found, revision=revision)


@pytest.fixture
def nearly(seeded):
    """Return the workspace with a run that one rule keeps from leaving inside the house."""
    workspace = seeded.open()
    measured(workspace, seeded.run)
    workspace.runs.approve_all_pending(seeded.run, None)
    workspace.spot_checks.draw(seeded.corpus, 10_000)
    workspace.review.mark_reviewed(seeded.corpus, workspace.spot_checks.order(seeded.corpus))
    workspace.settings.set_actor("Ada")
    return seeded


def test_a_rule_is_waived_and_taken_back(nearly, visit):
    app = visit("release", **{"_ui.run": nearly.run}, **OPEN)
    rules = [line.rule for line in nearly.open().releases.gate(nearly.run, "internal").open_rules()]
    if rules != [RULE]:
        pytest.fail(f"the run is kept by {rules}")
    app.text_area(key=f"release.waive.{RULE}.reason").set_value("Colleagues under the same duty read it anyway")
    app.date_input(key=f"release.waive.{RULE}.day").set_value(DAY)
    app.button(key=GIVE).click().run()
    assert not app.exception
    (given,) = nearly.open().releases.waivers(nearly.run, "internal")
    assert (given.person, given.expires) == ("Ada", DAY.isoformat())
    assert "The gate is open" in words(app)
    assert "was waived, the others are met" in words(app)
    assert "not met, waived" in words(app)
    assert "Open, with 1 rule waived" in words(app)
    app.button(key=f"release.waiver.back.{given.id}").click().run()
    assert nearly.open().releases.waivers(nearly.run, "internal") == ()
    assert "The gate is closed" in words(app)


def test_a_hostile_reason_is_no_markdown(nearly, visit):
    nearly.open().releases.waive(nearly.run, "internal", RULE, "See ![x](http://evil.example/x.png) for this", str(DAY))
    said = words(visit("release", **{"_ui.run": nearly.run}, **OPEN))
    assert "![x](http" not in said
    assert "evil" in said


def test_without_a_reason_or_a_day_it_is_refused(nearly, visit):
    app = visit("release", **{"_ui.run": nearly.run}, **OPEN)
    app.button(key=GIVE).click().run()
    assert not app.exception
    assert "reason: say why" in words(app)
    app.text_area(key=f"release.waive.{RULE}.reason").set_value("Colleagues read it anyway")
    app.button(key=GIVE).click().run()
    assert "YYYY-MM-DD" in words(app)
    assert nearly.open().releases.waivers(nearly.run, "internal") == ()


def test_a_waiver_for_another_number_is_said_to_hold_no_more(nearly, visit):
    workspace = nearly.open()
    workspace.releases.waive(nearly.run, "internal", RULE, "Colleagues read it anyway", str(DAY))
    measured(workspace, nearly.run, 0.3267)
    app = visit("release", **{"_ui.run": nearly.run}, **OPEN)
    assert "was given for something else than is found now" in words(app)
    assert "The gate is closed" in words(app)


@pytest.mark.parametrize("policy", ["exploratory", "public", "proof"])
def test_where_the_policy_allows_none_none_is_offered(nearly, visit, policy):
    app = visit("release", **{"_ui.run": nearly.run, "release.policy.choice": policy})
    assert not [button for button in app.button if (button.key or "").startswith("release.waive.")]
