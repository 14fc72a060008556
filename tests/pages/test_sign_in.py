"""Pages where several people sign in: each sees what their roles allow, and an auditor no text of any record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from engine.store.database.schema import corpora
from engine.store.people.roles import RIGHTS, Role
from pages._ui.navigation import PAGES
from pages._ui.sign_in import given, settings, visitor
from pages._ui.sign_in.settings import SignIn
from tests.pages.conftest import add_run

ROLES = ("custodian", "reviewer", "approver", "auditor")


@pytest.fixture
def signing_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Have people sign in; who does is what the dictionary's `as` says."""
    said = {"as": ""}
    settings.choose(SignIn("X-User", b"s" * 32))
    monkeypatch.setattr(visitor, "identity_of", lambda chosen: said["as"])
    yield said
    settings.choose(None)


def everything(app: Any) -> str:
    """Return all that a page would send to the browser: its body, the sidebar, and a dialog that is open."""
    return str([element.proto for part in app._tree.children.values() for element in part])


def titles(app: Any) -> list[str]:
    return [title.value for title in app.title]


@pytest.fixture
def members(seeded: Any) -> Any:
    """Return the seeded workspace with one person a role."""
    workspace = seeded.open()
    for role in ROLES:
        workspace.people.set(f"{role}@example.org", role.capitalize(), [role])
    workspace.close()
    return seeded


def test_nobody_comes_in_without_an_identity_or_a_role(seeded, visit, signing_in):
    assert titles(visit("home")) == ["Please sign in"]
    signing_in["as"] = "stranger"
    app = visit("home")
    assert titles(app) == ["You are signed in, but hold no role here"]
    assert "stranger" in everything(app)
    assert "people --add" in everything(app)
    assert seeded.corpus not in everything(app)


@pytest.mark.parametrize("role", ROLES)
def test_each_page_draws_for_each_role_what_it_may_show(members, visit, signing_in, role):
    signing_in["as"] = f"{role}@example.org"
    workspace = members.open()
    texts = list(workspace.corpora.records(members.corpus)["text"])
    outputs = list(workspace.runs.synthetic(members.run)["text"])
    workspace.close()
    words = {text[:60] for text in [*texts, *outputs] if len(text) >= 60}
    assert len(words) > 10
    rights = RIGHTS[Role(role)]
    assert role != "auditor" or len([info for info in PAGES if info.right in rights]) >= 8
    for info in PAGES:
        if info.right not in rights:
            continue  # not in the menu; the calls behind it are refused: tests/store/people
        app = visit(info.id)
        assert not app.exception, f"{info.id}: {app.exception[0].message if app.exception else ''}"
        shown = everything(app)
        if role == "auditor":
            leaked = [text for text in words if text in shown or json.dumps(text)[1:-1] in shown]
            assert not leaked, f"{info.id} shows text of a record to an auditor"


VIEWS = {
    "privacy": ("privacy.view", ["Proof and attacks", "Leaks", "People at risk", "Membership", "Curves",
                                 "Canaries and audit", "Groups", "All numbers"]),
    "utility": ("utility.view", ["Measures", "Map of texts", "Lengths and phrases", "Classifier", "All numbers"]),
    "compare": ("compare.view", ["Board", "Side by side", "Table", "Texts"]),
    "run": ("", [""]),
    "release": ("", [""]),
}  # fmt: skip
IN_PLACE = {  # what stands in a text's place, and what an auditor reads below it all the same
    ("privacy", "Leaks"): ("The records that repeat something hold text", "How much, against chance"),
    ("utility", "Lengths and phrases"): ("Words and phrases hold text", "words"),
    ("compare", "Texts"): ("The texts of these runs hold text", ""),
    ("run", ""): ("What the run noted on its way, and its outputs, hold text", "History"),
    ("release", ""): ("The outputs of this run hold text", "Releases of this run"),
}


