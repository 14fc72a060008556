"""Intruder trials of a run, and what follows from the latest one.

Nothing is told before the time box is over and every claim was judged: who could stop when the number suits would bend
it. Each further trial of the same texts, in whatever run, halves the error of its interval (`looks`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from engine.errors import UserError
from engine.pii.decide.missed import FEWEST
from engine.store.budget.ledger import Ledger
from engine.store.database.schema import synthetic
from engine.store.people.reasons import check_reason
from engine.store.review.spot.reading import same
from engine.store.runs.examinations import Examinations
from engine.store.runs.intruder import acts, chained, looks, reading
from engine.store.runs.intruder.views import Share, Trial, TrialResult, TrialText
from engine.store.runs.runs import run_row
from engine.store.session import Session

if TYPE_CHECKING:
    from engine.release.policy.intruder import Intruder

TOUCHED = "A person's claims about whom texts are of were checked against the original; what was found is internal."


class IntruderTrials:
    """Trials in which a person says, within a time box, whom a random sample of approved texts is of."""

    def __init__(self, session: Session, examinations: Examinations, ledger: Ledger) -> None:
        self.session = session
        self.examinations = examinations
        self.ledger = ledger
        self._marks: tuple[tuple[str, str], bytes] = ("", ""), b""  # of the texts that were asked about last

    def latest(self, run_id: str) -> Trial | None:
        """Return a run's latest trial, None where none was drawn."""
        with self.session.db.read() as connection:
            row = reading.latest(connection, run_id)
            return None if row is None else reading.view(connection, row)

    def needed(self, run_id: str, target: float) -> int:
        """Return how many texts a new trial needs for an upper end of `target`, if nobody is named rightly in them.

        Args:
            target: a share in (0, 1).
        """
        from engine.release.policy.intruder import needed

        with self.session.db.read() as connection:
            approved = reading.approved_positions(connection, run_id)
            look = self._next_look(connection, run_id, approved)
        return min(len(approved), max(FEWEST, needed(len(approved), target, look=look)))

    def _next_look(self, connection: Connection, run_id: str, approved: list[int]) -> int:
        """Return the look that a new trial would be; marks are made only where another run's could be the same."""
        if not looks.others(connection, run_id):
            return looks.own(connection, run_id) + 1
        known = (run_id, str(reading.stretches(approved)))
        if self._marks[0] != known:
            self._marks = known, looks.marks(self.session.key, looks.texts_at(connection, run_id, approved))
        return looks.following(connection, run_id, self._marks[1])

    def draw(self, run_id: str, texts: int, *, minutes: int, means: str, look: int | None = None) -> Trial:
        """Draw approved texts at random for somebody to say whom they are of.

        Args:
            texts: how many; all approved ones where there are fewer.
            minutes: the time box. means: what the person may use and knows, in public words.
            look: of the run's latest trial as it was shown, 0 for none; where another one was drawn since, this one is
                refused.
        """
        with self.session.db.write() as connection:
            acts.draw(self.session, connection, run_id, texts, minutes, means, look)
        found = self.latest(run_id)
        assert found is not None
        return found

    def begin(self, run_id: str) -> None:
        """Take the latest trial on as the person acting, who did not draw it; its time begins."""
        with self.session.db.write() as connection:
            acts.begin(self.session, connection, run_id)

    def claim(self, run_id: str, place: int, words: str, *, trial: str | None = None) -> None:
        """Say whom the text at a place of the sample is of; empty words take an earlier claim back.

        Args:
            trial: id of the trial whose text was shown; where another one was drawn since, the claim is refused.
        """
        with self.session.db.write() as connection:
            acts.claim(self.session, connection, run_id, place, words, trial)

    def end(self, run_id: str) -> None:
        """Say that the intruder is done before the time is over."""
        with self.session.db.write() as connection:
            acts.end(self.session, connection, run_id)

    def judge(self, run_id: str, place: int, outcome: str, *, trial: str | None = None, reason: str = "") -> None:
        """Say whether a claim is `right`, `wrong` or `unclear`, as somebody else than who made it.

        The original decides that, so the run counts as looked at from then on, and the ledger says so.

        Args:
            trial: id of the trial whose claim was shown; where another one was drawn since, this is refused.
            reason: why a verdict is changed after every claim was judged; public words, they stand in the log.
        """
        if reason.strip():
            with self.session.db.read() as connection:
                corpus = run_row(connection, run_id).corpus_id
            check_reason(self.session, corpus, " ".join(reason.split()))
        with self.session.db.write() as connection:
            acts.judge(self.session, connection, run_id, place, outcome, trial, reason)
            self.examinations.look(connection, run_id)
            self.ledger.touch(connection, run_id, "intruder trial", TOUCHED, once=True)

    def texts(self, run_id: str) -> list[TrialText]:
        """Return the sample in its order: to the intruder while the time runs, with claims; to others after it.

        Raises:
            UserError: the trial waits for somebody to take it on, or is under way and somebody else's.
        """
        with self.session.db.read() as connection:
            row, found = acts.current(connection, run_id)
            if not found.begun:
                raise UserError("Nobody took this trial on yet; its texts are shown when the time begins.")
            over = reading.ended_at(found, row.minutes)
            if not over and same(found.intruder) != same(self.session.actor):
                raise UserError(f"{found.intruder} is at work on this trial; its claims are shown after the time box.")
            texts = self._texts(connection, run_id, row.id)
        made = []
        for place, record_id, text in texts:
            one = found.claims.get(place)
            made.append(
                TrialText(place, record_id, text) if one is None
                else TrialText(place, record_id, text, one.words, one.outcome, one.judged_by, one.reason)
            )  # fmt: skip
        return made

    def estimate(self, run_id: str) -> TrialResult | None:
        """Return what the latest trial says, and those before it; None where none was drawn."""
        with self.session.db.read() as connection:
            row = reading.latest(connection, run_id)
            if row is None:
                return None
            view = reading.view(connection, row)
            sound = chained.holds(connection, self.session.key, row.id)
            found = _result(view) if sound else TrialResult(view, why=chained.BROKEN)
            return replace(found, earlier=reading.before(connection, row))

    def known(self, run_id: str) -> Intruder | None:
        """Return the latest trial as a policy's rule asks for it, None where none was drawn."""
        from engine.release.policy.intruder import Intruder

        found = self.estimate(run_id)
        if found is None:
            return None
        trial, share = found.trial, found.share
        return Intruder(
            trial.texts, trial.drawn_from, trial.spent, trial.hits, trial.stale, found.why,
            None if share is None else share.high, 0.95 if share is None else share.level, trial.id,
        )  # fmt: skip

    def _texts(self, connection: Connection, run_id: str, trial_id: str) -> list[tuple[int, str, str]]:
        """Return place, record id and text of the sample, in order."""
        places = reading.positions(connection, trial_id)
        at = list(places.values())
        rows: dict[int, tuple[str, str]] = {}
        for start in range(0, len(at), 500):
            query = select(synthetic.c.position, synthetic.c.record_id, synthetic.c.text).where(
                synthetic.c.run_id == run_id, synthetic.c.position.in_(at[start : start + 500])
            )
            rows |= {position: (record_id, text) for position, record_id, text in connection.execute(query)}
        return [(place, *rows[position]) for place, position in places.items()]


