"""An attack's ε–δ curve from a study's table, ready to be drawn."""

from __future__ import annotations

import pandas as pd

from engine.examine.curves.lbf import Curve
from engine.figures.privacy.lbf import Drawn, Kind


def current(table: pd.DataFrame | None) -> bool:
    """Return whether a table holds curves with bands that hold.

    Tables of earlier editions have no verdict: their bands were wrong, so they are not drawn.
    """
    return table is not None and len(table) > 0 and "verdict" in table


def of_attack(table: pd.DataFrame, kind: Kind) -> Drawn:
    """Return the standard curve of one attack with its whole-curve band.

    Args:
        table: columns of `engine.examine.curves.lbf_attack.COLUMNS` and `observed`, one row an ε.
    """
    rows = table.sort_values("epsilon")
    names = ("epsilon", "delta", "delta_standard", "standard_low", "standard_high")
    epsilon, strict, standard, low, high = (rows[name].to_numpy(float) for name in names)
    return Drawn(Curve(epsilon, strict, standard, str(rows["observed"].iloc[0])), kind, low, high, together=True)
