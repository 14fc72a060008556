"""A corpus' embeddings are made once, go with it, and are made anew where the file is not the one that was written."""

from __future__ import annotations

import numpy as np
import pytest

from engine.jobs.worker import kept_embeddings
from engine.jobs.worker.kept_embeddings import NAME, KeptEmbeddings
from engine.store.disk.backup import EMBEDDINGS
from engine.store.store import Store
from tests.examine.examine_helpers import WordEmbedder
from tests.jobs.conftest import wait
from tests.store.conftest import MAPPING, made_up
from tests.store.making import finished_run
from tests.store.test_deletion import traces

OWN = [f"Letter {i} of Quillfeather Zanzibarnacle" for i in range(6)]
KEY = b"k" * 32


class Counting(WordEmbedder):
    """Counts what it is asked."""

    def __init__(self):
        self.asked: list[str] = []

    def embed(self, texts):
        self.asked += texts
        return super().embed(texts) if texts else np.zeros((0, 64), np.float32)


def opened(path, *, model="m", key=KEY, own=OWN):
    inner = Counting()
    return inner, KeptEmbeddings(inner, model, path / NAME, key, own)


def filled(path):
    _, kept = opened(path)
    rows = kept.embed(OWN)
    kept.keep()
    return rows


def test_a_text_is_embedded_once(tmp_path):
    rows = filled(tmp_path)
    inner, kept = opened(tmp_path)
    again = kept.embed([*OWN[::-1], OWN[0]])
    assert (again == np.concatenate([rows[::-1], rows[:1]])).all()
    assert inner.asked == []
    assert kept.made == 0


def test_others_pass_through_and_are_not_kept(tmp_path):
    filled(tmp_path)
    inner, kept = opened(tmp_path)
    mixed = kept.embed(["a synthetic text", OWN[2], "another"])
    assert (mixed == WordEmbedder().embed(["a synthetic text", OWN[2], "another"])).all()
    assert inner.asked == ["a synthetic text", "another"]
    before = (tmp_path / NAME).read_bytes()
    kept.keep()
    assert (tmp_path / NAME).read_bytes() == before
    assert kept.embed([]).shape == (0, 64)


def test_the_file_tells_no_text_and_is_the_owners_alone(tmp_path):
    import hashlib

    filled(tmp_path)
    data = (tmp_path / NAME).read_bytes()
    assert b"Quillfeather" not in data
    for text in OWN:
        for made in (hashlib.sha256, hashlib.blake2b, hashlib.md5):
            assert made(text.encode()).digest()[:16] not in data
    assert (tmp_path / NAME).stat().st_mode & 0o077 == 0
    assert NAME.startswith(EMBEDDINGS), "backups leave it out by this name"


def _cut(data):
    return data[: len(data) // 2]


def _flipped(data):
    return data[:-3] + bytes([data[-3] ^ 1]) + data[-2:]


@pytest.mark.parametrize(
    "damage", [_cut, _flipped, lambda data: b"", lambda data: b"not a table", lambda data: data[:8]]
)
def test_a_damaged_file_is_ignored_and_written_anew(tmp_path, damage):
    rows = filled(tmp_path)
    whole = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(damage(whole))
    inner, kept = opened(tmp_path)
    assert (kept.embed(OWN) == rows).all()
    assert inner.asked == OWN
    kept.keep()
    assert (tmp_path / NAME).read_bytes() == whole


@pytest.mark.parametrize("other", [{"model": "another"}, {"key": b"x" * 32}])
def test_rows_of_another_model_or_workspace_are_not_used(tmp_path, other):
    filled(tmp_path)
    inner, kept = opened(tmp_path, **other)
    kept.embed(OWN)
    assert inner.asked == OWN


def test_an_older_file_that_was_put_back_is_taken_up_where_it_ends(tmp_path):
    inner, kept = opened(tmp_path)
    kept.embed(OWN[:2])
    kept.keep()
    older = (tmp_path / NAME).read_bytes()
    kept.embed(OWN)
    kept.keep()
    (tmp_path / NAME).write_bytes(older)
    inner, kept = opened(tmp_path)
    kept.embed(OWN)
    assert inner.asked == OWN[2:]


def test_it_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_embeddings, "MOST", 4)
    filled(tmp_path)
    inner, kept = opened(tmp_path)
    kept.embed(OWN)
    assert inner.asked == OWN[4:]


def test_nothing_is_written_for_a_corpus_that_is_gone(tmp_path):
    _, kept = opened(tmp_path / "gone")
    kept.embed(OWN)
    kept.keep()
    assert not (tmp_path / "gone").exists()


def test_it_goes_with_the_corpus(tmp_path):
    store = Store(tmp_path / "workspace", actor="tester")
    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters")
    texts = store.corpora.frame(corpus.id)["text"].tolist()
    kept = KeptEmbeddings(Counting(), "m", store.folder.corpus(corpus.id) / NAME, KEY, texts)
    kept.embed(texts)
    kept.keep()
    assert (store.folder.corpus(corpus.id) / NAME).exists()
    store.corpora.delete(corpus.id)
    assert not store.folder.corpus(corpus.id).exists()
    assert traces(store.folder.path) == []
    store.close()


def test_a_run_s_texts_are_kept_with_the_run_and_the_corpus_ones_with_the_corpus(tmp_path):
    (tmp_path / "run").mkdir()
    inner, own = opened(tmp_path)
    both = KeptEmbeddings(own, "m", tmp_path / "run" / NAME, KEY, ["made up", "made up too"])
    rows = both.embed([OWN[0], "made up", "made up too", "of nobody"])
    both.keep()
    inner, own = opened(tmp_path)
    again = KeptEmbeddings(own, "m", tmp_path / "run" / NAME, KEY, ["made up", "made up too"])
    assert (again.embed([OWN[0], "made up", "made up too", "of nobody"]) == rows).all()
    assert inner.asked == ["of nobody"]
    inner, own = opened(tmp_path)
    assert (own.embed([OWN[0], "made up"]) == rows[:2]).all()
    assert inner.asked == ["made up"]  # not among the corpus' own


def test_it_goes_with_the_run(tmp_path):
    store = Store(tmp_path / "workspace", actor="tester")
    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters")
    run_id = finished_run(store, corpus, ["a made-up letter"] * 3)
    folder = store.folder.run(run_id)
    folder.mkdir(parents=True, exist_ok=True)
    kept = KeptEmbeddings(Counting(), "m", folder / NAME, KEY, ["a made-up letter"])
    kept.embed(["a made-up letter"])
    kept.keep()
    assert (folder / NAME).exists()
    store.runs.delete(run_id)
    assert not folder.exists()
    store.close()


@pytest.mark.slow
def test_a_second_examination_embeds_no_text_again(workspace, corpus):
    """The worker replaces a file where it made a row, and leaves it alone where it made none."""
    path = workspace.folder.corpus(corpus.id) / NAME
    seen, outputs = [], []
    for texts in (["a made-up letter about a knee"] * 3, ["another letter of no person"] * 4):
        run_id = finished_run(workspace, corpus, texts)
        for _ in range(2):
            job = workspace.jobs.examine(run_id, privacy=False, model_attacks=False)
            assert wait(workspace, job, seconds=300).state == "done"
            outputs.append((workspace.folder.run(run_id) / NAME).stat())
        seen.append((path.stat().st_ino, path.stat().st_mtime_ns))
    assert seen[0] == seen[1]
    marks = [(one.st_ino, one.st_mtime_ns) for one in outputs]
    assert marks[0] == marks[1]
    assert marks[2] == marks[3]
    assert marks[0] != marks[2]
