"""Fixtures of the studies: a workspace with a worker, and real notes split as a corpus is."""

from tests.examine.conftest import notes
from tests.jobs.conftest import corpus, idle_seconds, workspace

__all__ = ["corpus", "idle_seconds", "notes", "workspace"]
