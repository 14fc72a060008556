"""Keep a measure's value for each output of a one-to-one run, so that two runs can be compared record by record."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.findings.findings import Reference
from engine.examine.prepare import Prepared

NAME = "each"
COLUMNS = ["name", "reference", "item", "unit", "value"]


def each_output(
    prepared: Prepared,
    name: str,
    reference: Reference,
    values: NDArray[np.bool_] | NDArray[np.float64],
    rows: NDArray[np.int64] | None = None,
) -> dict[str, pd.DataFrame]:
    """Return the table `each` of one measure, for `Part.tables`; none where outputs do not name their records.

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
    kept = np.arange(len(synthetic)) if rows is None else rows
    return {
        NAME: pd.DataFrame(
            {"name": name, "reference": reference, "item": synthetic.lineage[kept], "unit": synthetic.units[kept],
             "value": np.asarray(values, np.float64)},
            columns=COLUMNS,
        )
    }  # fmt: skip


def renewed(before: pd.DataFrame | None, now: pd.DataFrame | None, again: frozenset[str]) -> pd.DataFrame:
    """Return the rows of an earlier examination whose measures are not in `again`, and those of this one."""
    empty = pd.DataFrame({column: pd.Series(dtype=float if column == "value" else object) for column in COLUMNS})
    old = empty if before is None else before[~before["name"].isin(again)]
    return pd.concat([frame for frame in (old, now) if frame is not None], ignore_index=True)
