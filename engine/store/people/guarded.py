"""Ask for the right that a call needs before the call is made, and note whose text is shown to whom and why.

Privacy posture: what was shown stands in the audit log as the corpus, the reason that was given and the person; the
text does not.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from typing import Literal, ParamSpec, TypeVar, cast

from sqlalchemy import select

from engine.errors import NotAllowedError, ReasonNeededError, RefusedError, StorageError, UserError
from engine.store.database.schema import corpora, runs
from engine.store.people.calls import right_of
from engine.store.people.members import Members
from engine.store.people.reasons import check_reason
from engine.store.people.roles import Person, Right
from engine.store.review.desk.readers import put_down
from engine.store.session import Session
from engine.store.views import JobView

LONGEST_REASON = 200
MOMENTS = {"in": "signed in", "out": "signed out", "rest": "session ended after a rest"}
NAMED = re.compile(r"[a-z]{1,3}-[a-z0-9]{10}")  # an id of the store
Part = TypeVar("Part")
P = ParamSpec("P")
R = TypeVar("R")


class Visit:
    """A person at work from sign-in to sign-out: the reason they gave for seeing text, and what they were shown.

    Callbacks and parts of a page run before a page's guard, or without it: so each call reads anew what its person may
    do, and none passes after a rest.

    Args:
        session: of the open workspace, acting as this person. person: who signed in. rest: seconds after which the
            visit is over; infinite where nobody said.
    """

    def __init__(self, session: Session, person: Person, rest: float = math.inf) -> None:
        self.session = session
        self.person = person
        self.rest = rest
        self.active = time.monotonic()
        self.reason = ""
        self._shown: set[str] = set()
        self._held: set[str] = set()  # corpora whose private text the reason was held against
        self._members = Members(session)

    @property
    def over(self) -> bool:
        """Return whether this person rested too long."""
        return time.monotonic() - self.active > self.rest

    def rights(self) -> frozenset[Right]:
        """Return what this person may do at this moment."""
        known = self._members.person(self.person.identity)
        return frozenset() if known is None else known.rights

    def give_reason(self, reason: str) -> None:
        """Keep why this person looks at text of records; it stands in the audit log with each corpus they see.

        Raises:
            UserError: it is empty or longer than a line.
            RefusedError: it holds private text of a corpus, see `engine.store.people.reasons`.
        """
        cleaned = " ".join(reason.split())
        if not cleaned or len(cleaned) > LONGEST_REASON:
            raise UserError(f"reason: must be 1 to {LONGEST_REASON} characters")
        with self.session.db.read() as connection:
            known = list(connection.execute(select(corpora.c.id)).scalars())
        held = set()
        for corpus in known:
            with suppress(StorageError):  # a damaged table shows no text either; it is tried again before it does
                check_reason(self.session, corpus, cleaned)
                held.add(corpus)
        self.reason, self._held = cleaned, held
        self._shown.clear()

    def take_over(self, before: Visit) -> None:
        """Take over the reason that the same person gave before their roles changed."""
        self.reason, self._held = before.reason, set(before._held)

    def note(self, moment: Literal["in", "out", "rest"]) -> None:
        """Write into the audit log that this person came or went; nobody but they themselves is named so."""
        with self.session.db.write() as connection:
            self.session.write_audit(connection, MOMENTS[moment], "", identity=self.person.identity)
        if moment != "in":
            with self.session.db.brief() as connection:
                put_down(connection, self.person)

    def need(self, right: Right, call: str) -> None:
        """Let a call pass that this person may make.

        Raises:
            NotAllowedError: their roles do not hold the right; the attempt stands in the audit log.
        """
        if self.over:
            raise NotAllowedError("your session ended after a rest; reload the page and go on")
        if right in self.rights():
            if right not in (Right.READ, Right.REVEAL) or call.startswith("review."):
                self.active = time.monotonic()  # what a page asks by itself, to show progress, is no work of a person
            return
        with self.session.db.write() as connection:
            self.session.write_audit(connection, "refused", "", call=call, right=right)
        held = ", ".join(self.person.roles)
        raise NotAllowedError(f"{self.person.name} is signed in as {held}, and this needs the right to {right}")

    def show(self, subject: object) -> None:
        """Note that text of a corpus is shown, once a corpus and reason.

        Raises:
            ReasonNeededError: nobody said why yet, or the reason holds text of a corpus that came after it.
        """
        if not self.reason:
            raise ReasonNeededError("say first why you look at text of records; the reason stands in the audit log")
        name = subject if isinstance(subject, str) else ""
        if name and name in self._shown:
            return
        with self.session.db.read() as connection:
            known = set(connection.execute(select(corpora.c.id).where(corpora.c.id == name)).scalars())
            known |= set(connection.execute(select(runs.c.corpus_id).where(runs.c.id == name)).scalars())
            corpus = next(iter(known), "")
        if corpus and corpus not in self._held:  # it came after the reason did
            self._hold(corpus)
        with self.session.db.write() as connection:
            if not corpus or corpus not in self._shown:
                what = corpus or (name if NAMED.fullmatch(name) else "")
                self.session.write_audit(connection, "text shown", what, reason=self.reason)
        self._shown |= {name, corpus}

    def _hold(self, corpus: str) -> None:
        """Hold the reason against the text of a corpus; it does not count any more where it holds some."""
        try:
            check_reason(self.session, corpus, self.reason)
        except RefusedError as error:
            self.reason = ""
            raise ReasonNeededError(f"{error}. Give another reason") from None
        self._held.add(corpus)


def guarded(part: Part, name: str, visit: Visit) -> Part:
    """Return a part of a workspace whose every call asks for its right first; what is not named is refused."""
    return cast("Part", _Guarded(part, name, visit))


class _Guarded:
    def __init__(self, part: object, name: str, visit: Visit) -> None:
        object.__setattr__(self, "_inside", (part, name, visit))

    def __getattr__(self, called: str) -> object:
        part, name, visit = object.__getattribute__(self, "_inside")
        right = right_of(name, called)
        if right is None:
            raise NotAllowedError(f"{name}.{called} is open to nobody who signed in")
        if not callable(getattr(type(part), called, None)):  # a property
            visit.need(right, f"{name}.{called}")
            return getattr(part, called)
        return _asking(getattr(part, called), name, called, visit)

    def __setattr__(self, called: str, value: object) -> None:
        raise NotAllowedError("a part of a workspace is not changed from outside")


def _asking(call: Callable[P, R], part: str, name: str, visit: Visit) -> Callable[P, R]:
    @wraps(call)
    def asked(*args: P.args, **options: P.kwargs) -> R:
        right = right_of(part, name, args)
        assert right is not None
        visit.need(right, f"{part}.{name}")
        if right in (Right.REVEAL, Right.REVIEW):
            visit.show(args[0] if args else next(iter(options.values()), ""))
        made = call(*args, **options)
        if part != "jobs" or (visit.reason and Right.REVEAL in visit.rights()):
            return made
        return cast("R", _without_sample(made))

    return asked


def _without_sample(made: object) -> object:
    """Return a job, or jobs, without the outputs that it shows of a run at work."""
    if isinstance(made, JobView):
        return replace(made, sample=())
    if isinstance(made, list | tuple):
        return type(made)(_without_sample(one) for one in made)
    return made
