"""How much detection probably missed, from the records a person read to the end.

Source: Clopper and Pearson 1934 for the interval; the same test turned round for draws without replacement
(hypergeometric) for texts.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd

from engine.errors import UserError
from engine.pii.decide.rules import ADDED_BY


@dataclass(frozen=True)
class ResidualRisk:
    """Share of identifiers that detection misses: estimate, 95% interval, identifiers and misses seen."""

    value: float
    low: float
    high: float
    n: int
    missed: int
    records: int


def residual_risk(spans: pd.DataFrame, reviewed: Collection[str]) -> ResidualRisk | None:
    """Estimate the share of identifiers that detection left in, from records a person read.

    In a reviewed record the spans added by the custodian are what detection missed; the other accepted
    spans are what it found. The estimate holds for the rest of the corpus only if the reviewed records were
    not chosen by what detection found in them.

    Args:
        spans: resolved spans with record_id, recogniser, state.
        reviewed: ids of the records that were read to the end.

    Returns:
        None where no record was reviewed; without any identifier the upper bound is 1.
    """
    if not reviewed:
        return None
    rows = spans[spans["record_id"].isin(list(reviewed)) & (spans["state"] == "accepted")]
    missed, n = int((rows["recogniser"] == ADDED_BY).sum()), len(rows)
    low, high = clopper_pearson(missed, n)
    return ResidualRisk(missed / n if n else 0.0, low, high, n, missed, len(set(reviewed)))


def clopper_pearson(hits: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of hits / n at `level`; (0, 1) where n is 0."""
    from scipy.stats import beta

    if n == 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, n - hits + 1))
    high = 1.0 if hits == n else float(beta.ppf(1 - tail, hits + 1, n - hits))
    return low, high


@dataclass(frozen=True)
class TextsToRead:
    """How many texts hold something missed, at most, and how many more to read until that is as few as wanted.

    Attributes:
        read, hit: texts read to the end, and those of them in which a person added something, or accepted something
            that would have stayed.
        high: share of all texts that were not read and hold something missed, at most, at the level of 95%.
        more: further texts to read, if nothing is found in them, until `high` is at most `target`.
    """

    records: int
    read: int
    hit: int
    high: float
    more: int
    target: float

    @property
    def sentence(self) -> str:
        """Say both in words."""
        texts = f"{self.more:,} more text{'s' if self.more != 1 else ''}"
        now = (
            "If the texts read were drawn at random, then, with 95% confidence, at most "
            f"{self.high:.1%} of all texts are unread and hold something that stays and nobody marked"
        )
        then = (
            f"; it is below {self.target:.0%} already." if not self.more
            else f". Read {texts} to bring this to {self.target:.0%} or less, if nothing is missing in them."
        )  # fmt: skip
        return now + then


def texts_to_read(records: int, read: int, hit: int, target: float, level: float = 0.95) -> TextsToRead:
    """Return the bound on texts with something missed and how many more to read; texts must have been drawn blindly.

    Args:
        records: texts of the corpus.
        read: texts read to the end, drawn without regard to what is in them.
        hit: those of them in which something had been missed.
        target: share of all texts, in (0, 1), that may still hold something missed.
    """
    if not 0 < target < 1:
        raise UserError(f"target: must lie between 0 and 1, is {target}")

    def high(n: int) -> float:
        return (_most_with_a_miss(records, n, hit, level) - hit) / records if records else 0.0

    low, up = read, records  # smallest n in [read, records] with high(n) <= target; high falls with n
    while low < up:
        middle = (low + up) // 2
        low, up = (low, middle) if high(middle) <= target else (middle + 1, up)
    return TextsToRead(records, read, hit, high(read), low - read, target)


def _most_with_a_miss(records: int, read: int, hit: int, level: float) -> int:
    """Return the largest number of texts with a miss under which `hit` or fewer among `read` is not too unlikely."""
    from scipy.stats import hypergeom

    low, up = hit, records - (read - hit)
    while low < up:
        middle = (low + up + 1) // 2
        low, up = (middle, up) if hypergeom.cdf(hit, records, middle, read) > 1 - level else (low, middle - 1)
    return low
