"""Which private records membership attacks on the released text take as members."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.examine.prepare import Prepared
from engine.examine.samples import sample_units

SEEDS = "records that synthetic ones stem from"
ALL = "training records"


def member_rows(prepared: Prepared, most: int, purpose: str) -> tuple[NDArray[np.int64], str]:
    """Return the rows of `prepared.train` that were used, at most `most` (whole units first), and who they are.

    A method that writes each record from one source record uses its seeds; any other method uses all of them.
    """
    train, lineage = prepared.train, prepared.synthetic.lineage
    rows, who = np.arange(len(train)), ALL
    if lineage is not None:
        sources = {source for source in lineage if source is not None}
        seeds = np.flatnonzero([record in sources for record in train.record_ids])
        if len(seeds):
            rows, who = seeds, SEEDS
    if len(rows) > most:
        rows = rows[sample_units(train.units[rows], most, prepared.seed, purpose)]
    return rows.astype(np.int64), who


def other_rows(prepared: Prepared, most: int, purpose: str) -> NDArray[np.int64]:
    """Return the rows of `prepared.holdout` taken as non-members, at most `most`, whole units first."""
    return sample_units(prepared.holdout.units, most, prepared.seed, purpose)
