"""What one output of a method is worth and gives away, by measures that the reader chooses: for studies of many runs.

Each number is one value without an interval: a study repeats its runs and takes the intervals over them. All runs of a
study are held against the same private texts, which the study's seed draws, so differences between runs are not those
of the texts they are held against; how other private texts would have come out is not in the intervals.

Privacy posture: numbers only; models trained for `next_word` are dropped with the measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.runs import copies_anything, index_windows
from engine.errors import UserError
from engine.examine.findings.findings import Direction
from engine.examine.findings.sizes import smaller
from engine.examine.measures import MEASURES
from engine.examine.members.members import member_rows, other_rows
from engine.examine.members.neighbours_scores import by_words
from engine.examine.prepare import ExamineInput, Prepared, prepare
from engine.examine.stats import roc
from engine.examine.usefulness.downstream.language_model import FEWEST_TEXTS, NAMES, examine_language
from engine.examine.usefulness.metrics import METRICS, Metric
from engine.examine.usefulness.sides import Trio, pick
from engine.models.cancel import Cancelled
from engine.studies.base import StudyContext

MEMBERSHIP, COPIES = "neighbours_jaccard_1", "verbatim_8gram"
DEFAULT = ("kid", "coverage", "js_2gram", "length_distance", "next_word", MEMBERSHIP, COPIES)
_METRICS: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}
METRIC_NAMES = frozenset(_METRICS)
_TITLES = {MEMBERSHIP: "Membership (area under the ROC curve)"}
_PRIVATE = 2_000  # records a side that membership is asked of
CHANCE = 0.5


@dataclass(frozen=True)
class Found:
    """One measure's value, what real text nobody used gives in its place, texts it rests on, and why it has none.

    fewer: value and what real text gives at fixed smaller numbers of texts, where the measure moves with them.
    """

    measure: str
    value: float
    real: float
    texts: int
    why: str = ""
    fewer: Mapping[int, tuple[float, float]] = field(default_factory=dict)


@dataclass
class Bank:
    """Vectors of private texts that the runs of one study share."""

    vectors: dict[tuple[str, str], NDArray[np.float32]] = field(default_factory=dict)


def measures() -> tuple[str, ...]:
    """Return the names of all measures a study can take of an output."""
    return (*_METRICS, *NAMES, MEMBERSHIP, COPIES)


def checked(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names without repeats.

    Raises:
        ValueError: one is unknown; pydantic makes the message of it.
    """
    known = measures()
    for name in names:
        if name not in known:
            raise ValueError(f"{name!r} is no measure of a study; known are: {', '.join(known)}")
    return tuple(dict.fromkeys(names))


def title(name: str) -> str:
    """Return a measure's plain name."""
    return _TITLES.get(name) or (MEASURES[name].title if name in MEASURES else _METRICS[name].title)


def direction(name: str) -> Direction:
    """Return which way a measure is good."""
    return MEASURES[name].direction


def bounds(name: str) -> tuple[float, float]:
    """Return the smallest and largest value a measure can have."""
    if name in _METRICS:
        return _METRICS[name].bounds
    return (0.0, math.inf) if name == "next_word_loss" else (0.0, 1.0)


