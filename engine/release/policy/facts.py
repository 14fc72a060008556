"""What the gate knows of a run besides its findings, and what it says to press where something is missing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from engine.dp.guarantee import Kind
from engine.release.policy.intruder import Intruder
from engine.release.policy.missed import Missed
from engine.release.policy.remedies import Claim, Making

EXAMINE = "Examine the run on the Privacy page."
AGAIN = "Make the run again, which takes the review as it is now, and examine that one."
UNMEASURED = "Not measured yet."
OLDER = "The findings are older than the records or marks they describe."
RISKIER = 2.58  # standard errors: one choice by lot in two hundred is riskier


@dataclass(frozen=True)
class Chosen:
    """How risky the approved records of a run are beside all of it.

    Args:
        approved, records: how many. risk, mean: mean risk of the approved ones and of all, in [0, 1]. spread: standard
            deviation of the risk of all.
    """

    approved: int
    records: int
    risk: float
    mean: float
    spread: float

    @property
    def most(self) -> float:
        """The mean risk that a choice by lot of as many records passes one time in two hundred."""
        open_part = max(0.0, 1.0 - self.approved / self.records)
        return self.mean + RISKIER * self.spread * math.sqrt(open_part / self.approved)


@dataclass(frozen=True)
class GateFacts:
    """What is known about a run besides its findings.

    `approved`, `rejected` and `pending` count the run's records. `stale` says that records, spans
    or the corpus changed after the run or its examination; `examined` that there is an examination,
    `watched` that exact losses of private records were shown while the run trained.
    `text_examined` says that half of its texts, or more, were examined as another run's, deleted or not, or that one
    of its method and seed was, where nothing is noised. `pool_compared` says that a comparison with the records may
    have decided what is in its pool. `lost` says that the workspace lost what happened for a time after the run was
    made.
    `in_part` says of an examination that never ended how many parts were kept, and of how many; None where there is
    none.
    `run_stale` says that they changed after the run itself was made, so that another examination does not help.
    `delta` and `units` are those of the guarantee.
    `originals` counts approved records that are an original record, None where nobody looked.
    `actor` releases, `signed_off_by` signs. `missed` is what the corpus' spot check says, `intruder` what the run's
    intruder trial does, None where none was drawn.
    `examination` says which one the findings are of. `held` says whether the corpus' decisions and marks are those that
    the audit log tells of, None where nobody looked; `run_held` says so of the run, its texts and its findings, and
    `run_earlier` that an earlier edition made it, which told the log of none of these. `making` says how the run was
    made, as far as it decides over what would help. `chosen` says how risky the approved records are beside all of the
    run, None where nobody knows.
    """

    approved: int
    rejected: int
    pending: int
    stale: bool
    guarantee_kind: Kind
    examined: bool = False
    watched: bool = False
    originals: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    text_examined: bool = False
    lost: bool = False
    pool_compared: bool = False
    units: int | None = None
    run_state: str = "done"
    actor: str = ""
    signed_off_by: str = ""
    missed: Missed | None = None
    intruder: Intruder | None = None
    examination: str = ""
    held: bool | None = None
    run_held: bool | None = None
    run_earlier: bool = False
    run_stale: bool = False
    in_part: tuple[int, int] | None = None
    making: Making = field(default_factory=Making)
    chosen: Chosen | None = None

    @property
    def claim(self) -> Claim:
        """What the run proves."""
        return Claim(self.guarantee_kind, self.epsilon, self.delta, self.units)


def finite(value: float | None) -> bool:
    """Return whether this is a number, and neither infinite nor missing."""
    return isinstance(value, (int, float)) and math.isfinite(value)
