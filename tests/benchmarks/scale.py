"""What each stage of the way takes at several sizes: seconds, peak memory, disk, and how it grows.

`python tests/benchmarks/scale.py [--sizes 10000,100000,1000000] [--stages import,detect,...] [--folder FOLDER]` makes
records of about 25 words from the real reports (`UNDERSTUDY_TEST_DATA`): the first half of one and the second half of
another, with ids of their own. Every stage is a process of its own; what a worker does is done by a worker. A JSON line
each: seconds of the clock and of the processor, peak memory in MB (of the stage's process, and of the worker), and the
workspace's size in MB. The last line gives the exponents: the slope of log(seconds) and log(memory above the smallest
size's) against log(records).

Detection runs on a twentieth of the records (at least 2,000) and its seconds are extrapolated. For the stages after
it five random words a record, which the file brings as its marks, stand for what it finds. The examination looks at as
many texts as it does by itself.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
MEGABYTE = 1e6
LEAST_DETECTED, PART = 2_000, 20
VISITS = 20


def table(size: int) -> Any:
    """Return records of the size wanted."""
    import numpy as np
    import pandas as pd

    notes = pd.read_parquet(Path(os.environ["UNDERSTUDY_TEST_DATA"]) / "vaers_1998_1999.parquet")
    words = [str(text).split()[:50] for text in notes["text"]]
    rng = np.random.default_rng(size)
    one, other = rng.integers(0, len(words), (2, size))
    texts = [
        " ".join((*words[a][: len(words[a]) // 2], *words[b][len(words[b]) // 2 :])) or "none"
        for a, b in zip(one, other)
    ]
    labels = ("PERSON", "DATE", "AGE", "LOCATION")
    spans = []
    for text, draws in zip(texts, rng.random((size, 5))):
        places = [match.span() for match in re.finditer(r"\S+", text)]
        chosen = sorted({int(draw * len(places)) for draw in draws})
        spans.append(json.dumps([{"start": places[i][0], "end": places[i][1], "label": labels[i % 4]} for i in chosen]))
    return pd.DataFrame({
        "id": [f"n{i:08d}" for i in range(size)], "text": texts, "outcome": notes["outcome"].iloc[one].to_numpy(),
        "spans": spans,
    })  # fmt: skip


def written(folder: Path) -> float:
    """Return the size of a folder in MB."""
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) / MEGABYTE


def peak() -> float:
    """Return this process' peak memory in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE


class Watch:
    """The peak memory and the processor time of a worker and its children, looked at ten times a second."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.peak, self.processor = folder, 0.0, 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        import psutil

        worker: psutil.Process | None = None
        while not self._over.wait(0.1):
            if worker is None or not worker.is_running():
                worker = next((p for p in psutil.process_iter(["cmdline"]) if self._is(p.info["cmdline"])), None)
                continue
            with suppress(psutil.Error):
                all_of_it = [worker, *worker.children(recursive=True)]
                self.peak = max(self.peak, sum(p.memory_info().rss for p in all_of_it) / MEGABYTE)
                self.processor = max(self.processor, sum(sum(p.cpu_times()[:2]) for p in all_of_it))

    def _is(self, words: list[str] | None) -> bool:
        return bool(words) and "engine.cli.worker" in words and str(self.folder) in words

    def end(self) -> dict[str, float]:
        """Stop looking and say what was seen."""
        self._over.set()
        self._thread.join()
        return {"worker_mb": round(self.peak), "processor": round(self.processor, 1)}


def waited(folder: Path, start: Callable[[Any], str]) -> dict[str, float]:
    """Start a job, wait for it, stop its worker, and say what it took."""
    import engine

    workspace = engine.open_workspace(folder)
    watch, begun = Watch(folder), time.perf_counter()
    try:
        job = start(workspace)
        while workspace.jobs.get(job).state not in ("done", "failed", "cancelled"):
            time.sleep(0.1)
        seconds = time.perf_counter() - begun
        state = workspace.jobs.get(job)
        if state.state != "done":
            raise SystemExit(f"{state.kind}: {state.state}: {state.error}")
        return {"seconds": round(seconds, 2), **watch.end()}
    finally:
        workspace.jobs.stop_worker()
        workspace.close()


def newest(workspace: Any, name: str) -> str:
    """Return the id of the corpus of a name."""
    return str(next(c.id for c in workspace.corpora.all() if c.name == name))


def importing(folder: Path, size: int) -> dict[str, float]:
    """Import a Parquet file as the command line does."""
    import engine
    from engine.corpus.columns.mapping import ColumnMapping

    path = folder.parent / f"records-{size}.parquet"
    if not path.exists():
        table(size).to_parquet(path)
    workspace = engine.open_workspace(folder)
    workspace.settings.set_actor("benchmark")
    begun, processor = time.perf_counter(), time.process_time()
    mapping = ColumnMapping(text="text", record_id="id", label="outcome", spans="spans")
    workspace.corpora.import_file(path, path.name, mapping, name="all")
    told = {"seconds": time.perf_counter() - begun, "processor": time.process_time() - processor}
    workspace.close()
    return {name: round(value, 2) for name, value in told.items()}


def detecting(folder: Path, size: int) -> dict[str, float]:
    """Look for identifiers in a part of the records."""
    import engine
    from engine.corpus.columns.mapping import ColumnMapping

    part = max(LEAST_DETECTED, size // PART)
    workspace = engine.open_workspace(folder)
    corpus = workspace.corpora.import_table(table(part), ColumnMapping(text="text", record_id="id"), name="part").id
    workspace.close()
    told = waited(folder, lambda opened: opened.jobs.detect(corpus))
    return {**told, "seconds": round(told["seconds"] * size / part, 1), "records": part}


def marking(folder: Path, size: int) -> dict[str, float]:
    """Put the file's own marks in force."""
    import engine

    workspace = engine.open_workspace(folder)
    corpus = newest(workspace, "all")
    begun, processor = time.perf_counter(), time.process_time()
    workspace.review.use_gold(corpus)
    told = {"seconds": time.perf_counter() - begun, "processor": time.process_time() - processor}
    workspace.close()
    return {name: round(value, 2) for name, value in told.items()}


