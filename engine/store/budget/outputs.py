"""Mechanism outputs of one run: kept, with the ledger's line, before anything uses them.

Each row carries a digest under the workspace key, beside its shape, over what was asked, what it cost and what came
out, so that nobody without the key puts other values in the place of noisy ones before a run goes on with them. A run
that an earlier edition asked for has none.

Privacy posture: values are noisy statistics, or exact ones that the custodian declared public; they are
deleted with their run. Ledger lines hold the event only.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from engine.dp.accounting.rdp import added_delta, total_rdp
from engine.dp.events import Event, acting
from engine.dp.noise.outputs import Stored
from engine.errors import InternalError, RefusedError
from engine.store.budget import lines as ledger_lines
from engine.store.budget import reservations
from engine.store.chain import canonical, keyed, now
from engine.store.database.database import Database
from engine.store.database.schema import mechanism_outputs, runs
from engine.store.logs import about
from engine.store.rows import AnyRow
from engine.store.runs.chained import ASKED, DRAWS

ROUNDING = 1e-6  # relative; sums of the same losses in another order


class RunOutputs:
    """The output store of one run; every `save` is one immediate write transaction."""

    def __init__(self, database: Database, key: bytes, actor: str, run_id: str) -> None:
        self._database, self._key, self._actor, self._run_id = database, key, actor, run_id

    def load(self, key: str) -> Stored | None:
        """Return what was stored under this key, or None."""
        table = mechanism_outputs
        with self._database.read() as connection:
            row = connection.execute(
                select(table.c.request, table.c.event, table.c.shape, table.c["values"]).where(
                    table.c.run_id == self._run_id, table.c.key == key
                )
            ).first()
        if row is None:
            return None
        shape = self._opened(key, row)
        values = np.frombuffer(row[3], dtype="<f8").reshape(shape).astype(np.float64)
        return Stored(json.loads(row.request), Event.from_dict(json.loads(row.event)), values)

    def save(self, key: str, request: Mapping[str, object], event: Event, values: NDArray[np.float64]) -> None:
        """Keep an output and its ledger line for good, both or neither.

        Raises:
            InternalError: the run is gone, the key is taken, or the output is not covered by a reservation.
            RefusedError: the reservation is older than a restore of the workspace.
        """
        array = np.ascontiguousarray(values, dtype="<f8")
        asked, cost, shape = canonical(dict(request)), canonical(event.as_dict()), list(array.shape)
        sealed = self._digest(key, asked, cost, shape, array.tobytes())
        with self._database.write() as connection:
            seq = self._next(connection, key)
            self._line(connection, event)
            connection.execute(
                mechanism_outputs.insert().values(
                    run_id=self._run_id,
                    key=key,
                    seq=seq,
                    request=asked,
                    event=cost,
                    shape={"shape": shape, "sealed": sealed},
                    values=array.tobytes(),
                    at=now(),
                )
            )

    def _opened(self, key: str, row: AnyRow) -> list[int]:
        """Return the shape of an output, or refuse one that is not as it was drawn."""
        if isinstance(row.shape, list) and not self._sealing():
            return row.shape
        kept = row.shape if isinstance(row.shape, dict) else {}
        own = self._digest(key, row.request, row.event, kept.get("shape"), row[3])
        if not hmac.compare_digest(own.encode(), str(kept.get("sealed")).encode()):
            raise RefusedError(
                "What a mechanism of this run drew was changed outside of the program, so the run cannot go on. Cancel "
                "it and start a new one; what it drew stays spent."
            )
        return kept["shape"]

    def _sealing(self) -> bool:
        """Say whether the log tells that what this run draws is sealed."""
        with self._database.read() as connection:
            told = about.told(connection, (ASKED,), self._run_id)
            return any(DRAWS in said for _, _, said in told)

    def _digest(self, *parts: object) -> str:
        plain = [one.hex() if isinstance(one, bytes) else one for one in parts]
        return keyed(self._key, "mechanism output", [self._run_id, *plain])

    def _next(self, connection: Connection, key: str) -> int:
        table = mechanism_outputs
        if connection.execute(select(runs.c.id).where(runs.c.id == self._run_id)).first() is None:
            raise InternalError("a mechanism output has no run any more; it was deleted meanwhile")
        mine = table.c.run_id == self._run_id
        if connection.execute(select(table.c.seq).where(mine, table.c.key == key)).first() is not None:
            raise InternalError(f"mechanism output {key!r} was drawn twice; the first one stays")
        return int(connection.execute(select(func.coalesce(func.max(table.c.seq), 0)).where(mine)).scalar_one()) + 1

    def _line(self, connection: Connection, event: Event) -> None:
        """Write the ledger's line of an output; a choice among given candidates has none."""
        if event.type == "selection":
            return
        row = connection.execute(select(runs.c.corpus_id, runs.c.method).where(runs.c.id == self._run_id)).one()
        population = reservations.population_of(connection, row.corpus_id)
        reservation = reservations.open_reservation(connection, self._run_id)
        free = not acting([event])
        if reservation is None:
            if not free or event.type == "parallel":
                raise InternalError("a mechanism drew an output without a reservation in the ledger")
            kind, sentence = "touch", "Opened as declared public; no noise was added."
        else:
            if reservations.lost(connection, reservation):
                raise RefusedError(reservations.LOST)
            self._covered(connection, reservation, event)
            kind = "spend"
            sentence = "Drawn within the run's reservation."
            if event.type == "parallel":
                sentence = "Drawn from units that no other part reads; paid by the line of the first part."
            elif free:
                sentence = "Opened as declared public; no noise was added."
        ledger_lines.write(
            connection,
            self._key,
            self._actor,
            population,
            kind,
            self._run_id,
            method=row.method,
            epsilon=event.epsilon,
            what=event.what,
            event=event.as_dict(),
            sentence=sentence,
            share_after=ledger_lines.last_share(connection, population),
        )

    def _covered(self, connection: Connection, reservation: ledger_lines.Line, event: Event) -> None:
        order = int(reservation.body["order"])
        drawn = reservations.drawn_events(connection, self._run_id, reservation.seq)
        planned, made = ledger_lines.events_of(reservation.body["events"]), [*drawn, event]
        if event.type == "declared" and not any(one.type == "declared" for one in planned):
            raise InternalError("a run opened a statistic as declared public that its guarantee does not name")
        over = total_rdp(made, order) > total_rdp(planned, order) * (1 + ROUNDING)
        if over or added_delta(made) > added_delta(planned) * (1 + ROUNDING):
            raise InternalError("a run drew more than it reserved; its schedule and its guarantee differ")
