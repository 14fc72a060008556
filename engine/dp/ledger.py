"""What a population's ledger means: its limit, what runs have claimed of it, and what may still be claimed.

Pure functions of public quantities; storing lines is the work of `engine.store.budget`.

What the limit (ε, δ) bounds, and how δ is divided. Two budgets are fixed with the limit, before any run: L, the part of
δ set aside for failures (`Limit.list_delta`), and the Rényi divergence R that turns into ε at the rest, δ − L, at the
ledger's one order. A run is admitted only while the Rényi bounds of all runs stay within R and the failures they bring
along within L.
Mechanism: runs chosen one after another, each after seeing the outputs before it. A run's events are Gaussian, Laplace,
pure or zCDP; a bought list of labels is a Gaussian release beside an independent one that fails with probability at
most δᵢ (`engine.dp.noise.label_list`). Sensitivity, unit and adjacency: each event's own; the ledger adds runs of one
unit alone, and what it adds holds for the weaker adjacency among them. Public: every event, the limit, L and the order.
Attacker: sees all outputs, and may choose each run, its noise and its δᵢ by the outputs before it.
Why the sum holds: give the corpus that lacks the unit a made-up failure of the same conditional probability δᵢ. Away
from all failures both processes then have the divergences of their Gaussian parts, which a filter at a fixed order
with a budget fixed beforehand bounds (Feldman and Zrnic 2021, theorem 4.3; Whitehouse et al. 2023), hence (ε, δ − L);
the failures together have probability at most L, since their sum stays within L on every path. With δ taken from the
room as it came, the conversion's δ depended on outputs, and neither theorem covers that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from engine.dp import filter as privacy_filter
from engine.dp.accounting.closed_form import check_delta, default_delta
from engine.dp.events import Event, acting
from engine.dp.upward import downward, upward
from engine.errors import InternalError, UserError
from engine.json_types import JSON

DEFAULT_EPSILON = 10.0
LIST_SHARE = 0.3  # of a limit's δ, for label lists: three of a run's usual tenth, for little Rényi room
_ROUNDING = 1.0 + 1e-9  # sums of δ may be above by this, and the Rényi room gives as much away
UNKNOWN = (
    "What was spent after the last backup is unknown, so the limit cannot be kept. Enter the amount on the Ledger page "
    "(or by “ledger CORPUS --spent-since EPSILON DELTA”), then run."
)
ASKED = (
    "These may be the same people as those of another ledger, so the limit cannot be kept: say so on the ledger page, "
    "or with “ledger CORPUS --same-people-as OTHER” or “--other-people-than OTHER”, then run."
)
RunState = Literal["reserved", "spent", "given_back"]


@dataclass(frozen=True)
class Limit:
    """The most a population may ever spend: ε >= 0 at δ, of which `list_delta` is set aside for bought label lists."""

    epsilon: float
    delta: float
    list_delta: float = 0.0


@dataclass(frozen=True)
class LedgerRun:
    """One `dp` run: what it reserved (or spent, once settled), and under which non-adaptive claim.

    drawn: mechanism outputs drawn so far. whole: admitted by the first-run rule, so that nothing else fits.
    entered: what a person entered for a time that the ledger lost. It lies in the past, so that no output decides its
    δ: it lessens the δ of the Rényi room and takes nothing of what is set aside.
    """

    run_id: str
    events: tuple[Event, ...]
    state: RunState
    drawn: int
    epsilon: float = 0.0
    delta: float = 0.0
    whole: bool = False
    entered: bool = False


@dataclass(frozen=True)
class LedgerState:
    """A population's limit, the fixed Rényi order its runs are added up at, and its runs.

    unknown: spends were lost, by a restore say, and nobody has entered the amount yet. asked: these may be people of
    another ledger too, and nobody has said whether.
    """

    limit: Limit
    order: int
    runs: tuple[LedgerRun, ...] = ()
    unknown: bool = False
    asked: bool = False


@dataclass(frozen=True)
class Admission:
    """Whether a run fits: `whole` where only the first-run rule lets it in; shares are of the limit, 0..1."""

    allowed: bool
    whole: bool
    sentence: str
    share_before: float
    share_after: float
    remaining_before: float
    remaining_after: float

    def as_dict(self) -> dict[str, JSON]:
        """Return a JSON-ready mapping."""
        return asdict(self)


def default_limit(units: int) -> Limit:
    """Return ε = 10 at δ = 1/(N ln N) for the units of a population's largest corpus.

    By δ alone whole records of δN people may be published, so δN must be below 1 for each corpus that spends: the
    largest decides, and a smaller one only has more room to 1. N is each corpus' own number, which is public; how many
    people several corpora hold together follows from private text, and ln N leaves room for it.
    """
    return divided(DEFAULT_EPSILON, default_delta(units))


def divided(epsilon: float, delta: float, list_share: float = LIST_SHARE) -> Limit:
    """Return a limit with a share of its δ, in [0, 0.9], set aside for label lists."""
    if not 0.0 <= list_share <= 0.9:
        raise UserError(f"share of δ for label lists: must be from 0 to 0.9, got {list_share:g}")
    return Limit(epsilon, delta, list_share * delta)


def new_state(limit: Limit) -> LedgerState:
    """Return an empty ledger with the Rényi order that suits its limit."""
    if not 0.0 < limit.epsilon < math.inf:
        raise UserError(f"epsilon of the limit: must be above 0 and finite, got {limit.epsilon:g}")
    check_delta(limit.delta)
    return LedgerState(limit, privacy_filter.best_order(limit.epsilon, limit.delta - limit.list_delta))


def admit(state: LedgerState, events: Sequence[Event], epsilon: float, delta: float) -> Admission:
    """Decide whether a run with these events and this non-adaptive claim (ε, δ) may be reserved.

    A run fits where the Rényi bounds of all runs, at the ledger's order, stay within what the limit leaves, and the δ
    of all lists of labels within what was set aside for them.
    While nothing is reserved or spent, a run also fits by its own claim (first-run rule): it is then the only one
    ever, so no choice after seeing outputs takes part, and the claim itself is within the limit.

    Args:
        state: the ledger. events: the run's whole schedule. epsilon, delta: what the run claims of it.
    """
    share, left = share_used(state), remaining(state)
    if not acting(events):
        return _nothing_claimed(state)
    if state.unknown or state.asked:
        return Admission(False, False, UNKNOWN if state.unknown else ASKED, share, share, left, left)
    run = LedgerRun("", tuple(events), "reserved", 0, epsilon=epsilon, delta=delta)
    if units_of(state) - units_of(LedgerState(state.limit, state.order, (run,))):
        return Admission(False, False, _other_unit(state, run), share, share, left, left)
    lists = list_delta_used(_with(state, run)) <= state.limit.list_delta * _ROUNDING
    fits = not _whole(state) and lists and _used(_with(state, run)) <= 1.0
    first = not fits and not _counted(state) and epsilon <= state.limit.epsilon and delta <= state.limit.delta
    if not fits and not first:
        why = _refusal(state, run, left) if lists or left <= 0.0 else _too_many_lists(state, run)
        return Admission(False, False, why, share, share, left, left)
    after = _with(state, replace(run, whole=first))
    share_after, left_after = share_used(after), remaining(after)
    return Admission(True, first, _welcome(first, left_after, state.limit.delta), share, share_after, left, left_after)


def admit_all(state: LedgerState, claims: Sequence[tuple[Sequence[Event], float, float]]) -> Admission:
    """Decide whether several runs, all fixed beforehand, may be reserved together: all of them, or none.

    Each is admitted with those before it reserved, as it would be one by one.

    Args:
        state: the ledger. claims: of each run its whole schedule, and the (ε, δ) it claims.

    Returns:
        The shares before the first and after the last run, and its sentence; or that of the first that does not fit.
    """
    first = _nothing_claimed(state)
    last = first
    for place, (events, epsilon, delta) in enumerate(claims, 1):
        last = admit(state, events, epsilon, delta)
        if not last.allowed:
            before = f"Run {place} of {len(claims)} does not fit behind those before it. " if place > 1 else ""
            said = f"{before}{last.sentence}"
            return replace(last, sentence=said, share_before=first.share_before,
                           remaining_before=first.remaining_before)  # fmt: skip
        if acting(events):
            run = LedgerRun("", tuple(events), "reserved", 0, epsilon=epsilon, delta=delta, whole=last.whole)
            state = _with(state, run)
    if len(claims) > 1 and not last.whole:
        said = f"The {len(claims)} runs fit together. After them a further run may claim up to ε = "
        last = replace(last, sentence=f"{said}{downward(last.remaining_after)} at δ = {upward(state.limit.delta)}.")
    return replace(last, share_before=first.share_before, remaining_before=first.remaining_before)


def _nothing_claimed(state: LedgerState) -> Admission:
    share, left = share_used(state), remaining(state)
    return Admission(True, False, "This run claims nothing of the budget.", share, share, left, left)


def units_of(state: LedgerState) -> frozenset[str]:
    """Return whom the runs that count protect.

    One sum holds for one unit alone. A run that protects sources says what changes when a source's data vanish; where
    one record of a source changes, the rest moves, which is a source replaced by another. A run that protects records
    says nothing of a source with any number of records. So runs of two units are never added.
    """
    return frozenset(event.unit for events in _counted(state) for event in acting(events))


def adjacency_of(events: Sequence[Event]) -> str:
    """Return the neighbouring relation that a sum of events holds for; empty for none.

    Where some are accounted for under zero-out and some under replace-one the sum holds for zero-out: a unit's data
    replaced by null change any statistic at most as much as data replaced by others.
    """
    found = {event.adjacency for event in acting(events)}
    return min(found, key=("zero-out", "replace-one").index) if found else ""


def share_used(state: LedgerState) -> float:
    """Return the part of the limit that is reserved or spent, 0..1."""
    if _whole(state):
        return 1.0
    return min(1.0, _used(state)) if _counted(state) else 0.0


def remaining(state: LedgerState) -> float:
    """Return the ε that a further run may claim at the limit's δ (a Gaussian that fills what is left), 0 where none."""
    runs = _counted(state)
    if not runs:
        return state.limit.epsilon
    if _whole(state) or not math.isfinite(_used(state)):
        return 0.0
    used = privacy_filter.used_rdp(runs, state.order)
    left = privacy_filter.remaining_epsilon(_room(state) - used, state.order, state.limit.delta)
    return min(left, state.limit.epsilon)


