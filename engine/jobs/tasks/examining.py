"""A helper's part in job `examine`: embeddings and parts of an examination that another worker puts together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from engine.errors import InternalError
from engine.jobs.models.cache import ModelCache
from engine.jobs.worker import parts_ahead
from engine.jobs.worker.kept_embeddings import kept_embeddings
from engine.jobs.worker.part_shelf import HelperShelf
from engine.jobs.worker.sharing import Stop
from engine.jobs.worker.spreading import sealed
from engine.json_types import JSON, JSONObject, as_object
from engine.methods.base import Piece
from engine.store.rows import JobRow
from engine.store.shards import Shard
from engine.store.store import Store


class Examining:
    """Makes pieces of one examination; implements `engine.jobs.worker.sharing.Work`."""

    surveys = False
    processes = 1

    def __init__(self, store: Store, job: JobRow, most: int) -> None:
        """Read what is examined, and cut its texts into words.

        Args:
            store: the workspace. job: the examination. most: processes to use at most; it uses one.

        Raises:
            RefusedError: the run is not as it was made.
        """
        from engine.examine import apart
        from engine.examine.prepare import prepare
        from engine.jobs.tasks.examine import Asked

        self._store, self._models = store, ModelCache()
        self._run_id, self._corpus_id = str(job.run_id), str(job.corpus_id)
        asked = Asked.of(store, self._models, self._corpus_id, self._run_id, job.arguments)
        self._stop: Stop = lambda: False
        self._choice = asked.choice
        self._shelf = HelperShelf(store, self._run_id, asked.given, asked.more)
        self._prepared = prepare(asked.given, cancelled=lambda: self._stop())
        self._prepared.shelf = self._shelf
        apart.settle(self._prepared)
        self._stage: JSON = None

    def survey(self, start: int, end: int, stop: Stop) -> JSON | None:
        """There is none."""
        raise InternalError("pieces of an examination are not surveyed")

    def settle(self, found: Sequence[JSON]) -> JSON:
        """There is nothing to settle."""
        raise InternalError("pieces of an examination are not surveyed")

    def batches(
        self, claimed: Sequence[Shard], known: JSON, stop: Stop
    ) -> Iterator[tuple[int, Sequence[Mapping[str, object]]]]:
        """Yield each piece, sealed.

        Raises:
            InternalError: what is seen here is not what the examination is of, or not what it has found before.
        """
        from engine.examine.prepare import CancelledError

        self._stop = stop
        if as_object(known).get(parts_ahead.STAMP) != self._shelf.stamp:
            raise InternalError("the records, marks or settings here are not those of the examination")
        self._begin(as_object(known).get(parts_ahead.STAGE))
        for shard in claimed:
            piece = Piece(shard.start, shard.end, shard.survey)
            self._shelf.shard = shard
            try:
                made = self._make(as_object(piece.asked))
            except CancelledError:
                return
            if stop():
                return
            yield piece.end, [sealed(self._store.session.key, self._run_id, piece, known, made)]

    def close(self) -> None:
        """Forget what was loaded."""
        self._prepared.vectors.clear()

    def _make(self, asked: JSONObject) -> JSONObject:
        if parts_ahead.EMBED in asked:
            return parts_ahead.embedded(self._prepared, asked)
        return parts_ahead.measured(self._prepared, asked)

    def _begin(self, stage: JSON) -> None:
        """Read what was kept before the stage: embeddings that all made, and the part that others hang on."""
        from engine.examine import apart
        from engine.examine.keeping import take

        if stage == self._stage:
            return
        given = self._prepared.given
        if stage == parts_ahead.PARTS:
            texts = [*given.train["text"], *given.holdout["text"]]
            embedder = kept_embeddings(
                self._store,
                self._models.embedder(self._choice),
                self._corpus_id,
                self._run_id,
                texts,
                list(given.synthetic["text"]),
            )
            self._prepared.given = replace(given, embedder=embedder)
            if given.privacy and not take(self._prepared, apart.FIRST):
                raise InternalError("the part that others hang on is not there")
        self._stage = stage
