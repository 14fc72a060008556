"""Keep a measure's value for each output of a one-to-one run, so that two runs can be compared record by record."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.findings.findings import Reference
from engine.examine.prepare import Prepared
from engine.examine.samples import sample_units

NAME = "each"
MOST = 20_000  # outputs whose values are kept: a million of each measure would be gigabytes
KEPT = "each output"  # in `Prepared.kept`: which outputs these are
COLUMNS = ["name", "reference", "item", "unit", "value"]


def each_output(
    prepared: Prepared,
    name: str,
    reference: Reference,
    values: NDArray[np.bool_] | NDArray[np.float64],
    rows: NDArray[np.int64] | None = None,
) -> dict[str, pd.DataFrame]:
    """Return the table `each` of one measure, for `Part.tables`; none where outputs do not name their records.

    Of more than `MOST` values it holds those of a sample of units, the same for each such measure and, as far as they
    have the same units, for every run of a corpus.

    Args:
        prepared: the examination.
        name, reference: of the finding whose mean this is.
        values: (n,), one an output.
        rows: which outputs these are, int array (n,); all if None.

    Returns:
        Columns name, reference, item (id of the record that the output stems from), unit (whose it is), value.
    """
    synthetic = prepared.synthetic
    if not prepared.one_to_one or synthetic.lineage is None:
        return {}
    kept, taken = np.arange(len(synthetic)) if rows is None else rows, np.asarray(values, np.float64)
    if len(kept) > MOST:
        if KEPT not in prepared.kept:
            chosen = np.zeros(len(synthetic), bool)
            chosen[sample_units(synthetic.units, MOST, prepared.seed, KEPT)] = True
            prepared.kept[KEPT] = chosen
        among = prepared.kept[KEPT][kept]
        kept, taken = kept[among], taken[among]
    return {
        NAME: pd.DataFrame(
            {"name": name, "reference": reference, "item": synthetic.lineage[kept], "unit": synthetic.units[kept],
             "value": taken},
            columns=COLUMNS,
        )
    }  # fmt: skip


def renewed(before: pd.DataFrame | None, now: pd.DataFrame | None, again: frozenset[str]) -> pd.DataFrame:
    """Return the rows of an earlier examination whose measures are not in `again`, and those of this one."""
    empty = pd.DataFrame({column: pd.Series(dtype=float if column == "value" else object) for column in COLUMNS})
    old = empty if before is None else before[~before["name"].isin(again)]
    return pd.concat([frame for frame in (old, now) if frame is not None], ignore_index=True)
