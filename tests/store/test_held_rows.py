"""Roles, signatures, waivers, policies, releases, declarations, pools and packs that were changed outside are told."""

from __future__ import annotations

import pytest
from sqlalchemy import select, text, update

from engine.errors import RefusedError
from engine.store.database import schema
from engine.store.logs import rows
from engine.store.logs.check import check_logs
from engine.store.people.members import Members
from engine.store.people.roles import Person, Role
from engine.store.people.signatures import Signatures
from engine.store.runs import held
from engine.store.store import Store
from tests.store.making import examine, finding, finished_run, unguard
from tests.store.test_held_runs import broken, earlier, edited, put_back, rows_of

TEXTS = [f"Made-up letter {i} about a knee." for i in range(8)]
GROWS = ("members", "signatures", "waivers", "own_policies")


@pytest.fixture
def run_id(store, corpus):
    """A run that was signed and released, in a workspace where everything was declared that can be."""
    made = finished_run(store, corpus, TEXTS)
    rules = next(one for one in store.releases.policies() if one.id == "exploratory").rules
    examine(
        store, made,
        [finding(rule.finding, 0.0, reference=name) for rule in rules for name in (rule.reference, rule.above) if name],
    )  # fmt: skip
    store.runs.approve_all_pending(made)
    people = Members(store.session)
    people.set("ada@example.org", "Ada", [Role.CUSTODIAN])
    people.set("grace@example.org", "Grace", [Role.APPROVER, Role.CUSTODIAN])
    people.recognise("ada@example.org", "issuer/1")
    Signatures(store.session.acting_as(Person("grace@example.org", "Grace", (Role.APPROVER,)))).sign(
        made, "exploratory"
    )
    store.labels.declare(corpus.id, ["knee"])
    store.labels.declare(corpus.id, ["knee", "hip"])
    store.descriptions.declare(corpus.id, "letters")
    released = store.releases.make(made, "exploratory", accept_unbounded=True, signed_off_by="Grace")
    store.releases.revoke(released.id, "A mistake was made.")
    return made


def test_what_the_program_wrote_holds(store, run_id):
    assert broken(store) == ""
    assert store.audit.outside() == ()
    assert held.of_run(store.session, run_id) == ()


CHANGES = [
    ("corpora", "UPDATE corpora SET cap = 7", "corpus c-"),
    ("corpora", "UPDATE corpora SET units = 10000", "corpus c-"),
    ("corpora", "UPDATE corpora SET statistics = '{}'", "corpus c-"),
    ("members", "UPDATE members SET roles = '[\"custodian\", \"auditor\"]' WHERE name = 'Grace'", "roles of grace@"),
    ("members", "UPDATE members SET seq = 10 WHERE seq = 1", "roles of ada@"),
    ("members", "UPDATE members SET account = NULL", "roles of ada@"),
    ("members", "DELETE FROM members WHERE name = 'Grace'", "roles of grace@example.org: changed or removed"),
    ("members", "INSERT INTO members (seq, at, actor, identity, name, roles) "
     "VALUES (9, 'now', 'x', 'eve@example.org', 'Eve', '[\"custodian\"]')", "roles of eve@example.org: brought in"),
    ("signatures", "UPDATE signatures SET name = 'Ada'", "signatures of r-"),
    ("signatures", "UPDATE signatures SET run_id = 'r-other'", "signatures of r-"),
    ("signatures", "DELETE FROM signatures", "signatures of r-"),
    ("own_policies", "INSERT INTO own_policies (seq, id, at, actor, digest, text) "
     "VALUES (9, 'own', 'now', 'x', 'y', 'z')", "own policy own: brought in"),
    ("waivers", "INSERT INTO waivers (seq, id, run_id, policy, rule, basis, at, actor, reason, expires, withdrawn) "
     "VALUES (9, 'w-1', 'r-1', 'p', 'r', 'b', 'now', 'x', 'y', '2999', FALSE)", "waivers of r-1: brought in"),
    ("releases", "UPDATE releases SET records = 5", "release rel-"),
    ("releases", "UPDATE releases SET policy = 'public'", "release rel-"),
    ("releases", "DELETE FROM releases", "release rel-"),
    ("revocations", "DELETE FROM revocations", "withdrawal of release rel-"),
    ("revocations", "UPDATE revocations SET reason = 'Another.'", "withdrawal of release rel-"),
    ("declarations", "UPDATE declarations SET value = '[\"knee\"]' WHERE what = 'labels'", "list of labels of c-"),
    ("declarations", "UPDATE declarations SET actor = 'Eve' WHERE what = 'labels'", "list of labels of c-"),
    ("declarations", "DELETE FROM declarations WHERE what = 'description'", "description of c-"),
    ("declarations", "INSERT INTO declarations (corpus_id, what, value, actor, at) "
     "SELECT corpus_id, 'cap', '3', 'x', 'now' FROM declarations WHERE what = 'labels'", "cap of c-"),
    ("pools", "INSERT INTO pools (name, created, actor, texts, labels, digest, origin, licence, statement, pack_id, "
     "marks, found) VALUES ('p', 'now', 'x', 1, '{}', 'd', 'o', 'l', 's', '', '[]', '{}')", "pool p: brought in"),
    ("packs", "INSERT INTO packs (id, created, actor, run_id, statement, listed, marks, prompts, digest) "
     "VALUES ('k-1', 'now', 'x', '', 's', '[]', '[]', '[]', 'd')", "prompt pack k-1: brought in"),
]  # fmt: skip


