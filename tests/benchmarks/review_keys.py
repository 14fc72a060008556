"""How long a decision in Review takes until it is painted: with nothing else to do, and while the worker is busy.

`python tests/benchmarks/review_keys.py [KEYS]` makes a workspace of the real reports (`UNDERSTUDY_TEST_DATA`) with
spans, opens it in Chromium and presses keys as a fast hand does, one in 150 ms: first while nothing else runs, then
while the worker looks for identifiers in another corpus, then beside as many endless loops as there are cores as well.
It prints a JSON line each: milliseconds from the key to the frame that shows its answer, as the browser's own event
timing tells them (in steps of 8 ms; keys below its least of 16 ms count as 16).
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
KEYS, GAP, LEAST = 200, 150, 16
WATCH = """() => {
  window.keyTimes = []
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (one.name === "keydown") window.keyTimes.push(one.duration)
  }).observe({ type: "event", durationThreshold: 16 })
}"""


def pressed(page: Any, keys: int) -> dict[str, float]:
    """Press keys and return the middle, the 95th of 100 and the longest time until the answer was painted."""
    page.evaluate("() => { window.keyTimes.length = 0 }")
    for number in range(keys):
        page.keyboard.press("axaxn"[number % 5])
        page.wait_for_timeout(GAP)
    page.wait_for_timeout(1000)
    slow = sorted(float(value) for value in page.evaluate("() => window.keyTimes"))
    times = [float(LEAST)] * max(0, keys - len(slow)) + slow
    cuts = statistics.quantiles(times, n=20, method="inclusive")
    return {"p50_ms": round(cuts[9]), "p95_ms": round(cuts[18]), "longest_ms": round(times[-1])}


def main() -> None:
    """Print a line for each kind of other work."""
    import pandas as pd

    import engine
    from engine.corpus.columns.mapping import ColumnMapping
    from tests.benchmarks.store_requests import filled
    from tests.browser.conftest import launched, serving
    from tests.browser.test_review_desk import busy, ready

    keys = int(sys.argv[1]) if len(sys.argv) > 1 else KEYS
    table = pd.read_parquet(Path(os.environ["UNDERSTUDY_TEST_DATA"]) / "vaers_1998_1999.parquet")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made, ExitStack() as stack:
        folder = Path(made) / "workspace"
        workspace = engine.open_workspace(folder)
        stack.callback(workspace.close)
        workspace.settings.set_actor("custodian")
        other = workspace.corpora.import_table(table[["text"]], ColumnMapping(text="text"), name="Other")
        store, _ = filled(folder, table)  # the newest corpus is the one that a page opens
        store.close()
        server = stack.enter_context(serving(folder, Path(made) / "server.log"))
        browser = stack.enter_context(launched())
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        page.goto(f"{server.url}/review")
        ready(page)
        page.evaluate(WATCH)
        print(json.dumps({"beside": "nothing", **pressed(page, keys)}), flush=True)
        job = workspace.jobs.detect(other.id)
        print(json.dumps({"beside": "a worker that looks for identifiers", **pressed(page, keys)}), flush=True)
        with busy(os.cpu_count() or 1):
            print(json.dumps({"beside": "that worker and a loop a core", **pressed(page, keys)}), flush=True)
        print(json.dumps({"worker": workspace.jobs.get(job).state, "load": round(os.getloadavg()[0], 2)}), flush=True)
        workspace.jobs.cancel(job)


if __name__ == "__main__":
    main()
