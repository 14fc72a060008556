"""Who holds which role: given, changed, taken; never by oneself, never without a custodian left."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy.exc import SQLAlchemyError

import engine
from engine.errors import NotAllowedError, NotFoundError, StorageError, UserError
from engine.store.people.roles import Role


@pytest.fixture
def workspace(tmp_path: Path):
    opened = engine.open_workspace(tmp_path / "workspace")
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
    "name",
    [
        "\u0430lice",  # a Cyrillic a
        "Al\u0456ce",  # a Cyrillic i
        "\u0391lice",  # a Greek Alpha
        "A\u200blice",  # a zero-width space
        "Alice\u3164",  # a Hangul filler, which counts as a printable letter
        "\u2800Alice",  # a braille blank
        "A\u034flice",  # a combining grapheme joiner
        "\uff21lice",  # a wide A
        "Ali\u0301ce",  # an accent put on the i
        "AIice",  # a capital i for the l
        "A1ice",
        "Al ice",
        "A-lice",
    ],
)
def test_nobody_is_called_what_looks_like_another(workspace, name):
    workspace.people.set("a", "Alice", ["custodian"])
    with pytest.raises(UserError, match="name"):
        workspace.people.set("b", name, ["approver"])
    assert len(workspace.people.all()) == 1


def test_a_name_of_one_other_script_that_looks_like_a_latin_one_is_refused(workspace):
    workspace.people.set("a", "copa", ["custodian"])
    with pytest.raises(UserError, match="looks like"):
        workspace.people.set("b", "\u0441\u043e\u0440\u0430", ["approver"])


@pytest.mark.parametrize(
    "name",
    [
        "Zo\u00eb O'Hara-Stra\u00dfe Jr. 2",
        "\u041c\u0430\u0440\u0438\u044f \u0418\u0432\u0430\u043d\u043e\u0432\u0430",  # Russian
        "\u5c71\u7530 \u306f\u306a\u3053",  # Japanese, of two scripts that go together
        "\u0395\u03bb\u03ad\u03bd\u03b7",  # Greek
        "\u0645\u0631\u064a\u0645",  # Arabic
        "Nguy\u1ec5n Th\u1ecb Lan",
        "Ian",
        "Clara",
    ],
)
def test_names_of_one_script_are_names(workspace, name):
    workspace.people.set("a", "Alice", ["custodian"])
    assert workspace.people.set("b", name, ["approver"]).name == name


def test_somebody_who_had_such_a_name_before_keeps_it(workspace):
    from engine.store.audit import now
    from engine.store.database.schema import members

    workspace.people.set("a", "Alice", ["custodian"])
    with workspace.session.db.write() as connection:
        connection.execute(
            members.insert().values(at=now(), actor="x", identity="b", name="\u0412ob", roles=["approver"])
        )
    assert workspace.people.set("b", "\u0412ob", ["auditor"]).name == "\u0412ob"


def test_who_signs_in_without_a_role_stands_in_the_log(workspace):
    workspace.people.note_stranger("eve@example.org\x1b[2J\u202e")
    line = workspace.audit.lines(limit=1).iloc[0]
    assert line["action"] == "sign-in without a role"
    assert line["detail"] == '{"identity":"eve@example.org[2J"}'


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
    with (
        pytest.raises((SQLAlchemyError, StorageError), match="append-only"),
        workspace.session.db.write() as connection,
    ):
        connection.exec_driver_sql("DELETE FROM members")


ISSUER = "https://id.example.org"


def test_the_first_account_that_signs_in_as_a_person_stays_theirs(workspace):
    workspace.people.set("mara@example.org", "Mara", ["custodian"])
    assert workspace.people.recognise("stranger@example.org", f"{ISSUER}|9") is None
    before = workspace.people.all()[0]
    for _ in range(2):
        assert workspace.people.recognise("MARA@example.org", f"{ISSUER}|7").name == "Mara"
    with pytest.raises(NotAllowedError, match="Another account"):
        workspace.people.recognise("mara@example.org", f"{ISSUER}|8")
    workspace.people.set("b", "B", ["custodian"])
    with pytest.raises(NotAllowedError, match="as another person"):
        workspace.people.recognise("b", f"{ISSUER}|7")
    one = next(one for one in workspace.people.all() if one.person.name == "Mara")
    assert (one.since, one.added_by, one.account) == (before.since, before.added_by, f"{ISSUER}|7")
    lines = workspace.audit.lines(limit=50)
    assert (lines["action"] == "account of a person").sum() == 1


def test_other_roles_keep_the_account_and_taking_all_frees_it(workspace):
    workspace.people.set("a", "A", ["custodian"])
    workspace.people.set("b", "B", ["reviewer"])
    workspace.people.recognise("b", f"{ISSUER}|7")
    workspace.people.set("b", "B", ["auditor"])
    with pytest.raises(NotAllowedError):
        workspace.people.recognise("b", f"{ISSUER}|8")
    workspace.people.remove("b")
    assert workspace.people.recognise("b", f"{ISSUER}|8") is None
    workspace.people.set("b", "B", ["reviewer"])
    assert workspace.people.recognise("b", f"{ISSUER}|8").roles == (Role.REVIEWER,)
    workspace.people.set("c", "C", ["reviewer"])
    assert workspace.people.recognise("c", f"{ISSUER}|7").name == "C"


def test_of_two_accounts_at_the_same_moment_one_is_bound(workspace):
    workspace.people.set("a", "A", ["custodian"])
    barrier, came = threading.Barrier(2), []

    def arrive(subject: str) -> None:
        barrier.wait()
        try:
            came.append(workspace.people.recognise("a", f"{ISSUER}|{subject}"))
        except NotAllowedError:
            came.append(None)

    threads = [threading.Thread(target=arrive, args=(subject,)) for subject in "78"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one is None for one in came) == [False, True]
