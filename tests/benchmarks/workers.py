"""How much faster two workers detect, generate or examine than one, each on a core and a thread of its own.

`python tests/benchmarks/workers.py [--stage detect|public|surrogate|examine] [--records N] [--workers 2]` reads the
real test data (`UNDERSTUDY_TEST_DATA`); with `public` as many texts are written, with `surrogate` marks by rules alone
are replaced, with `examine` a run of `public` with `--texts N` is examined, without what trains models unless
`--models` is said. What both made is compared. The times are of one run each, one after the other, from the queue to
the end, with the program loaded; a machine with other work shows in the load average, and in seconds of processor that
are fewer than those of the clock.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pandas as pd
import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.corpus.columns.mapping import ColumnMapping  # noqa: E402
from engine.jobs.worker import launch  # noqa: E402
from engine.jobs.worker.kept_embeddings import NAME  # noqa: E402
from engine.pii.detect.settings import DetectorSettings  # noqa: E402
from engine.store.runs.examinations import MAP_FILE  # noqa: E402
from engine.workspace import Workspace, open_workspace  # noqa: E402


def pin(worker: psutil.Process, cores: list[int]) -> list[psutil.Process]:
    """Put a worker's slots on cores of their own, and return them."""
    slots = [child for child in worker.children() if "--slot" in child.cmdline()]
    for core, slot in zip(cores[1:], slots, strict=False):
        with suppress(psutil.NoSuchProcess):
            for thread in slot.threads():
                os.sched_setaffinity(thread.id, {core})
    return slots


def made(workspace: Workspace, corpus: str, run: str | None) -> str:
    """Return a digest of the marks or texts that a job made."""
    with workspace.session.db.read() as connection:
        if run is None:
            query = 'SELECT position, start, "end", label, score FROM spans WHERE corpus_id = ? ORDER BY id'
        else:
            query = "SELECT position, text, label, lineage FROM synthetic WHERE run_id = ? ORDER BY position"
        rows = connection.exec_driver_sql(query, (run or corpus,)).all()
    return hashlib.sha256(repr([tuple(row) for row in rows]).encode()).hexdigest()[:16]


def found(workspace: Workspace, corpus: str, run: str) -> str:
    """Return a digest of what an examination found; what it kept for others is removed."""
    tables = {name: workspace.examinations.table(run, name) for name in sorted(workspace.examinations.tables(run))}
    tables["parts"] = tables["parts"].drop(columns="seconds")
    told = [one.as_dict() for one in workspace.examinations.findings(run)]
    content = [told, *((name, table.to_json(double_precision=15)) for name, table in tables.items())]
    for path in (*workspace.folder.path.rglob(NAME), workspace.folder.corpus(corpus) / MAP_FILE):
        path.unlink(missing_ok=True)
    return hashlib.sha256(repr(content).encode()).hexdigest()[:16]


def once(workspace: Workspace, ask: Callable[[], str]) -> None:
    """Do a job that is not measured."""
    job = ask()
    while (state := workspace.jobs.get(job).state) not in ("done", "failed"):
        time.sleep(0.2)
    assert state == "done"


def work(
    workspace: Workspace, corpus: str, worker: psutil.Process, cores: list[int], stage: str, count: int
) -> dict[str, object]:
    """Do a stage once and return seconds of the clock, and of each worker's processor."""
    used: dict[int, list[float]] = {}
    begun, run = time.perf_counter(), None
    if stage == "detect":
        job = workspace.jobs.detect(corpus)
    elif stage.startswith("examine"):
        (run,) = [one.id for one in workspace.runs.all() if one.corpus_id == corpus]
        job = workspace.jobs.examine(run, model_attacks=stage == "examine with models")
    else:
        run = workspace.jobs.synthesize(corpus, stage, count=count if stage == "public" else None, seed=1)
        job = str(workspace.runs.get(run).job_id)
    while workspace.jobs.get(job).state not in ("done", "failed"):
        for process in (worker, *pin(worker, cores)):
            with suppress(psutil.Error):
                spent = sum(process.cpu_times()[:2])
                used.setdefault(process.pid, [spent, spent])[1] = spent
        time.sleep(0.1)
    assert workspace.jobs.get(job).state == "done"
    seconds = time.perf_counter() - begun
    return {
        "seconds": round(seconds, 2),
        "processor": [round(last - first, 2) for first, last in used.values()],
        "made": found(workspace, corpus, run) if run and stage.startswith("examine") else made(workspace, corpus, run),
    }


def main() -> None:
    """Print what one and several workers took, and the ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--stage", choices=("detect", "public", "surrogate", "examine"), default="detect")
    parser.add_argument("--records", type=int, default=4_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--texts", type=int, default=300)
    parser.add_argument("--models", action="store_true")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[: options.workers]
    if len(cores) < options.workers:
        sys.exit(f"{options.workers} workers need as many cores")
    notes = pd.read_parquet(Path(os.environ["UNDERSTUDY_TEST_DATA"]) / "vaers_1998_1999.parquet", columns=["text"])
    notes = pd.concat([notes] * (1 + options.records // len(notes))).head(options.records)
    few = 200 if options.stage == "examine" else 2_000
    short = pd.DataFrame({"text": [f"Seen by Dr Lindqvist in Leeds, {i}." for i in range(few)]})
    told: dict[str, object] = {
        "stage": options.stage, "records": len(notes), "load before": [round(x, 2) for x in os.getloadavg()]
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        workspace = open_workspace(Path(folder) / "w", "benchmark")
        started, workspace.session._start_worker = workspace.session._start_worker, None  # ours is pinned
        corpora = [
            workspace.corpora.import_table(table, ColumnMapping(text="text"), name=name).id
            for name, table in (("short", short), ("notes", notes))
        ]
        if options.stage in ("surrogate", "examine"):  # once, by as many workers as there are cores
            workspace.session._start_worker = started
            for corpus in corpora:
                workspace.review.set_detector_settings(corpus, DetectorSettings(tagger=False, language="en"))
                once(workspace, partial(workspace.jobs.detect, corpus))
                if options.stage == "examine":
                    count = options.texts if corpus == corpora[1] else 20
                    run = workspace.jobs.synthesize(corpus, "public", count=count, parameters={"words": 25}, seed=1)
                    once(workspace, partial(str, workspace.runs.get(run).job_id))
            workspace.jobs.stop_worker()
            workspace.session._start_worker = None
        for count in (1, options.workers):
            process = subprocess.Popen(
                [*launch.worker_command(workspace.folder), "--workers", str(count)], stderr=subprocess.DEVNULL,
                env={**launch.worker_environment(), "OMP_NUM_THREADS": "1"}, cwd=ROOT,
                preexec_fn=lambda: os.sched_setaffinity(0, {cores[0]}),
            )  # fmt: skip
            worker = psutil.Process(process.pid)
            try:
                work(workspace, corpora[0], worker, cores, options.stage, 300)
                stage = "examine with models" if options.models else options.stage
                told[f"{count} worker(s)"] = work(workspace, corpora[1], worker, cores, stage, len(notes))
            finally:
                process.terminate()
                process.wait()
        workspace.close()
    one, several = (told[f"{count} worker(s)"]["seconds"] for count in (1, options.workers))  # type: ignore[index]
    told["ratio"] = round(one / several, 3)
    told["same"] = told["1 worker(s)"]["made"] == told[f"{options.workers} worker(s)"]["made"]  # type: ignore[index]
    told["load after"] = [round(x, 2) for x in os.getloadavg()]
    sys.stdout.write(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
