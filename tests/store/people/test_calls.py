"""Every call of a workspace names its right, and nobody who signed in gets past it."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import engine
from engine.errors import NotAllowedError, ReasonNeededError
from engine.store.people.calls import CALLS
from engine.store.people.roles import RIGHTS, Person, Right, Role

NOT_PARTS = {"session", "visit"}


@pytest.fixture
def workspace(tmp_path: Path):
    opened = engine.open_workspace(tmp_path / "workspace")
    yield opened
    opened.close()


@pytest.fixture
def filled(workspace):
    corpus = workspace.corpora.import_sample("support_tickets")
    return workspace, corpus.id


def acting_as(workspace, identity, name, *roles):
    """Return the workspace as somebody who holds these roles in it."""
    if not workspace.people.all():
        workspace.people.set("first@example.org", "First", [Role.CUSTODIAN])
    return workspace.acting_as(workspace.people.set(identity, name, roles))


def public(part: object) -> set[str]:
    return {name for name, _ in inspect.getmembers(type(part)) if not name.startswith("_")}


def test_every_call_of_every_part_names_its_right(workspace):
    parts = {name: part for name, part in vars(workspace).items() if name not in NOT_PARTS}
    assert set(parts) == set(CALLS)
    for name, part in parts.items():
        assert public(part) == set(CALLS[name]), name


@pytest.mark.parametrize("role", list(Role))
def test_a_role_is_refused_whatever_it_has_no_right_to(workspace, role):
    acting = acting_as(workspace, "p@example.org", "P", role)
    acting.visit.give_reason("a test")
    refused = 0
    for part, calls in CALLS.items():
        for call, right in calls.items():
            if right in RIGHTS[role]:
                continue
            with pytest.raises(NotAllowedError):
                getattr(getattr(acting, part), call)()
            refused += 1
    assert refused == sum(right not in RIGHTS[role] for calls in CALLS.values() for right in calls.values())
    lines = workspace.audit.lines(limit=10_000)
    assert (lines["action"] == "refused").sum() == refused
    assert set(lines[lines["action"] == "refused"]["actor"]) <= {"P"}


def test_a_call_that_is_not_named_is_open_to_nobody(workspace):
    acting = acting_as(workspace, "p", "P", *Role)
    for name in ("session", "_root", "db"):
        with pytest.raises(NotAllowedError):
            getattr(acting.corpora, name)
    with pytest.raises(NotAllowedError):
        acting.corpora.all = list


def test_text_is_shown_after_a_reason_and_stands_in_the_audit_log_once(filled):
    workspace, corpus = filled
    acting = acting_as(workspace, "p", "Paula", Role.REVIEWER)
    with pytest.raises(ReasonNeededError):
        acting.corpora.records(corpus)
    acting.visit.give_reason("review of findings")
    for _ in range(3):
        assert len(acting.corpora.records(corpus))
    shown = workspace.audit.lines(limit=1000).query("action == 'text shown'")
    assert shown[["actor", "subject"]].to_numpy().tolist() == [["Paula", corpus]]
    assert "review of findings" in shown["detail"].iloc[0]
    acting.visit.give_reason("a second look")
    acting.corpora.records(corpus)
    assert len(workspace.audit.lines(limit=1000).query("action == 'text shown'")) == 2


def test_an_auditor_reads_what_holds_no_text(filled):
    workspace, corpus = filled
    acting = acting_as(workspace, "a", "Ada", Role.AUDITOR)
    assert [one.id for one in acting.corpora.all()] == [corpus]
    assert acting.ledger.of(corpus) is not None
    assert len(acting.audit.lines())
    acting.visit.give_reason("curious")
    for call in (
        acting.corpora.records,
        acting.corpora.frame,
        acting.review.texts,
        acting.review.matching,
        acting.review.detector_settings,
        acting.values.table,
        acting.runs.diagnostics,
        acting.examinations.snapshots,
        acting.releases.archive,
        acting.releases.check_words,
    ):
        with pytest.raises(NotAllowedError):
            call(corpus)


def test_who_came_and_went_is_written_for_oneself_alone_and_nothing_else_is(filled):
    workspace, corpus = filled
    for role in (Role.AUDITOR, Role.REVIEWER, Role.APPROVER):
        acting = acting_as(workspace, role, role.capitalize(), role)
        with pytest.raises(NotAllowedError):
            acting.audit.note("records approved", corpus)
        acting.visit.note("in")
        line = workspace.audit.lines(limit=1).iloc[0]
        assert (line["actor"], line["action"], line["detail"]) == (
            role.capitalize(), "signed in", f'{{"identity":"{role}"}}',
        )  # fmt: skip
        with pytest.raises(KeyError):
            acting.visit.note("records approved")
    acting_as(workspace, "c", "Cleo", Role.CUSTODIAN).audit.note("looked", corpus)


def test_an_auditor_exports_the_log_under_their_name(filled):
    workspace, _ = filled
    acting = acting_as(workspace, "a", "Ada", Role.AUDITOR)
    assert acting.audit.breaks() == ()
    assert acting.audit.export("csv").startswith(b'"seq"')
    assert workspace.audit.lines(limit=1)[["actor", "action"]].to_numpy().tolist() == [["Ada", "audit log exported"]]


def test_what_a_person_does_stands_under_their_name(filled):
    workspace, corpus = filled
    acting = acting_as(workspace, "c", "Cleo", Role.CUSTODIAN)
    acting.corpora.rename(corpus, "renamed")
    assert workspace.audit.lines(limit=1)["actor"].tolist() == ["Cleo"]
    assert workspace.actor != "Cleo"  # the workspace that nobody signed in to is not changed


def test_roles_add_up():
    both = Person("b", "B", (Role.REVIEWER, Role.APPROVER))
    assert both.rights == RIGHTS[Role.REVIEWER] | RIGHTS[Role.APPROVER]
    assert Person("n", "N").rights == frozenset()
    assert RIGHTS[Role.AUDITOR] == {Right.READ}


def test_a_call_reads_anew_what_its_person_may_do(filled):
    workspace, corpus = filled
    acting = acting_as(workspace, "r", "Rita", Role.REVIEWER)
    acting.visit.give_reason("review")
    assert len(acting.corpora.records(corpus))
    workspace.people.remove("r")
    with pytest.raises(NotAllowedError):
        acting.corpora.records(corpus)


def test_no_call_passes_after_a_rest_and_looking_on_is_no_work(filled):
    workspace, corpus = filled
    person = acting_as(workspace, "r", "Rita", Role.REVIEWER).visit.person
    acting = workspace.acting_as(person, rest=60)
    acting.visit.give_reason("review")
    acting.visit.active -= 50
    acting.jobs.all()
    acting.corpora.records(corpus)
    acting.visit.active -= 20
    with pytest.raises(NotAllowedError, match="rest"):
        acting.jobs.all()
    acting.visit.active += 20
    acting.review.set_note(corpus, workspace.review.order(corpus)[0], "seen")
    acting.visit.active -= 50
    acting.jobs.all()
