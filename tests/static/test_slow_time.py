"""The slow lane stops to begin tests when its time is over, says which, and begins elsewhere for each commit."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.slow_time import FIRST, UNTIL

ROOT = Path(__file__).resolve().parents[2]
HOOKS = """
from tests import slow_time
from tests.slow_time import pytest_terminal_summary

def pytest_collection_modifyitems(items):
    items[:] = slow_time.in_order(items, 300)

def pytest_runtest_setup(item):
    slow_time.begin()
"""
FILE = """
import os, pathlib, time
import pytest

{mark}
def test_{name}():
    with open(pathlib.Path(__file__).parent / "begun.txt", "a") as file:
        file.write("{name} ")
    time.sleep({seconds})

def test_{name}_second():
    pass
"""
WHOLE = "@pytest.mark.timeout({})"


def ran(folder: Path, workers: int, **surroundings: str) -> tuple[list[str], str]:
    """Run tests named a to d, b and c with longer limits; return which began, in order, and what was printed."""
    (folder / "conftest.py").write_text(HOOKS)
    for name, mark in {"a": "", "b": WHOLE.format(400), "c": WHOLE.format(900), "d": ""}.items():
        (folder / f"test_{name}.py").write_text(FILE.format(name=name, mark=mark, seconds=0.01))
    kept = {name: value for name, value in os.environ.items() if name not in (UNTIL, FIRST)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", folder]
    spread = ["-n", str(workers), "--dist", "loadfile", "--no-loadscope-reorder"] if workers else []
    done = subprocess.run(
        [*command, *spread, folder], cwd=folder, env={**kept, "PYTHONPATH": str(ROOT), **surroundings},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    begun = folder / "begun.txt"
    return (begun.read_text().split() if begun.exists() else []), done.stdout


@pytest.mark.parametrize(("first", "order"), [("0", "bcad"), ("1", "cbda"), ("16", "bcad"), ("21", "cbda")])
def test_long_limits_come_first_and_each_kind_by_turns(tmp_path, first, order):
    begun, printed = ran(tmp_path, 0, **{FIRST: first})
    assert "".join(begun) == order
    assert "8 passed" in printed


def test_without_a_word_all_run_in_the_order_they_have(tmp_path):
    begun, printed = ran(tmp_path, 0)
    assert begun == ["a", "b", "c", "d"]
    assert "8 passed" in printed


@pytest.mark.parametrize("workers", [0, 2])
def test_what_is_not_begun_in_time_is_skipped_counted_and_named(tmp_path, workers):
    begun, printed = ran(tmp_path, workers, **{FIRST: "0", UNTIL: str(time.time() - 1)})
    assert begun == []
    assert "8 skipped" in printed
    assert "8 tests not begun: the time of the slow lane was over" in printed
    assert len(re.findall(r"^ +2 \S*test_[abcd]\.py$", printed, re.MULTILINE)) == 4


def test_what_is_begun_in_time_runs(tmp_path):
    begun, printed = ran(tmp_path, 0, **{FIRST: "0", UNTIL: str(time.time() + 600)})
    assert len(begun) == 4
    assert "8 passed" in printed
    assert "not begun" not in printed
