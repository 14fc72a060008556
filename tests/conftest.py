"""Fixtures every test may use: where real test text lies, and an empty workspace folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in the worker; tests beside each other share the cores

# `pytest -m quick`: what loads no model and starts no browser, under a minute on two cores. A file that takes long
# or needs more than these libraries is named below it; `tests/static/test_quick.py` holds the lane to its word.
QUICK = ("corpus", "dp", "examine", "figures", "methods", "pii", "release", "static", "store", "workspace")
NOT_QUICK = {
    "corpus/test_fuzz_readers.py", "dp/accounting/test_accountant.py", "dp/accounting/test_pld.py",
    "dp/noise/test_mechanisms.py", "dp/noise/test_noise_drawn.py", "dp/noise/test_train.py",
    "examine/members/test_models.py", "examine/test_examine_run.py", "examine/stats/test_roc.py",
    "examine/usefulness/test_iterations.py", "examine/usefulness/test_metrics.py", "examine/values/test_strict.py",
    "methods/evolution/test_dpga.py", "methods/examples/test_control_icl.py", "methods/filter/test_filter.py",
    "methods/filter/test_parameters.py", "methods/filter/test_values.py", "methods/prefix/test_control_prefix.py",
    "methods/rpsg/test_public.py", "methods/rpsg/test_rpsg.py", "methods/test_label_list.py",
    "methods/test_signal.py", "methods/tuned/test_finetune.py", "pii/detect/test_detector.py",
    "static/test_contributing.py", "static/test_lint.py", "static/test_pages.py", "static/test_quick.py",
    "store/test_damaged_tables.py", "store/test_rollback.py", "workspace/test_first_edition.py",
}  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what belongs to the quick lane."""
    for item in items:
        path = item.path.relative_to(ROOT / "tests")
        if path.parts[0] in QUICK and path.as_posix() not in NOT_QUICK and item.get_closest_marker("slow") is None:
            item.add_marker(pytest.mark.quick)


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Return the folder of real test text, or skip where it is not at hand."""
    folder = Path(os.environ.get("UNDERSTUDY_TEST_DATA") or ROOT / ".." / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip("no real test data here: set UNDERSTUDY_TEST_DATA to its folder")
    return folder


@pytest.fixture
def workspace_path(tmp_path: Path) -> Path:
    """Return the path of a workspace folder that does not exist yet."""
    return tmp_path / "workspace"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return the one Chromium of the session: its driver cannot be started twice in a process."""
    from tests.browser.conftest import launched

    with launched() as instance:
        yield instance