def list_delta_used(state: LedgerState) -> float:
    """Return the δ of all lists of labels that runs reserved or bought."""
    return privacy_filter.used_delta([run.events for run in state.runs if _counts(run) and not run.entered])


def give_back(state: LedgerState, run_id: str) -> LedgerState:
    """Return the ledger without a run's reservation.

    Raises:
        InternalError: the run is not reserved, or an output was drawn already: it stays spent.
    """
    run = next((run for run in state.runs if run.run_id == run_id), None)
    if run is None or run.state != "reserved" or run.drawn:
        raise InternalError("a reservation is given back only while it is open and no output has been drawn")
    return replace(state, runs=tuple(replace(r, state="given_back") if r is run else r for r in state.runs))


def change_limit(state: LedgerState, limit: Limit) -> tuple[LedgerState, str]:
    """Return the ledger under a new limit, and the sentence its line carries."""
    changed = replace(new_state(limit), runs=state.runs, unknown=state.unknown, asked=state.asked)
    sentence = f"The limit is set to ε = {upward(limit.epsilon, 6)} at δ = {upward(limit.delta)}"
    sentence += f", of which {limit.list_delta:.3g} is set aside for lists of labels that runs buy."
    if any(run.drawn or run.state == "spent" for run in state.runs):
        sentence += (
            " It was changed after outputs had been seen, so the earlier limit no longer bounds what this"
            " population may lose."
        )
    return changed, sentence


