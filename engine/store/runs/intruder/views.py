"""What the intruder trials of a run look like from outside."""

from __future__ import annotations

from dataclasses import dataclass, field

RIGHT, WRONG, UNCLEAR = "right", "wrong", "unclear"
OUTCOMES = (RIGHT, WRONG, UNCLEAR)


@dataclass(frozen=True)
class Trial:
    """A trial of a run.

    Attributes:
        look: 1 for the first of these texts, in whatever run. elsewhere: trials of the same texts in other runs.
        at, drawn_by: when and by whom its sample was drawn.
        minutes: the time box. spent: whole minutes of it that the intruder took, 0 while it is open.
        means: what the intruder may use, as it was typed.
        drawn_from, texts: approved records that the sample was drawn from, and those drawn.
        intruder: who took it on, empty before. begun, ended: ISO 8601 in UTC, empty while that lies ahead; a time box
            that is over has ended whether or not somebody said so.
        claims, judged, right, unclear: texts about which something was claimed; of these judged, found right, and left
            unclear, which counts as right. checkers: who judged. changed: verdicts that were changed after every claim
            was judged, when the bound could be seen.
        approved, removed_right: records that are approved by now, and texts with a right claim that no longer are.
        stale: why it describes the approved records no longer, or empty.
    """

    id: str
    run_id: str
    look: int
    at: str
    drawn_by: str
    minutes: int
    means: str
    drawn_from: int
    texts: int
    intruder: str = ""
    begun: str = ""
    ended: str = ""
    spent: int = 0
    claims: int = 0
    judged: int = 0
    right: int = 0
    unclear: int = 0
    checkers: tuple[str, ...] = ()
    approved: int = 0
    removed_right: int = 0
    stale: str = ""
    elsewhere: int = 0
    changed: int = 0

    @property
    def hits(self) -> int:
        """Texts that count as identified."""
        return self.right + self.unclear

    @property
    def complete(self) -> bool:
        """Whether the time box is over and every claim is judged."""
        return bool(self.ended) and self.judged == self.claims


@dataclass(frozen=True)
class Share:
    """The share of approved texts whose person such an intruder would name rightly.

    Attributes:
        value, low, high: estimate and interval among the texts that are approved; lower is safer.
        further: upper end for further texts that are made in the same way, by Clopper and Pearson.
        level: of both, two-sided.
    """

    value: float
    low: float
    high: float
    further: float
    level: float


@dataclass(frozen=True)
class TrialResult:
    """A trial with what follows from it; `share` is None, and `why` says so, where nothing does yet.

    earlier: the run's trials before it, in order; who draws another does not undo them.
    """

    trial: Trial
    share: Share | None = None
    why: str = ""
    earlier: tuple[Trial, ...] = ()


@dataclass(frozen=True)
class TrialText:
    """A text of the sample.

    Attributes:
        place: in the sample, from 1. record_id: of the run. claim: whom the intruder says it is of, empty for nobody.
        outcome: one of `OUTCOMES`, empty while nobody judged the claim. judged_by: who did, the latest.
        reason: why that was changed after the bound could be seen, or empty.
    """

    place: int
    record_id: str
    text: str = field(repr=False)
    claim: str = field(default="", repr=False)
    outcome: str = ""
    judged_by: str = ""
    reason: str = field(default="", repr=False)
