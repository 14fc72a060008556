"""The audit log shows any change, removal or insertion."""

import pytest
from sqlalchemy.exc import IntegrityError

from engine.errors import StorageError
from engine.store.audit import canonical
from tests.store.making import unguard


def lines(store, count=5):
    for i in range(count):
        with store.session.db.write() as connection:
            store.session.write_audit(connection, "tested", f"t-{i}", n=i)


def tamper(store, *statements):
    with store.session.db.write() as connection:
        unguard(connection, "audit")
        for statement in statements:
            connection.exec_driver_sql(statement)


def test_an_untouched_chain_holds(store):
    assert store.audit.verify() == {"ok": True, "lines": 0, "first_bad": None}
    lines(store)
    assert store.audit.verify() == {"ok": True, "lines": 5, "first_bad": None}
    shown = store.audit.lines(limit=2, offset=1)
    assert list(shown["seq"]) == [4, 3]
    assert set(shown["actor"]) == {"tester"}


@pytest.mark.parametrize("verb", ["UPDATE audit SET actor = 'x'", "DELETE FROM audit WHERE seq = 2"])
def test_lines_cannot_be_changed_by_a_statement(store, verb):
    lines(store)
    with pytest.raises((IntegrityError, StorageError), match="append-only"), store.session.db.write() as connection:
        connection.exec_driver_sql(verb)


@pytest.mark.parametrize(
    ("statement", "first_bad"),
    [
        ("UPDATE audit SET actor = 'someone' WHERE seq = 3", 3),
        ("UPDATE audit SET detail = '{\"n\":9}' WHERE seq = 1", 1),
        ("UPDATE audit SET at = '2020-01-01' WHERE seq = 5", 5),
        ("DELETE FROM audit WHERE seq = 2", 2),
        ("DELETE FROM audit WHERE seq = 5", 5),  # cut off the end: the sealed head shows it
        ("DELETE FROM audit", 1),
        ("INSERT INTO audit SELECT 6, at, actor, action, subject, detail, hash FROM audit WHERE seq = 5", 6),
    ],
)
def test_tampering_is_found(store, statement, first_bad):
    lines(store)
    tamper(store, statement)
    result = store.audit.verify()
    assert not result["ok"]
    assert (result["lines"], result["first_bad"]) == (first_bad - 1, first_bad)


def test_a_chain_made_with_another_key_does_not_hold(store):
    lines(store)
    store.session.key = bytes(32)
    assert store.audit.verify()["first_bad"] == 1


def test_canonical_json_does_not_depend_on_order():
    assert canonical({"b": 1, "a": [1.5, None]}) == canonical({"a": [1.5, None], "b": 1}) == '{"a":[1.5,null],"b":1}'


def test_lines_of_one_corpus_are_told_from_those_of_another(store):
    mine, other = (store.corpora.import_sample(name) for name in ("support_tickets", "clinic_letters"))
    store.corpora.rename(mine.id, "Mine")
    with store.session.db.write() as connection:
        store.session.write_audit(connection, "run asked for", "r-gone", corpus=mine.id)
        store.session.write_audit(connection, "records approved", "r-gone", records=3)
        store.session.write_audit(connection, "people joined", mine.population)
    found = store.audit.lines(corpus_id=mine.id)
    assert len(found) == store.audit.count(mine.id) == 6
    assert set(found["subject"]) == {mine.id, "r-gone", mine.population}
    assert set(store.audit.lines(corpus_id=other.id)["subject"]) == {other.id}
    assert store.audit.count("%") == 0, "nothing but an id names a corpus"
    store.corpora.delete(mine.id)
    assert "corpus deleted" in set(store.audit.lines(corpus_id=mine.id)["action"])
    assert store.audit.count() == store.audit.verify()["lines"]
