"""Rows of the database as frozen objects: what a column holds is decoded here, once.

Privacy posture: see `engine.store.database.schema`; a row of a run holds the method's own state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy import Row, Select

from engine.dp.events import Unit
from engine.dp.guarantee import Guarantee
from engine.json_types import JSON, JSONObject
from engine.models.marks import Mark

if TYPE_CHECKING:
    from engine.store.views import State

AnyRow: TypeAlias = "Row[*tuple[object, ...]]"  # of a query for a few columns
AnySelect: TypeAlias = "Select[*tuple[object, ...]]"


@dataclass(frozen=True)
class CorpusRow:
    """A row of `corpora`, without the statistics of its text that `Corpora.statistics` decodes."""

    id: str
    name: str
    created: str
    unit: Unit
    cap: int
    holdout_rate: float
    records: int
    units: int
    holdout_units: int
    has_gold: bool
    span_source: str | None
    spans_at: str | None
    detected_at: str | None
    revision: int
    population: str
    warnings: Sequence[str]
    statistics: JSONObject
    detector: str | None


@dataclass(frozen=True)
class RunRow:
    """A row of `runs`, with its corpus' revision."""

    id: str
    corpus_id: str
    method: str
    title: str
    parameters: JSONObject
    seed: int
    model: str
    count: int
    state: State
    created: str
    started: str | None
    finished: str | None
    seconds: float
    kept: int
    funnel: dict[str, int]
    diagnostics: JSONObject
    guarantee: Guarantee
    manifest: JSONObject
    error: str | None
    state_json: JSONObject | None
    revision: int
    needs_spans: bool
    examined_at: str | None
    examined_revision: int | None
    released_at: str | None
    job_id: str | None
    name: str
    note: str
    sealed: str | None
    corpus_revision: int
    fitted: tuple[Mark, ...]  # marks of the models that it was run with

    @property
    def stale(self) -> bool:
        """Whether the reviewed spans have changed since the run was asked for, where it uses them."""
        return self.needs_spans and self.revision != self.corpus_revision


@dataclass(frozen=True)
class SpanRow:
    """A row of `spans`."""

    id: int
    corpus_id: str
    position: int
    start: int
    end: int
    label: str
    first_label: str
    score: float
    recogniser: str
    identifier_type: str
    origin: str
    active: bool
    state: str
    decided: bool
    hazard: float
    value_key: str
    entity_key: str | None


@dataclass(frozen=True)
class JobRow:
    """A row of `jobs`."""

    seq: int
    id: str
    kind: str
    lane: str
    state: State
    stage: str
    done: int
    total: int
    seconds_left: float | None
    created: str
    started: str | None
    finished: str | None
    heartbeat: str | None
    worker: str | None
    attempts: int
    cancel: bool
    error: str | None
    sample: Sequence[str]
    arguments: JSONObject
    cursor: JSON
    whole: JSON
    corpus_id: str | None
    run_id: str | None


def corpus_of(row: AnyRow) -> CorpusRow:
    """Decode a row of `corpora`."""
    return CorpusRow(**row._mapping)


def run_of(row: AnyRow) -> RunRow:
    """Decode a row of `runs` that has `corpus_revision` beside it."""
    values = dict(row._mapping)
    manifest = values["manifest"] or {}
    return RunRow(
        **{
            **values,
            "guarantee": Guarantee.from_dict(values["guarantee"]),
            "diagnostics": values["diagnostics"] or {},
            "manifest": manifest,
            "fitted": tuple(Mark(**mark) for mark in manifest.get("fitted", ())),
        }
    )


def span_of(row: AnyRow) -> SpanRow:
    """Decode a row of `spans`."""
    return SpanRow(**row._mapping)


def job_of(row: AnyRow) -> JobRow:
    """Decode a row of `jobs`."""
    return JobRow(**row._mapping)
