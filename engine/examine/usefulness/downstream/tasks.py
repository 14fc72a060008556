"""What the text teaches of columns that it does not carry: a task for each column that was kept at import.

Synthetic records carry one label column at most, so a classifier of another column needs to be told the values. A
teacher, trained on the first half of the training part with its true values, tells them of the synthetic texts and of
as many texts of the second half. A classifier is trained on each, and both are asked for the true values of the sealed
holdout, so what differs is the text alone. Beside them stand the teacher itself, which no pupil is expected to beat,
and chance: always the commonest value, or the teacher's answers dealt at random where that is more. Where the
synthetic records carry no label, the label is a task too.

A column is a task where at least two of its values, and half of the holdout records that have one, are of values with
at least ten holdout records of five people. A task on which the teacher is not clearly better than chance is shown and
counts in no mean: the text says nothing of such a column, real or not.

Source: Esteban, Hyland and Rätsch 2017 (Real-valued medical time series generation), section 4 (train on synthetic,
test on real); Hinton, Vinyals and Dean 2015 (Distilling the knowledge in a neural network), section 2, for the teacher.
Privacy posture: the table holds names, counts and scores of private columns, so it is internal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.build import KEPT_PREFIX
from engine.examine.base import Side
from engine.examine.findings.findings import Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.registry import task_columns
from engine.examine.samples import halves, sample, sample_units
from engine.examine.stats.intervals import group_numbers
from engine.examine.stats.simultaneous import wider
from engine.examine.usefulness.downstream.downstream_scores import (
    REFITS,
    Exam,
    Lesson,
    Marks,
    Taught,
    at_random,
    f1,
    macro,
    macro_f1,
    mark,
    measured,
    teach,
    tf_idf,
    word_counts,
)
from engine.examine.usefulness.sides import without_sources
from engine.examine.values.leaks import NO_HOLDOUT
from engine.json_types import JSON

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

STAGE = "tasks of other columns"
NAMES: tuple[tuple[str, Reference], ...] = (("tasks_f1", "train"), ("tasks_f1", "real"), ("tasks_gap", "real"))
MOST_TASKS = 4
MOST_VALUES = 12  # of a column
MOST = 1_000  # texts a classifier is trained on
MOST_TAUGHT = 5_000  # records the teacher is trained on
LEAST_VALUE, LEAST_UNITS = 10, 5  # holdout records of a value, and people behind them
LEAST_TRAINED = 20
NO_COLUMN = (
    "no column that was kept at import is a task: at least two of its values must have ten holdout records of five "
    "people, and at least half of the records such a value"
)
NOTHING_SAID = "on no task is a classifier of real text clearly better than chance: the text tells none of the columns"
THE_LABEL = "the label"  # beside columns of any name
UNTOLD = "the text does not tell: a classifier of real text is not clearly better than chance"
TABLE = "classifier_columns"
COLUMNS = ["task", "reference", "f1", "low", "high", "values", "asked", "trained_on", "why"]


@dataclass(frozen=True)
class _Task:
    """A column with the values asked, and each record's: a number below `len(values)`, that number for all others.

    Args:
        name: of the column. values: asked, commonest of the holdout first.
        teacher: rows of the training part that have a value and are in its first half, with their numbers.
        asked: rows of the holdout that have a value, with their numbers.
    """

    name: str
    values: tuple[str, ...]
    teacher: tuple[NDArray[np.int64], NDArray[np.int64]]
    asked: tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class _Texts:
    """The texts that pupils are trained on, `train` and `real`, equally many, and whether own sources were left out."""

    sides: dict[str, Side]
    apart: bool


def examine_tasks(prepared: Prepared) -> Part:
    """Return macro-F1 over the tasks of classifiers trained on synthetic and on real text, and a table a task."""
    prepared.report(STAGE, 0, 1)
    if not len(prepared.holdout):
        return _none(NO_HOLDOUT)
    first = halves(prepared.train.units, prepared.seed, "halves")
    tasks = _tasks(prepared, first)
    if not tasks:
        return _none(NO_COLUMN)
    texts = _texts(prepared, first)
    size = len(texts.sides["train"])
    if size < LEAST_TRAINED:
        return _none(f"{size} texts a side are too few to train a classifier; at least {LEAST_TRAINED} are needed")
    counts = word_counts([prepared.train.words, prepared.holdout.words, *(side.words for side in texts.sides.values())])
    every = [_answered(prepared, task, texts, counts) for task in tasks]
    return _part(prepared, tasks, every, texts)


def _none(why: str) -> Part:
    return Part([missing(name, reference, why) for name, reference in NAMES])


def _tasks(prepared: Prepared, first: NDArray[np.bool_]) -> list[_Task]:
    """Return the columns that can be asked, in the order of the file; the label comes first where it is one."""
    found = (_task(prepared, name, first) for name in task_columns(prepared.given) if name in prepared.given.holdout)
    return [task for task in found if task is not None][:MOST_TASKS]


def _task(prepared: Prepared, column: str, first: NDArray[np.bool_]) -> _Task | None:
    train, held = _values(prepared.given.train[column]), _values(prepared.given.holdout[column])
    table = pd.DataFrame({"value": held, "unit": prepared.holdout.units}).dropna(subset="value")
    counts = table.groupby("value")["unit"].agg(["size", "nunique"]).reset_index()
    counts = counts.sort_values(["size", "value"], ascending=[False, True], kind="stable")
    known = set(train[first])
    enough = (counts["size"] >= LEAST_VALUE) & (counts["nunique"] >= LEAST_UNITS) & counts["value"].isin(known)
    values = tuple(str(value) for value in counts["value"][enough].head(MOST_VALUES))
    if len(values) < 2 or counts["size"][counts["value"].isin(values)].sum() < len(table) / 2:
        return None
    number = {value: place for place, value in enumerate(values)}
    codes = [
        np.array([-1 if value is None else number.get(value, len(values)) for value in side], np.int64)
        for side in (train, held)
    ]
    taught = np.flatnonzero(first & (codes[0] >= 0))
    if len(taught) < LEAST_TRAINED:
        return None
    taught = taught[sample_units(prepared.train.units[taught], MOST_TAUGHT, prepared.seed, f"teacher {column}")]
    asked = np.flatnonzero(codes[1] >= 0)
    name = THE_LABEL if column == "label" else column.removeprefix(KEPT_PREFIX)
    return _Task(name, values, (taught, codes[0][taught]), (asked, codes[1][asked]))


def _values(column: pd.Series) -> NDArray[np.object_]:
    """Return a column as text, with None where a record has nothing there."""
    found = np.full(len(column), None, dtype=object)
    found[:] = [None if value is None or value != value or value == "" else str(value) for value in column]
    return found


def _texts(prepared: Prepared, first: NDArray[np.bool_]) -> _Texts:
    """Return equally many synthetic texts and texts of the second half.

    Synthetic texts that stem from the teacher's half are left out where enough others remain: the teacher knows the
    values of their sources, and would tell them better than those of the second half.
    """
    usable = without_sources(prepared.synthetic, dict(zip(prepared.train.record_ids, first, strict=True)))
    made = prepared.synthetic if usable is None else prepared.synthetic.take(usable)
    real = prepared.train.take(np.flatnonzero(~first))
    size = min(len(made), len(real), MOST)
    sides = {
        "train": made.take(sample(made.record_ids, size, prepared.seed, "tasks")),
        "real": real.take(sample_units(real.units, size, prepared.seed, "tasks")),
    }
    return _Texts(sides, usable is not None)


def _answered(prepared: Prepared, task: _Task, texts: _Texts, counts: Sequence[csr_matrix]) -> dict[str, Taught]:
    """Return what the pupils, the teacher and whoever says the commonest value answer of the holdout records asked."""
    from scipy.sparse import vstack

    train, holdout, *sides = counts
    (taught, codes), (asked, _) = task.teacher, task.asked
    table, questions = tf_idf(train[taught], vstack([holdout[asked], *sides], format="csr"))
    lesson = Lesson(table, codes, prepared.train.record_ids[taught], questions)
    said = teach(lesson, prepared.seed, refits=0).answers
    ends = np.cumsum([len(asked), *(side.shape[0] for side in sides)])
    own, *told = np.split(said, ends[:-1])
    nothing = np.empty((0, len(asked)), np.int64)
    commonest = np.full(len(asked), np.bincount(codes).argmax(), np.int64)
    answers = {"teacher": Taught(own, nothing), "commonest": Taught(commonest, nothing)}
    for (name, side), words, values in zip(texts.sides.items(), sides, told, strict=True):
        stage = f"{STAGE}: {'synthetic' if name == 'train' else 'real'}"
        table, questions = tf_idf(words, holdout[asked])
        lesson = Lesson(table, values, side.units if prepared.grouped else side.record_ids, questions)
        answers[name] = teach(lesson, prepared.seed, after=partial(_tell, prepared, stage))
    return answers


def _tell(prepared: Prepared, stage: str, done: int) -> None:
    prepared.report(stage, done, REFITS)


def _part(prepared: Prepared, tasks: Sequence[_Task], every: Sequence[dict[str, Taught]], texts: _Texts) -> Part:
    people, seed, size = group_numbers(prepared.holdout.units), prepared.seed, len(texts.sides["train"])
    exams = [
        Exam(task.asked[1], np.unique(people[task.asked[0]], return_inverse=True)[1], len(task.values))
        for task in tasks
    ]
    marked = [
        {name: mark(exam, answer, seed) for name, answer in answers.items()}
        for answers, exam in zip(every, exams, strict=True)
    ]
    rows = [row for task, marks in zip(tasks, marked, strict=True) for row in _rows(task, marks, size, len(tasks))]
    part = Part(tables={TABLE: pd.DataFrame(rows, columns=COLUMNS)})
    said = [place for place, marks in enumerate(marked) if _taught(marks)]
    if not said:
        part.findings += [missing(name, reference, NOTHING_SAID) for name, reference in NAMES]
        return part
    settings: dict[str, JSON] = {
        "tasks": len(said), "tasks_that_text_does_not_tell": len(tasks) - len(said),
        "texts_trained_on": size, "own_sources_left_out": texts.apart,
        "told_by": "a classifier of the training part's other half, on both sides",
        "model": "TF-IDF of words and word pairs, logistic regression, each value weighted alike",
        "interval_is_of": "the people asked and those trained on; not of the teacher or of writing the text anew",
    }  # fmt: skip
    together = _Together([tasks[i] for i in said], people)
    marks = {side: mark(together.exam(), together.joined([every[i][side] for i in said]), seed) for side in texts.sides}
    for (name, reference), sides in zip(NAMES, (("train",), ("real",), ("real", "train")), strict=True):
        interval = measured([marks[side] for side in sides], together.score)
        part.findings.append(finding(name, reference, interval, **settings))
    return part


def _chance(marks: dict[str, Marks]) -> float:
    """Return what whoever reads no text reaches: the better of the commonest value and the teacher's shares."""
    return max(float(macro_f1(marks["commonest"].whole)), at_random(marks["teacher"]))


