"""The workspace of the job tests."""

from tests.jobs.conftest import corpus, idle_seconds, workspace

__all__ = ["corpus", "idle_seconds", "workspace"]
