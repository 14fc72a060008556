"""How long a run takes: what is reckoned for a machine that does nothing else, and what the last one took here.

How to use: `about(seconds)`, and `last(runs, method, model)` with `last_words` for what was measured.
"""

from __future__ import annotations

from collections.abc import Iterable

import engine
from pages._ui.language import tr, trn
from pages._ui.texts import seconds

Measured = tuple[float, int]  # seconds of work, and outputs that were kept


def about(value: float) -> str:
    """Return a reckoned duration in words, at the beginning of a sentence."""
    return tr("Less than a second") if value < 1 else tr("About {time}", time=seconds(value))


def last(runs: Iterable[engine.RunSummary], method: str, model: str) -> Measured | None:
    """Return what the last finished run of a method with a model took; None where there is none."""
    done = [run for run in runs if run.method == method and run.model == model and run.state == "done"]
    found = max((run for run in done if run.kept and run.seconds), key=lambda run: run.created, default=None)
    return None if found is None else (found.seconds, found.kept)


def last_words(found: Measured | None) -> str:
    """Return what the last run took, empty where there was none."""
    if found is None:
        return ""
    took, kept = found
    return trn("last time {time} for {n} text", "last time {time} for {n} texts", kept, time=seconds(took))
