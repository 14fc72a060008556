"""Labels of the training part stay private until a person declares a list public: stored, named and dated."""

import json

import pandas as pd
import pytest
from sqlalchemy import select, update

from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.label_rules import checked_labels, holders_in_words, label_holders, rare, unusual
from engine.errors import UserError
from engine.methods import get_method
from engine.store.corpora import declarations
from engine.store.database.schema import corpora
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


def of_an_earlier_edition(store, name):
    """Take one statistic, which an earlier edition did not keep, from the only corpus."""
    with store.session.db.write() as connection:
        kept = dict(connection.execute(select(corpora.c.statistics)).scalar_one())
        del kept[name]
        connection.execute(update(corpora).values(statistics=kept))


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
    (line,) = audited(store, "label list declared public")
    digest, row = line.pop("digest"), line.pop("row")
    assert len(row) == 64
    assert line == {"labels": 1, "as_found": True, "held_by_few": 0, "actor": "tester"}
    assert digest == declarations.digest(store.corpora.subkey("label list"), ["knee"])
    assert digest != declarations.digest(b"another workspace", ["knee"])
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
    assert store.labels.declare(made.id, rare_ones="include").declared == tuple(sorted(train))


@pytest.mark.parametrize(
    ("kinds", "words"),
    [([SENTENCE, *["routine"] * 9], "longer than 60"), ([f"L{i}" for i in range(60)], "more than 50")],
)
def test_an_unusual_list_is_declared_only_where_that_is_said(store, kinds, words):
    made = store.corpora.import_table(notes(kinds), BY_KIND, name="Notes", holdout=0.0)
    with pytest.raises(UserError, match=words) as error:
        store.labels.declare(made.id, rare_ones="include")
    assert "Achterberg" not in str(error.value)
    assert store.labels.public(made.id) == ()
    assert len(store.labels.declare(made.id, unusual_too=True, rare_ones="include").declared) == len(set(kinds))


def test_a_label_of_one_or_two_people_is_declared_only_where_that_is_said(store):
    kinds = ["routine"] * 9 + ["HIV unit"] * 2 + ["prison ward"]
    made = store.corpora.import_table(notes(kinds), BY_KIND, name="Notes", holdout=0.0)
    with pytest.raises(UserError, match="2 labels are held by fewer than 3 people") as error:
        store.labels.declare(made.id)
    assert not any(word in str(error.value) for word in ("HIV", "prison"))
    assert store.labels.public(made.id) == ()
    assert audited(store, "label list declared public") == []
    known = store.labels.known(made.id)
    assert known.people == {"routine": "3 to 9", "HIV unit": "fewer than 3", "prison ward": "fewer than 3"}
    assert known.rare == ("HIV unit", "prison ward")
    assert store.labels.declare(made.id, rare_ones="leave-out").declared == ("routine",)
    assert len(store.labels.declare(made.id, rare_ones="include").declared) == 3
    named = store.labels.declare(made.id, ["prison ward", "acute"])
    assert named.declared == ("acute", "prison ward")
    assert named.people["acute"] == "nobody"
    lines = audited(store, "label list declared public")  # the newest first
    assert [(line["as_found"], line["held_by_few"]) for line in lines] == [(False, 1), (True, 2), (True, 0)]
    assert not any(word in json.dumps(lines) for word in ("HIV", "prison", "acute"))


def test_people_are_counted_and_not_records(store):
    table = notes(["routine"] * 9 + ["HIV unit"] * 20)
    table.loc[table["kind"] == "HIV unit", "who"] = "one"
    made = store.corpora.import_table(table, BY_KIND, name="Notes", unit="record", holdout=0.0)
    assert store.labels.counts(made.id)["HIV unit"] == 20
    assert store.labels.known(made.id).people["HIV unit"] == "fewer than 3"
    with pytest.raises(UserError, match="one label is held by fewer than 3"):
        store.labels.declare(made.id)
    of_an_earlier_edition(store, "train_label_holders")
    assert store.labels.holders(made.id) == {"routine": 9, "HIV unit": 1}


def test_where_every_label_is_of_one_person_nothing_is_left_to_declare(store):
    made = store.corpora.import_table(notes([f"L{i}" for i in range(9)]), BY_KIND, name="Notes", holdout=0.0)
    with pytest.raises(UserError, match="nothing is left"):
        store.labels.declare(made.id, rare_ones="leave-out")


def test_an_import_refuses_a_label_of_one_person_and_takes_a_list_by_name(store):
    table = notes(["routine"] * 9 + ["HIV unit"])
    with pytest.raises(UserError, match="one label is held by fewer than 3") as error:
        store.corpora.import_table(table, BY_KIND, name="Notes", holdout=0.0, labels_public=True)
    assert "HIV" not in str(error.value)
    assert store.corpora.all() == []
    made = store.corpora.import_table(table, BY_KIND, name="Notes", holdout=0.0, labels_public=["routine", "acute"])
    assert store.labels.public(made.id) == ("acute", "routine")


def test_what_a_run_depends_on_is_the_declaration_alone(store):
    """Neighbouring corpora, of which one is refused `as they stand`, have equal public facts before and after."""
    facts = []
    for kinds in (["routine"] * 9 + ["HIV unit"], ["routine"] * 10):
        made = store.corpora.import_table(notes(kinds), BY_KIND, name="Notes", holdout=0.0)
        if "HIV unit" in kinds:
            with pytest.raises(UserError):
                store.labels.declare(made.id)
        undeclared = store.ledger.public_facts(made.id)
        store.labels.declare(made.id, ["routine", "HIV unit"])
        facts.append((undeclared, store.ledger.public_facts(made.id)))
    assert facts[0] == facts[1]
    assert [f.labels for f in facts[0]] == [0, 2]


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


def test_statistics_of_the_first_edition_lead_to_the_same_counts(store):
    made = store.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25)
    expected = store.labels.counts(made.id)
    of_an_earlier_edition(store, "train_labels")
    assert store.corpora.statistics(made.id).train_labels is None
    assert store.labels.counts(made.id) == expected


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


def test_holders_of_labels():
    assert label_holders(["a", "a", "a", None, "b", ""], ["x", "x", None, "y", None, "z"]) == {"a": 2, "b": 1}
    assert rare(["a", "b", "c"], {"a": 2, "b": 3}) == ("a",)
    assert [holders_in_words(n) for n in (0, 1, 2, 3, 9, 10, 99, 100)] == [
        "nobody", "fewer than 3", "fewer than 3", "3 to 9", "3 to 9", "10 to 99", "10 to 99", "100 or more",
    ]  # fmt: skip
