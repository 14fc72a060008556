"""What the rows of an intruder trial say at this moment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, func, select

from engine.json_types import JSON
from engine.store.audit import now
from engine.store.database.schema import intruder_events, intruder_texts, intruder_trials, synthetic
from engine.store.rows import AnyRow
from engine.store.runs.intruder.views import OUTCOMES, RIGHT, UNCLEAR, Trial

CHANGED = "Records were approved since that the sample was not drawn from."


@dataclass
class Claim:
    """What the intruder says of a text, and what others made of it: the latest verdict, by whom, and all who judged.

    reason: why that verdict was changed after the bound could be seen, or empty.
    """

    words: str
    outcome: str = ""
    judged_by: str = ""
    judges: list[str] = field(default_factory=list)
    reason: str = ""


@dataclass
class Events:
    """What happened in a trial: who took it on and when, when they said that they were done, claims by place.

    changed: verdicts that were changed after the bound could be seen.
    """

    intruder: str = ""
    begun: str = ""
    said_done: str = ""
    claims: dict[int, Claim] = field(default_factory=dict)
    changed: int = 0

    @property
    def judged(self) -> bool:
        """Whether every claim is judged."""
        return all(one.outcome for one in self.claims.values())


def latest(connection: Connection, run_id: str) -> AnyRow | None:
    """Return the row of a run's latest trial."""
    query = select(intruder_trials).where(intruder_trials.c.run_id == run_id)
    return connection.execute(query.order_by(intruder_trials.c.look.desc()).limit(1)).first()


def before(connection: Connection, row: AnyRow) -> tuple[Trial, ...]:
    """Return the trials of a run that were drawn before one, in order."""
    query = select(intruder_trials).where(intruder_trials.c.run_id == row.run_id, intruder_trials.c.look < row.look)
    return tuple(view(connection, one) for one in connection.execute(query.order_by(intruder_trials.c.look)).all())


def events_of(connection: Connection, trial_id: str) -> Events:
    """Return what happened in a trial."""
    found = Events()
    query = select(intruder_events).where(intruder_events.c.trial_id == trial_id).order_by(intruder_events.c.seq)
    for row in connection.execute(query):
        if row.action == "begin":
            found.intruder, found.begun = row.actor, row.at
        elif row.action == "end":
            found.said_done = row.at
        elif row.action == "claim":
            found.claims[row.place] = Claim(str(row.words))
        elif row.action == "withdraw":
            found.claims.pop(row.place, None)
        elif row.action in OUTCOMES and row.place in found.claims:
            claim = found.claims[row.place]
            claim.outcome, claim.judged_by, claim.reason = row.action, row.actor, str(row.words or "")
            claim.judges.append(row.actor)
            found.changed += bool(row.words)
    return found


def ended_at(found: Events, minutes: int) -> str:
    """Return when the time box ended, empty where it has not: somebody said so, or its time is over."""
    if not found.begun or found.said_done:
        return found.said_done
    over = datetime.fromisoformat(found.begun) + timedelta(minutes=minutes)
    return over.isoformat(timespec="milliseconds") if datetime.fromisoformat(now()) >= over else ""


def spent(begun: str, ended: str) -> int:
    """Return the whole minutes between two moments, 0 where one of them is empty."""
    if not begun or not ended:
        return 0
    took = datetime.fromisoformat(ended) - datetime.fromisoformat(begun)
    return max(0, int(took.total_seconds() // 60))


def minutes_left(trial: Trial) -> float:
    """Return the minutes that an open time box has left, 0 where it is not open."""
    if not trial.begun or trial.ended:
        return 0.0
    over = datetime.fromisoformat(trial.begun) + timedelta(minutes=trial.minutes)
    return max(0.0, (over - datetime.now(UTC)).total_seconds() / 60)


def view(connection: Connection, row: AnyRow) -> Trial:
    """Return a trial as it is now."""
    own = select(func.count()).select_from(intruder_trials)
    own = own.where(intruder_trials.c.run_id == row.run_id, intruder_trials.c.look < row.look)
    elsewhere = row.look - 1 - int(connection.execute(own).scalar_one())
    found = events_of(connection, row.id)
    texts = positions(connection, row.id)
    approved = approved_positions(connection, row.run_id)
    known = set(spread(row.drawn_from))
    left = set(approved)
    right = {place for place, one in found.claims.items() if one.outcome in (RIGHT, UNCLEAR)}
    outcomes = [one.outcome for one in found.claims.values()]
    ended = ended_at(found, row.minutes)
    checkers = dict.fromkeys(one.judged_by for one in found.claims.values() if one.outcome)
    return Trial(
        id=row.id, run_id=row.run_id, look=row.look, at=row.at, drawn_by=row.actor, minutes=row.minutes,
        means=row.means, drawn_from=len(known), texts=len(texts), intruder=found.intruder, begun=found.begun,
        ended=ended, spent=spent(found.begun, ended), claims=len(outcomes), judged=sum(bool(one) for one in outcomes),
        right=outcomes.count(RIGHT), unclear=outcomes.count(UNCLEAR), checkers=tuple(checkers), approved=len(approved),
        removed_right=sum(texts[place] not in left for place in right),
        stale=CHANGED if left - known else "", elsewhere=elsewhere, changed=found.changed,
    )  # fmt: skip


def positions(connection: Connection, trial_id: str) -> dict[int, int]:
    """Return place in the sample -> position of the run's record."""
    query = select(intruder_texts.c.place, intruder_texts.c.position).where(intruder_texts.c.trial_id == trial_id)
    return {int(place): int(position) for place, position in connection.execute(query.order_by(intruder_texts.c.place))}


def approved_positions(connection: Connection, run_id: str) -> list[int]:
    """Return the positions of a run's approved records, in order."""
    query = select(synthetic.c.position).where(synthetic.c.run_id == run_id, synthetic.c.approval == "approved")
    return [int(position) for position in connection.execute(query.order_by(synthetic.c.position)).scalars()]


def stretches(numbers: Iterable[int]) -> list[list[int]]:
    """Return rising numbers as [first, last] of each stretch without a gap."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return found


def spread(found: Sequence[Sequence[int]] | JSON) -> list[int]:
    """Return the numbers of stretches."""
    assert isinstance(found, list)
    return [number for first, last in found for number in range(int(first), int(last) + 1)]
