"""Labels of the training part stay private until a person declares a list public: stored, named and dated."""

import json

import pandas as pd
import pytest

from engine.corpus.label_rules import checked_labels, unusual
from engine.corpus.mapping import ColumnMapping
from engine.errors import UserError
from engine.methods import get_method
from engine.store.store import Store
from tests.store.conftest import MAPPING, made_up

BY_KIND = ColumnMapping(text="text", record_id="id", source_id="who", label="kind", keep=())
SENTENCE = "Rosalind Achterberg, HIV positive since 2011, told nobody at work"


def notes(kinds, holdout_only=None):
    rows = [
        {"id": f"n{i}", "who": f"p{i}", "text": f"Note {i} about cold soup.", "kind": k} for i, k in enumerate(kinds)
    ]
    return pd.DataFrame(rows)


def audited(store, action):
    lines = store.audit.lines()
    return [json.loads(row.detail) | {"actor": row.actor} for row in lines[lines["action"] == action].itertuples()]


def test_nothing_is_public_before_somebody_says_so(store, corpus):
    found = store.labels.known(corpus.id)
    assert found.counts == {"knee": store.corpora.statistics(corpus.id).train_records}
    assert (found.declared, found.actor, found.at) == (None, None, None)
    assert store.labels.public(corpus.id) == ()
    assert store.ledger.public_facts(corpus.id).labels == 0
    assert store.ledger.facts(corpus.id).labels == 1


def test_a_declaration_is_stored_with_actor_and_time_and_can_be_withdrawn(store, corpus):
    found = store.labels.declare(corpus.id)
    assert (found.declared, found.actor) == (("knee",), "tester")
    assert found.at
    assert store.ledger.facts_for(get_method("aug-pe"), corpus.id).labels == 1
    assert audited(store, "label list declared public") == [{"labels": 1, "as_found": True, "actor": "tester"}]
    store.session.actor = "another"
    assert store.labels.declare(corpus.id, ["shin", " knee ", "knee"]).declared == ("knee", "shin")
    assert store.labels.known(corpus.id).actor == "another"
    assert store.labels.withdraw(corpus.id).declared is None
    store.labels.withdraw(corpus.id)
    assert len(audited(store, "label list no longer public")) == 1


def test_the_declaration_goes_with_its_corpus(store, corpus):
    store.labels.declare(corpus.id)
    store.corpora.delete(corpus.id)
    with store.session.db.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM declarations").scalar() == 0


def test_labels_of_the_holdout_are_not_in_the_list(store):
    made = store.corpora.import_table(notes([f"L{i}" for i in range(40)]), BY_KIND, name="Notes", holdout=0.5)
    records = store.corpora.records(made.id)
    train = set(records.loc[records["split"] == "train", "label"])
    assert 0 < len(train) < 40
    assert set(store.labels.counts(made.id)) == train
    assert store.labels.declare(made.id).declared == tuple(sorted(train))


@pytest.mark.parametrize(
    ("kinds", "words"),
    [([SENTENCE, *["routine"] * 9], "longer than 60"), ([f"L{i}" for i in range(60)], "more than 50")],
)
def test_an_unusual_list_is_declared_only_where_that_is_said(store, kinds, words):
    made = store.corpora.import_table(notes(kinds), BY_KIND, name="Notes", holdout=0.0)
    with pytest.raises(UserError, match=words) as error:
        store.labels.declare(made.id)
    assert "Achterberg" not in str(error.value)
    assert store.labels.public(made.id) == ()
    assert len(store.labels.declare(made.id, unusual_too=True).declared) == len(set(kinds))


def test_an_import_that_declares_an_unusual_list_changes_nothing(store):
    table = notes([SENTENCE, "routine"] * 12)  # one of them falls into the training part
    with pytest.raises(UserError, match="longer than 60"):
        store.corpora.import_table(table, BY_KIND, name="Notes", labels_public=True)
    assert store.corpora.all() == []
    made = store.corpora.import_table(notes(["a", "b"] * 20), BY_KIND, name="Notes", labels_public=True)
    assert store.labels.public(made.id) == ("a", "b")


def test_a_corpus_without_labels_has_no_list_to_declare(store):
    made = store.corpora.import_table(notes([None] * 9), BY_KIND, name="Notes")
    with pytest.raises(UserError, match="has none"):
        store.labels.declare(made.id)
    assert store.labels.declare(made.id, ["a"]).declared == ("a",)


def test_statistics_of_the_first_edition_lead_to_the_same_counts(tmp_path):
    store = Store(tmp_path / "w", actor="tester")
    made = store.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25)
    expected = store.labels.counts(made.id)
    with store.session.db.write() as connection:
        connection.exec_driver_sql("UPDATE corpora SET statistics = json_remove(statistics, '$.train_labels')")
    assert store.corpora.statistics(made.id).train_labels is None
    assert store.labels.counts(made.id) == expected
    store.close()


def test_rules_of_a_list():
    assert checked_labels(["b", " a ", "b"]) == ("a", "b")
    for wrong in ([], [""], ["x" * 201]):
        with pytest.raises(UserError):
            checked_labels(wrong)
    assert unusual(["a" * 60] + [f"L{i}" for i in range(49)]) == ""
    assert "one of them is" in unusual(["a" * 61, "b"])
    assert "51 labels" in unusual([f"L{i}" for i in range(51)])


@pytest.mark.parametrize(("unit", "cap"), [("record", 1), ("source", 5)])
def test_the_cap_nobody_named_is_a_constant(store, unit, cap):
    rows = [{"id": str(i), "who": "one", "text": f"Note {i} about cold soup.", "kind": "a"} for i in range(30)]
    rows += [{"id": "x", "who": "two", "text": "Another note about soup.", "kind": "a"}]
    made = store.corpora.import_table(pd.DataFrame(rows), BY_KIND, name="Notes", unit=unit, holdout=0.0)
    assert store.ledger.public_facts(made.id).cap == store.corpora.get(made.id).cap == cap
