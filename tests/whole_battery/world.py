"""Whole ways through the facade: import, run in a real worker, examine with every part; notes are real."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

from engine.corpus.columns.mapping import ColumnMapping
from engine.examine.registry import EXAMINATIONS, LAST
from engine.jobs.worker import launch
from engine.workspace import Workspace, open_workspace
from tests.examine.examine_helpers import PatternDetector
from tests.whole_battery import leaking_method
from tests.whole_battery.leaking_method import MARK, NOTES

PARTS = len(EXAMINATIONS) + len(LAST)
WORDS = (
    "amber brass cobalt jade ivory lunar marble opal paper velvet badger falcon timber harbour lantern pepper saddle "
    "walnut copper meadow".split()
)
ATTACKS = {
    "ngram", "ngram_window", "neighbours_jaccard_1", "neighbours_jaccard_5", "neighbours_jaccard_10",
    "neighbours_jaccard_25", "neighbours_cosine_1", "neighbours_cosine_5", "neighbours_cosine_10",
    "neighbours_cosine_25", "word_probe", "stylometric",
}  # fmt: skip
MODEL_ATTACKS = {"mia_ppl", "mia_refer", "mia_lira", "mia_zlib", "mia_mink", "mia_minkpp", "mia_recall", "mia_rmia"}
MAPPING = ColumnMapping(
    text="text", record_id="report_id", source_id=None, label="outcome", keep=("canary",), spans="spans"
)


def notes(test_data: Path) -> pd.DataFrame:
    """Return real notes in an order of their own, each once, on one line."""
    table = pd.read_parquet(test_data / "vaers_1998_1999.parquet")
    table["text"] = [" ".join(str(text).split()) for text in table["text"]]
    return table.drop_duplicates("text").sample(frac=1, random_state=11).reset_index(drop=True)


def corpus_of(table: pd.DataFrame, canaries: int = 0) -> pd.DataFrame:
    """Return records with spans, of which the first `canaries` hold eight words of their own."""
    draw = Random(3)
    table = table.assign(canary=None)
    for row in table.index[:canaries]:
        table.loc[row, "canary"] = " ".join(draw.sample(WORDS, 8))
        table.loc[row, "text"] += f" {MARK} {table.loc[row, 'canary']}"
    found = PatternDetector().detect(table["text"].tolist())
    return table.assign(
        spans=[json.dumps([{k: s[k] for k in ("start", "end", "label")} for s in spans]) for spans in found]
    )


@contextmanager
def opened(path: Path, unused: pd.DataFrame, patch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """Open a workspace whose worker knows the leaking method and the notes that nobody imported."""
    leaking_method.register()
    lines = path.parent / "unused.txt"
    lines.write_text("\n".join(unused["text"]))
    patch.setenv(NOTES, str(lines))
    command = [sys.executable, "-m", "tests.whole_battery.leaking_method", "--idle-seconds", "60", "--workspace"]
    patch.setattr(launch, "worker_command", lambda folder: [*command, str(folder.path)])
    workspace = open_workspace(path, "tester")
    try:
        yield workspace
    finally:
        workspace.jobs.stop_worker()
        workspace.close()


def wait(workspace: Workspace, job: str, seconds: float = 1500.0) -> None:
    """Wait until a job is done."""
    until = time.monotonic() + seconds
    while (state := workspace.jobs.get(job).state) not in ("done", "failed", "cancelled"):
        assert time.monotonic() < until, workspace.jobs.get(job)
        time.sleep(0.2)
    assert state == "done", workspace.jobs.get(job).error


def made(workspace: Workspace, corpus: str, method: str, count: int, **parameters: Any) -> str:
    """Run a method; return the run's id."""
    run = workspace.jobs.synthesize(corpus, method, count=count, parameters=parameters, seed=1)
    wait(workspace, str(workspace.runs.get(run).job_id))
    return run


def examined(workspace: Workspace, run: str, *, model_attacks: bool) -> None:
    """Examine a run's privacy, all parts."""
    wait(workspace, workspace.jobs.examine(run, utility=False, model_attacks=model_attacks))
    assert len(workspace.examinations.table(run, "parts")) == PARTS
