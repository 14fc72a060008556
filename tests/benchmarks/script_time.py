"""Script time of every page on a large workspace, as a multiple of the same page on an empty one.

`python tests/benchmarks/script_time.py WORKSPACE` runs each page 20 times through AppTest on the given
workspace (load a large corpus there first, and keep its worker busy) and on a fresh one, in turn.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUNS = 20
sys.path.insert(0, str(ROOT))


def seconds_of(page: str, workspace: Path) -> list[float]:
    """Return the script times of one page on one workspace."""
    from streamlit.testing.v1 import AppTest

    from pages._ui.navigation import page_path

    os.environ["UNDERSTUDY_WORKSPACE"] = str(workspace)
    app = AppTest.from_file(str(ROOT / "pages" / "_ui" / "main.py"), default_timeout=60)
    app.run()
    app.switch_page(page_path(page)).run()
    taken = []
    for _ in range(RUNS):
        began = time.perf_counter()
        app.run()
        taken.append(time.perf_counter() - began)
        if app.exception:
            raise SystemExit(f"{page} failed: {app.exception[0].type}")
    return taken


def main() -> None:
    """Print one JSON line a page."""
    from pages._ui.navigation import PAGES

    large = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for page in PAGES:
            taken, reference = seconds_of(page.id, large), seconds_of(page.id, Path(folder) / "empty")
            row = {
                "page": page.id,
                "median_seconds": round(statistics.median(taken), 3),
                "p95_seconds": round(statistics.quantiles(taken, n=20)[18], 3),
                "median_ratio_to_empty": round(statistics.median(taken) / statistics.median(reference), 2),
            }
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
