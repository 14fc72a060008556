"""Canaries through the whole pipeline of a workspace that is not encrypted: where they lie, and where they must not.

Every file that is written below the workspace, the folder for temporary files and what leaves is read as it changes,
in any usual way of writing, and so are its names; each column of each table of the database and of each Parquet file
is read at the end. What may hold private text is named here, column by column; everything else is a leak: logs, the
audit log, the ledger, jobs and what they were asked for, settings, findings, tables of figures, file names, errors.
"""

from __future__ import annotations

import base64
import json
import re
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
import pytest

import engine
from engine.corpus.columns.mapping import ColumnMapping
from engine.errors import UserError
from tests.cli.in_process import run as called
from tests.jobs.conftest import wait

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

PERSON, CODE, MAIL = "Quillfeather Zanzibarnacle", "QX-7719-4483-2206", "quillfeather@zanzibarnacle.example"
RECORD, SOURCE, LABEL, WARD = "rec-zanzibarnacle", "src-zanzibarnacle", "kind-zanzibarnacle", "ward-zanzibarnacle"
FEVER = "fever of the zanzibarnacle kind since the holidays by the northern lake"
PEOPLE, FEWER = 12, 9
CANARIES = ("zanzibarnacle", "quillfeather", "7719-4483-2206", "northern lake")
MAY_HOLD = {  # column by column, of the database and of Parquet files
    ("record_index", "record_id"),  # which record a mark is of
    ("corpora", "statistics"),  # counts by label
    ("synthetic", "text"), ("synthetic", "label"), ("synthetic", "lineage"),  # outputs, and what each stems from
    ("jobs", "sample"),  # outputs shown while they are made
    *(("records.parquet", name) for name in ("record_id", "text", "source_id", "label", "x_ward")),
    *((f"{table}.parquet", name) for table, names in {
        "each": ("item", "unit"), "groups": ("group",), "inference_ranking": ("record_id", "unit"),
        "leaks": ("source_record_id",), "map": ("record_id", "label"), "nearest": ("nearest_holdout", "nearest_train"),
        "ranking": ("record_id", "unit"), "set_aside": ("record_id",), "units": ("record_id", "unit"),
    }.items() for name in names),  # whose records are at risk, by the ids that they came with
}  # fmt: skip
PLACES = re.compile(  # of files that may hold canaries, within the workspace; all go with their corpus or run
    r"understudy\.sqlite(-wal|-shm)?|corpora/c-\w+/\.?(records|map)\.parquet[^/]*"
    r"|runs/r-\w+/(scratch/examination/)?[^/]+"
)


def records(count: int) -> pd.DataFrame:
    rows = []
    for i in range(count):
        name = f"{PERSON} {'ABCDE'[i % 5]}"
        ill = FEVER if i % PEOPLE < FEWER else "cough"  # what ten people share counts as nobody's, and may be listed
        text = f"Letter {i}: {name} ({MAIL}, {CODE}) came on {1 + i % 28} May 2021 with a {ill} {i}."
        kind = LABEL if i % 2 else "knee"
        rows.append({"id": f"{RECORD}-{i}", "text": text, "who": f"{SOURCE}-{i % PEOPLE}", "kind": kind, "ward": WARD})
    return pd.DataFrame(rows)


