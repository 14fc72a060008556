"""What the facade hands out: frozen summaries, no live database rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypedDict

from engine.dp.guarantee import Guarantee

if TYPE_CHECKING:
    import pandas as pd

    from engine.json_types import JSONObject

NextStep = Literal["detect", "review", "plan", "run", "examine", "release", "done"]
State = Literal["queued", "running", "done", "failed", "cancelled"]  # of a run and of a job


class Check(TypedDict):
    """One check of a model or of the installation: what was looked at, whether it is well, and what was found."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class CorpusSummary:
    """One corpus as the home page and the command line show it.

    `reviewed` counts decided spans, `next_step` is what comes next; `stale` says that a run no longer
    matches the reviewed spans.
    """

    id: str
    name: str
    created: str
    unit: str
    cap: int
    holdout_rate: float
    records: int
    units: int
    holdout_units: int
    has_gold: bool
    detected_at: str | None
    span_source: str | None
    reviewed: int
    runs: int
    examined: int
    released: int
    next_step: NextStep
    population: str
    warnings: tuple[str, ...]
    stale: bool


@dataclass(frozen=True)
class SpanView:
    """One span in force of a record: where it is, what it is of, who found it and how sure, what was decided.

    value_key: keyed digest of its words; the same for the same words, case and spacing aside.
    """

    span_id: str
    start: int
    end: int
    label: str
    score: float
    recogniser: str
    identifier_type: str
    state: str
    decided: bool
    value_key: str


@dataclass(frozen=True)
class Sheet:
    """One record to review: its text, its spans in text order, whether it was read to the end, and a person's note.

    free: where the words of its spans stand unmarked in it, by value key and label (`KEY.LABEL`). upon: number of the
    latest group of decisions in it.
    """

    record_id: str
    text: str
    spans: tuple[SpanView, ...]
    reviewed: bool
    note: str
    free: dict[str, list[tuple[int, int]]]
    upon: int


@dataclass(frozen=True)
class LabelList:
    """The labels of a corpus' training part, and the list that was declared public.

    counts: label -> training records, commonest first; private. people: label -> how many people of the training part
    hold it, in steps ("fewer than 3"), for those of `counts` and of the declared list; private. rare: labels of
    `counts` that fewer than three people hold; private. declared: the public list, None where there is none.
    actor, at: who declared it, and when. unusual: why the training part's labels do not look like names of classes.
    people_named: whether the file says whose each record is; where it does not, each record counts as one person.
    """

    counts: dict[str, int]
    people: dict[str, str]
    rare: tuple[str, ...]
    declared: tuple[str, ...] | None
    actor: str | None
    at: str | None
    unusual: str
    people_named: bool


@dataclass(frozen=True)
class Risks:
    """Records of a run in one state: how many, of how many a risk is known, the sum of these and of their squares."""

    records: int
    known: int
    total: float
    squares: float


@dataclass(frozen=True)
class RunSummary:
    """One run; `parameters` are the method's, as JSON; `funnel` maps a stage to its count.

    name, note: what people here call it and say of it, empty where nothing; internal.
    """

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
    error: str | None
    guarantee: Guarantee
    examined_at: str | None
    released_at: str | None
    stale: bool
    examination_stale: bool
    job_id: str
    name: str = ""
    note: str = ""


@dataclass(frozen=True)
class Whole:
    """How far a job of several parts is as a whole.

    number: of the part it is at, from 1, of `parts`. title: of that part. fraction: of the work that is done, in
    [0, 1], by measured times. seconds_left: until the job ends. times: seconds that each step took so far, by its
    name, of a job whose steps are not known beforehand. began: fraction that was done before the job went on, by
    parts that were kept; nothing of it tells how fast this machine is now. over: whether the job takes longer than was
    planned and nothing tells what is still to come: what is left is then of the step at work alone.
    """

    number: int
    parts: int
    title: str
    fraction: float
    seconds_left: float
    times: Mapping[str, float] = field(default_factory=dict)
    began: float = 0.0
    over: bool = False


@dataclass(frozen=True)
class JobView:
    """One job of the queue; `sample` holds at most five of the latest outputs.

    stage, done, total, seconds_left are of the step that it is at; `whole` is of the job, where it has several parts.
    stopping: whether it was asked to stop and has not done so yet. kept: parts that stay if it is stopped, to go on
    with later.
    """

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
    error: str | None
    sample: tuple[str, ...]
    attempts: int
    corpus_id: str | None
    run_id: str | None
    whole: Whole | None = None
    stopping: bool = False
    kept: int = 0


@dataclass(frozen=True)
class ReleaseSummary:
    """One release; `files` maps a file name to its bytes, `sha256` to its digest.

    words: public words that were typed for it. signed_by: public key that signed it, or empty. second_person: name of
    who signed as the second person, or empty; second_signed_in: they signed in, else the name was typed. revoked,
    reason: when and why it was withdrawn, or empty.
    """

    id: str
    run_id: str
    corpus_id: str
    created: str
    records: int
    policy: str
    path: str
    files: dict[str, int]
    sha256: dict[str, str]
    words: dict[str, str] = field(default_factory=dict)
    manifest_sha256: str = ""
    signed_by: str = ""
    second_person: str = ""
    second_signed_in: bool = False
    revoked: str = ""
    reason: str = ""


@dataclass(frozen=True)
class PeopleQuestion:
    """Whether another population may be the same people: its corpora by name, and what the texts share, in words."""

    population: str
    corpora: tuple[str, ...]
    sentence: str


@dataclass(frozen=True)
class LedgerView:
    """The ledger of the people behind a corpus.

    limit_list_delta, list_delta_used: the part of the limit's δ set aside for bought lists of labels, and what runs
    took of it.
    share, reserved_share: parts of the limit that are used, and reserved but not settled, 0..1. order: of the
    Rényi divergence that runs add up in. remaining_epsilon: what a further run may claim at the limit's δ.
    total_epsilon: of every drawn output, as if all runs had been fixed beforehand; what holds for runs chosen by the
    outputs of others is the limit. None while it is computed and where there is none (`no_total`: outputs for
    records and for sources were drawn, which have no sum). unbounded: records without a formal
    guarantee left. lines: seq, at, actor, kind, run_id, method, epsilon, delta, unit, adjacency, what, sentence,
    share_after. unknown_since: spends after this time were lost and nobody entered the amount, so totals hold as "at
    least".
    questions: populations that may be the same people.
    largest_units: N of the largest corpus of these people, which the limit's δ must suit.
    """

    population: str
    limit_epsilon: float
    limit_delta: float
    limit_list_delta: float
    list_delta_used: float
    limit_is_default: bool
    order: int
    share: float
    remaining_epsilon: float
    reserved_share: float
    unbounded: bool
    total_epsilon: float | None
    sentence: str
    lines: pd.DataFrame
    unknown_since: str | None = None
    questions: tuple[PeopleQuestion, ...] = ()
    no_total: bool = False
    largest_units: int = 0
