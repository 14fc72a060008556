"""Several runs fixed beforehand: methods at several ε, repeated, planned and queued as one.

All or none is queued. The ledger adds them up in their order, so a plan that does not fit whole is refused before
anything is reserved. Choosing among their outputs by private findings is another matter (`engine.release.card`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engine.dp.ledger import Admission
from engine.errors import UserError
from engine.jobs.drafts import Draft
from engine.json_types import JSON

MOST = 60  # runs of one sweep
LARGEST_EPSILON = 100.0
REFERENCE = "public"  # the method that reads no private text


@dataclass(frozen=True)
class Wanted:
    """One run that is asked for; the fields are those of `Jobs.synthesize`."""

    method: str
    parameters: Mapping[str, JSON]
    count: int | None = None
    seed: int = 0
    model: str = "builtin"


@dataclass(frozen=True)
class SweepDraft:
    """What several runs would cost and promise together.

    wanted, drafts: each run and what it would be alone. budget: of all runs, None without a formal claim and while one
    is `pending`. blockers: sentences; while there is one, nothing is queued. seconds: estimated for all.
    """

    wanted: Sequence[Wanted]
    drafts: Sequence[Draft]
    budget: Admission | None
    pending: bool
    blockers: Sequence[str]
    seconds: float


def grid(
    base: Wanted, epsilons: Sequence[float] = (), repeats: int = 1, others: Sequence[str] = (), reference: bool = False
) -> list[Wanted]:
    """Return the runs of a sweep: methods, in each its ε from small to large, each repeated with seeds in a row.

    Args:
        base: the first method with its settings. epsilons: budgets to try; none for the settings' own.
        repeats: runs a setting. others: further methods, at their defaults and the same ε.
        reference: whether the method that reads no private text comes first.

    Raises:
        UserError: an ε or a number is out of range, or there are too many runs.
    """
    for epsilon in epsilons:
        if not 0.0 < epsilon <= LARGEST_EPSILON:
            raise UserError(f"epsilon: each must be above 0 and at most {LARGEST_EPSILON:g}, got {epsilon:g}")
    if not 1 <= repeats <= MOST:
        raise UserError(f"repeats: must be from 1 to {MOST}, is {repeats}")
    settings = [base, *(replace(base, method=name, parameters={}) for name in others if name != base.method)]
    if epsilons:
        settings = [
            replace(one, parameters={**one.parameters, "epsilon": float(epsilon)})
            for one in settings
            for epsilon in sorted(set(epsilons))
        ]
    if reference and all(one.method != REFERENCE for one in settings):
        settings.insert(0, replace(base, method=REFERENCE, parameters={}))
    runs = [replace(one, seed=one.seed + repeat) for one in settings for repeat in range(repeats)]
    if len(runs) > MOST:
        raise UserError(f"{len(runs)} runs are asked for; one sweep takes at most {MOST}")
    return runs
