"""Import, read, rename, delete; populations."""

import pytest

from engine.corpus.mapping import ColumnMapping
from engine.errors import DataError, NotFoundError, UserError
from engine.store.records import GROUP_ROWS
from tests.store.conftest import CANARY, MAPPING, made_up


def test_an_imported_corpus_says_what_it_is(store, corpus):
    assert (corpus.records, corpus.units, corpus.unit, corpus.has_gold) == (40, 40, "record", True)
    assert corpus.span_source == "gold"
    assert corpus.detected_at is None
    assert corpus.next_step == "detect"
    assert store.corpora() == [corpus]
    assert store.statistics(corpus.id).records == 40


def test_records_come_in_file_order_and_by_id(store, corpus):
    every = store.records(corpus.id, limit=1000)
    assert list(every["record_id"]) == [f"id{i}" for i in range(40)]
    assert {"x_ward", "text", "split"} <= set(every.columns)
    page = store.records(corpus.id, offset=7, limit=3)
    assert list(page["record_id"]) == ["id7", "id8", "id9"]
    chosen = store.records(corpus.id, ids=["id30", "nobody", "id2"])
    assert list(chosen["record_id"]) == ["id30", "id2"]
    holdout = store.records(corpus.id, split="holdout", limit=1000)
    assert set(holdout["split"]) == {"holdout"}
    assert len(holdout) == store.statistics(corpus.id).holdout_records
    assert store.records(corpus.id, offset=1000).empty


def test_rows_beyond_one_row_group_are_found(store):
    count = 2 * GROUP_ROWS + 10
    big = store.import_table(made_up(count), MAPPING, name="Big")
    ids = [f"id{i}" for i in (count - 1, 0, GROUP_ROWS, GROUP_ROWS - 1)]
    assert list(store.records(big.id, ids=ids)["record_id"]) == ids
    assert store.record_text(big.id, ids[0]) == made_up(count)["text"].iloc[-1]


def test_a_failed_import_changes_nothing(store):
    files = sorted(p for p in store.folder.path.rglob("*") if p.parent.name != "workspace")
    with pytest.raises(DataError):
        store.import_corpus(b"text\n", "empty.csv", ColumnMapping(text="text"), name="x")
    with pytest.raises(UserError, match="name"):
        store.import_table(made_up(), MAPPING, name="  ")
    with pytest.raises(UserError, match="cap"):
        store.import_table(made_up(), MAPPING, name="x", cap=0)
    assert store.corpora() == []
    assert sorted(p for p in store.folder.path.rglob("*") if p.parent.name != "workspace") == files


def test_a_folder_whose_writer_died_is_swept(store):
    """A process that is killed during an import leaves a reservation and a folder."""
    store._reserve("corpora/c-dead")
    folder = store.folder.corpus("c-dead")
    folder.mkdir()
    (folder / "records.parquet").write_text(CANARY)
    store._sweep()
    assert folder.exists()  # its writer, this process, lives
    with store.db.write() as connection:
        connection.exec_driver_sql("UPDATE pending_removals SET pid = 99999999")
    store._sweep()
    assert not folder.exists()


def test_a_corpus_can_be_renamed(store, corpus):
    store.rename_corpus(corpus.id, "  Knee   letters ")
    assert store.corpus(corpus.id).name == "Knee letters"
    with pytest.raises(UserError, match="name"):
        store.rename_corpus(corpus.id, "")


@pytest.mark.parametrize("call", ["corpus", "statistics", "records", "span_counts", "review_queue", "delete_corpus"])
def test_an_unknown_corpus_is_not_found(store, call):
    with pytest.raises(NotFoundError, match="c-nothing"):
        getattr(store, call)("c-nothing")


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
    other = store.import_table(made_up(count, first), MAPPING, name="Other")
    assert (other.population == corpus.population) is same


def test_people_are_recognised_after_deletion(store, corpus):
    store.delete_corpus(corpus.id)
    assert store.import_table(made_up(), MAPPING, name="Again").population == corpus.population


def test_a_file_that_joins_two_populations_merges_them(store, corpus):
    other = store.import_table(made_up(40, 1000), MAPPING, name="Other")
    import pandas as pd

    both = store.import_table(pd.concat([made_up(), made_up(40, 1000)]), MAPPING, name="Both")
    assert {c.population for c in store.corpora()} == {both.population}
    assert other.population != corpus.population
