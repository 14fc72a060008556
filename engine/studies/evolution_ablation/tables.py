"""Tables of the ablation: means over repeats by round, and Table 3 with intervals."""

from __future__ import annotations

import pandas as pd

from engine.studies.bench import compared

BASE = "dpga as it is"
TAU, RATE = "τ", "q"
KEYS = ("changed", "level", "epsilon")


def rounds_summary(rounds: pd.DataFrame) -> pd.DataFrame:
    """Return a row a setting, round and measure: mean over repeats with its interval.

    Args:
        rounds: as a study's runs, with the column `round`.
    """
    parts = [
        compared.summary(part, KEYS).assign(round=number)
        for number, part in rounds.groupby("round", sort=True)
    ]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def table_3(summary: pd.DataFrame, rounds: pd.DataFrame | None) -> pd.DataFrame:
    """Return Table 3: a row a measure and T, a column a setting, cells as mean ± half the interval.

    Args:
        summary: of the outputs. rounds: of every round, or None.
    """
    rows = []
    for measure in dict.fromkeys(summary["measure"]):
        part = summary[summary["measure"] == measure]
        title = str(part["title"].iloc[0])
        first = None if rounds is None else rounds[(rounds["measure"] == measure) & (rounds["round"] == 1)]
        if first is not None and len(first) and int(rounds["round"].max()) > 1:  # type: ignore[index]
            rows.append({"measure": title, "T": "1", **_cells(first)})
        last = "last" if rounds is None else str(int(rounds["round"].max()))
        rows.append({"measure": title, "T": last, **_cells(part)})
    return pd.DataFrame(rows)


def _cells(part: pd.DataFrame) -> dict[str, str]:
    cells = {str(row["variant"]): compared.cell(row) for _, row in part.iterrows()}
    real = part["real"].dropna()
    return {**cells, "real text": f"{real.mean():.3g}" if len(real) else compared.UNMEASURED}
