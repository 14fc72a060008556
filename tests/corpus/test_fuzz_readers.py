"""Damaged files through preview, import, reading back and deletion: a sentence or a corpus, never anything else."""

from __future__ import annotations

import re
import time
from collections import Counter

import pytest

import engine
from engine.corpus.mapping import ColumnMapping
from engine.corpus.readers import read_preview
from engine.errors import DataError, UserError
from tests.corpus.mutating import mutated

SLOW_SECONDS = 30  # of one file, on a busy machine


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
        before = time.monotonic()
        try:
            found[attempt(workspace, seed)] += 1
        except Exception as error:  # noqa: BLE001 - exactly what must not happen
            crashes.append((seed, mutated(seed)[:2], type(error).__name__, str(error)[:200]))
        if time.monotonic() - before > SLOW_SECONDS:
            crashes.append((seed, mutated(seed)[:2], "slow", f"{time.monotonic() - before:.0f} s"))
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


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_many_damaged_files_are_refused_or_read(tmp_path):
    assert sum(fuzz(tmp_path, range(1000, 1000 + 2640)).values()) == 2640
