"""What people do in an intruder trial: draw it, take it on, claim, say that they are done, check a claim.

Privacy posture: a claim may name somebody and is kept in its own column, which goes with the run. The audit log says
that there was a claim about a text and what became of it, never what it says.
"""

from __future__ import annotations

import secrets

from sqlalchemy import Connection, select

from engine.errors import NotFoundError, RefusedError, UserError
from engine.store.audit import now
from engine.store.database.schema import intruder_events, intruder_texts, intruder_trials
from engine.store.people.names import one_person
from engine.store.review.spot.reading import same
from engine.store.rows import AnyRow
from engine.store.runs.intruder import chained, looks
from engine.store.runs.intruder.reading import (
    Events,
    approved_positions,
    ended_at,
    events_of,
    latest,
    positions,
    stretches,
)
from engine.store.runs.intruder.views import OUTCOMES, WRONG
from engine.store.runs.runs import run_row
from engine.store.runs.waivers import UNNAMED
from engine.store.session import Session, new_id

SHORTEST_REASON, LONGEST_REASON = 10, 200
LONGEST_MINUTES, LONGEST_WORDS, LONGEST_MEANS = 7 * 24 * 60, 300, 600
NONE = "no intruder trial was drawn of this run"


def draw(
    session: Session, connection: Connection, run_id: str, texts: int, minutes: int, means: str, look: int | None
) -> str:
    """Draw a trial inside the caller's transaction and return its id; see `IntruderTrials.draw`."""
    check_named(session)
    run = run_row(connection, run_id)
    if run.state != "done":
        raise UserError("run: it is not finished; a trial is about the texts that would leave")
    said = " ".join(means.split())
    if not said or len(said) > LONGEST_MEANS:
        raise UserError(f"means: say in 1 to {LONGEST_MEANS} characters what the person may use to find somebody")
    if not 1 <= minutes <= LONGEST_MINUTES:
        raise UserError(f"minutes: give 1 to {LONGEST_MINUTES:,}")
    if texts < 1:
        raise UserError(f"texts: draw at least one, not {texts}")
    approved = approved_positions(connection, run_id)
    if not approved:
        raise UserError("No record of this run is approved, and the sample is drawn from those that would leave.")
    if look is not None and look != looks.own(connection, run_id):
        raise RefusedError("Somebody drew an intruder trial of this run meanwhile. Look at it before you draw another.")
    for trial_id, (whose, kept) in looks.keep_missing(connection, session.key).items():
        marked = chained.of_marks(session.key, whose, kept)
        session.write_audit(connection, chained.COUNTED, trial_id, run=whose, marks=marked)
    mine = looks.marks(session.key, looks.texts_at(connection, run_id, approved))
    next_look = looks.following(connection, run_id, mine)
    chosen = secrets.SystemRandom().sample(approved, min(texts, len(approved)))
    trial_id = new_id("i")
    connection.execute(
        intruder_trials.insert().values(
            id=trial_id, run_id=run_id, look=next_look, at=now(), actor=session.actor, minutes=minutes, means=said,
            drawn_from=stretches(approved),
        )
    )  # fmt: skip
    connection.execute(
        intruder_texts.insert(),
        [{"trial_id": trial_id, "place": place, "position": position} for place, position in enumerate(chosen, 1)],
    )
    looks.keep(connection, trial_id, run_id, next_look, mine)
    session.write_audit(
        connection, chained.DRAWN, trial_id, corpus=run.corpus_id, run=run_id, look=next_look,
        texts=len(chosen), drawn_from=len(approved), minutes=minutes,
        row=chained.of_trial(connection, session.key, trial_id),
        marks=chained.of_marks(session.key, run_id, mine),
    )  # fmt: skip
    return trial_id


def begin(session: Session, connection: Connection, run_id: str) -> None:
    """Take a trial on: its time begins; nobody takes on the one they drew.

    Where nothing is claimed nobody checks anything, so this is what keeps such a trial from being one person's alone.
    """
    check_named(session)
    trial, found = current(connection, run_id)
    if one_person(trial.actor, session.actor):
        raise UserError("A trial is taken on by somebody else than the person who drew it.")
    if found.intruder:
        if same(found.intruder) == same(session.actor):
            return
        raise UserError(f"{found.intruder} took this trial on; draw another for somebody else")
    _act(session, connection, trial, "begin", "intruder trial begun")


