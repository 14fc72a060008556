"""Train a classifier on one set of texts and ask it about another: words, logistic regression, F1 and its interval.

Privacy posture: tables hold numbers of words, in memory for one examination; labels are numbers here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.words import WordTable
from engine.examine.persons.profiles import grams
from engine.examine.stats.intervals import DRAWS, LEVEL, Interval, group_numbers
from engine.examine.usefulness.one_thread import one_thread

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    Table: TypeAlias = csr_matrix | NDArray[np.float32]

FEATURES = 20_000
STRENGTH = 1.0  # of the logistic regression's prior, scikit-learn's C
STEPS = 200
PRECISE = 1e-3
REFITS = 20
HALVINGS = 50
BLOCK = 100  # draws at once: a row each of as many numbers as units were asked
SOURCE = (
    "Efron and Tibshirani 1993, chapters 6 and 7; Agresti and Coull 1998, section 2, where nothing was wrong; "
    "Satterthwaite 1946 for the degrees of freedom"
)


@dataclass(frozen=True)
class Lesson:
    """What a classifier is trained on, and what it is asked about, as rows of one table each.

    Args:
        table: float (n, d), the texts trained on. codes: int (n,), the label of each.
        units: object (n,), whose text each is: drawn again as a whole.
        asked: float (m, d), the texts asked about.
    """

    table: Table
    codes: NDArray[np.int64]
    units: NDArray[np.object_]
    asked: Table


@dataclass(frozen=True)
class Taught:
    """What a classifier answered: int (m,); and what it answered when trained on units drawn anew: (refits, m)."""

    answers: NDArray[np.int64]
    again: NDArray[np.int64]


@dataclass(frozen=True)
class Exam:
    """The texts asked about: true label and unit of each, int (m,), and the labels that count, 0 to labels - 1."""

    truth: NDArray[np.int64]
    units: NDArray[np.int64]
    labels: int

    def take(self, rows: NDArray[np.int64]) -> Exam:
        """Return the exam of some of the texts."""
        return Exam(self.truth[rows], np.unique(self.units[rows], return_inverse=True)[1], self.labels)


def word_counts(tables: Sequence[WordTable]) -> list[csr_matrix]:
    """Return how often each word and each pair of words stands in each text: (texts, features), shared columns."""
    from scipy.sparse import hstack

    one, two = grams(tables, 1), grams(tables, 2)
    return [hstack([a, b], format="csr") for a, b in zip(one, two, strict=True)]


def tf_idf(counts: csr_matrix, asked: csr_matrix) -> tuple[csr_matrix, csr_matrix]:
    """Return the rows trained on and those asked about, weighted by what is trained on alone; rows of length 1.

    (1 + ln count) x (ln((1 + n) / (1 + texts that hold it)) + 1), of the 20,000 features that most texts hold and at
    least two of them do. Source: Salton and Buckley 1988; smoothed as scikit-learn's `TfidfVectorizer`.
    """
    holds = np.bincount(counts.indices, minlength=counts.shape[1])
    kept = np.flatnonzero(holds >= 2)
    if len(kept) > FEATURES:
        kept = np.sort(kept[np.argsort(-holds[kept], kind="stable")[:FEATURES]])
    weight = np.log((1.0 + counts.shape[0]) / (1.0 + holds[kept])) + 1.0
    return _weighted(counts[:, kept], weight), _weighted(asked[:, kept], weight)


def _weighted(counts: csr_matrix, weight: NDArray[np.float64]) -> csr_matrix:
    made = counts.astype(np.float64)
    made.data = (1.0 + np.log(made.data)) * weight[made.indices]
    rows = np.repeat(np.arange(made.shape[0]), np.diff(made.indptr))
    lengths = np.sqrt(np.bincount(rows, weights=made.data**2, minlength=made.shape[0]))
    made.data /= lengths[rows]
    return made


def teach(lesson: Lesson, seed: int, refits: int = REFITS, after: Callable[[int], None] = lambda done: None) -> Taught:
    """Return the answers of logistic regressions, each label weighted alike; `after` is told each and may stop.

    Those of `again` are trained on as many units drawn with replacement, with the features of the whole.
    """
    answers = _answers(lesson, np.ones(len(lesson.codes)))
    units = group_numbers(lesson.units)
    count = int(units.max(initial=-1)) + 1
    rng = np.random.default_rng(seed)
    again = np.empty((refits, len(answers)), np.int64)
    for number in range(refits):
        after(number)
        drawn = np.bincount(rng.integers(0, count, count), minlength=count).astype(np.float64)
        again[number] = _answers(lesson, drawn[units])
    return Taught(answers, again)


def _answers(lesson: Lesson, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    from sklearn.linear_model import LogisticRegression

    rows = np.flatnonzero(weights > 0)
    known = np.unique(lesson.codes[rows])
    if len(known) < 2 or lesson.table.shape[1] == 0:  # one label, or no word twice: nothing to learn from
        commonest = int(np.bincount(lesson.codes[rows], weights=weights[rows]).argmax())
        return np.full(lesson.asked.shape[0], commonest, np.int64)
    model = LogisticRegression(C=STRENGTH, max_iter=STEPS, tol=PRECISE, class_weight="balanced")
    with one_thread(__name__):
        model.fit(lesson.table[rows], lesson.codes[rows], sample_weight=weights[rows])
        found: NDArray[np.int64] = model.predict(lesson.asked)
    return found


@dataclass(frozen=True)
class Marks:
    """How one classifier did: right, wrongly this label, wrongly another, as (..., 3, labels) counts.

    Args:
        whole: (3, labels). drawn: (draws, 3, labels), units asked drawn anew.
        halves: (halvings, 2, trainings, 3, labels), each classifier of `Taught.again` on two halves of the units asked.
        texts, units: how many were asked.
    """

    whole: NDArray[np.float64]
    drawn: NDArray[np.float64]
    halves: NDArray[np.float64]
    texts: int
    units: int


def mark(exam: Exam, taught: Taught, seed: int) -> Marks:
    """Return how a classifier did; draws and halves are the same for every classifier that was asked this exam."""
    units = int(exam.units.max(initial=-1)) + 1
    counts = _outcomes(exam, taught.answers[None, :], units)
    return marks_of(counts, exam.labels, len(exam.truth), seed, _outcomes(exam, taught.again, units))


def marks_of(counts: csr_matrix, labels: int, texts: int, seed: int, again: csr_matrix | None = None) -> Marks:
    """Return how an answer did, from counts a unit.

    Args:
        counts: (units, 3 x labels), right, wrongly this label, wrongly another. texts: how many were asked.
        again: (units, trainings x 3 x labels), the same of answers of trainings anew; None = of none.
    """
    units, shape = counts.shape[0], (3, labels)
    rng = np.random.default_rng(seed)
    drawn = np.empty((DRAWS, *shape))
    for start in range(0, DRAWS, BLOCK):
        weights = np.stack([
            np.bincount(rng.integers(0, units, units), minlength=units) for _ in range(start, min(start + BLOCK, DRAWS))
        ]).astype(np.float64)  # fmt: skip
        drawn[start : start + BLOCK] = (counts.T @ weights.T).T.reshape(-1, *shape)
    first = np.stack([rng.permutation(units) < units // 2 for _ in range(HALVINGS)]).astype(np.float64)
    trainings = 0 if again is None else again.shape[1] // (3 * labels)
    halves = np.empty((HALVINGS, 2, trainings, *shape))
    if again is not None:
        each = [(again.T @ side.T).T.reshape(HALVINGS, trainings, *shape) for side in (first, 1.0 - first)]
        halves = np.stack(each, 1)
    whole = np.asarray(counts.sum(axis=0)).reshape(shape)
    return Marks(whole, drawn, halves, texts, units)


def counted(exam: Exam, answers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how many answers were right, wrongly this label and wrongly another: (3, labels)."""
    units = int(exam.units.max(initial=-1)) + 1
    return np.asarray(_outcomes(exam, answers[None, :], units).sum(axis=0)).reshape(3, exam.labels)


