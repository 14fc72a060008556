"""What a synthesis method is: a specification, a guarantee, a plan and a resumable run.

A method never opens files, never draws mechanism noise itself and never decides how prompts look.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pydantic import BaseModel, ValidationError

from engine.dp.guarantee import Guarantee, Kind
from engine.errors import UserError
from engine.json_types import JSON, JSONObject
from engine.models.contracts import Detector, Embedder, Generator, Operators

if TYPE_CHECKING:
    import pandas as pd

    from engine.dp.accounting.accountant import Accountant
    from engine.dp.noise.private import Mechanisms


@dataclass(frozen=True)
class MethodSpec:
    """What the method cards and `methods` show.

    `needs` are model capabilities and inputs: `generator`, `embedder`, `detector`, `spans`, `instruct`, `train`,
    `logits`, `states`, `pool`, `runs`. `one_to_one` says that each output stems from one input record, so the count is
    the number of training records. `origin` says, for whoever receives the records and without numbers, what stands
    between a record and the original texts; `keeps_text`, that the rest of each text is original.
    """

    id: str
    title: str
    summary: str
    citation: str
    kind: Kind
    needs: tuple[str, ...]
    parameters: type[BaseModel]
    good_for: str
    bad_for: str
    one_to_one: bool = False
    origin: str = "A program made each record from the original records."
    keeps_text: bool = False


def parse_parameters(spec: MethodSpec, values: JSONObject | None) -> BaseModel:
    """Return the method's parameters with these values.

    Raises:
        UserError: a name is unknown or a value breaks a rule; the message names both.
    """
    try:
        return spec.parameters.model_validate(dict(values or {}))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]) or "parameters"
        known = ", ".join(spec.parameters.model_fields)
        hint = f"; {spec.id} takes: {known}" if first["type"] == "extra_forbidden" else ""
        raise UserError(f"{name} of method {spec.id!r}: {first['msg']}{hint}") from None


@dataclass(frozen=True)
class Facts:
    """Public quantities of a corpus' training part that a guarantee or plan may use.

    sources_named: whether whoever imported the file named a column that says whose each record is.
    """

    records: int
    units: int
    unit: str = "record"
    cap: int = 1
    labels: int = 0
    mean_characters: float = 0.0
    sources_named: bool = False

    @property
    def read(self) -> int:
        """How many records a method that reads each one goes through; where only units are known, one each."""
        return max(self.records, self.units)

    def __post_init__(self) -> None:
        for name, least in (("units", 1), ("cap", 1), ("records", 0), ("labels", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or int(value) != value or value < least:
                raise UserError(f"{name}: must be a whole number of at least {least}, is {value}")
        if self.unit not in ("record", "source"):
            raise UserError(f"unit: must be record or source, is {self.unit!r}")
        if not 0.0 <= self.mean_characters < float("inf"):
            raise UserError(f"mean_characters: must be at least 0, is {self.mean_characters}")


@dataclass(frozen=True)
class Plan:
    """What a run will cost: model calls, tokens, seconds on this machine, ledger lines."""

    model_calls: int
    tokens: int
    seconds: float
    outputs: int
    ledger: tuple[dict[str, JSON], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SyntheticRecord:
    """One output. `lineage` (source record id) is internal and never released."""

    text: str
    label: str | None = None
    lineage: str | None = None


@dataclass(frozen=True)
class Step:
    """One committed batch: JSON `state` to resume from, new records, funnel counts to add.

    `funnel` maps stage to count: `made`, `dropped: <why>`, `kept`. `done` of `total` is progress
    in `stage`'s own unit. `diagnostics` are internal numbers for figures. `snapshot` holds the
    population of an iteration (`iteration`, `texts`, `labels`), kept for internal figures.
    """

    state: Mapping[str, object]
    records: tuple[SyntheticRecord, ...]
    funnel: Mapping[str, int]
    stage: str
    done: int
    total: int
    diagnostics: Mapping[str, Any] = field(default_factory=dict)
    snapshot: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Piece:
    """A batch of a run that depends on no other: from where to where in the run, and what is asked for there."""

    start: int
    end: int
    asked: JSON = None


Make = Callable[[Piece], JSONObject]
"""Makes a piece, with its `texts`: the same from the run's settings and seed and the piece alone, whoever makes it."""
Spread = Callable[[Sequence[Piece], JSON, Make], Iterator[JSONObject]]
"""Given pieces, what `Spreading.maker` has to know, and what it returns: yields what is made of each, in order; ends
early where the run is to stop."""


def alone(pieces: Sequence[Piece], known: JSON, make: Make) -> Iterator[JSONObject]:
    """Make one piece after the other, in this process."""
    return map(make, pieces)


@dataclass(frozen=True)
class Context:
    """Everything a run may touch.

    records: training part only, columns record_id, text, source_id, label; keyed-hash order. Empty
    for methods of kind `dp`, which get `mechanisms` instead.
    spans: accepted spans of those records: record_id, start, end, label, identifier_type.
    count: outputs wanted. seed: fixes everything except mechanism noise. state: where to resume,
    None at the start. cancelled: asked between batches. surrogate_key: keyed-hash secret for
    consistent, non-invertible choices. mechanisms: data-bound noisy statistics. facts: public
    quantities. labels: the label list, sorted: declared public, or bought with its `label_shares`.
    guarantee: as reserved; noise levels come from it.
    candidates: text and label of each candidate of the pool that the run names, in the pool's order; public.
    runs: text and label of each output of the runs that this one chooses among; protected by their own claims.
    scratch: a folder of this run alone for checkpoints, kept until the run is done or deleted, or None.
    spread: has pieces made, here or by several workers; each is of one step that is yielded before the next is taken.
    progress: told stage, done and in all within a step that takes minutes. saved: told of a folder with weights fitted
    to private text, before it gets its name, so that they are marked.
    """

    records: pd.DataFrame
    spans: pd.DataFrame
    count: int
    parameters: BaseModel
    seed: int
    unit: str = "record"
    state: Mapping[str, Any] | None = None
    generator: Generator | None = None
    embedder: Embedder | None = None
    detector: Detector | None = None
    operators: Operators | None = None
    cancelled: Callable[[], bool] = lambda: False
    surrogate_key: bytes = b""
    batch_size: int = 16
    mechanisms: Mechanisms | None = None
    facts: Facts | None = None
    labels: tuple[str, ...] = ()
    label_shares: Mapping[str, float] | None = None
    guarantee: Guarantee | None = None
    candidates: tuple[tuple[str, str | None], ...] = ()
    runs: tuple[tuple[tuple[str, str | None], ...], ...] = ()
    scratch: Path | None = None
    spread: Spread = alone
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None
    saved: Callable[[Path], None] = lambda folder: None


class Method(Protocol):
    """One synthesis method; one file each."""

    spec: MethodSpec

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return what a run with these parameters may claim.

        Raises:
            AccountingPending: `accountant` has no answer at once; None computes exactly, which may take seconds.
        """
        ...

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return what a run would cost."""
        ...

    def run(self, context: Context) -> Iterator[Step]:
        """Yield committed batches until `count` outputs are made or the input is used up."""
        ...


@runtime_checkable
class Spreading(Protocol):
    """A method whose pieces any worker can make."""

    def maker(self, context: Context, known: JSON) -> Make:
        """Return what makes pieces; it draws no noise, and for methods of kind `dp` no record is at hand.

        Args:
            context: as of `run`; of methods of kind `dp` without mechanisms and labels. known: what mechanisms gave, or
                else what all pieces need and a piece does not say.
        """
        ...
