"""Script time of every page on 20,706 records while the worker is busy: the first visit of a session, and later ones.

`python tests/benchmarks/page_time.py [WORKSPACE] [PAGE ...]` makes a workspace of the real reports
(`UNDERSTUDY_TEST_DATA`), with spans, and with two examined runs beside it, unless WORKSPACE holds one that an earlier
call left; has its worker look for identifiers all the while; and visits each page through AppTest, in sessions of its
own. It prints a JSON line a page: processor seconds of this process and seconds by the clock, the middle and the 95th
of 100. The clock is what a person waits; it depends on what else the machine does, processor time hardly.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SESSIONS, VISITS = 8, 3  # sessions a page, and later visits in each
sys.path.insert(0, str(ROOT))


def make(folder: Path) -> None:
    """Fill a workspace: the reports with their spans, two examined runs of 300 outputs."""
    import pandas as pd

    import engine
    from tests.benchmarks.store_requests import filled
    from tests.pages.conftest import add_run, examine, mixed_records

    table = pd.read_parquet(Path(os.environ["UNDERSTUDY_TEST_DATA"]) / "vaers_1998_1999.parquet")
    store, corpus = filled(folder, table)
    store.close()
    workspace = engine.open_workspace(folder)
    workspace.settings.set_actor("custodian")
    for copied, method, title in ((30, "filter", "Three-stage filter"), (200, "surrogate", "Surrogate replacement")):
        run = add_run(workspace, corpus, mixed_records(workspace, corpus, 300, copied), method=method, title=title)
        examine(workspace, run)
    workspace.close()


def timed(app: Any, page: str) -> tuple[float, float]:
    """Return processor seconds and seconds by the clock of one visit."""
    from pages._ui.navigation import page_path

    processor, clock = time.process_time(), time.perf_counter()
    app.switch_page(page_path(page)).run()
    taken = time.process_time() - processor, time.perf_counter() - clock
    if app.exception:
        raise SystemExit(f"{page} failed: {app.exception[0]}")
    return taken


def visits(page: str) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Return the times of first visits and of later ones."""
    from streamlit.testing.v1 import AppTest

    first, later = [], []
    for session in range(SESSIONS + 1):
        app = AppTest.from_file(str(ROOT / "pages" / "_ui" / "main.py"), default_timeout=120)
        app.run()
        taken = timed(app, page)
        if session == 0:
            continue  # this process' own first visit reads modules too
        first.append(taken)
        for _ in range(VISITS):
            timed(app, "settings" if page == "home" else "home")
            later.append(timed(app, page))
    return first, later


def said(times: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return the middle and the 95th of 100 of processor time and of the clock, in seconds."""
    found = {}
    for name, values in zip(("processor", "clock"), zip(*times, strict=True), strict=True):
        found[f"{name}_p50"] = round(statistics.median(values), 3)
        found[f"{name}_p95"] = round(statistics.quantiles(values, n=20, method="inclusive")[18], 3)
    return found


def measure(folder: Path, only: Sequence[str]) -> None:
    """Keep the worker busy and print one JSON line a page."""
    os.environ["UNDERSTUDY_WORKSPACE"] = str(folder)
    import engine
    from pages._ui.navigation import PAGES

    workspace = engine.open_workspace(folder)
    corpus = workspace.corpora.all()[0].id
    try:
        for page in PAGES:
            if only and page.id not in only:
                continue
            if not workspace.jobs.all(active_only=True):
                workspace.jobs.detect(corpus)
            first, later = visits(page.id)
            print(json.dumps({"page": page.id, "first": said(first), "later": said(later)}), flush=True)
    finally:
        for job in workspace.jobs.all(active_only=True):
            workspace.jobs.cancel(job.id)
        workspace.jobs.stop_worker()
        workspace.close()


def main() -> None:
    """Make the workspace where there is none, and measure."""
    given = [Path(name) for name in sys.argv[1:] if "/" in name]
    only = [name for name in sys.argv[1:] if "/" not in name]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        folder = given[0] if given else Path(made) / "workspace"
        if not folder.exists():
            make(folder)
        measure(folder, only)


if __name__ == "__main__":
    main()
