"""What a run would promise and what its budget buys, without waiting: the worker computes what takes seconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import select

from engine.dp.accounting.accountant import AccountingPending
from engine.dp.accounting.closed_form import default_delta
from engine.dp.guarantee import Guarantee
from engine.errors import UserError
from engine.jobs import launch
from engine.jobs.model_station import ModelStation
from engine.methods.base import Facts, parse_parameters
from engine.store import queue
from engine.store.budget import accounts
from engine.store.budget.lines import events_of
from engine.store.schema import jobs

if TYPE_CHECKING:
    from pydantic import BaseModel

    from engine.methods.base import Method, MethodSpec

CURVE_POINTS = 61
PENDING = "The exact accounting is still being computed; the statement follows."


class BudgetStation(ModelStation):
    """Guarantees, their curves, and what a budget buys."""

    def guarantee(
        self,
        method: str,
        *,
        corpus_id: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        facts: Facts | None = None,
    ) -> Guarantee:
        """Return what a method promises on a corpus, or on given public facts, at once.

        It is `pending` where the exact accounting takes longer; the worker then computes it.
        """
        known, values, used = self._asked(method, corpus_id, parameters, facts)
        return self._guarantee_now(known, values, used)

    def wait_guarantee(
        self,
        method: str,
        *,
        corpus_id: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        facts: Facts | None = None,
    ) -> Guarantee:
        """Return what a method promises, computed in this process where it is not known yet; may take seconds."""
        known, values, used = self._asked(method, corpus_id, parameters, facts)
        return self._promise(known, values, used, wait=True)

    def guarantee_curve(
        self, method: str, *, corpus_id: str | None = None, parameters: Mapping[str, Any] | None = None,
        facts: Facts | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Return `pending`, `epsilons`, `standard` and `strict` δ at each, and the claim's `epsilon` and `delta`.

        The lists are empty while pending and where there is no formal claim.
        """
        return self._curve(self.guarantee(method, corpus_id=corpus_id, parameters=parameters, facts=facts))

    def run_curve(self, run_id: str) -> dict[str, Any]:
        """Return what `guarantee_curve` does, of the claim that a run was made under."""
        claim = dict(self.run(run_id).guarantee)
        known = {field.name for field in fields(Guarantee)}
        return self._curve(Guarantee(**{name: value for name, value in claim.items() if name in known}))

    def _curve(self, claim: Guarantee) -> dict[str, Any]:
        from engine.dp.accounting.accountant import CachedAccountant

        answer: dict[str, Any] = {
            "pending": claim.pending, "epsilons": [], "standard": [], "strict": [],
            "delta": claim.delta, "epsilon": claim.epsilon,
        }  # fmt: skip
        if claim.pending or claim.kind != "dp" or not claim.events:
            return answer
        top = 2.0 * float(claim.epsilon or 0.0) + 1.0
        # The claimed ε is a point of its own, so that the δs there are exact.
        grid = sorted({*map(float, np.linspace(0.0, top, CURVE_POINTS)), float(claim.epsilon or 0.0)})
        try:
            curve = CachedAccountant(self._known).curve(events_of(claim.events), grid)
        except AccountingPending as pending:
            self._ask("account", pending.request)
            return {**answer, "pending": True}
        return {**answer, **curve.as_dict()}

    def buys(
        self, corpus_id: str, method: str, parameters: Mapping[str, Any] | None = None, count: int | None = None
    ) -> dict[str, Any]:
        """Return `pending`, `rows` and `advice`: what the budget buys on public text of this corpus' size.

        `count` is the number of outputs wanted; more of them share the same votes.
        """
        known, values, facts = self._asked(method, corpus_id, parameters, None)
        claim = self._guarantee_now(known, values, facts)
        if claim.pending:
            return {"pending": True, "rows": [], "advice": []}
        if claim.kind != "dp" or not claim.epsilon:
            return {"pending": False, "rows": [], "advice": []}
        request = {
            "method": known.spec.id.removeprefix("filter:"),  # the filter behind a method changes no noise
            "parameters": values.model_dump(mode="json"),
            "facts": asdict(facts),
            "noise": {name: dict(level) for name, level in claim.noise.items()},
            "epsilon": claim.epsilon,
            "delta": claim.delta,
        }
        if count is not None:
            request["count"] = int(count)
        with self.db.read() as connection:
            try:
                found = accounts.lookup(connection, "signal", request)
            except UserError as error:
                return {"pending": False, "rows": [], "advice": [str(error)]}
        if found is None:
            self._ask("signal", request)
            return {"pending": True, "rows": [], "advice": []}
        return {"pending": False, "rows": list(found.get("rows", [])), "advice": list(found.get("advice", []))}

    def _asked(
        self,
        method: str,
        corpus_id: str | None,
        parameters: Mapping[str, Any] | None,
        facts: Facts | None,
    ) -> tuple[Method, BaseModel, Facts]:
        known = find_method(method)
        if facts is None:
            facts = self.facts_for(known, corpus_id) if corpus_id is not None else Facts(records=1000, units=1000)
        given = self._with_domain(known.spec, parameters) if corpus_id is not None else parameters
        return known, parse_parameters(known.spec, given), facts

    def _guarantee_now(self, method: Method, values: BaseModel, facts: Facts) -> Guarantee:
        try:
            return self._promise(method, values, facts, wait=False)
        except AccountingPending as pending:
            self._ask("account", pending.request)
            return pending_guarantee(method, values, facts)

    def _ask(self, kind: str, request: Mapping[str, Any]) -> None:
        """Have the worker answer a request, unless it is at it already."""
        with self.db.read() as connection:
            lost = connection.execute(
                select(jobs.c.id).where(jobs.c.kind == kind, jobs.c.state.in_(queue.ACTIVE)).limit(1)
            ).first()
            known = accounts.is_pending(connection, kind, request)
        if not known or lost is None:
            with self.db.write() as connection:
                digest = accounts.ask(connection, kind, request)
                queue.enqueue(connection, kind, arguments={"digest": digest})
        launch.ensure_worker(self.folder)

    def _with_domain(self, spec: MethodSpec, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the parameters with the domain from the settings where it was left to the program."""
        given = dict(parameters or {})
        domain = self.setting("domain", "auto")
        if "domain" in spec.parameters.model_fields and given.get("domain", "auto") == "auto" and domain != "auto":
            given["domain"] = domain
        return given


def find_method(method_id: str) -> Method:
    """Return the method with this id."""
    from engine.methods import get_method

    return get_method(method_id)


def pending_guarantee(method: Method, values: BaseModel, facts: Facts) -> Guarantee:
    """Return what can be said of a guarantee while its exact accounting is computed."""
    own = getattr(method, "pending_guarantee", None)
    if own is not None:
        promised: Guarantee = own(values, facts)
        return promised
    delta = getattr(values, "delta", None)
    return Guarantee(
        "dp",
        PENDING,
        scope="the run's complete output",
        epsilon=getattr(values, "epsilon", None),
        delta=default_delta(facts.units) if delta is None else delta,
        unit=facts.unit,
        adjacency=str(getattr(values, "adjacency", "zero-out")),
        pending=True,
    )