def private_numbers(found: TrialResult | None) -> list[float]:
    """Return what the trials of a run counted and told, the latest and those before it: none of it may leave."""
    numbers: list[float] = []
    for trial in () if found is None else (*found.earlier, found.trial):
        share = _result(trial).share
        numbers += [trial.claims, trial.hits]
        numbers += [] if share is None else [share.value, share.low, share.high, share.further]
    return numbers


def _result(trial: Trial) -> TrialResult:
    from engine.release.policy.intruder import identified

    if not trial.begun:
        return TrialResult(trial, why="Nobody took it on yet.")
    if not trial.ended:
        return TrialResult(trial, why="Its time box is not over.")
    if not trial.complete:
        left = trial.claims - trial.judged
        return TrialResult(trial, why=f"Still to be checked: {left:,} of its {trial.claims:,} claims.")
    if trial.stale:
        return TrialResult(trial, why=trial.stale)
    if trial.texts < FEWEST and trial.texts < trial.drawn_from:
        return TrialResult(trial, why=f"Of fewer than {FEWEST} texts nothing is told. Draw another, larger one.")
    if not trial.approved:
        return TrialResult(trial, why="No record is approved any more.")
    value, low, high, further, level = identified(
        trial.hits, trial.texts, trial.drawn_from, look=trial.look, approved=trial.approved,
        removed_right=trial.removed_right,
    )  # fmt: skip
    return TrialResult(trial, Share(value, low, high, further, level))