def _outcomes(exam: Exam, answers: NDArray[np.int64], units: int) -> csr_matrix:
    """Return, a unit, the counts of each training one after the other: (units, trainings x 3 x labels)."""
    from scipy.sparse import csr_matrix

    trainings = len(answers)
    truth = np.broadcast_to(exam.truth, answers.shape)
    unit = np.broadcast_to(exam.units, answers.shape)
    first = np.arange(trainings)[:, None] * 3 * exam.labels + np.zeros(len(exam.truth), np.int64)
    right = answers == truth
    rows, columns = [], []
    for place, hit, label in ((0, right, truth), (1, ~right, answers), (2, ~right, truth)):
        counted = hit & (label < exam.labels)
        rows.append(unit[counted])
        columns.append(first[counted] + place * exam.labels + label[counted])
    where = (np.concatenate(rows), np.concatenate(columns))
    return csr_matrix((np.ones(len(where[0])), where), shape=(units, trainings * 3 * exam.labels))


def f1(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return F1 a label from (..., 3, labels) counts: 2 right / (2 right + both kinds of wrong).

    NaN for a label of which nothing was asked. Source: van Rijsbergen 1979, chapter 7.
    """
    right, wrongly, missed = counts[..., 0, :], counts[..., 1, :], counts[..., 2, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = 2 * right / (2 * right + wrongly + missed)
    result: NDArray[np.float64] = np.where(right + missed > 0, found, np.nan)
    return result


def recall(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of each label's texts that were answered with it; NaN where nothing was asked."""
    with np.errstate(invalid="ignore", divide="ignore"):
        result: NDArray[np.float64] = counts[..., 0, :] / (counts[..., 0, :] + counts[..., 2, :])
    return result


def macro(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean over labels of which something was asked, along the last axis."""
    known = np.isfinite(scores)
    number = known.sum(axis=-1)
    total = np.where(known, scores, 0.0).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        result: NDArray[np.float64] = np.asarray(total / number)
    return result


def at_random(marks: Marks) -> float:
    """Return the macro-F1 that the same answers have on average when they are dealt to the texts at random.

    Who knows nothing and gives each label as often as this classifier does reaches it. With three labels it is about
    1/3, where always the commonest has less: whoever learned nothing is still better than that answer.
    """
    right, wrongly, missed = marks.whole
    there, given = right + missed, right + wrongly
    with np.errstate(invalid="ignore", divide="ignore"):
        score = 2 * there * given / marks.texts / (there + given)
    return float(macro(np.where(there > 0, score, np.nan)))


Score = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def macro_f1(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean F1 over labels from (..., 3, labels) counts."""
    return macro(f1(counts))


def f1_of(number: int) -> Score:
    """Return the score that is F1 of one label."""

    def score(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        result: NDArray[np.float64] = f1(counts)[..., number]
        return result

    return score


def measured(marks: Sequence[Marks], score: Score) -> Interval:
    """Return a score of one classifier, or of the first less the second, with its 95% interval.

    Its variance is that of whole units asked drawn anew, plus that of the units trained on drawn anew, a side. With
    synthetic text that was other real text of the same people's kind, the interval of the difference held 0 in 95 to
    97 of 100 simulated examinations (60 to 1,000 texts trained on, 50 to 400 asked) and was as wide as it had to be.

    Args:
        marks: of one classifier, or of two that were asked the same.
        score: maps (..., 3, labels) counts to (...,) numbers between 0 and 1.
    """
    from scipy.stats import t

    signs = (1.0, -1.0)[: len(marks)]
    value = sum(sign * float(score(one.whole)) for sign, one in zip(signs, marks, strict=True))
    n, units = marks[0].texts, marks[0].units
    trained = " and of training anew" if all(one.halves.shape[2] for one in marks) else ""
    method = f"bootstrap of the units asked, {DRAWS} draws{trained}"
    if units < 2 or not math.isfinite(value):
        return Interval(value, None, None, n, method, SOURCE)
    drawn = np.sum([sign * score(one.drawn) for sign, one in zip(signs, marks, strict=True)], axis=0)
    variances = [(max(float(np.nanvar(drawn, ddof=1)), _least(marks[0].whole)), float(units - 1))]
    variances += [
        (_taught_anew(score(one.halves)), one.halves.shape[2] - 1.0) for one in marks if one.halves.shape[2] > 1
    ]
    total = sum(variance for variance, _ in variances)
    freedom = total**2 / sum(variance**2 / free for variance, free in variances)
    half = float(t.ppf(0.5 + LEVEL / 2, freedom)) * math.sqrt(total)
    floor = -1.0 if len(marks) > 1 else 0.0
    return Interval(value, max(floor, value - half), min(1.0, value + half), n, method, SOURCE)


def _taught_anew(scores: NDArray[np.float64]) -> float:
    """Return the variance of the score over trainings, from (halvings, 2, trainings) scores.

    It is the covariance of the score on one random half of the units asked with that on the other: the plain variance
    would count once more how answers to these very texts turn, which the units asked drawn anew have counted.
    """
    apart = scores - scores.mean(axis=2, keepdims=True)
    together = np.mean(apart[:, 0] * apart[:, 1], axis=1)
    trainings = scores.shape[2]
    known = together[np.isfinite(together)]
    return max(0.0, float(known.mean()) * trainings / (trainings - 1)) if len(known) else 0.0


def _least(counts: NDArray[np.float64]) -> float:
    """Return the variance of a mean over labels of shares each one answer away from certain.

    Where every answer is right, or both classifiers answer alike, no draw differs; that proves no certainty.
    """
    number = counts[0] + counts[2]
    number = number[number > 0] + 4.0
    return float(np.sum(2.0 / number * (1 - 2.0 / number) / number)) / max(1, len(number)) ** 2