@pytest.mark.parametrize("page", VIEWS)
def test_an_auditor_sees_the_page_with_a_sentence_in_the_place_of_text(members, visit, signing_in, page):
    workspace = members.open()
    words = [text[:60] for text in workspace.corpora.records(members.corpus)["text"] if len(text) >= 60]
    words += [text[:60] for text in workspace.runs.synthetic(members.run)["text"] if len(text) >= 60]
    before = (workspace.audit.lines(limit=10_000)["action"] == "refused").sum()
    signing_in["as"] = "auditor@example.org"
    key, views = VIEWS[page]
    app = visit(page, **{"_ui.run": members.run})
    for view in views:
        if key:
            app.radio(key=key).set_value(view).run()
        assert not app.exception, f"{page}, {view}"
        shown = everything(app)
        assert "**Refused.**" not in shown, f"{page}, {view}"
        assert not [text for text in words if text in shown], f"{page}, {view}"
        sentence, below = IN_PLACE.get((page, view), ("", ""))
        assert sentence in shown
        assert below in shown
    after = workspace.audit.lines(limit=10_000)["action"]
    workspace.close()
    assert (after == "refused").sum() == before, "nothing was asked for that an auditor may not have"


def test_an_auditor_cannot_press_the_preview_and_sees_no_text(members, visit, signing_in):
    signing_in["as"] = "auditor@example.org"
    app = visit("release", **{"_ui.run": members.run})
    assert app.button(key="release.preview").disabled
    assert "has a fault" not in everything(app)
    workspace = members.open()
    texts = [text[:60] for text in workspace.runs.synthetic(members.run)["text"] if len(text) >= 60]
    assert "internal preview" not in set(workspace.audit.lines(limit=100)["action"])
    workspace.close()
    assert not [text for text in texts if text in everything(app)]


def test_nobody_else_reads_that_sentence(members, visit, signing_in):
    signing_in["as"] = "approver@example.org"
    app = visit("release", **{"_ui.run": members.run})
    app.button(key="sign_in.reason.give").click().run()
    assert "which your role does not show" not in everything(app)


def test_text_waits_for_a_reason(members, visit, signing_in):
    signing_in["as"] = "reviewer@example.org"
    app = visit("review")
    assert app.button(key="sign_in.reason.give")
    app.button(key="sign_in.reason.give").click().run()
    assert not app.exception
    assert "sign_in.reason.give" not in {button.key for button in app.button}
    workspace = members.open()
    lines = workspace.audit.lines(limit=50)
    workspace.close()
    shown = lines[lines["action"] == "text shown"]
    assert shown[["actor", "subject"]].to_numpy().tolist() == [["Reviewer", members.corpus]]
    assert "signed in" in set(lines["action"])


def test_a_role_that_is_taken_is_gone_at_the_next_press(members, visit, signing_in):
    signing_in["as"] = "reviewer@example.org"
    app = visit("run")
    workspace = members.open()
    workspace.people.remove("reviewer@example.org")
    workspace.close()
    app.run()
    assert titles(app) == ["You are signed in, but hold no role here"]


def test_another_person_on_the_same_screen_finds_nothing_of_the_one_before(members, visit, signing_in):
    signing_in["as"] = "reviewer@example.org"
    app = visit("review")
    app.button(key="sign_in.reason.give").click().run()
    signing_in["as"] = "auditor@example.org"
    app.run()
    assert app.session_state[visitor.KEPT].person.name == "Auditor"
    assert app.session_state[visitor.KEPT].workspace.visit.reason == ""


def test_a_session_ends_after_a_rest(members, visit, signing_in):
    signing_in["as"] = "custodian@example.org"
    app = visit("home")
    app.session_state[visitor.KEPT].workspace.visit.active -= 31 * 60
    app.run()
    assert titles(app) == ["Your session ended"]
    assert members.corpus not in everything(app)
    app.button(key="sign_in.again").click().run()
    assert titles(app) != ["Your session ended"]
    assert app.session_state[visitor.KEPT].workspace.visit.reason == ""