def lacks(names: Sequence[str], outputs: int, records: int, holdout: int) -> list[str]:
    """Return why measures could not be taken, a sentence each; empty where all can.

    Args:
        names: the measures. outputs: texts a run. records: of the training part. holdout: records of the holdout.
    """
    found = []
    side = min(outputs, records // 2)
    for name in names:
        least = _METRICS[name].least if name in _METRICS else 0
        if side < least:
            found.append(
                f"{title(name)} ({name}) needs {least} texts a side, and with {outputs:,} outputs and half of "
                f"{records:,} training records there are {side:,}: leave it out or take more."
            )
    if holdout < FEWEST_TEXTS and (asked := [name for name in names if name in (*NAMES, MEMBERSHIP)]):
        found.append(
            f"{', '.join(asked)}: the holdout has {holdout} records, and {FEWEST_TEXTS} are needed: leave these "
            "measures out, or import the corpus with a larger holdout."
        )
    return found


def measure(
    context: StudyContext,
    records: pd.DataFrame,
    made: pd.DataFrame,
    names: Sequence[str],
    bank: Bank,
    stage: str = "measuring",
) -> list[Found]:
    """Return the value of each measure of one output, in the order of the names.

    Args:
        context: the study's own. records: the training records the method ran on.
        made: record_id, text, label, lineage. names: the measures. bank: shared between the runs of one study.
        stage: what progress calls it.

    Raises:
        UserError: there is no text. Cancelled: the study was cancelled.
    """
    if made.empty:
        raise UserError(f"{stage}: the method left no text; ask for more outputs")
    run = context.run

    def told(what: str, done: int, total: int) -> None:
        if run.cancelled():
            raise Cancelled("the study was cancelled")
        context.progress(f"{stage}: {what}", done, total)

    given = ExamineInput(
        made, records, context.holdout, run.spans.iloc[:0], context.holdout_spans.iloc[:0], unit=run.unit,
        embedder=run.embedder, seed=run.seed,
    )  # fmt: skip
    prepared = prepare(given, progress=told)
    prepared.vectors.update(bank.vectors)
    taken = _Taken(prepared)
    found = [taken.one(name) for name in names]
    bank.vectors.update({key: row for key, row in prepared.vectors.items() if key[0] != "synthetic"})
    return found


class _Taken:
    """The measures of one output; samples and models that several of them need are made once."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self._language: dict[tuple[str, str], Any] | None = None

    def one(self, name: str) -> Found:
        kinds: dict[str, Callable[[str], Found]] = {
            MEMBERSHIP: self._membership,
            COPIES: self._copies,
            **dict.fromkeys(NAMES, self._words),
        }
        return kinds.get(name, self._metric)(name)

    def _metric(self, name: str) -> Found:
        metric = _METRICS[name]
        if metric.needs == "embeddings" and self.prepared.given.embedder is None:
            return _nothing(name, "no embedder was given")
        self.prepared.report(metric.title, 0, 1)
        trio = pick(self.prepared, metric.largest, metric.needs, None)
        size = min(len(trio.synthetic), len(trio.target), len(trio.real))
        if size < metric.least:
            return _nothing(name, f"{size} texts a side are too few; at least {metric.least} are needed")
        value, real = self._at(metric, trio, size)
        why = "" if value == value else metric.nothing
        fewer = {} if metric.steady or why else {texts: self._at(metric, trio, texts)
                                                 for texts in smaller(size, metric.least)}  # fmt: skip
        return Found(name, value, real, size, why, fewer)

    def _at(self, metric: Metric, trio: Trio, size: int) -> tuple[float, float]:
        """Return the value of so many texts and what as much real text gives in its place."""
        seed = self.prepared.seed
        ours, target, other = (side.drawn(size, seed) for side in (trio.synthetic, trio.target, trio.real))
        value = metric.score(ours, target if metric.pair else other, seed).value
        real = metric.score(other, target if metric.pair else ours, seed).value
        return (value - real, 0.0) if metric.excess else (value, real)

    def _words(self, name: str) -> Found:
        if self._language is None:
            rows = examine_language(self.prepared).findings
            self._language = {(one.name, one.reference): one for one in rows}
        one, real = self._language[name, "train"], self._language[name, "real"]
        return Found(name, one.value, real.value, int(one.n), str(one.settings.get("why", "")))

    def _membership(self, name: str) -> Found:
        prepared = self.prepared
        if not len(prepared.holdout):
            return _nothing(name, "there is no holdout")
        rows, _ = member_rows(prepared, _PRIVATE, "neighbours")
        others = other_rows(prepared, _PRIVATE, "neighbours")
        scores = [
            by_words(side.words.take(chosen), prepared.synthetic.words, len(prepared.vocabulary), (1,),
                     lambda done, total: prepared.report("membership", done, total))[:, 0]
            for side, chosen in ((prepared.train, rows), (prepared.holdout, others))
        ]  # fmt: skip
        return Found(name, roc.delong(scores[0], scores[1])[0], CHANCE, len(prepared.synthetic))

    def _copies(self, name: str) -> Found:
        prepared = self.prepared
        index = index_windows(prepared.train.words, report=lambda done, total: prepared.check())
        value = float(copies_anything(prepared.synthetic.words, index).mean())
        real = float(copies_anything(prepared.holdout.words, index).mean()) if len(prepared.holdout) else math.nan
        return Found(name, value, real, len(prepared.synthetic))


def _nothing(name: str, why: str) -> Found:
    return Found(name, math.nan, math.nan, 0, why)
