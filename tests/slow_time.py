"""A slow lane that ends in the time it has, on a slow machine too.

`.ci/run` may take ninety minutes and does not know how fast its machine is. `UNDERSTUDY_SLOW_UNTIL` (seconds since
1970) is when the slow lane stops to begin tests: those left over are skipped, counted and named at the end. Files with
tests of longer limits than usual come first, so that none of them begins late; both kinds begin at another file for
each commit (`UNDERSTUDY_SLOW_FIRST`, any number), so that no file is always the last. Where neither is set nothing
changes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

UNTIL, FIRST = "UNDERSTUDY_SLOW_UNTIL", "UNDERSTUDY_SLOW_FIRST"
NOT_BEGUN = "not begun: the time of the slow lane was over"


def in_order(items: list[pytest.Item], usual: float) -> list[pytest.Item]:
    """Return the tests, file by file: files with more than the usual limit in seconds first, each kind by turns."""
    if FIRST not in os.environ:
        return items
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    kinds: tuple[list[Path], list[Path]] = ([], [])
    for path, own in files.items():
        kinds[max(_limit(item, usual) for item in own) <= usual].append(path)
    turned = [path for kind in kinds for turn in [int(os.environ[FIRST]) % max(1, len(kind))]
              for path in (*kind[turn:], *kind[:turn])]  # fmt: skip
    return [item for path in turned for item in files[path]]


def begin(now: Callable[[], float] = time.time) -> None:
    """Skip the test that would begin now where the lane's time is over."""
    until = os.environ.get(UNTIL)
    if until is not None and now() > float(until):
        pytest.skip(NOT_BEGUN)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the files of which tests were not begun."""
    left: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        if NOT_BEGUN in str(report.longrepr):
            file = report.nodeid.partition("::")[0]
            left[file] = left.get(file, 0) + 1
    if left:
        terminalreporter.section(f"{sum(left.values())} tests {NOT_BEGUN}")
        for file, count in left.items():
            terminalreporter.line(f"{count:4} {file}")


def _limit(item: pytest.Item, usual: float) -> float:
    mark = item.get_closest_marker("timeout")
    return float(mark.args[0]) if mark is not None and mark.args else usual
