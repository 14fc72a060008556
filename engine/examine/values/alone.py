"""What one person alone has, in synthetic text: the share of records that hold it, against what chance finds.

A form counts in a way of finding it (whole, in part, nearly) that holds for the records of one person alone, of both
parts together: what stands in somebody else's record too, marked or not, tells nobody apart by itself. Who was used and
who was set aside was drawn by lot, so chance meets either alike (`engine.examine.stats.by_lot`).

Privacy posture: numbers of forms, people and texts; no text.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.findings.findings import Finding
from engine.examine.findings.make import finding, missing
from engine.examine.stats import intervals
from engine.examine.stats.by_lot import by_chance, excess_by_lot
from engine.examine.stats.intervals import Interval
from engine.examine.values.leaks import NO_HOLDOUT
from engine.examine.values.strict_scores import HOW, Reading, StrictIndex
from engine.json_types import JSON

NAME = "strict_alone"


def of_one_person(
    index: StrictIndex, private: Reading, whose: NDArray[np.object_], made: Reading
) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    """Return which texts hold something that one person alone has, and of whom it is: (k,) each, each pair once.

    Args:
        private: what stands in private texts of both parts; whose: object array (n,), whose each of them is.
        made: what stands in the synthetic texts.
    """
    ways = len(HOW)
    pairs, at = np.unique(made.form * ways + made.how, return_inverse=True)
    codes, names = pd.factorize(np.concatenate([index.units, whose]))
    holders, reads = codes[: len(index.units)].astype(np.int64), codes[len(index.units) :].astype(np.int64)
    order = np.argsort(index.values, kind="stable")
    begins = np.searchsorted(index.values[order], np.arange(len(index) + 1))
    here = private.form * ways + private.how
    place = np.searchsorted(pairs, here)
    known = (place < len(pairs)) & (pairs[np.minimum(place, len(pairs) - 1)] == here) if len(pairs) else here < 0
    of_records: dict[int, set[int]] = {}
    for pair, reader in zip(place[known].tolist(), reads[private.text[known]].tolist(), strict=True):
        of_records.setdefault(pair, set()).add(reader)
    person = np.full(len(pairs), -1, np.int64)
    for number, pair in enumerate(pairs.tolist()):
        form, how = divmod(pair, ways)
        if (form, HOW[how]) in index.common:
            continue
        people = set(of_records.get(number, ()))
        for value in index.of_form[form]:
            if not index.aside[value]:
                people.update(holders[order[begins[value] : begins[value + 1]]].tolist())
        if len(people) == 1:
            person[number] = people.pop()
    found = person[at.reshape(-1)]
    counts = found >= 0
    once = np.unique(made.text[counts] * max(1, len(names)) + found[counts])
    text, who = np.divmod(once, max(1, len(names)))
    return text, np.asarray(names, dtype=object)[who]


def alone_findings(
    text: NDArray[np.int64], who: NDArray[np.object_], texts: int, parts: tuple[NDArray[np.object_], ...],
    groups: intervals.Groups | None, seed: int, why: str,
) -> list[Finding]:  # fmt: skip
    """Return the share of records against the training part, what chance gives there, and the excess.

    Args:
        text, who: of `of_one_person`. texts: number of synthetic texts. parts: object arrays, whose each record of the
            training part and of the holdout is.
        groups: the unit of each text, or None. why: said where nothing can be compared, empty where it can.
    """
    train, holdout = (pd.Index(pd.unique(units)) for units in parts)
    if why:
        return [missing(NAME, "train", why), missing(NAME, "holdout", why), missing(f"{NAME}_excess", "holdout", why)]
    of_used, of_aside = (part.get_indexer(pd.Index(who)) for part in (train, holdout))
    hit = np.zeros(texts, bool)
    hit[text[of_used >= 0]] = True
    used, aside = (
        np.bincount(of[of >= 0], minlength=len(part)).astype(np.int64)
        for of, part in ((of_used, train), (of_aside, holdout))
    )
    told: dict[str, JSON] = {"people": len(train), "people_aside": len(holdout), "texts": texts}
    rows = [finding(NAME, "train", share := intervals.share(hit, groups), **told)]
    if not len(holdout):
        return [*rows, missing(NAME, "holdout", NO_HOLDOUT), missing(f"{NAME}_excess", "holdout", NO_HOLDOUT)]
    excess = _at_most(excess_by_lot(used, aside, texts, seed), share)
    return [
        *rows,
        finding(NAME, "holdout", by_chance(aside, len(train), texts), **told),
        finding(f"{NAME}_excess", "holdout", excess, reference_records=len(parts[0]), **told),
    ]


def _at_most(excess: Interval, share: Interval) -> Interval:
    """Return the excess held to the share against the training part: chance takes nothing below zero away."""
    if None in (excess.low, excess.high, share.high):
        return excess
    value = min(excess.value, share.value)
    low, high = min(excess.low or 0.0, value), max(value, min(excess.high or 0.0, share.high or 0.0))
    return replace(excess, value=value, low=low, high=high)