def merge(states: Mapping[str, LedgerState] | Sequence[LedgerState]) -> LedgerState:
    """Return the ledger of merged populations: spends add up, the smaller limit and the smaller δ for lists hold.

    Raises:
        InternalError: there is nothing to merge.
    """
    every = list(states.values()) if isinstance(states, Mapping) else list(states)
    if not every:
        raise InternalError("merge: at least one ledger is needed")
    epsilon, delta = min(s.limit.epsilon for s in every), min(s.limit.delta for s in every)
    limit = Limit(epsilon, delta, min(s.limit.list_delta for s in every))
    runs = tuple(run for state in every for run in state.runs)
    return replace(
        new_state(limit), runs=runs, unknown=any(state.unknown for state in every), asked=any(s.asked for s in every)
    )


def _counted(state: LedgerState) -> list[tuple[Event, ...]]:
    """Return the events of runs that count, each as one schedule; runs that cost nothing do not."""
    return [run.events for run in state.runs if _counts(run)]


def _counts(run: LedgerRun) -> bool:
    return run.state != "given_back" and bool(acting(run.events))


def _whole(state: LedgerState) -> bool:
    return any(run.whole and run.state != "given_back" for run in state.runs)


def _with(state: LedgerState, run: LedgerRun) -> LedgerState:
    return replace(state, runs=(*state.runs, run))