def test_an_approver_signs_and_the_gate_believes_nobody_elses_typing(members, visit, signing_in):
    workspace = members.open()
    run = add_run(workspace, members.corpus, [{"text": "made up words", "label": None}] * 3)
    custodian = workspace.acting_as(workspace.people.person("custodian@example.org"))
    approver = workspace.acting_as(workspace.people.person("approver@example.org"))

    def second(who: Any, typed: str = "") -> bool:
        verdict = who.releases.gate(run, "public", signed_off_by=typed)
        return next(rule.passed for rule in verdict.rules if rule.rule == "second-person")

    custodian.runs.approve_all_pending(run)
    custodian.runs.approve(run, ["s-000001", "s-000002", "s-000003"], "approved")
    assert not second(custodian, "Approver"), "a typed name is no signature"
    approver.signatures.sign(run, "public")
    assert second(custodian)
    assert not second(approver), "whoever releases cannot be the second person"
    custodian.runs.approve(run, ["s-000001"], "rejected")
    assert not second(custodian), "what was signed has changed"
    custodian.runs.approve(run, ["s-000001"], "approved")
    assert second(custodian), "the very same records stand there again"
    workspace.close()


def test_a_person_signs_on_the_release_page(members, visit, signing_in):
    workspace = members.open()
    for run in (members.run, members.other):
        workspace.runs.approve(run, list(workspace.runs.synthetic(run)["record_id"]), "approved")
    workspace.close()
    signing_in["as"] = "approver@example.org"
    app = visit("release")
    app.button(key="sign_in.reason.give").click().run()
    app.radio(key="release.policy.choice").set_value("public").run()
    app.button(key="release.sign").click().run()
    assert not app.exception
    assert "Signed by Approver" in everything(app)


def test_a_press_after_the_role_was_taken_or_the_rest_was_over_does_nothing(members, visit, signing_in):
    workspace = members.open()
    for run in (members.run, members.other):
        workspace.runs.approve(run, list(workspace.runs.synthetic(run)["record_id"]), "approved")
    signing_in["as"] = "approver@example.org"
    app = visit("release")
    app.button(key="sign_in.reason.give").click().run()
    app.radio(key="release.policy.choice").set_value("public").run()
    app.session_state[visitor.KEPT].workspace.visit.active -= 31 * 60
    app.button(key="release.sign").click().run()
    assert titles(app) == ["Your session ended"]
    app = visit("release")
    app.button(key="sign_in.reason.give").click().run()
    app.radio(key="release.policy.choice").set_value("public").run()
    workspace.people.remove("approver@example.org")
    app.button(key="release.sign").click().run()
    assert "signed as second person" not in set(workspace.audit.lines(limit=200)["action"])
    workspace.close()


def test_another_kind_of_text_is_proposed_to_whoever_may_look_again(members, visit, signing_in):
    workspace = members.open()
    workspace.descriptions.declare(members.corpus, "discharge letter", "en", "clinical")
    with workspace.session.db.write() as connection:
        connection.execute(corpora.update().where(corpora.c.id == members.corpus).values(span_source="detected"))

    def look(role):
        signing_in["as"] = f"{role}@example.org"
        app = visit("review")
        return app.button(key="sign_in.reason.give").click().run()

    assert "review.proposal.use" not in [one.key for one in look("reviewer").button]
    app = look("custodian")
    button = app.button(key="review.proposal.use")
    workspace.people.set("second@example.org", "Second", ["custodian"])
    workspace.people.set("custodian@example.org", "Custodian", ["reviewer"])
    button.click().run()
    assert not app.exception
    assert workspace.jobs.all() == [] or workspace.jobs.all()[0].kind != "detect"
    workspace.close()


def test_files_that_pages_offer_are_noted_under_who_was_signed_in(members, visit, signing_in):
    """So that the door serves them to nobody else, and no longer once a role is taken: tests/door."""
    given.watch()
    given._given.clear()
    given._later.clear()
    signing_in["as"] = "custodian@example.org"
    visit("settings")
    visit("ledger")
    holders = {holder for _, holder in given._given} | set(given._later.values())
    assert holders == {("custodian@example.org", RIGHTS[Role.CUSTODIAN])}
    assert given._later, "the support file is made when it is pressed"
