"""The ledger of a population: its limit, what runs reserved and drew, touches, releases, and the guarantee of a run.

Privacy posture: everything here is made of public quantities; no line holds text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Unpack, cast

from sqlalchemy import Connection, select

from engine.dp.accounting.accountant import AccountingPending
from engine.dp.accounting.delta_rules import check_against_units
from engine.dp.events import Event
from engine.dp.guarantee import Guarantee
from engine.dp.ledger import (
    LIST_SHARE,
    Admission,
    adjacency_of,
    admit,
    admit_all,
    divided,
    list_delta_used,
    remaining,
    share_used,
)
from engine.dp.upward import upward
from engine.errors import UnderstudyError, UserError
from engine.json_types import JSON, JSONObject
from engine.methods.base import Facts
from engine.store.budget import accounts, held_people, populations, recognition, reservations, unknown
from engine.store.budget import lines as ledger_lines
from engine.store.budget.lines import Book, Released
from engine.store.budget.outputs import RunOutputs
from engine.store.budget.statement import Sum, by_unit, sentence, table
from engine.store.chain import Verified
from engine.store.corpora.corpora import Corpora
from engine.store.corpora.labels import Labels
from engine.store.database.schema import corpora, ledger
from engine.store.database.schema import populations as populations_table
from engine.store.rows import AnyRow
from engine.store.runs.runs import run_row
from engine.store.session import Session
from engine.store.summaries import corpus_row
from engine.store.views import LedgerView, PeopleQuestion

if TYPE_CHECKING:
    from pydantic import BaseModel

    from engine.corpus.statistics import CorpusStatistics
    from engine.dp.accounting.accountant import Accountant
    from engine.methods.base import Method

Ask = Callable[[str, JSONObject], None]  # has the worker answer a request of a kind
Lookup = Callable[[JSONObject], dict[str, JSON] | None]
EXPORT = "understudy-ledger"


def ask_nobody(kind: str, request: JSONObject) -> None:
    """Leave a request unanswered: for a process that has no worker beside it."""


class Ledger:
    """The ledgers of the populations: what the ledger page asks; what runs, examinations and releases write."""

    def __init__(self, session: Session, corpora: Corpora, labels: Labels, ask: Ask) -> None:
        self.session = session
        self.corpora = corpora
        self.labels = labels
        self.ask = ask

    def facts(self, corpus_id: str) -> Facts:
        """Return the quantities of a corpus' training part, private ones too; a formal claim takes `public_facts`."""
        unit, cap, statistics = self._counted(corpus_id)
        return Facts(
            records=statistics.train_records,
            units=statistics.train_units,
            unit=unit,
            cap=cap,
            labels=sum(label != "" for label in (statistics.train_labels or statistics.labels)),
            mean_characters=float(statistics.characters.get("mean", 0.0)),
            sources_named=statistics.people_named,
        )

    def public_facts(self, corpus_id: str, labels: Sequence[str] | None = None) -> Facts:
        """Return the public quantities alone: N, unit, cap, how many labels the declared list holds, a source column.

        Records count as one a unit and lengths as unknown, since neither is public.

        Args:
            corpus_id: the corpus. labels: the public list of a run, None takes the one declared now.
        """
        unit, cap, statistics = self._counted(corpus_id)
        return Facts(
            records=statistics.train_units,
            units=statistics.train_units,
            unit=unit,
            cap=cap,
            labels=len(self.labels.public(corpus_id) if labels is None else labels),
            sources_named=statistics.people_named,
        )

    def _counted(self, corpus_id: str) -> tuple[str, int, CorpusStatistics]:
        """Return whom a guarantee protects, the most records of one unit that count, and what was counted at import."""
        from engine.corpus.statistics import CorpusStatistics

        with self.session.db.read() as connection:
            row = corpus_row(connection, corpus_id)
        return row.unit, row.cap if row.unit == "source" else 1, CorpusStatistics.from_dict(dict(row.statistics))

    def facts_for(self, method: Method, corpus_id: str, labels: Sequence[str] | None = None) -> Facts:
        """Return what a method's plan and guarantee may know: public quantities where it makes a formal claim."""
        return self.public_facts(corpus_id, labels) if method.spec.kind == "dp" else self.facts(corpus_id)

    def of(self, corpus_id: str) -> LedgerView:
        """Return the ledger of the people behind a corpus."""
        with self.session.db.read() as connection:
            book = self._book(connection, corpus_id)
        sums = self._sums(book)
        reserved = tuple(run for run in book.state.runs if run.state != "spent")
        left = remaining(book.state)
        return LedgerView(
            population=book.population,
            limit_epsilon=book.state.limit.epsilon,
            limit_delta=book.state.limit.delta,
            limit_list_delta=book.state.limit.list_delta,
            list_delta_used=list_delta_used(book.state),
            limit_is_default=book.is_default,
            order=book.state.order,
            share=book.share,
            remaining_epsilon=left,
            reserved_share=share_used(type(book.state)(book.state.limit, book.state.order, reserved)),
            unbounded=book.unbounded,
            total_epsilon=0.0 if not sums else sums[0].epsilon if len(sums) == 1 else None,
            no_total=len(sums) > 1,
            sentence=sentence(book, left, sums),
            lines=table(book),
            unknown_since=min((str(line.body["since"]) for line in book.unknown), default=None),
            questions=self._questions(book.population),
            largest_units=book.units,
        )

    def join_people(self, corpus_id: str, other: str) -> LedgerView:
        """Say that the people of a corpus are those of another corpus, or population: they share one ledger for good.

        Raises:
            UserError: they do already.
        """
        with self.session.db.write() as connection:
            own, joined = corpus_row(connection, corpus_id).population, self.corpora.population(connection, other)
            if own == joined:
                raise UserError("These people share one ledger already; there is nothing to join.")
            people = held_people.Watch(connection, self.session.key)
            people.look((own, joined))
            populations.merge(
                connection,
                joined,
                own,
                lambda left, into: reservations.merge(
                    connection, self.session.key, self.session.actor, left, into, by_person=True
                ),
            )
            self.session.write_audit(
                connection, "people joined", corpus_id, population=own, joined=joined, **people.told(own, (joined,))
            )
        return self.of(corpus_id)

    def keep_apart(self, corpus_id: str, other: str) -> LedgerView:
        """Say that the people of a corpus are not those of another corpus, or population; their limits rely on it.

        Raises:
            UserError: nobody asked.
        """
        with self.session.db.write() as connection:
            own, apart = corpus_row(connection, corpus_id).population, self.corpora.population(connection, other)
            shared = dict(recognition.open_questions(connection, own)).get(apart)
            if shared is None:
                raise UserError("Nobody asked whether these are the same people; there is nothing to answer.")
            people = held_people.Watch(connection, self.session.key)
            people.look((own,))
            recognition.answer(connection, own, apart, recognition.OTHER)
            for one, two in ((own, apart), (apart, own)):
                ledger_lines.write(
                    connection,
                    self.session.key,
                    self.session.actor,
                    one,
                    "apart",
                    what="people",
                    other=two,
                    sentence=f"Declared to be other people than those of {two}, although the texts share "
                    f"{shared.get('sentence', 'marks')}. The limit relies on that.",
                    share_after=ledger_lines.last_share(connection, one),
                )
            self.session.write_audit(
                connection, "people kept apart", corpus_id, population=own, other=apart, **people.told(own)
            )
        return self.of(corpus_id)

    def _questions(self, population: str) -> tuple[PeopleQuestion, ...]:
        with self.session.db.read() as connection:
            asked = recognition.open_questions(connection, population)
            names = connection.execute(select(corpora.c.name, corpora.c.population)).all()
        return tuple(
            PeopleQuestion(
                population=other,
                corpora=tuple(sorted(row.name for row in names if row.population == other)),
                sentence=str(shared.get("sentence", "marks")),
            )
            for other, shared in asked
        )

    def declare_spent(self, corpus_id: str, epsilon: float, delta: float) -> LedgerView:
        """Enter what was spent in the time that a restored or rolled-back ledger knows nothing of; 0, 0 for nothing.

        Raises:
            UserError: nothing is unknown, or a number is out of range.
        """
        with self.session.db.write() as connection:
            row = corpus_row(connection, corpus_id)
            amount = float(epsilon), float(delta)
            unknown.declare(connection, self.session.key, self.session.actor, row.population, row.unit, *amount)
        return self.of(corpus_id)

    def set_limit(
        self,
        corpus_id: str,
        epsilon: float,
        delta: float,
        *,
        large_delta: bool = False,
        list_share: float = LIST_SHARE,
    ) -> LedgerView:
        """Set the most that the people behind a corpus may ever spend, and return their ledger.

        Args:
            corpus_id: a corpus of theirs. epsilon, delta: the limit. large_delta: whether a δ of 1/N or more is meant.
            list_share: part of δ set aside for lists of labels that runs buy, 0 to 0.9.
        """
        limit = divided(float(epsilon), float(delta), list_share)
        with self.session.db.write() as connection:
            population = corpus_row(connection, corpus_id).population
            units = self._book(connection, corpus_id).units
            check_against_units(delta, units, large_delta)
            large = delta * units >= 1.0
            reservations.change_limit(connection, self.session.key, self.session.actor, population, limit, large)
        return self.of(corpus_id)

    def what_if(self, corpus_id: str, guarantee: Guarantee) -> Admission:
        """Return whether a run with this guarantee fits, with share and remaining ε before and after it."""
        with self.session.db.read() as connection:
            return self._admission(self._book(connection, corpus_id), guarantee)

    def what_if_all(self, corpus_id: str, guarantees: Sequence[Guarantee]) -> Admission:
        """Return whether runs with these guarantees fit together, one after another; see `admit_all`."""
        claims = [(events, *one.bound) for one in guarantees if (events := reservations.claimed(one))]
        with self.session.db.read() as connection:
            return admit_all(self._book(connection, corpus_id).state, claims)

    def export(self, corpus_id: str) -> str:
        """Return every line of a ledger as JSON, with the hashes that chain it to the workspace's other lines.

        That it left stands in the audit log.
        """
        view = self.of(corpus_id)
        with self.session.db.read() as connection:
            members = {line.seq for line in self._book(connection, corpus_id).lines}
            rows = [row for row in connection.execute(select(ledger).order_by(ledger.c.seq)) if row.seq in members]
        head = {
            name: getattr(view, name)
            for name in (
                "population limit_epsilon limit_delta limit_list_delta list_delta_used limit_is_default order share "
                "remaining_epsilon"
            ).split()
        }
        total = {"unbounded": view.unbounded, "total_epsilon": view.total_epsilon, "sentence": view.sentence}
        lines = [{**_columns(row), "body": json.loads(row.body), "hash": row.hash} for row in rows]
        text = json.dumps({"format": EXPORT, **head, **total, "lines": lines}, indent=1) + "\n"
        with self.session.db.write() as connection:
            self.session.write_audit(
                connection, "ledger exported", corpus_id, population=view.population, lines=len(lines),
                last=max(members, default=0),
            )  # fmt: skip
        return text

    def wait_total(self, corpus_id: str) -> float | None:
        """Return ε of all drawn outputs at the limit's δ as if fixed beforehand, computed here where it is not known.

        None where outputs for two units were drawn: they have no sum.
        """
        with self.session.db.read() as connection:
            book = self._book(connection, corpus_id)
        sums = [self._account(events, book, self.computed) for events in by_unit(book.drawn)]
        return 0.0 if not sums else sums[0] if len(sums) == 1 else None

    def verify(self) -> Verified:
        """Check the ledger's chain: `ok`, `lines`, `first_bad` (number of the first line that does not hold)."""
        with self.session.db.read() as connection:
            return ledger_lines.CHAIN.verify(connection, self.session.key)

    def outputs(self, run_id: str) -> RunOutputs:
        """Return the store of a run's mechanism outputs."""
        return RunOutputs(self.session.db, self.session.key, self.session.actor, run_id)

    def _book(self, connection: Connection, corpus_id: str) -> Book:
        return ledger_lines.read(connection, corpus_row(connection, corpus_id).population)

    @staticmethod
    def _admission(book: Book, guarantee: Guarantee) -> Admission:
        events = reservations.claimed(guarantee)
        if events:
            return admit(book.state, events, *guarantee.bound)
        share, left = book.share, remaining(book.state)
        return Admission(True, False, "This run claims nothing of the budget.", share, share, left, left)

    def _sums(self, book: Book) -> tuple[Sum, ...]:
        """Return ε of the drawn outputs at the limit's δ, one sum a unit: outputs for two units are never added."""
        found = []
        for events in by_unit(book.drawn):
            try:
                epsilon: float | None = self._account(events, book, self.known)
            except AccountingPending as pending:
                self.ask("account", pending.request)
                epsilon = None
            found.append(Sum(events[0].unit, adjacency_of(events), epsilon))
        return tuple(found)

    @staticmethod
    def _account(events: Sequence[Event], book: Book, lookup: Lookup) -> float:
        """Return ε of events as if fixed beforehand: a choice of when to stop may pass it, never the limit's filter."""
        from engine.dp.accounting.accountant import CachedAccountant
        from engine.dp.accounting.accounts import merged

        return CachedAccountant(lookup).account(merged(events), book.state.limit.delta).epsilon

    def known(self, request: JSONObject) -> dict[str, JSON] | None:
        """Return the stored answer to an accounting request; None where there is none yet."""
        with self.session.db.read() as connection:
            return accounts.lookup(connection, "account", request)

    def computed(self, request: JSONObject) -> dict[str, JSON]:
        """Return the answer to an accounting request, computed here unless it is known; takes seconds."""
        from engine.dp.accounting.accountant import answer_request

        known = self.known(request)
        if known is not None:
            return known
        try:
            found = answer_request(dict(request))
        except UnderstudyError as error:
            with self.session.db.write() as connection:
                accounts.answer(connection, "account", request, None, str(error))
            raise
        with self.session.db.write() as connection:
            accounts.answer(connection, "account", request, found)
        return found

    def promise(self, method: Method, values: BaseModel, facts: Facts, *, wait: bool) -> Guarantee:
        """Return a method's guarantee; `wait` computes what is not known yet.

        Raises:
            AccountingPending: something is not known yet, and `wait` is false.
        """
        from engine.dp.accounting.accountant import CachedAccountant

        if method.spec.kind not in ("dp", "selection-only"):
            return method.guarantee(values, facts)
        accountant: Accountant = CachedAccountant(self.computed if wait else self.known)
        return method.guarantee(values, facts, accountant)

    def reserve(self, connection: Connection, run_id: str, corpus_id: str, method: str, claim: Guarantee) -> None:
        """Reserve a run's events in the ledger, unless they are reserved already."""
        if claim.pending:
            return
        reservations.reserve(
            connection,
            self.session.key,
            self.session.actor,
            population=reservations.population_of(connection, corpus_id),
            run_id=run_id,
            method=method,
            guarantee=claim,
        )

    def settle(self, connection: Connection) -> None:
        """Settle or give back the reservations of runs that are over."""
        reservations.reconcile(connection, self.session.key, self.session.actor)

    def touch(
        self, connection: Connection, run_id: str, what: str, sentence: str, *, once: bool = False, kind: str = "touch",
        **body: Unpack[Released],
    ) -> None:  # fmt: skip
        """Write that private data were used, or records left, outside any reservation."""
        row = run_row(connection, run_id)
        if once:
            query = select(ledger.c.body).where(ledger.c.run_id == run_id, ledger.c.kind == kind)
            if any(json.loads(found)["what"] == what for found in connection.execute(query).scalars()):
                return
        population = reservations.population_of(connection, row.corpus_id)
        ledger_lines.write(
            connection,
            self.session.key,
            self.session.actor,
            population,
            kind,
            run_id,
            method=row.method,
            what=what,
            sentence=sentence,
            share_after=ledger_lines.last_share(connection, population),
            **body,
        )

    def touch_of_release(self, connection: Connection, run_id: str, records: int) -> None:
        """Enter that records of a run left, inside the caller's transaction."""
        claim = run_row(connection, run_id).guarantee
        bounded = claim.kind == "dp"
        if not bounded:
            sentence = "Released without a formal guarantee. Formal total: unbounded."
        elif claim.epsilon == 0:
            sentence = "Released; made without any private input, so it costs nothing."
        else:
            epsilon, delta = (upward(value, 6) for value in claim.bound)
            sentence = f"Released under the run's own guarantee: ε = {epsilon} at δ = {delta}."
        self.touch(
            connection,
            run_id,
            "release",
            sentence,
            kind="release",
            epsilon=claim.epsilon if bounded else None,
            delta=claim.delta if bounded else None,
            records=records,
            unbounded=not bounded,
        )
        self.touch_of_models(connection, run_id)

    def of_run(self, run_id: str) -> list[JSONObject]:
        """Return what a run reserved and drew, as a release may show it: amounts and events, nobody's name or time.

        The amounts are its own; what earlier runs drew that its statement counts too stands in their lines.
        """
        kinds = ("reserve", "spend", "settle", "give_back")
        shown = ("epsilon", "delta", "events", "event")
        with self.session.db.read() as connection:
            row = run_row(connection, run_id)
            population = reservations.population_of(connection, row.corpus_id)
            lines = ledger_lines.read(connection, population).lines
        own = [line for line in lines if line.run_id == run_id and line.kind in kinds]
        drawn = dict(zip(("epsilon", "delta"), row.guarantee.drawn)) if row.guarantee.kind == "dp" else {}
        bodies = [cast("JSONObject", line.body) for line in own]
        return [
            {"kind": line.kind, **{name: drawn.get(name, body[name]) for name in shown if name in body}}
            for line, body in zip(own, bodies)
        ]

    def touch_of_models(self, connection: Connection, run_id: str) -> None:
        """Write into the ledgers of other people that a model fitted to their text without a guarantee wrote these."""
        row = run_row(connection, run_id)
        own = reservations.population_of(connection, row.corpus_id)
        known = set(connection.execute(select(populations_table.c.id)).scalars())
        for population in sorted({ledger_lines.current(connection, m.population) for m in row.fitted if not m.bounded}):
            if population == own or population not in known:
                continue
            ledger_lines.write(
                connection,
                self.session.key,
                self.session.actor,
                population,
                "release",
                run_id,
                method=row.method,
                what="release",
                sentence="Records of another corpus were released, written by a model that was fitted to these "
                "people's text without a guarantee. Formal total: unbounded.",
                share_after=ledger_lines.last_share(connection, population),
                unbounded=True,
            )


def _columns(row: AnyRow) -> dict[str, object]:
    return {name: getattr(row, name) for name in ("seq", "at", "actor", "population", "kind", "run_id")}
