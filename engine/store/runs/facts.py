"""What the gate is told of a run: counts, samples that people read, and whether its text was looked at.

Privacy posture: facts stay inside; they hold counts and rates, never text.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from engine.dp.ledger import ASKED, UNKNOWN
from engine.errors import NotFoundError
from engine.store.budget import lines as ledger_lines
from engine.store.budget import reservations
from engine.store.budget.ledger import Ledger
from engine.store.review import held
from engine.store.review.spot.checks import SpotChecks
from engine.store.rows import RunRow
from engine.store.runs import choosable
from engine.store.runs import held as runs_held
from engine.store.runs.compared import pool_compared
from engine.store.runs.examinations import Examinations
from engine.store.runs.intruder.trials import IntruderTrials
from engine.store.runs.runs import Runs, run_row, seen
from engine.store.session import Session
from engine.store.views import Risks, RunSummary

if TYPE_CHECKING:
    from engine.release import Chosen, GateFacts, Making, Missed, Policy

WATCHED = "watch_loss"  # the parameter that shows exact losses of private records


class Facts:
    """Facts about runs, for the gate and the data card."""

    def __init__(
        self, session: Session, runs: Runs, examinations: Examinations, ledger: Ledger, spot_checks: SpotChecks,
        intruder: IntruderTrials,
    ) -> None:  # fmt: skip
        self.session = session
        self.runs = runs
        self.examinations = examinations
        self.ledger = ledger
        self.spot_checks = spot_checks
        self.intruder = intruder

    def of(self, run_id: str, whole: bool, signed_off_by: str, *, anew: bool = False) -> GateFacts:
        """Return what the gate is told of a run.

        Args:
            whole: the policy is for whole outputs. signed_off_by: name of the second person, empty for none.
            anew: hold decisions and marks anew, whatever this process remembers of them, and the run's texts.
        """
        from engine.release import GateFacts

        run, risks = self.runs.get(run_id), self.runs.risks(run_id)
        return GateFacts(
            approved=risks["approved"].records,
            rejected=risks["rejected"].records,
            pending=risks["pending"].records,
            chosen=_chosen(risks),
            stale=run.stale or run.examination_stale,
            run_stale=run.stale,
            examined=run.examined_at is not None,
            text_examined=whole and self.examined_elsewhere(run_id),
            lost=whole and self._lost_since(run_id),
            pool_compared=whole and self._pool_compared(run_id),
            watched=self._watched(run_id),
            originals=self._approved_originals(run),
            epsilon=run.guarantee.epsilon,
            delta=run.guarantee.delta,
            units=self.ledger.public_facts(run.corpus_id).units,
            guarantee_kind=run.guarantee.kind,
            run_state=run.state,
            actor=self.session.actor,
            signed_off_by=signed_off_by,
            missed=None if run.guarantee.kind == "dp" else self._missed(run.corpus_id),
            intruder=None if whole else self.intruder.known(run_id),
            examination=run.examined_at or "",
            in_part=self._in_part(run_id) if whole else None,
            held=not held.of_corpus(self.session, run.corpus_id, anew=anew),
            run_held=not runs_held.of_run(self.session, run_id, anew=anew),
            run_earlier=runs_held.earlier(self.session, run_id),
            making=self._making(run),
        )

    def _in_part(self, run_id: str) -> tuple[int, int] | None:
        """Return how many parts of an examination that never ended were kept, of how many; None where there is none."""
        found = self.examinations.in_part(run_id)
        return None if found is None else (found.kept, found.parts)

    def _making(self, run: RunSummary) -> Making:
        """Return how a run was made, as far as it decides over what would help."""
        from engine.methods import get_method
        from engine.release import Making

        spec = get_method(run.method).spec
        corpus = self.ledger.corpora.get(run.corpus_id)
        return Making(
            writes="keeps" if spec.keeps_text else "rewrites" if spec.one_to_one else "new",
            used=corpus.units - corpus.holdout_units,
            aside=corpus.holdout_units,
            people=corpus.unit != "record",
            share=self._taken(run) if run.guarantee.kind == "dp" and run.guarantee.epsilon else None,
            left=self._left(run) if run.guarantee.kind == "dp" and run.guarantee.epsilon else None,
        )

    def _left(self, run: RunSummary) -> float | None:
        """Return the ε that another run may claim, None where one that claims what this one does fits again.

        None too where the ledger waits for an answer: what is left is not known then.
        """
        again = self.ledger.what_if(run.corpus_id, run.guarantee)
        if again.allowed or again.sentence in (ASKED, UNKNOWN):
            return None
        return again.remaining_before if math.isfinite(again.remaining_before) else 0.0

    def _taken(self, run: RunSummary) -> float | None:
        """Return which part of the limit a run's reservation took, None where the ledger has no line of it."""
        with self.session.db.read() as connection:
            lines = ledger_lines.read(connection, reservations.population_of(connection, run.corpus_id)).lines
        before = 0.0
        for line in lines:
            after = line.body.get("share_after")
            if line.run_id == run.id and line.kind == "reserve":
                return None if after is None else max(0.0, after - before)
            before = before if after is None else after
        return None

    def _missed(self, corpus_id: str) -> Missed | None:
        """Return what the corpus' latest spot check says, None where none was drawn."""
        from engine.release import Missed

        found = self.spot_checks.estimate(corpus_id)
        if found is None:
            return None
        check, direct, quasi = found.check, found.direct, found.quasi
        return Missed(
            check.drawn, check.read, check.drawn_from, check.records, check.stale, found.why,
            None if direct is None else direct.high, None if quasi is None else quasi.high,
            0 if direct is None else direct.hit, 0 if quasi is None else quasi.hit,
            0.95 if direct is None else direct.level, check.twice, check.read_twice, check.disagreements, check.id,
            check.again,
        )  # fmt: skip

    def _approved_originals(self, run: RunSummary) -> int | None:
        """Return how many approved records are an original, None where the examination did not look."""
        found = None if run.guarantee.kind == "dp" else self.examinations.table(run.id, "originals")
        if found is None:
            return None
        ids = list(found["record_id"])
        return int((self.runs.synthetic(run.id, ids=ids)["approval"] == "approved").sum()) if ids else 0

    def sample(self, run: RunSummary, rule: str) -> str:
        """Return the id of the spot check or intruder trial that a rule is judged by, empty where it is by none."""
        from engine.release import INTRUDER_RULES, SPOT_RULES

        if rule in INTRUDER_RULES:
            trial = self.intruder.latest(run.id)
            return "" if trial is None else trial.id
        check = self.spot_checks.latest(run.corpus_id) if rule in SPOT_RULES else None
        return "" if check is None else check.id

    def selected(self, row: RunRow, policy: Policy) -> bool:
        """Say whether anything but the run's own mechanisms may have chosen what is released.

        Only a policy for whole outputs leaves nothing to choose: its gate wants every record approved, no examination,
        no loss watched and no comparison with the original, of the records or of the pool that they are from.
        """
        counts = self.runs.approval_counts(row.id)
        watched = self._watched(row.id)
        held_back = counts["rejected"] + counts["pending"] > 0
        if held_back or watched or row.examined_at is not None or not policy.requirements.whole_output:
            return True
        return self.examined_elsewhere(row.id) or self._lost_since(row.id) or self._pool_compared(row.id)

    def _watched(self, run_id: str) -> bool:
        """Say whether exact losses of private records were shown while the run, or one it rests on, trained."""
        with self.session.db.read() as connection:
            row = run_row(connection, run_id)
            others, _ = behind(connection, row)
        return any(one.parameters.get(WATCHED) for one in (row, *others))

    def _lost_since(self, run_id: str) -> bool:
        """Say whether nobody can tell what was examined after the run, or one it rests on, was made."""
        with self.session.db.read() as connection:
            return was_lost(connection, run_row(connection, run_id))

    def _pool_compared(self, run_id: str) -> bool:
        """Say whether a pool that the run, or one it rests on, chose from may be cut by a comparison."""
        with self.session.db.read() as connection:
            row = run_row(connection, run_id)
            others, _ = behind(connection, row)
            return any(pool_compared(connection, one) for one in (row, *others))

    def examined_elsewhere(self, run_id: str) -> bool:
        """Say whether the same texts were examined as another run's; see `engine.store.runs.seen`.

        Of a choice, the texts and seeds of every run that could have been chosen count, and whether a run that stood
        beside them was examined; of a run on a pool of earlier winners, or by a tuned model, those of the runs behind.
        """
        with self.session.db.read() as connection:
            return was_examined(connection, self.session.key, run_row(connection, run_id))


