"""Import, read, rename, delete; populations."""

import itertools
from operator import attrgetter

import pytest

from engine.corpus.columns.mapping import ColumnMapping
from engine.errors import DataError, NotFoundError, UserError
from engine.store.corpora import declarations
from engine.store.records import GROUP_ROWS
from tests.store.conftest import CANARY, MAPPING, made_up


def test_an_imported_corpus_says_what_it_is(store, corpus):
    assert (corpus.records, corpus.units, corpus.unit, corpus.has_gold) == (40, 40, "record", True)
    assert corpus.span_source == "gold"
    assert corpus.detected_at is None
    assert corpus.next_step == "review", "the marks came with the file"
    assert store.corpora.all() == [corpus]
    assert store.corpora.statistics(corpus.id).records == 40


def test_records_come_in_file_order_and_by_id(store, corpus):
    every = store.corpora.records(corpus.id, limit=1000)
    assert list(every["record_id"]) == [f"id{i}" for i in range(40)]
    assert {"x_ward", "text", "split"} <= set(every.columns)
    page = store.corpora.records(corpus.id, offset=7, limit=3)
    assert list(page["record_id"]) == ["id7", "id8", "id9"]
    chosen = store.corpora.records(corpus.id, ids=["id30", "nobody", "id2"])
    assert list(chosen["record_id"]) == ["id30", "id2"]
    holdout = store.corpora.records(corpus.id, split="holdout", limit=1000)
    assert set(holdout["split"]) == {"holdout"}
    assert len(holdout) == store.corpora.statistics(corpus.id).holdout_records
    assert store.corpora.records(corpus.id, offset=1000).empty


def test_rows_beyond_one_row_group_are_found(store):
    count = 2 * GROUP_ROWS + 10
    big = store.corpora.import_table(made_up(count), MAPPING, name="Big")
    ids = [f"id{i}" for i in (count - 1, 0, GROUP_ROWS, GROUP_ROWS - 1)]
    assert list(store.corpora.records(big.id, ids=ids)["record_id"]) == ids
    assert store.review.record_text(big.id, ids[0]) == made_up(count)["text"].iloc[-1]


def test_a_failed_import_changes_nothing(store):
    files = sorted(p for p in store.folder.path.rglob("*") if p.parent.name != "workspace")
    with pytest.raises(DataError):
        store.corpora.import_file(b"text\n", "empty.csv", ColumnMapping(text="text"), name="x")
    with pytest.raises(UserError, match="name"):
        store.corpora.import_table(made_up(), MAPPING, name="  ")
    with pytest.raises(UserError, match="cap"):
        store.corpora.import_table(made_up(), MAPPING, name="x", cap=0)
    assert store.corpora.all() == []
    assert sorted(p for p in store.folder.path.rglob("*") if p.parent.name != "workspace") == files


def test_a_folder_whose_writer_died_is_swept(store):
    """A process that is killed during an import leaves a reservation and a folder."""
    store.session.begin_writing("corpora/c-dead")
    folder = store.folder.corpus("c-dead")
    folder.mkdir()
    (folder / "records.parquet").write_text(CANARY)
    store.session.sweep()
    assert folder.exists()  # its writer, this process, lives
    with store.session.db.write() as connection:
        connection.exec_driver_sql("UPDATE pending_removals SET pid = 99999999")
    store.session.sweep()
    assert not folder.exists()


def test_a_corpus_can_be_renamed(store, corpus):
    store.corpora.rename(corpus.id, "  Knee   letters ")
    assert store.corpora.get(corpus.id).name == "Knee letters"
    with pytest.raises(UserError, match="name"):
        store.corpora.rename(corpus.id, "")


@pytest.mark.parametrize(
    "call",
    ["corpora.get", "corpora.statistics", "corpora.records", "review.span_counts", "review.queue", "corpora.delete"],
)
def test_an_unknown_corpus_is_not_found(store, call):
    with pytest.raises(NotFoundError, match="c-nothing"):
        attrgetter(call)(store)("c-nothing")


@pytest.mark.parametrize(
    ("count", "first", "same"),
    [
        (40, 0, True),  # the same file again
        (40, 20, True),  # half of it
        (4, 0, True),  # a small piece of it
        (40, 1000, False),  # other letters
    ],
)
def test_an_overlapping_file_belongs_to_the_same_people(store, corpus, count, first, same):
    other = store.corpora.import_table(made_up(count, first), MAPPING, name="Other", holdout=0)  # four may all be drawn
    assert (other.population == corpus.population) is same


def test_people_are_recognised_after_deletion(store, corpus):
    store.corpora.delete(corpus.id)
    assert store.corpora.import_table(made_up(), MAPPING, name="Again").population == corpus.population


def test_a_file_that_joins_two_populations_merges_them(store, corpus):
    other = store.corpora.import_table(made_up(40, 1000), MAPPING, name="Other")
    import pandas as pd

    both = store.corpora.import_table(pd.concat([made_up(), made_up(40, 1000)]), MAPPING, name="Both")
    assert {c.population for c in store.corpora.all()} == {both.population}
    assert other.population != corpus.population


def visits(people: int = 30) -> bytes:
    """Return a table of people with one to seven rows each."""
    rows = [
        f"Visit {person} {i} because of a sore knee,P{person}"
        for person in range(people)
        for i in range(1 + person % 7)
    ]
    return "\n".join(["text,patient", *rows]).encode()


@pytest.mark.parametrize(
    ("given", "cap", "declared"),
    [
        ({}, 5, None),
        ({"cap_from_file": True}, 7, 7),
        ({"cap": 9}, 9, None),
        ({"cap": 7, "cap_from_file": True}, 7, 7),
    ],
)
def test_the_cap_follows_the_file_only_where_a_person_declares_it_public(store, given, cap, declared):
    mapping = ColumnMapping(text="text", source_id="patient")
    corpus = store.corpora.import_file(visits(), "a.csv", mapping, name="A", unit="source", **given)
    assert corpus.cap == cap
    with store.session.db.read() as connection:
        row = declarations.declared(connection, corpus.id, declarations.CAP)
    assert (row.value if row else None) == declared
    log = store.audit.lines(corpus_id=corpus.id)
    assert ("cap declared public" in set(log["action"])) is (declared is not None)


def test_the_default_cap_is_the_same_for_neighbouring_files(store):
    mapping = ColumnMapping(text="text", source_id="patient")
    caps = {store.corpora.import_file(visits(people), f"{people}.csv", mapping, name="A", unit="source").cap
            for people in (29, 28, 27)}  # fmt: skip
    assert caps == {5}


def test_advice_about_accents_ends_with_the_import_and_lengths_are_counted(store):
    text = "text\n" + "\n".join(f"Müller kam {'oft ' * (i % 50)}mit Rückenschmerzen Nr. {i}" for i in range(200))
    corpus = store.corpora.import_file(text.encode("cp1252"), "a.csv", ColumnMapping(text="text"), name="A")
    assert not any("accented" in warning for warning in corpus.warnings)
    assert any("German" in warning for warning in corpus.warnings), "languages are told in words"
    rows = store.corpora.statistics(corpus.id).lengths
    assert sum(count for _, _, count in rows) == 200
    assert (rows[0][0], rows[-1][1]) == (6, 55)
    assert all(one[1] + 1 == other[0] for one, other in itertools.pairwise(rows))
