"""How much detection probably missed, from the records a person read to the end.

Counted are records, not places: a record in which two names were missed counts once, because no sample bounds how many
a single unread record holds.

Limits: the intervals are for chance in drawing. That a reader of the sample sees what was missed in a record is taken
as given; what readers overlook is in no number here.

Source: Clopper and Pearson 1934 for the interval of a share. Of one part, the same test turned round for draws without
replacement (hypergeometric). Of several parts, drawn in proportion: the number of records found is a sum of independent
indicators (Vatutin and Mikhailov 1982, Theory Probab. Appl. 27), so beyond its mean its tails are at most those of a
binomial variable of equal mean with as many trials (Hoeffding 1956, Ann. Math. Statist. 27, Theorem 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
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


FEWEST = 30  # records read below which nothing is told, unless none is left unread
LEVEL = 0.95
MOST_PARTS = 4


@dataclass(frozen=True)
class Part:
    """A part of what a sample was drawn from: its records, those read, those of them with something missed."""

    records: int
    read: int
    hit: int


@dataclass(frozen=True)
class Rate:
    """Records that still hold something missed, per 1,000 records of the corpus.

    Attributes:
        value, low, high: estimate and interval; lower is safer.
        hit, read: records of the sample in which something had been missed, and all its records.
        level: of the interval, two-sided.
    """

    value: float
    low: float
    high: float
    hit: int
    read: int
    level: float


def level_of(look: int) -> float:
    """Return the level of the interval at a look: 95% at the first, half the error at each further one.

    Whoever draws until a bound suits would break it otherwise. This way the upper ends of all looks hold together with
    a probability of at least 95%: 2.5% + 1.25% + ... <= 5%.

    Args:
        look: 1 for the first sample that is drawn of a corpus.
    """
    return 1.0 - (1.0 - LEVEL) / 2 ** (look - 1)


def still_missed(parts: Sequence[Part], repaired: int, level: float = LEVEL) -> Rate:
    """Return how many records per 1,000 still hold something missed, once what was found is marked.

    Args:
        parts: of all records of the corpus, also of those that somebody had read before: nobody knows what that
            reading overlooked but by another look.
        repaired: records of the sample whose missed identifiers are marked by now.
    """
    records = sum(part.records for part in parts)
    low, high = totals(parts, level)
    value = sum(part.records * part.hit / part.read for part in parts if part.read)
    scale = 1000.0 / records if records else 0.0
    read, hit = sum(part.read for part in parts), sum(part.hit for part in parts)
    left = [max(0.0, total - repaired) * scale for total in (value, low, high)]
    return Rate(left[0], left[1], left[2], hit, read, level)


def totals(parts: Sequence[Part], level: float = LEVEL) -> tuple[int, int]:
    """Return the interval of the number of records with something missed, among all that were drawn from.

    Exact for one part, conservative for several; of a part that was read whole the number is known.
    """
    known = sum(part.hit for part in parts if part.read == part.records)
    open_ = [part for part in parts if part.read < part.records]
    tail = (1.0 - level) / 2
    if not open_:
        return known, known
    low = high = 0
    if len(open_) == 1:
        low, high = _of_one(open_[0], tail)
    else:
        low, high = _of_several(open_, tail)
    return known + low, known + high


def _of_one(part: Part, tail: float) -> tuple[int, int]:
    from scipy.stats import hypergeom

    n, hit, most = part.records, part.hit, part.records - (part.read - part.hit)
    high = _last(hit, most, lambda m: hypergeom.cdf(hit, n, m, part.read) > tail)
    low = _first(hit, high, lambda m: hypergeom.sf(hit - 1, n, m, part.read) > tail)
    return low, high


def _of_several(parts: Sequence[Part], tail: float) -> tuple[int, int]:
    from scipy.stats import binom

    hit, drawn = sum(part.hit for part in parts), sum(part.read for part in parts)
    shares = [part.read / part.records for part in parts]
    least, most = min(shares), max(shares)
    top = hit + sum(part.records - part.read for part in parts)

    def likely_below(total: int) -> bool:
        mean = least * total
        trials = min(drawn, total)
        return hit > mean - 1 or binom.cdf(hit, trials, mean / trials) > tail

    def likely_above(total: int) -> bool:
        mean = most * total
        trials = min(drawn, total)
        return hit < mean + 1 or not trials or binom.sf(hit - 1, trials, min(1.0, mean / trials)) > tail

    if least == 0.0:
        return hit, top
    high = _last(hit, top, likely_below)
    return _first(hit, high, likely_above), high


def _last(low: int, up: int, holds: Callable[[int], bool]) -> int:
    """Return the largest number in [low, up] that holds, where all below it do."""
    while low < up:
        middle = (low + up + 1) // 2
        low, up = (middle, up) if holds(middle) else (low, middle - 1)
    return low


def _first(low: int, up: int, holds: Callable[[int], bool]) -> int:
    """Return the smallest number in [low, up] that holds, where all above it do."""
    while low < up:
        middle = (low + up) // 2
        low, up = (low, middle) if holds(middle) else (middle + 1, up)
    return low


def shares_of(sizes: Sequence[int], count: int) -> list[int]:
    """Return how many records to draw from each part, in proportion to its size and `count` in all.

    Largest remainders are rounded up; a part never gives more than it has.
    """
    return _in_proportion(sizes, min(count, sum(sizes)))


def _in_proportion(weights: Sequence[int], number: int) -> list[int]:
    """Return whole numbers that add up to `number`, in proportion to weights; largest remainders are rounded up."""
    total = sum(weights)
    exact = [number * weight / total for weight in weights] if total else [0.0 for _ in weights]
    found = [math.floor(share) for share in exact]
    by_rest = sorted(range(len(weights)), key=lambda i: (found[i] - exact[i], i))
    for i in by_rest[: number - sum(found)]:
        found[i] += 1
    return found


def parts_of(records: int, count: int) -> list[int]:
    """Return the sizes of the parts that a sample of this size is drawn from: up to four, alike, none too small.

    Each part gives at least ten records, and sizes follow the whole numbers that are drawn: the smallest share of a
    part decides how high the upper end is.
    """
    number = max(1, min(MOST_PARTS, count // 10, records // 10))
    drawn = [count // number + (i < count % number) for i in range(number)]
    return _in_proportion(drawn, records) if count else [records]


def strata(groups: Sequence[int], count: int) -> tuple[list[int], list[int]]:
    """Return the sizes of the parts of a sample of all records, and how many to draw from each.

    Args:
        groups: records that nobody read, and those that somebody had read before; parts come in this order, and none
            holds records of both. A smaller group's share is rounded up, so that it is never left out.
    """
    total = sum(groups)
    count = min(count, total)
    shares = [-(-count * records // total) if total else 0 for records in groups]
    shares[groups.index(max(groups))] -= sum(shares) - count
    sizes: list[int] = []
    drawn: list[int] = []
    for records, share in zip(groups, shares, strict=True):
        parts = parts_of(records, share) if records else []
        sizes, drawn = [*sizes, *parts], [*drawn, *shares_of(parts, share)]
    return sizes, drawn


def high_if_clean(groups: Sequence[int], count: int, level: float = LEVEL) -> float:
    """Return the upper end per 1,000 records where nothing is found in a sample of this size; `groups` of `strata`."""
    clean = [Part(size, read, 0) for size, read in zip(*strata(groups, count), strict=True)]
    return still_missed(clean, 0, level).high


def needed(groups: Sequence[int], target: float, level: float = LEVEL) -> int:
    """Return how many records to draw so that the upper end is at most `target` per 1,000, if nothing is found in them.

    At least `FEWEST`, where there are so many; all of them where fewer do not suffice. `groups`: as of `strata`.
    """
    if not 0 < target < 1000:
        raise UserError(f"target: must lie between 0 and 1,000 records per 1,000, is {target}")
    low, up = min(FEWEST, sum(groups)), sum(groups)
    while low < up:
        middle = (low + up) // 2
        fits = high_if_clean(groups, middle, level) <= target
        low, up = (low, middle) if fits else (middle + 1, up)
    return low
