"""Damaged files through preview, import, reading back and deletion: a sentence or a corpus, never anything else."""

from __future__ import annotations

import os
import random
import re
import time
from collections import Counter

import pytest

import engine
from engine.corpus.columns.mapping import ColumnMapping
from engine.corpus.readers import read_preview
from engine.corpus.readers.documents.child import answer
from engine.errors import DataError, UserError
from tests.corpus.documents import pdf, word
from tests.corpus.mutating import mutated
from tests.corpus.test_documents import damaged

SLOW_SECONDS = 30  # of the processor, for one file; a machine that others use may leave it waiting for minutes


def attempt(workspace, seed: int) -> str:
    """Return what became of one damaged file; raises whatever is neither a refusal nor a corpus."""
    _, name, data = mutated(seed)
    try:
        preview = read_preview(data, name)
        for column in preview.columns:  # the page draws these
            str(column).encode("utf-8")
        for column in preview.rows.columns:
            for value in preview.rows[column]:
                assert value is None or value.encode("utf-8") is not None
        mapping = preview.suggested
        if not mapping.text:
            mapping = ColumnMapping(text=preview.columns[0])
        corpus = workspace.corpora.import_file(data, name, mapping, name=f"file {seed}")
    except DataError as error:
        said = str(error)
    except UserError:
        return "user error"
    else:
        return _read_back(workspace, corpus)
    assert re.search(r"\(.*\)|:", said), "a refusal names the file and the rule"
    return "data error"


def _read_back(workspace, corpus) -> str:
    texts = workspace.corpora.records(corpus.id, limit=corpus.records)["text"]
    assert len(texts) == corpus.records
    workspace.corpora.delete(corpus.id)
    return "corpus"


def fuzz(tmp_path, seeds) -> Counter:
    workspace = engine.open_workspace(tmp_path / "workspace")
    found: Counter = Counter()
    crashes = []
    for seed in seeds:
        before = time.process_time()
        try:
            found[attempt(workspace, seed)] += 1
        except Exception as error:  # noqa: BLE001 - exactly what must not happen
            crashes.append((seed, mutated(seed)[:2], type(error).__name__, str(error)[:200]))
        if (took := time.process_time() - before) > SLOW_SECONDS:
            crashes.append((seed, mutated(seed)[:2], "slow", f"{took:.0f} s"))
    left = [corpus.name for corpus in workspace.corpora.all()]
    workspace.close()
    print(dict(found), "crashes", len(crashes))
    assert crashes == []
    assert left == []
    return found


def test_damaged_files_are_refused_or_read(tmp_path):
    found = fuzz(tmp_path, range(180))
    assert found["data error"] > 60
    assert found["corpus"] > 20


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("files", "papers"),
    [pytest.param(1_100, 300, marks=pytest.mark.slow), pytest.param(9_000, 1_000, marks=pytest.mark.long)],
)
def test_thousands_of_damaged_files_are_refused_or_read_and_change_nothing(tmp_path, monkeypatch, files, papers):
    """Over all formats: files through preview, import, reading back and deletion, and documents.

    A file that is refused leaves no row and no file, one that is read and deleted its two lines in the log.
    """
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # what is looked for here is not a power cut
    before = everything(tmp_path)
    found = fuzz(tmp_path, range(1000, 1000 + files))
    assert sum(found.values()) == files
    workspace = engine.open_workspace(tmp_path / "workspace")
    said = Counter(workspace.audit.lines(limit=100_000)["action"])
    assert workspace.audit.verify()["ok"]
    assert workspace.doctor.session.strangers() == []
    workspace.close()
    assert said["corpus imported"] == said["corpus deleted"] == found["corpus"]
    assert not [file for top in ("corpora", "runs", "keys") for file in (tmp_path / "workspace" / top).rglob("*")]
    documents = fuzz_documents(range(papers))
    assert sum(documents.values()) == papers
    assert min(documents["read"], documents["refused"]) > papers / 10
    assert everything(tmp_path) == before, "nothing lies beside the workspace"


def everything(folder) -> list[str]:
    """Return what lies in a folder, the workspace apart."""
    return sorted(path.name for path in folder.iterdir() if path.name != "workspace")


def fuzz_documents(seeds) -> Counter:
    """Return how many damaged documents were read or refused by what their process runs; it opens no file."""
    letter = ["Dear Ms Hvalros,", "we saw you on 3 March 2021."]
    sound = {".docx": word(*letter, header="Clinic", rows=[["Date", "Dose"], ["3.3.", "5 mg"]]), ".pdf": pdf(letter)}
    found: Counter = Counter()
    crashes = []
    for seed in seeds:
        draw, kind = random.Random(seed), (".docx", ".pdf")[seed % 2]
        try:
            said = answer(kind, damaged(draw, sound[kind]), SLOW_SECONDS)
            found["refused" if isinstance(said, str) else "read"] += 1
        except Exception as error:  # noqa: BLE001 - exactly what must not happen
            crashes.append((seed, kind, type(error).__name__, str(error)[:200]))
    print("documents", dict(found), "crashes", len(crashes))
    assert crashes == []
    return found
