"""Stopping a model in the middle of a call."""

from __future__ import annotations

from collections.abc import Callable

from engine.errors import UnderstudyError


class Cancelled(UnderstudyError):
    """The person cancelled, or the worker is leaving, while a model was at work."""


def check(stop: Callable[[], bool] | None) -> None:
    """Raise `Cancelled` where `stop` says so."""
    if stop is not None and stop():
        raise Cancelled("stopped while at work")
