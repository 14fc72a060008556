"""Describe a corpus in numbers, for the Load page and the plan.

Privacy posture: counts, quantiles and label names only; labels stay inside the workspace.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.json_types import JSON, JSONObject

QUANTILES: dict[str, float] = {"min": 0, "p5": 5, "p25": 25, "p50": 50, "p75": 75, "p95": 95, "max": 100}
BINS = 30


@dataclass(frozen=True)
class CorpusStatistics:
    """What is in a corpus.

    characters, words: a record, keys min, p5, p25, p50, p75, p95, max, mean. labels: name -> records
    (`""` for none). records_per_unit: records -> units that have so many, before the cap.
    duplicates: records whose exact text an earlier record has. duplicates_across_split: holdout
    records whose exact text is also in training. near_duplicates_across_split: None until counted.
    over_cap: records beyond their unit's cap, used by no method. language: code -> share. train_labels: as labels, of
    the training part alone; None in a corpus of the first edition. train_label_holders: label -> people of the training
    part who hold it, as `label_rules.label_holders` counts them; None in a corpus of an earlier edition. source_named:
    whether a column was named as the source; None in a corpus of an earlier edition. lengths: rows of a histogram of
    words a record, (fewest, most, records), as `histogram` makes them; None in a corpus of an earlier edition.
    """

    records: int
    units: int
    holdout_units: int
    holdout_records: int
    characters: dict[str, float]
    words: dict[str, float]
    labels: dict[str, int]
    records_per_unit: dict[int, int]
    duplicates: int
    near_duplicates_across_split: int | None
    empties_dropped: int
    language: dict[str, float]
    english_share: float
    warnings: list[str] = field(default_factory=list)
    train_units: int = 0
    train_records: int = 0
    over_cap: int = 0
    sources: int = 0
    without_source: int = 0
    duplicates_across_split: int = 0
    gold_spans: int = 0
    records_with_gold: int = 0
    train_labels: dict[str, int] | None = None
    train_label_holders: dict[str, int] | None = None
    source_named: bool | None = None
    lengths: list[list[int]] | None = None

    @property
    def people_named(self) -> bool:
        """Whether the file says whose each record is; of a corpus of an earlier edition, whether any record does."""
        return bool(self.sources) if self.source_named is None else self.source_named

    def as_dict(self) -> dict[str, JSON]:
        """Return a dictionary that JSON can hold."""
        data = dataclasses.asdict(self)
        data["records_per_unit"] = {str(size): count for size, count in self.records_per_unit.items()}
        return data

    @classmethod
    def from_dict(cls, data: JSONObject) -> CorpusStatistics:
        """Return the statistics that `as_dict` wrote; unknown keys of a later version are ignored."""
        known = {item.name for item in dataclasses.fields(cls)}
        values: dict[str, Any] = {name: value for name, value in data.items() if name in known}
        values["records_per_unit"] = {int(size): count for size, count in values["records_per_unit"].items()}
        return cls(**values)


def quantiles(values: Sequence[int]) -> dict[str, float]:
    """Return min, p5, p25, p50, p75, p95, max and mean; all 0 for no values."""
    if not len(values):
        return {**dict.fromkeys(QUANTILES, 0.0), "mean": 0.0}
    array = np.asarray(values, dtype=np.float64)
    points = np.percentile(array, list(QUANTILES.values()))
    return {**{name: float(point) for name, point in zip(QUANTILES, points)}, "mean": round(float(array.mean()), 2)}


def histogram(values: Sequence[int]) -> list[list[int]]:
    """Return rows (fewest, most, how many) of at most 30 equally wide bins of whole numbers.

    The bins end at the 99th percentile, and the last row holds whatever is larger, so that one long record does not
    press all others into the first bin.
    """
    if not len(values):
        return []
    array = np.asarray(values, dtype=np.int64)
    least, most = int(array.min()), int(np.percentile(array, 99))
    width = (most - least) // BINS + 1
    edges = np.arange(least, most + width + 1, width)
    counts, _ = np.histogram(array[array < edges[-1]], edges)
    rows = [[int(low), int(low) + width - 1, int(count)] for low, count in zip(edges, counts)]
    beyond = int((array >= edges[-1]).sum())
    return [*rows, [int(edges[-1]), int(array.max()), beyond]] if beyond else rows


def label_counts(labels: Sequence[str | None]) -> dict[str, int]:
    """Return label -> records, commonest first; records without a label under the empty string."""
    return dict(Counter(label or "" for label in labels).most_common())


def unit_histogram(units: Sequence[str]) -> dict[int, int]:
    """Return number of records -> number of units that have so many."""
    return dict(sorted(Counter(Counter(units).values()).items()))


def exact_duplicates(texts: Sequence[str], split: Sequence[str]) -> tuple[int, int]:
    """Return (records that repeat an earlier text, holdout records whose text training has too)."""
    train = {text for text, side in zip(texts, split) if side == "train"}
    across = sum(side == "holdout" and text in train for text, side in zip(texts, split))
    return len(texts) - len(set(texts)), across
