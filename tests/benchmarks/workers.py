"""How much faster two workers detect than one, each on a core and a thread of its own.

`python tests/benchmarks/workers.py [--records N] [--workers 2]` reads the real test data (`UNDERSTUDY_TEST_DATA`). The
times are of one run each, one after the other, from the queue to the end, with the program loaded; a machine with other
work shows in the load average, and in seconds of processor that are fewer than those of the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from engine.corpus.columns.mapping import ColumnMapping  # noqa: E402
from engine.jobs.worker import launch  # noqa: E402
from engine.workspace import Workspace, open_workspace  # noqa: E402


def pin(worker: psutil.Process, cores: list[int]) -> list[psutil.Process]:
    """Put a worker's slots on cores of their own, and return them."""
    slots = [child for child in worker.children() if "--slot" in child.cmdline()]
    for core, slot in zip(cores[1:], slots, strict=False):
        with suppress(psutil.NoSuchProcess):
            for thread in slot.threads():
                os.sched_setaffinity(thread.id, {core})
    return slots


def detect(workspace: Workspace, corpus: str, worker: psutil.Process, cores: list[int]) -> dict[str, object]:
    """Detect once and return seconds of the clock, and of each worker's processor."""
    used: dict[int, list[float]] = {}
    begun = time.perf_counter()
    job = workspace.jobs.detect(corpus)
    while workspace.jobs.get(job).state not in ("done", "failed"):
        for process in (worker, *pin(worker, cores)):
            with suppress(psutil.Error):
                spent = sum(process.cpu_times()[:2])
                used.setdefault(process.pid, [spent, spent])[1] = spent
        time.sleep(0.1)
    assert workspace.jobs.get(job).state == "done"
    seconds = time.perf_counter() - begun
    return {"seconds": round(seconds, 2), "processor": [round(last - first, 2) for first, last in used.values()]}


def main() -> None:
    """Print what one and several workers took, and the ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--records", type=int, default=4_000)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[: options.workers]
    if len(cores) < options.workers:
        sys.exit(f"{options.workers} workers need as many cores")
    notes = pd.read_parquet(Path(os.environ["UNDERSTUDY_TEST_DATA"]) / "vaers_1998_1999.parquet", columns=["text"])
    notes = notes.head(options.records)
    short = pd.DataFrame({"text": [f"Seen by Dr Lindqvist in Leeds, {i}." for i in range(2_000)]})
    told: dict[str, object] = {"records": len(notes), "load before": [round(x, 2) for x in os.getloadavg()]}
    with tempfile.TemporaryDirectory() as folder:
        workspace = open_workspace(Path(folder) / "w", "benchmark")
        workspace.session._start_worker = None  # ours is started here, and pinned
        made = [
            workspace.corpora.import_table(table, ColumnMapping(text="text"), name=name).id
            for name, table in (("short", short), ("notes", notes))
        ]
        for count in (1, options.workers):
            process = subprocess.Popen(
                [*launch.worker_command(workspace.folder), "--workers", str(count)], stderr=subprocess.DEVNULL,
                env={**launch.worker_environment(), "OMP_NUM_THREADS": "1"}, cwd=ROOT,
                preexec_fn=lambda: os.sched_setaffinity(0, {cores[0]}),
            )  # fmt: skip
            worker = psutil.Process(process.pid)
            try:
                detect(workspace, made[0], worker, cores)
                told[f"{count} worker(s)"] = detect(workspace, made[1], worker, cores)
            finally:
                process.terminate()
                process.wait()
        workspace.close()
    one, several = (told[f"{count} worker(s)"]["seconds"] for count in (1, options.workers))  # type: ignore[index]
    told["ratio"] = round(one / several, 3)
    told["load after"] = [round(x, 2) for x in os.getloadavg()]
    sys.stdout.write(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