def reviewing(folder: Path, size: int) -> dict[str, float]:
    """Open the review page often; a decision before each visit, so that nothing is remembered of it."""
    import statistics

    from streamlit.testing.v1 import AppTest

    import engine
    from pages._ui.navigation import page_path

    os.environ["UNDERSTUDY_WORKSPACE"] = str(folder)
    workspace = engine.open_workspace(folder)
    corpus = newest(workspace, "all")
    app = AppTest.from_file(str(ROOT / "pages" / "_ui" / "main.py"), default_timeout=600)
    app.run()
    times, used = [], []
    for record in workspace.review.order(corpus)[: VISITS + 1]:
        spans = workspace.review.spans(corpus, record)
        workspace.review.decide(corpus, [spans[0].span_id], "accept")
        begun, processor = time.perf_counter(), time.process_time()
        app.switch_page(page_path("review")).run()
        times.append(time.perf_counter() - begun)
        used.append(time.process_time() - processor)
        if app.exception:
            raise SystemExit(f"review failed: {app.exception[0]}")
        app.switch_page(page_path("settings")).run()
    workspace.close()
    rest = times[1:]
    return {
        "seconds": round(statistics.median(rest), 3),
        "first": round(times[0], 3),
        "p95": round(statistics.quantiles(rest, n=20, method="inclusive")[18], 3),
        "processor": round(statistics.median(used[1:]), 3),
    }


def replacing(folder: Path, size: int) -> dict[str, float]:
    """Make surrogates of all training records."""
    made: list[str] = []

    def start(workspace: Any) -> str:
        run = workspace.jobs.synthesize(newest(workspace, "all"), "surrogate")
        made.append(run)
        return str(next(job.id for job in workspace.jobs.all() if job.run_id == run))

    return waited(folder, start)


def examining(folder: Path, size: int) -> dict[str, float]:
    """Examine the run without models trained on it."""

    def start(workspace: Any) -> str:
        run = next(run.id for run in workspace.runs.all() if run.method == "surrogate")
        return str(workspace.jobs.examine(run, model_attacks=False))

    return waited(folder, start)


STAGES: dict[str, Callable[[Path, int], dict[str, float]]] = {
    "import": importing, "detect": detecting, "mark": marking, "review": reviewing, "surrogate": replacing,
    "examine": examining,
}  # fmt: skip


def exponents(lines: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return a stage's slopes of seconds and memory over the two largest sizes."""
    found = {}
    for stage in STAGES:
        own = sorted((line for line in lines if line["stage"] == stage), key=lambda line: line["size"])
        if len(own) < 2:
            continue
        a, b = own[-2], own[-1]
        times = math.log(b["size"] / a["size"])
        memory = [max(line.get("worker_mb", 0), line["mb"]) for line in (a, b)]
        found[stage] = {
            "seconds": round(math.log(max(b["seconds"], 1e-3) / max(a["seconds"], 1e-3)) / times, 2),
            "memory": round(math.log(max(memory[1], 1) / max(memory[0], 1)) / times, 2),
        }
    return found


def main() -> None:
    """Run the stages, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--stages", default=",".join(STAGES))
    parser.add_argument("--folder", type=Path, help="where workspaces are made, and looked for by single stages")
    parser.add_argument("--one", nargs=2, metavar=("STAGE", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        stage, size = options.one[0], int(options.one[1])
        told = STAGES[stage](options.folder, size)
        line = {"stage": stage, "size": size, **told, "mb": round(peak()), "disk_mb": round(written(options.folder))}
        print(json.dumps(line), flush=True)
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        base, lines = options.folder or Path(made), []
        base.mkdir(parents=True, exist_ok=True)
        for size in map(int, options.sizes.split(",")):
            for stage in options.stages.split(","):
                command = [sys.executable, __file__, "--folder", str(base / f"w{size}"), "--one", stage, str(size)]
                out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
                print(out.stdout.strip().splitlines()[-1], flush=True)
                lines.append(json.loads(out.stdout.strip().splitlines()[-1]))
        print(json.dumps({"exponents": exponents(lines), "load": round(os.getloadavg()[0], 1)}), flush=True)


if __name__ == "__main__":
    main()
