"""Units of an experiment, numbered, and whole units drawn at random."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from engine.errors import UserError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def unit_numbers(records: pd.DataFrame, unit: str) -> NDArray[np.int64]:
    """Return the number of each record's unit; a record of unknown source is a unit of its own.

    Raises:
        UserError: sources are asked for and no record names one.
    """
    own = "record " + records["record_id"].astype(str)
    if unit == "source":
        if records["source_id"].isna().all():
            raise UserError("adjacency: this corpus names no source; leave out records, or import it with one")
        own = ("source " + records["source_id"].astype(str)).where(records["source_id"].notna(), own)
    return np.asarray(pd.factorize(own)[0], np.int64)


def some_units(records: pd.DataFrame, unit: str, wanted: int, seed: int) -> pd.DataFrame:
    """Return whole units drawn at random until there are `wanted` records; all records where it is 0."""
    if not wanted or wanted >= len(records):
        return records.reset_index(drop=True)
    units = unit_numbers(records, unit)
    order = np.random.default_rng([seed, 1]).permutation(int(units.max()) + 1)
    sizes = np.bincount(units)[order]
    kept = order[: int(np.searchsorted(np.cumsum(sizes), wanted)) + 1]
    return records[np.isin(units, kept)].reset_index(drop=True)
