"""The semantic attack of pair experiments: what one person's closeness in meaning gives away, beside the null.

Privacy posture: drawn from tables of numbers.
"""

from __future__ import annotations

import pandas as pd

from engine.examine.curves.lbf_attack import TOO_FEW
from engine.figures.base import Figure
from engine.figures.iterations import INTERNAL
from engine.figures.privacy.lbf import Drawn, Kind, epsilon_delta
from engine.studies.attacked import of_attack
from engine.studies.pairs.figures_told import first
from engine.studies.pairs.semantic import MAIN, TWICE

_SIDES: tuple[tuple[str, str, Kind], ...] = (
    (MAIN, "text made with U against without", "attack"),
    (TWICE, "twice on the same records", "null"),
)


def meaning(areas: pd.DataFrame, curves: pd.DataFrame) -> Figure:
    """Return the ε–δ curves of closeness in meaning with their bands, and what the areas say.

    Args:
        areas, curves: the tables `semantic` and `semantic_curves`.
    """
    one = first(curves)
    drawn: dict[str, Drawn] = {}
    for comparison, name, kind in _SIDES:
        part = one[one["comparison"] == comparison]
        if len(part):
            drawn[name] = of_attack(part, kind)
    figure = epsilon_delta(drawn)
    told = first(areas)
    said = " ".join(text for text in told["finding"] if text)
    main = one[one["comparison"] == MAIN]
    fewest = int(main["smaller_side"].min())
    if (main["verdict"] == TOO_FEW).all():
        said += f" How much one person's closeness gives away cannot be told: {fewest} trainings judge the smaller side"
        said += f", of {int(main['trainings'].iloc[0])} in all, and that is too few at every ε."
    else:
        said += f" {figure.takeaway}"
    caveat = (
        "Standard δ of the best threshold on the highest cosine of one person of U. Half of the trainings say what is "
        "usual for a person, the other half judge; bands hold for the whole curve at 95%, trainings being what varies. "
        f"An attacker who compares otherwise may see more. {INTERNAL}"
    )
    return Figure(figure.plot, said.strip(), caveat, f"Curves of δ over ε. {said.strip()}")
