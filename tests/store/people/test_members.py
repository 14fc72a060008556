"""Who holds which role: given, changed, taken; never by oneself, never without a custodian left."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.exc import SQLAlchemyError

import engine
from engine.errors import NotAllowedError, NotFoundError, UserError
from engine.store.people.roles import Role


@pytest.fixture
def workspace(tmp_path: Path):
    opened = engine.open_workspace(tmp_path / "w")
    yield opened
    opened.close()


def test_people_are_found_by_any_spelling_of_their_identity(workspace):
    workspace.people.set("Mara.Quill@Example.org", "Mara Quill", ["custodian", "reviewer", "custodian"])
    found = workspace.people.person(" mara.quill@example.ORG ")
    assert (found.name, found.roles) == ("Mara Quill", (Role.CUSTODIAN, Role.REVIEWER))
    assert workspace.people.person("mara") is None


def test_the_first_person_must_be_a_custodian(workspace):
    with pytest.raises(UserError, match="first person"):
        workspace.people.set("a", "A", ["auditor"])
    assert workspace.people.all() == []


def test_somebody_stays_custodian(workspace):
    workspace.people.set("a", "A", ["custodian"])
    workspace.people.set("b", "B", ["reviewer"])
    for change in (lambda: workspace.people.remove("A"), lambda: workspace.people.set("a", "A", ["auditor"])):
        with pytest.raises(UserError, match="custodian"):
            change()
    workspace.people.set("b", "B", ["custodian"])
    workspace.people.remove("a")
    assert [one.person.identity for one in workspace.people.all()] == ["b"]
    with pytest.raises(NotFoundError):
        workspace.people.remove("a")


def test_nobody_changes_their_own_roles(workspace):
    first = workspace.people.set("a", "A", ["custodian"])
    workspace.people.set("b", "B", ["custodian"])
    acting = workspace.acting_as(first)
    for change in (lambda: acting.people.set("A", "A", ["custodian", "approver"]), lambda: acting.people.remove("a")):
        with pytest.raises(UserError, match="their own"):
            change()
    acting.people.set("b", "B", ["approver"])
    assert workspace.people.person("b").roles == (Role.APPROVER,)


def test_only_a_custodian_gives_roles(workspace):
    workspace.people.set("a", "A", ["custodian"])
    other = workspace.people.set("b", "B", ["reviewer", "approver", "auditor"])
    with pytest.raises(NotAllowedError):
        workspace.acting_as(other).people.set("c", "C", ["custodian"])


def test_two_people_do_not_share_a_name(workspace):
    workspace.people.set("a", "Mara Quill", ["custodian"])
    with pytest.raises(UserError, match="another person"):
        workspace.people.set("b", "mara  quill", ["approver"])


def test_a_person_keeps_their_name_and_nobody_gets_it_after_them(workspace):
    workspace.people.set("a", "A", ["custodian"])
    workspace.people.set("b", "Alice", ["approver"])
    with pytest.raises(UserError, match="another name"):
        workspace.people.set("B", "Alice Miller", ["approver"])
    workspace.people.remove("b")
    for identity, name in (("b", "Alice Miller"), ("c", "alice")):
        with pytest.raises(UserError):
            workspace.people.set(identity, name, ["approver"])
    assert workspace.people.set("b", "Alice", ["auditor"]).name == "Alice"


@pytest.mark.parametrize(
    ("identity", "name", "roles"),
    [
        ("", "A", ["custodian"]),
        ("a", " ", ["custodian"]),
        ("a", "A", []),
        ("a", "A", ["root"]),
        ("a\x00b", "A", ["custodian"]),
        ("a", "A" * 121, ["custodian"]),
    ],
)
def test_what_is_no_person_is_refused(workspace, identity, name, roles):
    with pytest.raises(UserError):
        workspace.people.set(identity, name, roles)


def test_every_change_stays_and_stands_in_the_audit_log(workspace):
    workspace.people.set("a", "A", ["custodian"])
    workspace.people.set("b", "B", ["reviewer"])
    workspace.people.remove("b")
    assert workspace.audit.lines(limit=3)["action"].tolist() == ["roles taken", "roles given", "roles given"]
    with pytest.raises(SQLAlchemyError), workspace.session.db.write() as connection:
        connection.exec_driver_sql("DELETE FROM members")