def _taught(marks: dict[str, Marks]) -> bool:
    """Return whether the teacher is clearly better than chance: real text tells the values apart."""
    low = measured([marks["teacher"]], macro_f1).low
    return low is not None and low > _chance(marks)


class _Together:
    """Several tasks as one exam: their questions one after the other, their values numbered through."""

    def __init__(self, tasks: Sequence[_Task], people: NDArray[np.int64]) -> None:
        """Take the tasks, and the number of the person behind each holdout record, int (m,)."""
        self.tasks, self.people = tasks, people
        self.ends = np.cumsum([len(task.values) for task in tasks])
        self.starts = self.ends - [len(task.values) for task in tasks]

    def exam(self) -> Exam:
        """Return the questions of all tasks with their right answers."""
        units = np.concatenate([self.people[task.asked[0]] for task in self.tasks])
        truth = self._through([task.asked[1] for task in self.tasks])
        return Exam(truth, np.unique(units, return_inverse=True)[1], int(self.ends[-1]))

    def joined(self, answers: Sequence[Taught]) -> Taught:
        """Return what one classifier a task answered, in the order of the questions."""
        return Taught(self._through([one.answers for one in answers]), self._through([one.again for one in answers]))

    def score(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean over tasks of their macro-F1 from (..., 3, values) counts."""
        each = f1(counts)
        parts = [macro(each[..., start:end]) for start, end in zip(self.starts, self.ends, strict=True)]
        result: NDArray[np.float64] = np.mean(parts, axis=0)
        return result

    def _through(self, codes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return the numbers of each task's values among those of all; what is not asked comes behind all of them."""
        known = zip(codes, self.starts, self.tasks, strict=True)
        total = self.ends[-1]
        return np.concatenate([np.where(c < len(task.values), c + start, total) for c, start, task in known], axis=-1)


def _rows(task: _Task, marks: dict[str, Marks], size: int, tasks: int) -> Iterator[tuple[object, ...]]:
    """Yield a row a classifier and one of chance; `gap` is what the synthetic text lost, all tasks held together."""
    why = (
        "" if _taught(marks) else "the text does not tell: a classifier of real text is not clearly better than chance"
    )
    more = (len(task.values), len(task.asked[0]))
    cases = (
        ("train", ("train",), float(size)), ("real", ("real",), float(size)), ("gap", ("real", "train"), math.nan),
        ("teacher", ("teacher",), float(len(task.teacher[0]))),
    )  # fmt: skip
    for name, sides, trained in cases:
        found = measured([marks[side] for side in sides], macro_f1)
        wide = wider(tasks) if name == "gap" else 1.0
        ends = [
            math.nan if end is None else found.value + wide * (end - found.value) for end in (found.low, found.high)
        ]
        yield task.name, name, found.value, *ends, *more, trained, why
    yield task.name, "chance", _chance(marks), math.nan, math.nan, *more, math.nan, why
