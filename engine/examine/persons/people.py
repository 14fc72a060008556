"""Who is asked about, and what an attacker knows of text in general: shared by the attacks on people.

Privacy posture: everything here is private and lives in memory for one examination only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import cut
from engine.examine.base import Side
from engine.examine.members.members import ALL, SEEDS
from engine.examine.prepare import Prepared
from engine.examine.samples import seeded_order
from engine.examine.values.entities import EntityIndex, index_entities

WINDOW = (15, 101)  # items of about the same size that one is compared with, fewest and most
_PUBLIC = "shipped public texts"
_DETAILS = "details of both parts"


@dataclass(frozen=True)
class People:
    """Units of one side.

    Args:
        rows: int (k,), one row of each unit, which stands for it.
        records: int (n,), all rows of these units. codes: int (n,), whose each is, 0 to k - 1.
    """

    rows: NDArray[np.int64]
    records: NDArray[np.int64]
    codes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)


def people_of(
    side: Side, seed: int, most: int, purpose: str, only: NDArray[np.bool_] | None = None, least: int = 1
) -> People:
    """Return at most `most` units of a side, drawn by keyed order, with all their records.

    Args:
        only: bool (records,), units without such a record are left out.
        least: fewest records a unit must have.
    """
    codes, distinct = pd.factorize(side.units)
    sizes = np.bincount(codes, minlength=len(distinct))
    allowed = sizes >= least
    if only is not None:
        allowed &= np.bincount(codes, weights=only, minlength=len(distinct)) > 0
    chosen = np.flatnonzero(allowed)
    chosen = np.sort(chosen[seeded_order([str(distinct[unit]) for unit in chosen], seed, purpose)[:most]])
    place = np.full(len(distinct), -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    records = np.flatnonzero(place[codes] >= 0)
    own = place[codes[records]]
    rows = np.full(len(chosen), -1, np.int64)
    rows[own[::-1]] = records[::-1]
    return People(rows, records.astype(np.int64), own.astype(np.int64))


def seeds(prepared: Prepared) -> NDArray[np.bool_] | None:
    """Return which training records synthetic ones were made from, or None where the method names none."""
    lineage = prepared.synthetic.lineage
    if lineage is None:
        return None
    used = np.isin(prepared.train.record_ids.astype(str), [str(source) for source in lineage if source is not None])
    return used if used.any() else None


def asked(prepared: Prepared, most: int, purpose: str, least: int = 1) -> tuple[People, People, str]:
    """Return the members and the non-members asked about, and in words who the members are."""
    used = seeds(prepared)
    train = people_of(prepared.train, prepared.seed, most, purpose, used, least)
    holdout = people_of(prepared.holdout, prepared.seed, most, purpose, None, least)
    return train, holdout, f"members: {ALL if used is None else SEEDS}"


def levelled(scores: NDArray[np.float64], sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores standardised among items of about the same size: less the median, over the scaled deviation.

    Args:
        scores: float (n,), members and non-members together, so that neither side is favoured.
        sizes: float (n,), such as words. Each item is compared with a window of the next smaller and larger ones.
    """
    n = len(scores)
    window = int(np.clip(n // 5, *WINDOW))
    mixed = np.random.default_rng(n).permutation(n)  # equal sizes: members and non-members in one window
    order = mixed[np.argsort(sizes[mixed], kind="stable")]
    rising = pd.Series(scores[order])
    level = rising.rolling(window, center=True, min_periods=1).median()
    away = rising - level
    spread = 1.4826 * away.abs().rolling(window, center=True, min_periods=1).median()
    least = max(0.1 * 1.4826 * float(away.abs().median()), 1e-9) if n else 1e-9
    made = np.empty(n)
    made[order] = away / np.maximum(spread, least)
    return made


def public_texts(prepared: Prepared) -> Side:
    """Return the shipped made-up texts as a side, without any that is also a private one; read once."""
    from engine.corpus.samples import SAMPLES, load_sample
    from engine.errors import UserError

    known = prepared.kept.get(_PUBLIC)
    if isinstance(known, Side):
        return known
    private = {*prepared.train.texts.tolist(), *prepared.holdout.texts.tolist()}
    texts: list[str] = []
    for info in SAMPLES:
        try:
            texts += [text for text in load_sample(info.id)["text"] if text not in private]
        except (UserError, OSError):
            continue
    ids = np.array([f"public:{number}" for number in range(len(texts))], dtype=object)
    side = Side(ids, np.array(texts, dtype=object), cut(texts, prepared.vocabulary), ids)
    prepared.kept[_PUBLIC] = side
    return side


def details(prepared: Prepared) -> EntityIndex:
    """Return the private entities of both parts as one index, training first; made once."""
    known = prepared.kept.get(_DETAILS)
    if not isinstance(known, EntityIndex):
        known = prepared.kept[_DETAILS] = index_entities(prepared.train, prepared.holdout)
    return known
