"""What a run would promise and what its budget buys, without waiting: the worker computes what takes seconds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np

from engine.dp.accounting.accountant import AccountingPending
from engine.dp.accounting.closed_form import default_delta
from engine.dp.guarantee import Guarantee
from engine.errors import UserError
from engine.jobs.drafts import BudgetCurve, Buys, Copies, Draft
from engine.jobs.models.first_texts import FirstLook
from engine.jobs.models.language_models import Models
from engine.jobs.sweeps import SweepDraft, Wanted
from engine.json_types import JSON, JSONObject, as_list, as_number, as_object
from engine.methods.advice.advice import advice
from engine.methods.advice.verdict import signal_verdict
from engine.methods.base import Facts, MethodSpec, Plan, parse_parameters
from engine.methods.choice.method import blockers as choice_blockers
from engine.methods.choice.parameters import PaidChoiceParameters
from engine.methods.select.method import blockers as pool_blockers
from engine.methods.select.parameters import DpSelectParameters
from engine.models.prompts.domains import prompt_language
from engine.store.budget import accounts
from engine.store.budget.ledger import Ledger
from engine.store.corpora.corpora import Corpora
from engine.store.pools.pools import Pools
from engine.store.review.memory import remembered
from engine.store.review.queries import untouched
from engine.store.review.review import Review
from engine.store.runs import choosable
from engine.store.runs.runs import Runs
from engine.store.session import Session
from engine.store.upkeep import Settings

if TYPE_CHECKING:
    from pydantic import BaseModel

    from engine.methods.base import Method
    from engine.store.views import CorpusSummary

CURVE_POINTS = 61
OWN_WORD = re.compile(r"[a-z][a-z0-9:-]{0,30}")  # ids of methods and answers; nothing that a person typed
DEFAULT_COUNT = 500  # outputs of a method that may make any number
LARGEST_COUNT = 1_000_000
NO_LABELS = "The outputs carry no labels, because no list of labels of this corpus has been declared public."
UNCHECKED = (
    "Nobody has compared this pool with the records of this corpus. Its declaration stands alone; the Pools page "
    "compares "
    "them, which the ledger notes."
)
LEFT_OUT = (
    "A run with a proof was examined that is none of these: it is for other neighbours, was stopped, or was deleted "
    "since the first of these was asked for. These were then picked after a look, so that what is chosen may not leave "
    "as a whole output with its whole proof."
)
PENDING = "The exact accounting is still being computed; the statement follows."


class Planning:
    """What a run would do, cost and promise, before it is started."""

    def __init__(
        self,
        session: Session,
        corpora: Corpora,
        review: Review,
        runs: Runs,
        ledger: Ledger,
        settings: Settings,
        models: Models,
        first_look: FirstLook,
        pools: Pools,
    ) -> None:
        self.session = session
        self.corpora = corpora
        self.review = review
        self.runs = runs
        self.ledger = ledger
        self.settings = settings
        self.models = models
        self.first_look = first_look
        self.pools = pools

    def methods(self) -> tuple[MethodSpec, ...]:
        """Return the specification of every method."""
        from engine.methods import methods

        return tuple(method.spec for method in methods())

    def draft(
        self,
        corpus_id: str,
        method: str,
        *,
        count: int | None = None,
        parameters: JSONObject | None = None,
        model: str = "builtin",
    ) -> Draft:
        """Return what a run would cost and promise, and why it may not be started."""
        known, summary = find_method(method), self.corpora.get(corpus_id)
        facts = self.ledger.facts_for(known, corpus_id)
        values = parse_parameters(known.spec, self.completed(known.spec, parameters, corpus_id))
        wanted = self.count(known, facts, count)
        blockers = [*self.blockers(known, summary), *self.models.blockers(known.spec, corpus_id, model)]
        blockers += [*pool_blockers(values, wanted), *choice_blockers(values, wanted)]
        copies = self.copies(corpus_id, values)
        blockers += [copies.refused] if copies.refused else []
        plan: Plan = known.plan(values, facts, wanted)
        claim, found = self.claim(known, values, facts, corpus_id, model)
        blockers += found
        budget = None if claim.pending or claim.kind != "dp" else self.ledger.what_if(corpus_id, claim)
        if budget is not None and not budget.allowed:
            blockers.append(budget.sentence)
        warnings = [*plan.notes, *self.models.warnings(known.spec, model, plan)]
        unlike = self.first_look.unlike(model, corpus_id) if "generator" in known.spec.needs else ""
        warnings += [unlike] if unlike else []
        if known.spec.kind == "dp" and not facts.labels and getattr(values, "label_list", "declared") == "declared":
            warnings.append(NO_LABELS)
        warnings += self.unreviewed(known.spec, summary)
        if copies.sentence:
            warnings.append(copies.sentence)
        if isinstance(values, DpSelectParameters) and values.pool and not self.pools.checked(values.pool, corpus_id):
            warnings.append(UNCHECKED)
        if isinstance(values, PaidChoiceParameters) and values.promise is not None:
            warnings += [LEFT_OUT] if choosable.picked(self.session, corpus_id, values.promise.runs) else []
        if count is not None and count != wanted:
            warnings.append(f"{known.spec.title} makes at most one output a training record: {wanted:,}.")
        told = advice(method, values, facts, claim, wanted)
        verdict = signal_verdict(method, values, facts, claim, wanted)
        return Draft(plan, claim, blockers, warnings, budget, told, verdict)

    def choosable(self, corpus_id: str) -> tuple[tuple[str, ...], int]:
        """Return the runs of a corpus that a paid choice is made among, and the outputs of the smallest; 0 of none."""
        found = choosable.promise(self.session, corpus_id, "zero-out")
        if found is None:
            return (), 0
        return tuple(str(name) for name in as_list(found["runs"])), int(as_number(found["outputs"]) or 0)

    def sweep(self, corpus_id: str, wanted: Sequence[Wanted]) -> SweepDraft:
        """Return what several runs would cost and promise together, and why they may not be started."""
        drafts = [
            self.draft(corpus_id, one.method, count=one.count, parameters=dict(one.parameters), model=one.model)
            for one in wanted
        ]
        pending = any(draft.guarantee.pending for draft in drafts)
        formal = [draft.guarantee for draft in drafts if draft.guarantee.kind == "dp"]
        budget = self.ledger.what_if_all(corpus_id, formal) if formal and not pending else None
        alone = {draft.what_if.sentence for draft in drafts if draft.what_if is not None}
        blockers = [sentence for draft in drafts for sentence in draft.blockers if sentence not in alone]
        if budget is not None and not budget.allowed:
            blockers.append(budget.sentence)
        return SweepDraft(
            wanted, drafts, budget, pending, list(dict.fromkeys(blockers)),
            sum(draft.plan.seconds for draft in drafts),
        )  # fmt: skip

    def claim(
        self, method: Method, values: BaseModel, facts: Facts, corpus_id: str, model: str
    ) -> tuple[Guarantee, list[str]]:
        """Return what a run may claim with its models counted in, and why no claim holds with them."""
        claim = self._guarantee_now(method, values, facts)
        try:
            found = self.models.marks_used(method.spec, values, model)
        except UserError as error:
            return claim, [] if "generator" in method.spec.needs and not self._knows(model) else [str(error)]
        if not found:
            return claim, []
        blockers = self.models.mark_blockers(method.spec.title, claim, corpus_id, found)
        return (claim if blockers or claim.pending else self.models.with_marks(claim, corpus_id, found)), blockers

    def _knows(self, model: str) -> bool:
        try:
            self.models.info(model)
        except UserError:
            return False  # `Models.blockers` says so already
        return True

    def unreviewed(self, spec: MethodSpec, summary: CorpusSummary) -> list[str]:
        """Return a sentence where most findings that a method builds on were looked at by nobody."""
        if "spans" not in spec.needs or summary.span_source != "detected":
            return []
        counts = self.review.span_counts(summary.id)
        total = counts["accepted"] + counts["rejected"]  # each finding is in one of the two, looked at or not
        if total and counts["decided"] <= total / 2:
            left = total - counts["decided"]
            return [
                f"Nobody has looked at {left:,} of the {total:,} findings. What the detector missed stays as it is."
            ]
        return []

    def remember(self, corpus_id: str, answers: JSONObject) -> None:
        """Keep what was answered on the plan page for a corpus: recipients and the like, nothing of a record."""
        known = self.corpora.get(corpus_id).id
        changed = _changed(self.remembered(known), answers)
        self.settings.set(f"plan.answers.{known}", dict(answers), corpus_id=known, changed=changed)

    def remembered(self, corpus_id: str) -> JSONObject:
        """Return what was answered for a corpus; nothing where nobody has."""
        found = self.settings.get(f"plan.answers.{corpus_id}")
        return found if isinstance(found, dict) else {}

    @staticmethod
    def count(method: Method, facts: Facts, count: int | None) -> int:
        """Return how many outputs a run makes where `count` are wanted, None leaving it to the method."""
        if count is not None and not 1 <= count <= LARGEST_COUNT:
            raise UserError(f"count: must be from 1 to {LARGEST_COUNT:,}, is {count}")
        if method.spec.one_to_one:
            return min(count or facts.records, facts.records)
        return count or default_count(facts)

    def copies(self, corpus_id: str, values: BaseModel) -> Copies:
        """Return what a run would do with records in which nothing was found; nothing for other methods."""
        from engine.methods.surrogate import SurrogateParameters, copies_refused

        if not isinstance(values, SurrogateParameters):
            return Copies()
        train, without = remembered(self.session.db, corpus_id, "untouched", lambda c: untouched(c, corpus_id))
        if not without:
            return Copies()
        copied = values.without_spans == "copy"
        does = "are copied as they are, which no policy lets leave" if copied else "are left out"
        return Copies(
            copied=without if copied else 0,
            accepted=values.copies_accepted,
            refused=copies_refused(values, without),
            sentence=f"Records in which nothing was found: {without:,} of {train:,}. They {does}.",
        )

    @staticmethod
    def blockers(method: Method, summary: CorpusSummary) -> list[str]:
        """Return why a method cannot be run on a corpus as it stands; a run is refused with these sentences."""
        if "spans" in method.spec.needs and summary.span_source is None:
            return ["This method needs to know what identifies people: look for identifiers in this corpus first."]
        return []

    def guarantee(
        self,
        method: str,
        *,
        corpus_id: str | None = None,
        parameters: JSONObject | None = None,
        facts: Facts | None = None,
    ) -> Guarantee:
        """Return what a method promises on a corpus, or on given public facts, at once.

        It is `pending` where the exact accounting takes longer; the worker then computes it. What its model, pool or
        runs have spent is not in it: `claim` and `draft` count that.
        """
        known, values, used = self._asked(method, corpus_id, parameters, facts)
        return self._guarantee_now(known, values, used)

    def wait_guarantee(
        self,
        method: str,
        *,
        corpus_id: str | None = None,
        parameters: JSONObject | None = None,
        facts: Facts | None = None,
    ) -> Guarantee:
        """Return what a method promises, computed in this process where it is not known yet; may take seconds."""
        known, values, used = self._asked(method, corpus_id, parameters, facts)
        return self.ledger.promise(known, values, used, wait=True)

    def guarantee_curve(
        self, method: str, *, corpus_id: str | None = None, parameters: JSONObject | None = None,
        facts: Facts | None = None, model: str = "builtin",
    ) -> BudgetCurve:  # fmt: skip
        """Return δ of the claim at each ε; with a corpus, what its model, pool or runs have spent is counted in."""
        known, values, used = self._asked(method, corpus_id, parameters, facts)
        if corpus_id is None:
            return self._curve(self._guarantee_now(known, values, used))
        return self._curve(self.claim(known, values, used, corpus_id, model)[0])

    def run_curve(self, run_id: str) -> BudgetCurve:
        """Return what `guarantee_curve` does, of the claim that a run was made under."""
        return self._curve(self.runs.get(run_id).guarantee)

    def _curve(self, claim: Guarantee) -> BudgetCurve:
        from engine.dp.accounting.accountant import CachedAccountant

        answer = BudgetCurve(claim.pending, (), (), (), claim.delta, claim.epsilon)
        if claim.counts_earlier:
            return replace(answer, epsilons=claim.bound[:1], standard=claim.bound[1:])
        if claim.pending or claim.kind != "dp" or not claim.events:
            return answer
        top = 2.0 * float(claim.epsilon or 0.0) + 1.0
        # The claimed ε is a point of its own, so that the δs there are exact.
        grid = sorted({*map(float, np.linspace(0.0, top, CURVE_POINTS)), float(claim.epsilon or 0.0)})
        try:
            curve = CachedAccountant(self.ledger.known).curve(claim.mechanisms, grid)
        except AccountingPending as pending:
            self.ledger.ask("account", pending.request)
            return replace(answer, pending=True)
        return replace(answer, epsilons=curve.epsilons, standard=curve.standard, strict=curve.strict)

    def buys(self, corpus_id: str, method: str, parameters: JSONObject | None = None, count: int | None = None) -> Buys:
        """Return what the budget buys on public text of this corpus' size.

        `count` is the number of outputs wanted; more of them share the same votes.
        """
        known, values, facts = self._asked(method, corpus_id, parameters, None)
        claim = self._guarantee_now(known, values, facts)
        if claim.pending:
            return Buys(True)
        if claim.kind != "dp" or not claim.epsilon:
            return Buys(False)
        request: dict[str, JSON] = {
            "method": known.spec.id.removeprefix("filter:"),  # the filter behind a method changes no noise
            "parameters": values.model_dump(mode="json"),
            "facts": asdict(facts),
            "noise": {name: dict(level) for name, level in claim.noise.items()},
            "epsilon": claim.epsilon,
            "delta": claim.delta,
        }
        if count is not None:
            request["count"] = int(count)
        with self.session.db.read() as connection:
            try:
                found = accounts.lookup(connection, "signal", request)
            except UserError as error:
                return Buys(False, advice=(str(error),))
        if found is None:
            self.ledger.ask("signal", request)
            return Buys(True)
        rows = tuple(as_object(row) for row in as_list(found.get("rows")))
        return Buys(False, rows, tuple(str(line) for line in as_list(found.get("advice"))))

    def _asked(
        self,
        method: str,
        corpus_id: str | None,
        parameters: JSONObject | None,
        facts: Facts | None,
    ) -> tuple[Method, BaseModel, Facts]:
        known = find_method(method)
        if facts is None:
            facts = (
                self.ledger.facts_for(known, corpus_id) if corpus_id is not None else Facts(records=1000, units=1000)
            )
        given = parameters if corpus_id is None else self.completed(known.spec, parameters, corpus_id)
        return known, parse_parameters(known.spec, given), facts

    def _guarantee_now(self, method: Method, values: BaseModel, facts: Facts) -> Guarantee:
        try:
            return self.ledger.promise(method, values, facts, wait=False)
        except AccountingPending as pending:
            self.ledger.ask("account", pending.request)
            return pending_guarantee(method, values, facts)

    def language(self, corpus_id: str) -> str:
        """Return the language of a corpus' text as a person declared it; English where nobody did."""
        said = self.first_look.descriptions.get(corpus_id)
        return "en" if said is None else said.language

    def completed(self, spec: MethodSpec, parameters: JSONObject | None, corpus_id: str) -> dict[str, JSON]:
        """Return the parameters with what the program fills in: domain and kind as declared, what is said of a pool.

        The corpus' public description comes first, then the domain of the settings.
        """
        given, fields = dict(parameters or {}), spec.parameters.model_fields
        said = self.first_look.descriptions.get(corpus_id)
        domain = said.domain if said is not None else self.settings.get("domain", "auto")
        if "domain" in fields and given.get("domain", "auto") == "auto" and domain != "auto":
            given["domain"] = domain
        if "kind" in fields and said is not None and not given.get("kind"):
            given["kind"] = said.kind if prompt_language(said.language) == said.language else said.asked
        if "pool" in spec.needs:
            name = str(given.get("pool") or "")
            given["promise"] = self.pools.promise(name) if name else None
        if "runs" in spec.needs:
            given["promise"] = choosable.promise(self.session, corpus_id, str(given.get("adjacency") or "zero-out"))
        return given


def _changed(before: JSONObject, after: JSONObject) -> str:
    """Return which answers changed, from what to what; of one that is none of the program's own words, that it did."""

    def said(value: JSON) -> str:
        if value is None:
            return "nothing"
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, int | float):
            return f"{value:g}"
        return value if isinstance(value, str) and OWN_WORD.fullmatch(value) else "other"

    return "; ".join(
        f"{name}: {said(before.get(name))} → {said(after.get(name))}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    )


def default_count(facts: Facts) -> int:
    """Return how many outputs a method makes that may make any number: 500, or N where there are fewer units.

    It depends on nothing but public quantities: the number itself is part of what leaves.
    """
    return min(DEFAULT_COUNT, facts.units)


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
