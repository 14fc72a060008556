"""The intruder trial on the release page: drawn, taken on, claimed in, ended, and checked by somebody else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.pages.conftest import add_run
from tests.pages.small import NEEDLE, words

KEY = "release.intruder"
CLAIM = f"![{NEEDLE}](http://evil.example/a.png) <b>{NEEDLE}</b>"


@pytest.fixture
def approved(small: Any) -> tuple[Any, str]:
    """Return the workspace with a run of forty approved records, and the run."""
    workspace = small.open()
    run = add_run(
        workspace, small.corpus, [{"text": f"A made-up ticket, number {i}.", "label": None} for i in range(40)]
    )
    workspace.runs.approve_all_pending(run, None)
    workspace.settings.set_actor("Ada")
    workspace.close()
    return small, run


def trial(small: Any, run: str) -> Any:
    workspace = small.open()
    found = workspace.intruder.estimate(run)
    workspace.close()
    return found


def press(app: Any, key: str) -> None:
    (button,) = [one for one in app.button if str(one.key) == key or str(one.key).startswith(key + ".i-")]
    button.click().run()
    assert not app.exception


def test_from_the_draw_to_the_share(approved, open_page):
    small, run = approved
    app = open_page("release", **{"_ui.run": run})
    press(app, f"{KEY}.draw")
    assert trial(small, run) is None, "without means nothing is drawn"
    app.text_input(key=f"{KEY}.means").set_value("public search").run()
    press(app, f"{KEY}.draw")
    assert trial(small, run).trial.texts == 30
    assert "A made-up ticket" not in str([one.value for one in app.text if "of 30" in str(one.value)])
    assert not [one for one in app.button if one.key == f"{KEY}.begin"], "nobody takes on what they drew"
    open_page("settings").text_input(key="settings.actor").set_value("Imre").run()
    app = open_page("release", **{"_ui.run": run})
    press(app, f"{KEY}.begin")
    fields = [one for one in app.text_input if str(one.key).startswith(f"{KEY}.claim.")]
    assert len(fields) == 10
    fields[0].set_value(CLAIM).run()
    assert trial(small, run).trial.claims == 1
    again = open_page("release", **{"_ui.run": run})  # a reload
    kept = [one.value for one in again.text_input if str(one.key).startswith(f"{KEY}.claim.")]
    assert kept.count(CLAIM) == 1
    press(again, f"{KEY}.end.sure")
    assert not [one for one in again.button if str(one.key).startswith(f"{KEY}.right")], "nobody checks their own"
    assert CLAIM in [str(one.value).removeprefix("Said to be of: ") for one in again.text]
    assert NEEDLE not in words(again)
    open_page("settings").text_input(key="settings.actor").set_value("Clara").run()
    check = open_page("release", **{"_ui.run": run})
    press(check, f"{KEY}.right")
    found = trial(small, run)
    assert (found.trial.right, found.trial.checkers) == (1, ("Clara",))
    assert f"{100 * found.share.high:.1f}%" in words(check)


def test_a_verdict_is_changed_with_its_reason_once_the_bound_was_seen(approved, open_page):
    small, run = approved
    workspace = small.open()
    for name, step in (
        ("Ada", lambda trials: trials.draw(run, 30, minutes=9, means="public search")),
        ("Imre", lambda trials: (trials.begin(run), trials.claim(run, 1, CLAIM), trials.end(run))),
        ("Clara", lambda trials: trials.judge(run, 1, "right")),
    ):
        workspace.session.actor = name
        step(workspace.intruder)
    workspace.settings.set_actor("Bea")
    workspace.close()
    app = open_page("release", **{"_ui.run": run})
    assert not [one for one in app.button if str(one.key).startswith(f"{KEY}.right")], "one press is not enough"
    (why,) = [one for one in app.text_input if str(one.key).endswith(".1.why")]
    (wrong,) = [one for one in app.button if str(one.key).endswith(".1.wrong")]
    wrong.click().run()
    assert trial(small, run).trial.right == 1
    app.text_input(key=why.key).set_value("The register shows another ward").run()
    app.button(key=wrong.key).click().run()
    assert trial(small, run).trial.changed == 1
    assert "changed after the bound was seen: 1" in words(app)


def test_without_approved_records_it_says_what_to_do(small, open_page):
    workspace = small.open()
    run = add_run(workspace, small.corpus, [{"text": "A made-up ticket.", "label": None}] * 3)
    workspace.settings.set_actor("Ada")
    workspace.close()
    app = open_page("release", **{"_ui.run": run})
    assert "Approve records first" in words(app)
    assert not [one for one in app.button if one.key == f"{KEY}.draw"]
