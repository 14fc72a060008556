"""A helper's part in job `synthesize`: pieces of a run that another worker makes and commits.

A method of kind `dp` has neither records nor mechanisms here: what the run has drawn comes with the job. Where a
mechanism needs the embeddings of many records, a helper embeds some of them, and the method knows nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from engine.errors import InternalError
from engine.jobs.models.cache import ModelCache
from engine.jobs.tasks.synthesize import public_context, training_records
from engine.jobs.worker.private import EMBED, ROWS, digest_of, embedded_apart
from engine.jobs.worker.sharing import Stop
from engine.jobs.worker.spreading import packed_rows, sealed
from engine.jobs.worker.task import Stopped
from engine.json_types import JSON, JSONObject, as_object
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
        self._store, self._models, self._row, self._method = store, ModelCache(), row, get_method(row.method)
        self._stop: Stop = lambda: False
        self._made: tuple[JSON, Make] | None = None
        self._texts: list[str] | None = None
        if isinstance(self._method, Spreading):
            self._context = self._writing()

    def _writing(self) -> Context:
        context = public_context(self._store, self._models, self._row, self._method)
        watch: Callable[[Stop], None] | None = getattr(context.generator, "watch", None)
        if watch is not None:
            watch(self._stopped)
        return replace(context, cancelled=self._stopped, scratch=self._store.folder.scratch(self._run_id))

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
        for shard in claimed:
            piece = Piece(shard.start, shard.end, shard.survey)
            try:
                embeds = isinstance(piece.asked, Mapping) and EMBED in piece.asked
                made = self._embedded(piece) if embeds else self._maker(known)(piece)
            except (Cancelled, Stopped):
                return
            if stop():
                return
            yield piece.end, [sealed(self._key, self._run_id, piece, known, made)]

    def close(self) -> None:
        """Forget what was loaded."""
        self._made = None

    def _maker(self, known: JSON) -> Make:
        if not isinstance(self._method, Spreading):
            raise InternalError(f"runs of method {self._row.method!r} have no pieces")
        if self._made is None or self._made[0] != known:
            self._made = known, readable.maker(self._method, self._context, known)
        return self._made[1]

    def _embedded(self, piece: Piece) -> JSONObject:
        """Embed some of the training records, each on its own."""
        embedder = self._models.embedder()
        if as_object(piece.asked)[EMBED] != digest_of(embedder):
            raise InternalError("the embedding model here is another")
        if self._texts is None:
            self._texts = [str(text) for text in training_records(self._store, self._row.corpus_id)["text"]]
        return {ROWS: packed_rows(embedded_apart(embedder, self._texts[piece.start : piece.end], self._stopped))}

    def _stopped(self) -> bool:
        return self._stop()
