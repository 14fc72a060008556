"""A helper's part in job `synthesize`: pieces of a run that another worker makes and commits.

A method of kind `dp` has neither records nor mechanisms here: what the run has drawn comes with the job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from engine.errors import InternalError
from engine.jobs.models.cache import ModelCache
from engine.jobs.tasks.synthesize import public_context
from engine.jobs.worker.sharing import Stop
from engine.jobs.worker.spreading import sealed
from engine.json_types import JSON
from engine.methods import readable
from engine.methods.base import Context, Make, Piece, Spreading
from engine.models.cancel import Cancelled
from engine.store.rows import JobRow
from engine.store.runs import held
from engine.store.runs.runs import run_row
from engine.store.shards import Shard
from engine.store.store import Store


class Writing:
    """Makes pieces of one run; implements `engine.jobs.worker.sharing.Work`."""

    surveys = False
    processes = 1

    def __init__(self, store: Store, job: JobRow, most: int) -> None:
        """Read the run's settings, and load what its method needs.

        Args:
            store: the workspace. job: that makes the run. most: processes to use at most; it uses one.

        Raises:
            RefusedError: the run is not as it was asked for.
        """
        from engine.methods import get_method

        self._key, self._run_id = store.session.key, str(job.run_id)
        with store.session.db.read() as connection:
            held.demand_asked(store.session, connection, self._run_id)
            row = run_row(connection, self._run_id)
        method = get_method(row.method)
        if not isinstance(method, Spreading):
            raise InternalError(f"runs of method {row.method!r} have no pieces")
        self._method: Spreading = method
        self._stop: Stop = lambda: False
        context = public_context(store, ModelCache(), row, method)
        scratch = store.folder.scratch(self._run_id)
        self._context: Context = replace(context, cancelled=self._stopped, scratch=scratch)
        watch: Callable[[Stop], None] | None = getattr(context.generator, "watch", None)
        if watch is not None:
            watch(self._stopped)
        self._made: tuple[JSON, Make] | None = None

    def survey(self, start: int, end: int, stop: Stop) -> JSON | None:
        """There is none."""
        raise InternalError("pieces of a run are not surveyed")

    def settle(self, found: Sequence[JSON]) -> JSON:
        """There is nothing to settle."""
        raise InternalError("pieces of a run are not surveyed")

    def batches(
        self, claimed: Sequence[Shard], known: JSON, stop: Stop
    ) -> Iterator[tuple[int, Sequence[Mapping[str, object]]]]:
        """Yield each piece, sealed."""
        self._stop = stop
        if self._made is None or self._made[0] != known:
            self._made = known, readable.maker(self._method, self._context, known)
        for shard in claimed:
            piece = Piece(shard.start, shard.end, shard.survey)
            try:
                made = self._made[1](piece)
            except Cancelled:
                return
            if stop():
                return
            yield piece.end, [sealed(self._key, self._run_id, piece, known, made)]

    def close(self) -> None:
        """Forget what was loaded."""
        self._made = None

    def _stopped(self) -> bool:
        return self._stop()
