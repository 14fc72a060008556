"""Labels of the training part stay private until a person declares a list public: stored, named and dated."""

import json

import pandas as pd
import pytest

from engine.corpus.label_rules import checked_labels, unusual
from engine.corpus.mapping import ColumnMapping
from engine.errors import UserError
from engine.methods import get_method
from engine.store.service import ServiceStation
from tests.store.conftest import MAPPING, made_up

BY_KIND = ColumnMapping(text="text", record_id="id", source_id="who", label="kind", keep=())
SENTENCE = "Rosalind Achterberg, HIV positive since 2011, told nobody at work"


def notes(kinds, holdout_only=None):
    rows = [
        {"id": f"n{i}", "who": f"p{i}", "text": f"Note {i} about cold soup.", "kind": k} for i, k in enumerate(kinds)
    ]
    return pd.DataFrame(rows)


def audited(store, action):
    lines = store.audit()
    return [json.loads(row.detail) | {"actor": row.actor} for row in lines[lines["action"] == action].itertuples()]


def test_nothing_is_public_before_somebody_says_so(store, corpus):
    found = store.label_list(corpus.id)
    assert found.counts == {"knee": store.statistics(corpus.id).train_records}
    assert (found.declared, found.actor, found.at) == (None, None, None)
    assert store.public_labels(corpus.id) == ()
    assert store.public_facts(corpus.id).labels == 0
    assert store.facts(corpus.id).labels == 1


def test_a_declaration_is_stored_with_actor_and_time_and_can_be_withdrawn(store, corpus):
    found = store.declare_labels(corpus.id)
    assert (found.declared, found.actor) == (("knee",), "tester")
    assert found.at
    assert store.facts_for(get_method("aug-pe"), corpus.id).labels == 1
    assert audited(store, "label list declared public") == [{"labels": 1, "as_found": True, "actor": "tester"}]
    store.actor = "another"
    assert store.declare_labels(corpus.id, ["shin", " knee ", "knee"]).declared == ("knee", "shin")
    assert store.label_list(corpus.id).actor == "another"
    assert store.withdraw_labels(corpus.id).declared is None
    store.withdraw_labels(corpus.id)
    assert len(audited(store, "label list no longer public")) == 1


def test_the_declaration_goes_with_its_corpus(store, corpus):
    store.declare_labels(corpus.id)
    store.delete_corpus(corpus.id)
    with store.db.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM declarations").scalar() == 0


def test_labels_of_the_holdout_are_not_in_the_list(store):
    made = store.import_table(notes([f"L{i}" for i in range(40)]), BY_KIND, name="Notes", holdout=0.5)
    records = store.records(made.id)
    train = set(records.loc[records["split"] == "train", "label"])
    assert 0 < len(train) < 40
    assert set(store.label_counts(made.id)) == train
    assert store.declare_labels(made.id).declared == tuple(sorted(train))


@pytest.mark.parametrize(
    ("kinds", "words"),
    [([SENTENCE, *["routine"] * 9], "longer than 60"), ([f"L{i}" for i in range(60)], "more than 50")],
)
def test_an_unusual_list_is_declared_only_where_that_is_said(store, kinds, words):
    made = store.import_table(notes(kinds), BY_KIND, name="Notes", holdout=0.0)
    with pytest.raises(UserError, match=words) as error:
        store.declare_labels(made.id)
    assert "Achterberg" not in str(error.value)
    assert store.public_labels(made.id) == ()
    assert len(store.declare_labels(made.id, unusual_too=True).declared) == len(set(kinds))


def test_an_import_that_declares_an_unusual_list_changes_nothing(store):
    table = notes([SENTENCE, "routine"] * 12)  # one of them falls into the training part
    with pytest.raises(UserError, match="longer than 60"):
        store.import_table(table, BY_KIND, name="Notes", labels_public=True)
    assert store.corpora() == []
    made = store.import_table(notes(["a", "b"] * 20), BY_KIND, name="Notes", labels_public=True)
    assert store.public_labels(made.id) == ("a", "b")


def test_a_corpus_without_labels_has_no_list_to_declare(store):
    made = store.import_table(notes([None] * 9), BY_KIND, name="Notes")
    with pytest.raises(UserError, match="has none"):
        store.declare_labels(made.id)
    assert store.declare_labels(made.id, ["a"]).declared == ("a",)


def test_statistics_of_the_first_edition_lead_to_the_same_counts(tmp_path):
    store = ServiceStation(tmp_path / "w", actor="tester")
    made = store.import_table(made_up(), MAPPING, name="Letters", holdout=0.25)
    expected = store.label_counts(made.id)
    with store.db.write() as connection:
        connection.exec_driver_sql("UPDATE corpora SET statistics = json_remove(statistics, '$.train_labels')")
    assert store.statistics(made.id).train_labels is None
    assert store.label_counts(made.id) == expected
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
    made = store.import_table(pd.DataFrame(rows), BY_KIND, name="Notes", unit=unit, holdout=0.0)
    assert store.public_facts(made.id).cap == store.corpus(made.id).cap == cap
