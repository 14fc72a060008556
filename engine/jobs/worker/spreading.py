"""Spreading a run's pieces among workers: a method's batches that depend on no other (`engine.methods.base.Piece`).

The worker that makes the run goes on as if it were alone. It alone yields steps, draws, and commits: each result is
taken in the order of the pieces and kept in the transaction that ends its shard. A result carries a keyed digest of
what was asked and what came of it: where its row was changed before this worker took it, the piece is made again.

Privacy posture: texts of a piece lie in its shard's row until they are kept, where all texts of the run lie.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from engine.jobs.worker.edition import EDITION, edition
from engine.jobs.worker.sharing import KNOWN, POLL_SECONDS, packed, unpacked
from engine.jobs.worker.task import Stopped
from engine.json_types import JSON, JSONObject, as_object
from engine.methods.base import Make, Piece, alone
from engine.store import queue, shards
from engine.store.chain import keyed
from engine.store.logs.rows import said
from engine.store.shards import Shard

if TYPE_CHECKING:
    from engine.jobs.worker.task import Task

MADE, SEAL = "made", "seal"
UNIT_WITHIN = 0.01  # of one, an embedding's length; of numbers that are none no comparison is true
Fits = Callable[[Piece, JSONObject], bool]


def sealed(key: bytes, run_id: str, piece: Piece, known: JSON, made: JSONObject) -> dict[str, object]:
    """Return what is made of a piece as the one row of its shard's result."""
    return {MADE: made, SEAL: _seal(key, run_id, piece, known, made)}


def opened(key: bytes, run_id: str, piece: Piece, known: JSON, found: JSON) -> JSONObject | None:
    """Return what `sealed` was given; None where that is not what lies there."""
    rows = unpacked(found)
    made = rows[0].get(MADE) if len(rows) == 1 else None
    if not isinstance(made, dict) or rows[0].get(SEAL) != _seal(key, run_id, piece, known, made):
        return None
    return made


def _seal(key: bytes, run_id: str, piece: Piece, known: JSON, made: JSONObject) -> str:
    return keyed(key, "piece", [run_id, piece.start, piece.end, said(piece.asked), said(known), said(made)])


def packed_rows(rows: NDArray[np.float32]) -> str:
    """Return embeddings as text."""
    return base64.b64encode(np.ascontiguousarray(rows, "<f4").tobytes()).decode()


def unpacked_rows(made: JSON, count: int) -> NDArray[np.float32]:
    """Return the embeddings of `packed_rows`."""
    return np.frombuffer(base64.b64decode(str(made)), "<f4").reshape(count, -1).astype(np.float32)


def are_rows(made: JSON, count: int, width: int) -> bool:
    """Say whether `packed_rows` made this of so many embeddings: unit rows or zeros, as wide as the model's."""
    try:
        rows = np.frombuffer(base64.b64decode(str(made), validate=True), "<f4")
    except ValueError:
        return False
    if rows.size != count * width:
        return False
    lengths = np.linalg.norm(rows.reshape(count, width).astype(np.float64), axis=1)
    return bool(np.all((np.abs(lengths - 1.0) < UNIT_WITHIN) | (lengths == 0.0)))


class Pieces:
    """The pieces of a run that the worker makes; a `Spread`."""

    def __init__(self, task: Task, shared: bool, fits: Fits | None = None) -> None:
        """Share nothing yet.

        Args:
            task: the run's job. shared: whether others may make pieces. fits: says whether what another worker made
                of a piece can be that; where it cannot, the piece is made again.
        """
        self.task, self._shared, self._fits = task, shared, fits
        self._db, self._key = task.store.session.db, task.store.session.key
        self._known: JSON = None
        self._ended: Callable[[Connection], bool] | None = None

    def __call__(self, pieces: Sequence[Piece], known: JSON, make: Make) -> Iterator[JSONObject]:
        """Yield what is made of each piece, in order; ends early where the job is to stop."""
        if not self._shared or len(pieces) < 2:
            yield from alone(pieces, known, make)
            return
        for first in range(0, len(pieces), shards.MOST):
            yield from self._window(pieces[first : first + shards.MOST], known, make)

    def cursor(self, kept: int) -> dict[str, JSON]:
        """Return the job's cursor behind so many texts."""
        return {"records": kept, KNOWN: self._known, EDITION: edition()}

    def end(self, connection: Connection) -> None:
        """End the shard of the piece that was yielded last, in the transaction that keeps what was made of it.

        Raises:
            Stopped: it is another's.
        """
        ended, self._ended = self._ended, None
        if ended is not None and not ended(connection):
            raise Stopped

    def _window(self, pieces: Sequence[Piece], known: JSON, make: Make) -> Iterator[JSONObject]:
        self._known = known
        with self._db.brief() as connection:
            before = as_object(self.task.cursor)
            cursor = {**before, **self.cursor(int(before.get("records") or 0))}  # type: ignore[arg-type]
            if not queue.progress(connection, self.task.id, worker=self.task.worker, cursor=cursor):
                raise Stopped
            self.task.cursor = cursor
            shards.lay(connection, self.task.id, [(one.start, one.end, said(one.asked)) for one in pieces])
        places, turn = {piece.start: piece for piece in pieces}, 0
        while turn < len(pieces) and not self.task.cancelled():
            if self.task.crew is not None:
                self.task.crew.tend()
            piece = pieces[turn]
            with self._db.read() as connection:
                result = shards.next_done(connection, self.task.id, piece.start)
            if result is not None:
                made = opened(self._key, self.task.run_id, piece, known, result.found)
                if made is None or not (self._fits is None or self._fits(piece, made)):
                    made = make(piece)
                self._ended = lambda connection, number=result.number: self._dropped(connection, number)
                turn += 1
                yield made
            elif (shard := self._claim()) is None:
                time.sleep(POLL_SECONDS)
            else:
                made = make(places[shard.start])
                if shard.start == piece.start:
                    self._ended = lambda connection, shard=shard: shards.advance(connection, shard, shard.end)
                    turn += 1
                    yield made
                else:
                    found = sealed(self._key, self.task.run_id, places[shard.start], known, made)
                    with self._db.brief() as connection:
                        shards.deliver(connection, shard, packed([found]))

    def _dropped(self, connection: Connection, number: int) -> bool:
        shards.drop(connection, self.task.id, number)
        return True

    def _claim(self) -> Shard | None:
        kinds = (self.task.kind,)
        with self._db.read() as connection:
            if not shards.offered(connection, kinds, self.task.id):
                return None
        with self._db.brief() as connection:
            claimed = shards.claim(connection, str(self.task.worker), kinds, self.task.id)
        return claimed[0] if claimed else None
