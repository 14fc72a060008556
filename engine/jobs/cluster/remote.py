"""What a helper does whose computing is done by a process of Ray; shards, order and commits stay here.

Privacy posture: texts of a shard are read from the workspace and handed on; no key, no mark and no private record of a
`dp` run leaves this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, cast

from engine.errors import UserError
from engine.jobs.cluster.bulk import Order
from engine.jobs.models.catalogued import models_folder
from engine.jobs.tasks.detect import Detection
from engine.jobs.tasks.synthesize import bare
from engine.jobs.worker.sharing import Kind, Stop
from engine.jobs.worker.spreading import sealed
from engine.json_types import JSON, JSONObject
from engine.methods.base import Piece
from engine.models.cancel import Cancelled
from engine.pii.detect.records import Batch, Detectors, Results
from engine.pii.detect.settings import DetectorSettings
from engine.pii.spans import Span
from engine.store.rows import JobRow
from engine.store.runs import held
from engine.store.runs.runs import run_row
from engine.store.shards import Shard
from engine.store.store import Store


class Ask(Protocol):
    """Asks a process of Ray for what a method of `bulk.Bulk` returns."""

    def __call__(self, stop: Stop, name: str, *arguments: object) -> object:
        """Return the answer.

        Raises:
            Cancelled: `stop` said so first. ClusterError: it failed there.
        """
        ...


def kinds(ask: Ask) -> Mapping[str, Kind]:
    """Return the kinds of jobs that are computed there."""
    return {
        "detect": lambda store, job, processes: RemoteDetection(store, job, ask),
        "synthesize": lambda store, job, processes: RemoteWriting(store, job, ask),
    }


class _Detectors(Detectors):
    """Detects there; batches of a shard go in one call."""

    def __init__(self, settings: DetectorSettings, ask: Ask) -> None:
        super().__init__(settings, 1)
        self._ask = ask

    def find(self, batches: Sequence[Batch], stop: Callable[[], bool] | None) -> Results:
        """Yield the spans of each text of each batch, in their order."""
        found = self._ask(stop or (lambda: False), "detect", self._settings.to_json(), list(batches))
        yield from cast("list[list[list[Span]]]", found)


class RemoteDetection(Detection):
    """A detection whose texts are looked at there."""

    def __init__(self, store: Store, job: JobRow, ask: Ask) -> None:
        """Load nothing yet.

        Args:
            store: the workspace. job: whose shards are done. ask: asks there.
        """
        super().__init__(store, str(job.corpus_id), job.arguments, 1)
        self._by, self._ask = _Detectors(self.settings, ask), ask

    def survey(self, start: int, end: int, stop: Stop) -> JSON | None:
        """Return each record's language, None where it is too short to tell, and the letters in each language."""
        texts = self._texts(start, end)["text"].astype(str).tolist()
        try:
            codes, letters = cast("tuple[list[str | None], dict[str, int]]", self._ask(stop, "survey", texts))
        except Cancelled:
            return None
        return {"start": start, "codes": codes, "letters": letters}


class RemoteWriting:
    """Pieces of a run that are made there, of a method that writes from public and paid inputs with a model."""

    surveys = False
    processes = 1

    def __init__(self, store: Store, job: JobRow, ask: Ask) -> None:
        """Read the run's settings.

        Args:
            store: the workspace. job: that makes the run. ask: asks there.

        Raises:
            UserError: the run's method looks into the workspace. RefusedError: the run is not as it was asked for.
        """
        self._ask, self._key, self._run_id = ask, store.session.key, str(job.run_id)
        with store.session.db.read() as connection:
            held.demand_asked(store.session, connection, self._run_id)
            row = run_row(connection, self._run_id)
        if not bare(row):
            raise UserError(f"runs of method {row.method!r} are not written outside of the workspace")
        self._order: Order = {
            "method": row.method,
            "parameters": row.parameters,
            "count": row.count,
            "seed": row.seed,
            "model": row.model,
            "prompts": row.manifest.get("prompts"),
            "models": str(models_folder(store.session)),
        }

    def survey(self, start: int, end: int, stop: Stop) -> JSON | None:
        """There is none."""
        return None

    def settle(self, found: Sequence[JSON]) -> JSON:
        """There is nothing to settle."""
        return None

    def batches(
        self, claimed: Sequence[Shard], known: JSON, stop: Stop
    ) -> Iterator[tuple[int, Sequence[Mapping[str, object]]]]:
        """Yield each piece, sealed."""
        for shard in claimed:
            piece = Piece(shard.start, shard.end, shard.survey)
            try:
                made = cast(JSONObject, self._ask(stop, "make", self._order, known, piece))
            except Cancelled:
                return
            yield piece.end, [sealed(self._key, self._run_id, piece, known, made)]

    def close(self) -> None:
        """There is nothing to free."""