def _used(state: LedgerState) -> float:
    """Return the runs' Rényi bounds over the limit's room; above 1 does not fit."""
    room = _room(state)
    if room <= 0.0 or list_delta_used(state) > state.limit.list_delta * _ROUNDING:
        return math.inf
    return privacy_filter.used_rdp(_counted(state), state.order) / room


def _room(state: LedgerState) -> float:
    """Return the Rényi divergence that the limit leaves room for: at δ without what is set aside; 0 for none.

    Nothing that runs draw or buy changes it.
    """
    entered = privacy_filter.used_delta([run.events for run in state.runs if _counts(run) and run.entered])
    delta = state.limit.delta - state.limit.list_delta * _ROUNDING - entered
    return max(0.0, privacy_filter.limit_rdp(state.limit.epsilon, delta, state.order)) if delta > 0.0 else 0.0


def _welcome(first: bool, left: float, delta: float) -> str:
    if first:
        return (
            "As the first run of this population it fits by its own claim, and uses the whole limit:"
            " no further run will fit."
        )
    return f"The run fits. After it a further run may claim up to ε = {downward(left)} at δ = {upward(delta)}."


def _refusal(state: LedgerState, run: LedgerRun, left: float) -> str:
    limit = f"the limit ε = {upward(state.limit.epsilon, 6)} at δ = {upward(state.limit.delta)}"
    claim = f"The run claims ε = {upward(run.epsilon, 6)} at δ = {upward(run.delta)}"
    if left <= 0.0:
        return f"{claim}, but {limit} is used up; set another limit on the ledger page."
    if run.epsilon <= left:
        return (
            f"{claim} by itself, but takes {_times_the_rest(state, run)} what {limit} leaves. Runs chosen one after"
            " another are added up at one Rényi order, where all but Gaussian noise on all records (on random samples,"
            " say) may cost more than its own claim. Lower epsilon, or set another limit on the ledger page."
        )
    return (
        f"{claim}, but of {limit} a further run may claim up to ε = {downward(left)} with Gaussian noise; lower"
        " epsilon, or set another limit on the ledger page."
    )


def _too_many_lists(state: LedgerState, run: LedgerRun) -> str:
    left = max(0.0, state.limit.list_delta - list_delta_used(state))
    wanted = privacy_filter.used_delta([run.events])
    return (
        f"The run buys a list of labels for δ = {wanted:.3g}, but of the limit's δ = {state.limit.delta:.3g} the part "
        f"set aside for lists, {state.limit.list_delta:.3g}, leaves {left:.3g}. Declare the list of labels instead, "
        "lower the run's δ, or set another limit with a larger share for lists on the ledger page."
    )


def _other_unit(state: LedgerState, run: LedgerRun) -> str:
    own = " and ".join(sorted(units_of(state)))
    wanted = " and ".join(sorted({event.unit for event in acting(run.events)}))
    return (
        f"The ledger of these people adds up what runs reveal about each {own}, and this run protects each {wanted}: "
        f"neither bound covers the other, so they are not added. Import the file with the {own} as the unit of "
        "protection, then run."
    )


def _times_the_rest(state: LedgerState, run: LedgerRun) -> str:
    """Return what a run takes of the room that is left, in words; it is more than all of it."""
    before = _used(state) if _counted(state) else 0.0
    after = _used(_with(state, run))
    return f"{(after - before) / (1.0 - before):.3g} times" if math.isfinite(after) else "more than"