def forms() -> list[bytes]:
    """Return the canaries in the ways in which text is written down."""
    found: set[bytes] = set()
    for word in CANARIES:
        for written in (word, word.title(), word.upper(), word.capitalize(), quote(word), json.dumps(word)[1:-1]):
            found |= {written.encode(form) for form in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le")}
            found |= {written.encode().hex().encode()}
            for lead in (b"", b" ", b"  "):  # by where it stands in what is encoded; ends depend on what follows
                found.add(base64.b64encode(lead + written.encode())[4:-4])
    return [one for one in found if len(one) >= 8]


FORMS = forms()


def holds(data: bytes) -> bool:
    return any(one in data for one in FORMS)


class Watch:
    """Reads each file below some folders as it changes; notes those that hold a canary, in them or in their names."""

    def __init__(self, *folders: Path) -> None:
        self.folders, self.found, self.names, self.looked = folders, set[str](), set[str](), set[tuple[str, int, int]]()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        assert self._thread.is_alive(), "it looked to the end"
        self._stop.set()
        self._thread.join()
        self._look()

    def _run(self) -> None:
        while not self._stop.wait(0.02):
            self._look()

    def _look(self) -> None:
        for folder in self.folders:
            try:
                files = list(folder.rglob("*"))
            except OSError:  # a folder went while it was looked through; the next look comes at once
                continue
            for file in files:
                if holds(str(file.relative_to(folder)).encode()):
                    self.names.add(str(file))
                try:
                    status = file.lstat()
                    mark = (str(file), status.st_mtime_ns, status.st_size)
                    if file.is_file() and mark not in self.looked:
                        self.looked.add(mark)
                        if holds(file.read_bytes()):
                            self.found.add(str(file))
                except OSError:
                    continue


def cells(path: Path) -> Iterator[tuple[str, str]]:
    """Yield table and column of each cell of the database that holds a canary."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{name}")')]
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                for column, value in zip(columns, row, strict=True):
                    data = value if isinstance(value, bytes) else str(value).encode()
                    if holds(data):
                        yield name, column


def columns(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield file and column of each Parquet column that holds a canary, the column's name among it."""
    for file in sorted(folder.rglob("*.parquet")):
        frame = pd.read_parquet(file)
        for name in frame.columns:
            if holds(str(name).encode()) or holds("\n".join(map(str, frame[name])).encode()):
                yield file.name, str(name)


def done(workspace: Any, job: str) -> None:
    ended = wait(workspace, job, seconds=400.0)
    assert ended.state == "done", ended.error


def made(workspace: Any, corpus: str, method: str, **settings: Any) -> str:
    run_id = str(workspace.jobs.synthesize(corpus, method, **settings))
    done(workspace, workspace.runs.get(run_id).job_id)
    return run_id


def test_private_text_lies_where_it_may_and_nowhere_else(tmp_path, monkeypatch, capfd):
    path, temporary, out = tmp_path / "w", tmp_path / "temporary", tmp_path / "out"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    workspace = engine.open_workspace(path, "tester")
    mapping = ColumnMapping(text="text", record_id="id", source_id="who", label="kind", keep=("ward",))
    with Watch(path, temporary) as watch:
        corpus = workspace.corpora.import_table(records(80), mapping, name="Letters", unit="source", holdout=0.25).id
        done(workspace, workspace.jobs.detect(corpus))
        first = str(workspace.corpora.records(corpus, limit=1)["record_id"].iloc[0])
        spans = workspace.review.spans(corpus, first)
        workspace.review.decide(corpus, [spans[0].span_id], "accept")
        workspace.review.decide(corpus, [spans[-1].span_id], "reject")
        runs = [
            made(workspace, corpus, "surrogate"),
            made(workspace, corpus, "finetune", count=6, parameters={"epochs": 1}),
            made(workspace, corpus, "aug-pe", count=6, parameters={"epsilon": 1.0, "delta": 1e-3, "rounds": 1}),
        ]
        for run in (runs[0], runs[2]):
            done(workspace, workspace.jobs.examine(run, model_attacks=False))
        refused = []
        for wrong in (lambda: workspace.jobs.synthesize(corpus, "aug-pe", count=-1),
                      lambda: workspace.corpora.import_table(records(80).assign(text=None), mapping, name="Again"),
                      lambda: workspace.review.spans(corpus, f"{RECORD}-none")):  # fmt: skip
            try:
                wrong()
            except UserError as error:
                refused.append(str(error))
        workspace.runs.approve_all_pending(runs[2], None)
        page = workspace.assessments.make(runs[2], "exploratory", "external")
        workspace.releases.make(runs[2], "exploratory", out=out)
        told = [workspace.audit.export(kind) for kind in ("csv", "json")]
    workspace.jobs.stop_worker()
    workspace.close()
    assert refused
    assert not any(holds(said.encode()) for said in refused)
    assert watch.names == set()
    assert len(watch.looked) > 60
    lying = {Path(name) for name in watch.found}
    assert [file for file in lying if not file.is_relative_to(path)] == []
    assert [file for file in lying if not PLACES.fullmatch(str(file.relative_to(path)))] == []
    assert not any((path / "runs").rglob("examination/*")), "parts go once an examination is finished"
    assert not holds(page.encode())
    assert not any(holds(one) for one in told)
    found = {*cells(path / "understudy.sqlite"), *columns(path)}
    assert found - MAY_HOLD == set()
    assert {("synthetic", "text"), ("records.parquet", "text"), ("ranking.parquet", "unit")} <= found, "it looks"
    printed = capfd.readouterr()
    assert not holds((printed.out + printed.err).encode())
    for verb in (("audit", "--verify"), ("ledger", "Letters"), ("runs",), ("corpora",), ("doctor",)):
        assert not holds(str(called(path, *verb)).encode()), verb
