"""The blind baseline: can training and holdout records be told apart without any model or synthetic text?

If they can, the two sides differ in their text, and an attack that tells them apart may have learned nothing from the
release. So an attack is greyed where the blind baseline's interval excludes 0.5.
Source: Das, Zhang and Tramèr 2024 (Blind baselines beat membership inference attacks for foundation models);
Duan et al. 2024, section 4 (distribution shift between members and non-members).

Privacy posture: words of private records stay in memory; what comes out is one number with its interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.examine.prepare import NEAR_DUPLICATES, Prepared
from engine.examine.samples import sample_units, seeded_order
from engine.examine.stats.intervals import Interval
from engine.examine.stats.roc import auc

SAMPLED = 2000  # records a side
CHARACTERS = 4000  # of a record
FEATURES = 20_000
FOLDS = 5
LEAST_UNITS = 20  # a side
KEPT = "blind baseline"
SOURCE = "Das, Zhang and Tramèr 2024 (Blind baselines beat membership inference attacks), section 3"


@dataclass(frozen=True)
class Blind:
    """The blind baseline of a corpus.

    Args:
        interval: its area under the ROC curve (NaN where not estimable). members, others: records it rests on.
        why: why it is not estimable, else empty.
    """

    interval: Interval
    members: int
    others: int
    why: str = ""

    @property
    def excludes_chance(self) -> bool:
        """Whether the two sides differ by themselves, so that attacks are greyed."""
        low, high = self.interval.low, self.interval.high
        return low is not None and high is not None and (low > 0.5 or high < 0.5)


def near_duplicates(prepared: Prepared) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which training and which holdout records have a near-duplicate on the other side; computed once.

    Word 5-shingles with a Jaccard similarity of at least 0.7, as at import.
    """
    from engine.corpus.text.near_duplicates import near_duplicate_pairs

    found = prepared.kept.get(NEAR_DUPLICATES)
    if found is None:
        train, holdout = np.zeros(len(prepared.train), bool), np.zeros(len(prepared.holdout), bool)
        if len(train) and len(holdout):
            texts = [[str(text) for text in side.texts] for side in (prepared.train, prepared.holdout)]
            stage = "near-duplicates across the sides"
            pairs = near_duplicate_pairs(
                texts[0], texts[1], progress=lambda done, total: prepared.report(stage, done, total)
            )
            train[[i for i, _, _ in pairs]] = True
            holdout[[j for _, j, _ in pairs]] = True
        found = prepared.kept[NEAR_DUPLICATES] = (train, holdout)
    pair: tuple[NDArray[np.bool_], NDArray[np.bool_]] = found
    return pair


def blind_baseline(prepared: Prepared) -> Blind:
    """Return how well training records are told from holdout records by their words alone; computed once.

    TF-IDF of words and word pairs, and a logistic regression, cross-fitted: no unit is judged by a model that saw one
    of its records. Near-duplicates across the sides are left out: a twin on the other side would turn the answer
    around. At most 2,000 records a side, whole units first.
    """
    known = prepared.kept.get(KEPT)
    if isinstance(known, Blind):
        return known
    near = near_duplicates(prepared)
    rows = []
    for side, twins in zip((prepared.train, prepared.holdout), near, strict=True):
        kept = np.flatnonzero(~twins)
        rows.append(kept[sample_units(side.units[kept], SAMPLED, prepared.seed, "blind")])
    found = prepared.kept[KEPT] = _fitted(prepared, rows[0], rows[1])
    return found


def _fitted(prepared: Prepared, ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> Blind:
    sides = (prepared.train.take(ours), prepared.holdout.take(theirs))
    folds = [_folds(side.units, prepared.seed) for side in sides]
    if min(len(set(side.units)) for side in sides) < LEAST_UNITS:
        why = f"fewer than {LEAST_UNITS} units on one side"
        return Blind(Interval(math.nan, None, None, 0, "not estimable", SOURCE), len(ours), len(theirs), why)
    texts = [str(text)[:CHARACTERS] for side in sides for text in side.texts]
    scores = _cross_fitted(prepared, texts, np.arange(len(texts)) < len(ours), np.concatenate(folds))
    groups = [side.units if prepared.grouped else None for side in sides]
    interval = auc(
        scores[: len(ours)], scores[len(ours) :], member_groups=groups[0], other_groups=groups[1], seed=prepared.seed
    )
    return Blind(_widened(interval), len(ours), len(theirs))


def _widened(interval: Interval) -> Interval:
    """Return the interval wider by the square root of 2, for records that judge each other.

    Cross-fitted, a record's score rests on the other's side and the other's on its own: each pair of records counts
    twice, so the area's variance under chance is twice that of independent scores (measured: 1.5 times the spread).
    Source: Bengio and Grandvalet 2004, section 4 (folds are not independent).
    """
    if interval.low is None or interval.high is None:
        return interval
    low = max(0.0, interval.value - math.sqrt(2) * (interval.value - interval.low))
    high = min(1.0, interval.value + math.sqrt(2) * (interval.high - interval.value))
    return replace(interval, low=low, high=high, method=f"{interval.method}, widened by 1.41 for cross-fitting")


def _folds(units: NDArray[np.object_], seed: int) -> NDArray[np.int64]:
    """Return the fold of each record, about as many units of a side in each."""
    distinct, codes = np.unique(units.astype(str), return_inverse=True)
    fold = np.empty(len(distinct), np.int64)
    fold[seeded_order(distinct.tolist(), seed, "blind folds")] = np.arange(len(distinct)) % FOLDS
    found: NDArray[np.int64] = fold[codes]
    return found


def _cross_fitted(
    prepared: Prepared, texts: list[str], is_member: NDArray[np.bool_], fold: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return each record's rank among its fold's, by a model of the other folds: folds differ in their offset."""
    from scipy.stats import rankdata
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    stage = "blind baseline"
    prepared.report(stage, 0, FOLDS + 1)
    maker = TfidfVectorizer(ngram_range=(1, 2), min_df=2, max_features=FEATURES, sublinear_tf=True, dtype=np.float32)
    scores = np.full(len(texts), 0.5)
    try:
        table: Any = maker.fit_transform(texts)  # its weights rest on both sides alike, never on which side is which
    except ValueError:  # no word occurs twice: nothing tells records apart
        return scores
    for number in range(FOLDS):
        prepared.report(stage, number + 1, FOLDS + 1)
        judged = np.flatnonzero(fold == number)
        model = LogisticRegression(C=1.0, max_iter=200, class_weight="balanced", solver="liblinear", random_state=0)
        model.fit(table[fold != number], is_member[fold != number])
        scores[judged] = rankdata(model.decision_function(table[judged])) / (len(judged) + 1)
    prepared.report(stage, FOLDS + 1, FOLDS + 1)
    return scores
