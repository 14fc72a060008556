"""What a method promises, as data.

A guarantee is a statement about a mechanism, never about a measurement: attacks and metrics
cannot change it. `kind` is one of `Kind`; only `dp` carries an ε and a δ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from engine.dp.events import Event, acting
from engine.errors import InternalError
from engine.json_types import JSON

Kind = Literal["none", "heuristic", "selection-only", "dp"]


@dataclass(frozen=True)
class Guarantee:
    """A method's formal claim, or the statement that there is none.

    Args:
        kind: `none`, `heuristic`, `selection-only` or `dp`.
        sentence: one plain sentence a lawyer can read.
        scope: what the claim covers ("the run's complete output", "nothing").
        epsilon: privacy loss bound, >= 0 (0: no private input), or None where there is no formal claim.
        delta: probability in [0, 1) allowed on top of the factor e^ε, or None.
        unit: `record` or `source`: what is protected.
        adjacency: neighbouring relation, empty where there is no formal claim.
        events: serialised mechanism events in order, those of the run itself (see `counts_earlier`).
        assumptions: each public input or precondition, one sentence each.
        voided_by: what would make the sentence untrue.
        noise: a statistic's name to `sigma` (standard deviation in the statistic's unit),
            `noise_multiplier` (sigma over sensitivity) and `sensitivity`.
        accounting: totals recomputed from the events, a name each (`epsilon_pld`, `epsilon_rdp`, …).
        pending: the exact accounting is still being computed; no run may start on it.
    """

    kind: Kind
    sentence: str
    scope: str = "nothing"
    epsilon: float | None = None
    delta: float | None = None
    unit: str = "record"
    adjacency: str = ""
    events: tuple[dict[str, JSON], ...] = ()
    assumptions: tuple[str, ...] = ()
    voided_by: tuple[str, ...] = ()
    noise: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    accounting: Mapping[str, JSON] = field(default_factory=dict)
    pending: bool = False

    def as_dict(self) -> dict[str, JSON]:
        """Return a JSON-ready mapping."""
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, JSON]) -> Guarantee:
        """Return the guarantee of a mapping that `as_dict` made, as it is stored with a run."""
        known = {item.name for item in fields(cls)}
        kept: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items() if k in known}
        return cls(**kept)

    @property
    def mechanisms(self) -> tuple[Event, ...]:
        """The events as objects, in order."""
        return tuple(Event.from_dict(event) for event in self.events)

    @property
    def bound(self) -> tuple[float, float]:
        """ε and δ of a formal claim.

        Raises:
            InternalError: there is none.
        """
        if self.epsilon is None or self.delta is None:
            raise InternalError(f"a guarantee of kind {self.kind!r} has no ε and δ")
        return float(self.epsilon), float(self.delta)

    @property
    def drawn(self) -> tuple[float, float]:
        """ε and δ of what the run itself draws: its claim without what earlier runs, which it counts too, had drawn.

        Raises:
            InternalError: there is no formal claim.
        """
        own = (self.accounting.get("own_epsilon"), self.accounting.get("own_delta"))
        epsilon, delta = (float(x) if isinstance(x, int | float) else None for x in own)
        return self.bound if epsilon is None else (epsilon, delta or 0.0)

    @property
    def counts_earlier(self) -> bool:
        """Whether ε and δ count earlier runs too.

        All that is known of such a claim is this one point. `events`, `noise` and the totals in `accounting` are those
        of the run itself, whose own ε and δ are `drawn`: no curve, group or chance of the whole follows from them.
        """
        own = self.accounting.get("own_epsilon")
        return self.kind == "dp" and isinstance(own, int | float) and self.drawn != self.bound

    @property
    def noiseless(self) -> bool:
        """Whether a run with this guarantee draws no mechanism noise: its seed and inputs decide its text."""
        return self.kind != "dp" or not acting(self.mechanisms)