def test_a_row_that_was_changed_removed_or_brought_in_is_told_until_it_is_put_back(store, run_id):
    """One workspace for all of them: each is put back, and holds again."""
    with store.session.db.write() as connection:
        for name in (*GROWS, "revocations", "packs"):
            unguard(connection, name)
    tables = {name: getattr(schema, name) for name, _, _ in CHANGES}
    rested_on = {kind.table.name for kind in rows.RESTED_ON}
    for name, statement, sentence in CHANGES:
        kept = rows_of(store, tables[name])
        edited(store, statement)
        said = broken(store)
        assert f"Other rows: {sentence}" in said, (statement, said)
        assert any(sentence in one for one in store.audit.untrue()), statement
        if name in rested_on and "r-1" not in statement and "r-other" not in statement:
            assert held.of_run(store.session, run_id, anew=False), statement
            with pytest.raises(RefusedError):
                held.demand(store.session, run_id)
        if name == "corpora":  # what goes with a row of theirs stays
            row = kept[schema.corpora][0]
            with store.session.db.write() as connection:
                connection.execute(update(schema.corpora).values(**{k: v for k, v in row.items() if k != "id"}))
        else:
            put_back(store, kept)
        assert broken(store) == "", statement


def test_an_earlier_declaration_and_an_earlier_role_do_not_hold_again(store, corpus, run_id):
    kept = rows_of(store, schema.declarations)
    store.labels.declare(corpus.id, ["knee"])
    put_back(store, kept)
    assert "list of labels of c-" in broken(store)
    store.labels.withdraw(corpus.id)
    assert broken(store) == ""
    put_back(store, kept)
    assert "list of labels of c-" in broken(store)


def test_a_look_at_private_records_that_was_hidden_is_told(store, run_id):
    edited(store, "DELETE FROM seen_outputs WHERE digest = (SELECT min(digest) FROM seen_outputs)")
    assert f"run {run_id}: what is kept of its examination" in broken(store)
    assert held.of_run(store.session, run_id)
    store.runs.delete(run_id)
    edited(store, "DELETE FROM seen_outputs")
    assert f"run {run_id}: what is kept of its examination" in broken(store), "it outlives the run"


def test_a_ledger_that_was_changed_stops_a_release(store, run_id):
    with store.session.db.write() as connection:
        unguard(connection, "ledger")
    edited(store, "UPDATE ledger SET at = '2020'")
    assert "The ledger does not hold." in held.of_run(store.session, run_id)


def test_what_went_with_its_corpus_holds(store, corpus, run_id):
    store.corpora.delete(corpus.id)
    assert broken(store) == ""


def test_rows_of_an_earlier_edition_are_told_as_that_and_nothing_is_brought_in_beside_them(store, corpus, run_id):
    earlier(store, every=True)
    found = check_logs(store.path)
    assert found.broken == ()
    said = " ".join(found.outside)
    for noun in ("roles of ada@", "signatures of r-", "release rel-", "withdrawal of release", "list of labels of c-"):
        assert f"{noun}" in said
    assert held.of_run(store.session, run_id) == ()
    store.labels.declare(corpus.id, ["knee"])
    Members(store.session).set("ada@example.org", "Ada", [Role.CUSTODIAN, Role.AUDITOR])
    found = check_logs(store.path)
    assert found.broken == ()
    assert "list of labels" not in " ".join(found.outside), "replaced by one that is under the log"
    assert "roles of ada@" in " ".join(found.outside), "the earlier rows stay outside"
    edited(store, "INSERT INTO members (seq, at, actor, identity, name, roles) "
                  "VALUES (90, 'now', 'x', 'grace@example.org', 'Grace', '[\"custodian\"]')")  # fmt: skip
    assert "roles of grace@example.org: brought in" in broken(store)
    with store.session.db.write() as connection:
        unguard(connection, "members")
        connection.execute(text("DELETE FROM members WHERE name = 'Ada' AND seq = 1"))
    assert "roles of ada@example.org: changed or removed" in broken(store)


def test_own_policies_and_waivers_of_the_program_hold(store, corpus):
    from tests.store.test_own_policies import OWN

    store.releases.add_policy(OWN)
    store.releases.add_policy(OWN.replace("title: ", "title: New "))
    assert broken(store) == ""
    store.releases.remove_policy(next(iter(store.releases.own_policies())))
    assert broken(store) == ""
    with store.session.db.read() as connection:
        assert len(connection.execute(select(schema.own_policies)).all()) == 3
    Store(store.path).close()
    assert broken(store) == ""