def _chosen(risks: Mapping[str, Risks]) -> Chosen | None:
    """Return how risky the approved records are beside all of a run; None where a risk is not known of each."""
    from engine.release import Chosen

    leaves, every = risks["approved"], list(risks.values())
    known, records = sum(one.known for one in every), sum(one.records for one in every)
    if not leaves.records or known < records:
        return None
    mean = sum(one.total for one in every) / records
    spread = math.sqrt(max(0.0, sum(one.squares for one in every) / records - mean**2))
    return Chosen(leaves.records, records, leaves.total / leaves.records, mean, spread)


def behind(connection: Connection, row: RunRow) -> tuple[list[RunRow], bool]:
    """Return the runs that a run was chosen among or made with, as its pool or its model says, and are still there.

    Returns:
        The runs, and whether one that it was chosen among is gone. Of one that it was made with, what was examined is
        known after it is gone (`seen.looked_at`).
    """
    found, gone = [], False
    among = choosable.among(row)
    for name in dict.fromkeys((*among, *(mark.run for mark in row.fitted))):
        try:
            found.append(run_row(connection, name))
        except NotFoundError:
            gone = gone or name in among
    return found, gone


def had_a_say(connection: Connection, key: bytes, row: RunRow) -> bool:
    """Say whether private data may have had a say in that it is this run whose output is used, beyond its claim."""
    watched = any(one.parameters.get(WATCHED) for one in (row, *behind(connection, row)[0]))
    looked = row.examined_at is not None or was_examined(connection, key, row) or was_lost(connection, row)
    return watched or looked or pool_compared(connection, row)


def was_examined(connection: Connection, key: bytes, row: RunRow) -> bool:
    """Say whether a run's text was examined: as another run's, in part as its own, or as one it rests on.

    It rests on those that it was chosen among, and on those behind its pool or its model. A run that was examined and
    left out of a choice counts: the others were then picked after a look.
    """
    others, _ = behind(connection, row)
    own = row.examined_at is None and seen.looked_at(connection, row.id)  # a part of an examination that was stopped
    return (
        own
        or any(seen.looked_at(connection, one.id) or seen.elsewhere(connection, key, one.id) for one in others)
        or any(seen.looked_at(connection, name) for name in choosable.left_out(connection, row))
        or any(mark.selected or seen.looked_at(connection, mark.run) for mark in row.fitted)
        or seen.elsewhere(connection, key, row.id)
    )


def was_lost(connection: Connection, row: RunRow) -> bool:
    """Say whether the workspace lost a time in which a run may have been examined, or the run itself."""
    others, gone = behind(connection, row)
    return gone or any(seen.lost_since(connection, one.id) for one in (row, *others))
