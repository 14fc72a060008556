"""Values that the records of so many people hold that they identify nobody.

A detector's slip on a phrase of the trade ("c/o" taken for a name) marks it in a few records; the phrase stands in
nearly all. Whoever reads it in a synthetic text learns of no person, yet it would decide the share of records that
give a private value away, and whether the few marks fell into the training part or the holdout would decide the excess.

The rule looks at private text alone, at both parts together: a value is set aside if it stands, marked or not, in the
records of at least `FEWEST` people, and the lower end of the 95% interval (Wilson) for the share of people whose
records hold it lies above `SHARE`. It sees neither the synthetic text nor which part a person is in, so training part
and holdout are treated alike, and splits drawn at random (`engine.examine.stats.split_excess`) stay as likely as the
one that was made. What it sets aside could show no excess: with so many holders it stands in both parts by chance. It
does name somebody at times (a doctor in every letter), so how many were set aside and of which types is told.

Source: Wilson 1927 for the interval; that a value held by many tells them apart little is Sweeney 2002 (k-anonymity).
Privacy posture: works on numbers of values and people; a place is a record's id and offsets, never text.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.stats.intervals import wilson
from engine.json_types import JSON

SHARE = 0.10  # of the people looked at
FEWEST = 5  # people; of fewer, nobody can say that a value is common
RULE = f"stands in the records of more than {SHARE:.0%} of people (lower end of the 95% interval), marked or not"
MOST_PLACES = 50  # of a value in the table; enough to meet it in each way it is written
TABLE = "set_aside"
COLUMNS = ["value", "record_id", "start", "end", "label", "identifier_type", "marks", "holders", "people"]


@dataclass(frozen=True)
class Places:
    """Where values are marked, at most `MOST_PLACES` of each: int arrays (k,), a value and its row of `marks`.

    marks: record id, half-open code-point offsets, type (`label`), and way of pointing at somebody (`identifier_type`).
    """

    value: NDArray[np.int64]
    row: NDArray[np.int64]
    marks: pd.DataFrame

    def of(self, number: int) -> list[tuple[str, int, int, str, str]]:
        """Return where a value is marked, in the order of the marks."""
        columns = ["record_id", "start", "end", "label", "identifier_type"]
        own = self.marks.iloc[self.row[self.value == number]][columns]
        return [
            (str(record), int(start), int(end), str(label), str(kind))
            for record, start, end, label, kind in own.itertuples(index=False)
        ]


@dataclass(frozen=True)
class Held:
    """Which value stands in whose records: int arrays (k,) `value` and `unit`, pairs may repeat."""

    value: NDArray[np.int64]
    unit: NDArray[np.int64]

    def people(self, values: int) -> NDArray[np.int64]:
        """Return how many people hold each value, int array (values,)."""
        units = 1 + int(self.unit.max(initial=0))
        pairs = np.unique(self.value.astype(np.int64) * units + self.unit)
        return np.bincount(pairs // units, minlength=values).astype(np.int64)


def shared(holders: NDArray[np.int64], people: int) -> NDArray[np.bool_]:
    """Return which values so many of the people hold that they identify nobody, bool array (m,)."""
    common = {int(n): n >= FEWEST and wilson(int(n), people)[0] > SHARE for n in np.unique(holders)}
    return np.array([common[int(n)] for n in holders], bool)


def told(places: Places, direct: NDArray[np.bool_], aside: NDArray[np.bool_]) -> dict[str, JSON]:
    """Return what findings say of the values set aside: how many, of which types, and how many point directly."""
    gone = [places.of(number)[0] for number in np.flatnonzero(aside).tolist()]
    by_label = Counter(label for _, _, _, label, _ in gone)
    return {
        "set_aside": len(gone),
        "set_aside_direct": int((direct & aside).sum()),
        "set_aside_types": dict(by_label.most_common()),
        "set_aside_rule": RULE,
    }


def table_of(
    places: Places,
    marks: NDArray[np.int64],
    aside: NDArray[np.bool_],
    holders: NDArray[np.int64],
    people: int,
) -> pd.DataFrame:
    """Return where the values set aside are marked (at most `MOST_PLACES` of each), and who holds each of them.

    The most widely held value is number 0 and comes first.
    """
    order = sorted(np.flatnonzero(aside).tolist(), key=lambda number: -int(holders[number]))
    return pd.DataFrame(
        [
            (at, *place, int(marks[number]), int(holders[number]), people)
            for at, number in enumerate(order)
            for place in places.of(number)
        ],
        columns=COLUMNS,
    )
