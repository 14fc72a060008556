"""After a deletion no byte of the corpus is left in the workspace folder."""

import pandas as pd
import pytest

from engine.corpus.columns.mapping import ColumnMapping
from engine.pii.detect.settings import DetectorSettings
from tests.store.conftest import CANARY, MAPPING, made_up
from tests.store.making import examine, finding, finished_run
from tests.store.span_tables import span_table

NEEDLES = tuple(word.encode() for word in CANARY.split())


def traces(folder):
    """Return the files that hold a canary, in any of the encodings a file may use."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if any(needle in data or needle.decode().encode("utf-16-le") in data for needle in NEEDLES):
                found.append(path.name)
    return found


def fill(store, name="Letters"):
    corpus = store.corpora.import_table(made_up(), MAPPING, name=name)
    span = span_table(store, corpus.id, "id3")["span_id"].iloc[0]
    store.review.decide_alike(corpus.id, span, "relabel", "USERNAME")
    store.review.set_detector_settings(corpus.id, DetectorSettings(deny=(CANARY,)))
    run_id = finished_run(store, corpus, [f"{CANARY} copied {i}" for i in range(30)])
    leaks = pd.DataFrame({"record_id": ["s-000001"], "words": [CANARY]})
    examine(store, run_id, [finding("pipp", 0.5)], tables={"leaks": leaks})
    return corpus, run_id


def test_the_search_for_traces_finds_some(store):
    """The test below can fail: before the deletion the database holds the canary in the open."""
    fill(store)
    assert "understudy.sqlite" in traces(store.folder.path) or "understudy.sqlite-wal" in traces(store.folder.path)


def test_deleting_a_corpus_leaves_no_trace(store):
    corpus, run_id = fill(store)
    store.corpora.delete(corpus.id)
    assert traces(store.folder.path) == []
    assert not store.folder.corpus(corpus.id).exists()
    assert not store.folder.run(run_id).exists()
    assert store.corpora.all() == []
    assert store.runs.all() == []
    wal = store.folder.path / "understudy.sqlite-wal"
    assert not wal.exists() or wal.stat().st_size == 0


def test_a_deletion_leaves_an_audit_line_without_text(store):
    corpus, _ = fill(store)
    store.corpora.delete(corpus.id)
    line = store.audit.lines(limit=1).iloc[0]
    assert (line["action"], line["subject"]) == ("corpus deleted", corpus.id)
    assert line["detail"] == '{"records":40,"runs":1}'
    assert store.audit.verify()["ok"]


def test_deleting_a_run_leaves_none_of_its_text(store):
    plain = made_up().assign(text=[f"Nothing to see in note {i} of this long list of notes." for i in range(40)])
    corpus = store.corpora.import_table(plain, ColumnMapping(text="text", record_id="id"), name="Plain")
    run_id = finished_run(store, corpus, [f"{CANARY} copied {i}" for i in range(30)])
    store.runs.delete(run_id)
    assert traces(store.folder.path) == []


def test_another_corpus_stays_whole(store):
    first, _ = fill(store)
    second, run_id = fill(store, "Second")
    store.corpora.delete(first.id)
    assert store.review.record_text(second.id, "id3") == made_up()["text"][3]
    assert store.review.span_counts(second.id)["decided"] == 8
    assert len(store.runs.synthetic(run_id, limit=100)) == 30


def test_a_deletion_that_was_cut_short_is_finished_on_opening(store, monkeypatch):
    """The process dies between the commit and the removal of files."""
    from engine.store.session import Session
    from engine.store.store import Store

    corpus, _ = fill(store)
    monkeypatch.setattr(Session, "sweep", lambda self: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        store.corpora.delete(corpus.id)
    monkeypatch.undo()
    assert store.folder.corpus(corpus.id).exists()
    again = Store(store.path)
    assert not store.folder.corpus(corpus.id).exists()
    assert again.session.db.truncate_log()
    assert traces(store.folder.path) == []


def test_tables_written_after_their_run_was_deleted_are_swept(store):
    """An examination may finish just after its run was deleted."""
    corpus, run_id = fill(store)
    store.runs.delete(run_id)
    store.examinations.save_tables(run_id, {"leaks": pd.DataFrame({"words": [CANARY]})})
    store.session.sweep()
    assert not store.folder.run(run_id).exists()
    assert store.folder.corpus(corpus.id).exists()
