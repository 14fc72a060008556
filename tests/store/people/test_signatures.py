"""A signature counts as what it was made as: of the person who signed, under what they signed."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from tests.store.making import finished_run, unguard


@pytest.fixture
def signed(store, corpus):
    """Return a run whose approved records Bea signed."""
    run_id = finished_run(store, corpus, ["A made-up note about a walk."])
    store.runs.approve_all_pending(run_id)
    for identity, name in (("ada@x", "Ada"), ("bea@x", "Bea"), ("cyd@x", "Cyd")):
        store.people.set(identity, name, ["custodian", "approver"] if name == "Ada" else ["approver"])
    store.session.person = store.people.person("bea@x")
    store.signatures.sign(run_id, "internal")
    return run_id


def test_a_signature_is_of_who_signed(store, signed):
    assert store.signatures.of(signed, "internal", besides="ada@x").name == "Bea"
    assert store.signatures.of(signed, "internal", besides="bea@x") is None
    assert store.signatures.of(signed, "exploratory") is None


@pytest.mark.parametrize(
    "statement",
    ["UPDATE signatures SET identity = 'cyd@x'", "UPDATE signatures SET name = 'Cyd'", "UPDATE signatures SET at = '1'",
     "UPDATE signatures SET state = '\u00e9'"],
)  # fmt: skip
def test_a_signature_that_was_given_to_somebody_else_is_none(store, signed, statement):
    with store.session.db.write() as connection:
        unguard(connection, "signatures")
        connection.execute(text(statement))
    assert store.signatures.of(signed, "internal") is None
    assert store.signatures.of(signed, "internal", besides="bea@x") is None
