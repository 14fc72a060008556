"""Stopping a model in the middle of a call."""

from __future__ import annotations

from engine.errors import UnderstudyError


class Cancelled(UnderstudyError):
    """The person cancelled, or the worker is leaving, while a model was at work."""
