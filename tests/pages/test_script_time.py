"""Script time of every page with 20,706 records and their spans loaded while the worker is busy."""

from __future__ import annotations

import io
import re
import statistics
import time
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.corpus.mapping import ColumnMapping

ROOT = Path(__file__).resolve().parents[2]
RUNS, LIMIT_SECONDS = 20, 0.5
MARKS = {
    "DATE": r"\b\d{1,2}/\d{1,2}/\d{2,4}\b|\b\d{1,2}[A-Z]{3}\d{2,4}\b",
    "QUANTITY": r"\b\d+\b",
    "MISC": r"\b[A-Z]{5,}\b",
}


def marked(path: Path) -> tuple[bytes, int]:
    """Return the file with a column of spans found by plain expressions, and how many there are."""
    import pandas as pd

    frame = pd.read_parquet(path, columns=["report_id", "text", "outcome"])
    spans, total = [], 0
    for text in frame["text"]:
        found = [
            {"start": match.start(), "end": match.end(), "label": label}
            for label, pattern in MARKS.items()
            for match in re.finditer(pattern, text)
        ]
        spans.append(found)
        total += len(found)
    out = io.BytesIO()
    frame.assign(spans=spans).to_parquet(out)
    return out.getvalue(), total


@pytest.fixture(scope="module")
def loaded(test_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("large") / "workspace"
    workspace = engine.open_workspace(path)
    content, total = marked(test_data / "vaers_1998_1999.parquet")
    mapping = ColumnMapping(text="text", record_id="report_id", label="outcome", spans="spans")
    corpus = workspace.import_corpus(content, "vaers.parquet", mapping, name="VAERS")
    assert corpus.records == 20_706
    assert total > 50_000
    workspace.detect(corpus.id)  # keeps the worker busy
    yield path
    for job in workspace.jobs():
        workspace.cancel(job.id)
    workspace.stop_worker()


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("view", ["", "Text by text", "Value by value", "Detector settings"])
def test_review_is_quick(loaded, view, monkeypatch):
    workspace = engine.open_workspace(loaded)
    for job in workspace.jobs():
        workspace.cancel(job.id)  # the page shows progress alone while detection runs
    measure(loaded, "review", monkeypatch, **({"review.view": view} if view else {}))


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "page",
    [
        "home",
        "load",
        "review",
        "plan",
        "run",
        "privacy",
        "utility",
        "compare",
        "release",
        "ledger",
        "models",
        "settings",
    ],
)
def test_page_is_quick_while_the_worker_is_busy(loaded, page, monkeypatch):
    measure(loaded, page, monkeypatch)


def measure(path: Path, page: str, monkeypatch: pytest.MonkeyPatch, **state: Any) -> None:
    from pages._ui.navigation import page_path

    monkeypatch.setenv("UNDERSTUDY_WORKSPACE", str(path))
    app = AppTest.from_file(str(ROOT / "pages" / "_ui" / "main.py"), default_timeout=60)
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    app.switch_page(page_path(page)).run()
    assert not app.exception, app.exception
    seconds = []
    for _ in range(RUNS):
        began = time.perf_counter()
        app.run()
        seconds.append(time.perf_counter() - began)
        assert not app.exception, app.exception
    p95 = statistics.quantiles(seconds, n=20)[18]
    print(f"{page} {state or ''}: median {statistics.median(seconds):.3f} s, p95 {p95:.3f} s")
    assert p95 < LIMIT_SECONDS, f"{page}: {p95:.3f} s"
