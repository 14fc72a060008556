"""A model at work in a run: stops it where the run is cancelled, and counts what a server was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from engine.jobs.worker.task import Stopped, Task
from engine.methods.base import Step
from engine.models.cancel import Cancelled

if TYPE_CHECKING:
    from engine.models.contracts import Generator


class Used:
    """Watches a run's generator, which may be None."""

    def __init__(self, generator: Generator | None, task: Task) -> None:
        self._generator = generator
        self._seen = self._counts()
        self._watch(task.cancelled)

    def watched(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Yield a method's steps; a model that was stopped in the middle ends the job as a cancellation does."""
        try:
            yield from steps
        except Cancelled:
            raise Stopped from None
        finally:
            self._watch(lambda: False)  # the model stays loaded for the next job

    def since(self) -> dict[str, dict[str, float]]:
        """Return what was asked of a server since the last time: diagnostics that add up."""
        now = self._counts()
        added = {name: round(value - self._seen.get(name, 0.0), 6) for name, value in now.items()}
        self._seen = now
        return {"endpoint": added} if added else {}

    def _watch(self, cancelled: Callable[[], bool]) -> None:
        watch = getattr(self._generator, "watch", None)
        if watch is not None:
            watch(cancelled)

    def _counts(self) -> dict[str, float]:
        usage = getattr(self._generator, "usage", None)
        if usage is None:
            return {}
        return {**usage.as_dict(), "cost": float(getattr(self._generator, "cost", 0.0))}