def claim(
    session: Session, connection: Connection, run_id: str, place: int, words: str, offered: str | None = None
) -> None:
    """Say whom a text is of, in place of an earlier claim about it; empty words take that back."""
    trial, found = _open(session, connection, run_id)
    _check_same(trial, offered)
    said = " ".join(words.split())
    if len(said) > LONGEST_WORDS:
        raise UserError(f"claim: at most {LONGEST_WORDS} characters")
    if place not in positions(connection, trial.id):
        raise NotFoundError("the sample has no text at this place")
    before = found.claims.get(place)
    if said == ("" if before is None else before.words):
        return
    if said:
        _act(session, connection, trial, "claim", "intruder's claim written", place, said)
    else:
        _act(session, connection, trial, "withdraw", "intruder's claim withdrawn", place)


def end(session: Session, connection: Connection, run_id: str) -> None:
    """Say that the intruder is done before the time is over."""
    trial, _ = _open(session, connection, run_id)
    _act(session, connection, trial, "end", "intruder trial ended")


def judge(
    session: Session, connection: Connection, run_id: str, place: int, outcome: str, offered: str | None = None,
    reason: str = "",
) -> None:  # fmt: skip
    """Say whether a claim is right, once the time box is over; nobody judges their own.

    Once every claim is judged the bound can be seen. Who changes a verdict then says why, and who makes a claim count
    no more is somebody else than those who judged it.
    """
    check_named(session)
    if outcome not in OUTCOMES:
        raise UserError(f"outcome: must be one of {', '.join(OUTCOMES)}, is {outcome!r}")
    trial, found = current(connection, run_id)
    _check_same(trial, offered)
    if not ended_at(found, trial.minutes):
        raise UserError("The time box is not over; claims are checked after it.")
    if one_person(found.intruder, session.actor):
        raise UserError("A claim is checked by somebody else than the person who made it.")
    one = found.claims.get(place)
    if one is None:
        raise NotFoundError("nothing was claimed about this text")
    if one.outcome == outcome:
        return
    seen = found.judged
    if not seen and one.outcome and same(one.judged_by) != same(session.actor):
        raise UserError(f"{one.judged_by} judged this claim before")
    if not seen:
        _act(session, connection, trial, outcome, "intruder's claim judged", place, outcome=outcome)
        return
    said = " ".join(reason.split())
    if not SHORTEST_REASON <= len(said) <= LONGEST_REASON:
        raise UserError(
            "reason: every claim was judged and the bound could be seen, so say why the verdict is changed in "
            f"{SHORTEST_REASON} to {LONGEST_REASON} characters"
        )
    if outcome == WRONG and any(one_person(name, session.actor) for name in one.judges):
        raise UserError("You judged this claim; that it counts no more is for somebody else to say.")
    _act(session, connection, trial, outcome, chained.CHANGED, place, said, before=one.outcome, outcome=outcome,
         reason=said)  # fmt: skip


def current(connection: Connection, run_id: str) -> tuple[AnyRow, Events]:
    """Return a run's latest trial and what happened in it, or raise `NotFoundError`."""
    run_row(connection, run_id)
    trial = latest(connection, run_id)
    if trial is None:
        raise NotFoundError(NONE)
    return trial, events_of(connection, trial.id)


def check_named(session: Session) -> None:
    """Raise `UserError` where nobody said who acts."""
    if " ".join(session.actor.split()).casefold() in UNNAMED:
        raise UserError("Say who you are first (--by on the command line): a trial stands under two people's names")


def _check_same(trial: AnyRow, offered: str | None) -> None:
    """Refuse words about a place of another trial's sample: another text stands at it here."""
    if offered is not None and offered != trial.id:
        raise RefusedError("These are the texts of another trial; one was drawn since. Look at the latest one.")


def _open(session: Session, connection: Connection, run_id: str) -> tuple[AnyRow, Events]:
    """Return the trial whose time box is open for the person acting, or refuse."""
    trial, found = current(connection, run_id)
    if not found.intruder or same(found.intruder) != same(session.actor):
        raise UserError("You did not take this trial on.")
    if ended_at(found, trial.minutes):
        raise UserError("The time box is over; nothing more is taken.")
    return trial, found


def _act(
    session: Session, connection: Connection, trial: AnyRow, action: str, told: str, place: int | None = None,
    words: str | None = None, **detail: int | str,
) -> None:  # fmt: skip
    """Write what somebody did, and a line of the audit log that holds the row's digest."""
    made = connection.execute(
        intruder_events.insert().values(
            trial_id=trial.id, at=now(), actor=session.actor, action=action, place=place, words=words
        )
    )
    (seq,) = made.inserted_primary_key or (0,)
    row = connection.execute(select(intruder_events).where(intruder_events.c.seq == seq)).one()
    corpus = run_row(connection, trial.run_id).corpus_id
    detail |= {} if place is None else {"place": place}
    session.write_audit(
        connection, told, trial.id, corpus=corpus, run=trial.run_id, row=chained.of_event(session.key, row), **detail
    )
