"""What many attacks say together: intervals that hold for all of them at once, so that chance is not called a leak.

Fifteen attacks with 95% intervals each miss once in two examinations. Here every interval is widened so that all
hold together with 95% (Bonferroni; Dunn 1961, Multiple comparisons among means), whether attacks depend on each
other or not. p values are corrected by Holm 1979 (A simple sequentially rejective multiple test procedure).
A greyed attack (members and others can be told apart without any model) is never judged.

Light: the web process imports this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import pandas as pd

from engine.analysis.sentence import NEGLIGIBLE, Level, Sentence

LEVEL = 0.95
CHANCE = 0.5
FALSE_ALARMS = 0.01  # the rate at which true positives are judged as well
BLIND = "no model (blind)"
GENERATOR = "generator"
_NORMAL = NormalDist()


@dataclass(frozen=True)
class Look:
    """One attack with intervals that hold for all attacks of the examination at once.

    Args:
        attack, title, observes: as in the table `attacks`.
        auc, low, high: area under the ROC curve; chance 0.5.
        tpr, tpr_low: share of members found at one false alarm in a hundred, NaN where not estimable.
        level: leak, unsure, chance, or unknown where the attack is greyed or has no number.
    """

    attack: str
    title: str
    observes: str
    auc: float
    low: float
    high: float
    tpr: float
    tpr_low: float
    level: Level


def wider(looks: int) -> float:
    """Return by what factor a two-sided 95% interval grows so that `looks` of them hold together."""
    return _quantile(looks) / _quantile(1)


def _quantile(looks: int) -> float:
    return _NORMAL.inv_cdf(1 - (1 - LEVEL) / (2 * max(1, looks)))


def judge(attacks: pd.DataFrame | None) -> list[Look]:
    """Return every attack but the blind one with joint intervals; clearest first, those without a number last.

    Args:
        attacks: rows of the table `attacks`; None where it was not measured.
    """
    if attacks is None or attacks.empty:
        return []
    rows = [row for row in attacks.to_dict("records") if row["observes"] != BLIND]
    usable = [row for row in rows if not _greyed(row) and _number(row["auc"])]
    looks = len(usable) + sum(_number(row.get("tpr_01")) for row in usable)
    judged = [_look({str(k): v for k, v in row.items()}, looks) for row in rows]
    return sorted(judged, key=lambda look: (look.level == "unknown", -_strength(look)))


def _greyed(row: Mapping[object, object]) -> bool:
    return bool(row.get("greyed"))


def _number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _look(row: Mapping[str, object], looks: int) -> Look:
    factor = wider(looks)
    auc, low, high = (_float(row.get(name)) for name in ("auc", "low", "high"))
    tpr, tpr_low = _float(row.get("tpr_01")), _float(row.get("tpr_01_low"))
    low, high = max(0.0, auc - factor * (auc - low)), min(1.0, auc + factor * (high - auc))
    tpr_low = max(0.0, tpr - factor * (tpr - tpr_low))
    level = "unknown" if bool(row.get("greyed")) else _level(low, high, tpr_low)
    return Look(str(row["attack"]), str(row["title"]), str(row["observes"]), auc, low, high, tpr, tpr_low, level)


def _level(low: float, high: float, tpr_low: float) -> Level:
    if low != low or high != high:
        return "unknown"
    if low > CHANCE or tpr_low > FALSE_ALARMS:
        return "leak"
    return "chance" if high <= CHANCE + NEGLIGIBLE else "unsure"


def _strength(look: Look) -> float:
    """Return how far an attack lies above chance, in widths of its interval; the better of its two numbers."""
    if look.auc != look.auc or look.low != look.low:
        return -math.inf
    area = (look.auc - CHANCE) / max(look.auc - look.low, 1e-9)
    if look.tpr_low != look.tpr_low:
        return area
    return max(area, (look.tpr - FALSE_ALARMS) / max(look.tpr - look.tpr_low, 1e-9))


def holm(values: Sequence[float]) -> list[float]:
    """Return Holm's corrected p values in the given order; NaN stays NaN and is not counted.

    Source: Holm 1979, section 2.
    """
    known = sorted((value, place) for place, value in enumerate(values) if value == value)
    corrected = [math.nan] * len(values)
    highest = 0.0
    for number, (value, place) in enumerate(known):
        highest = max(highest, min(1.0, (len(known) - number) * value))
        corrected[place] = highest
    return corrected


def membership(attacks: pd.DataFrame | None) -> list[Sentence]:
    """Return the sentence about membership; a second one where attacks on the generator itself see it."""
    if attacks is None:
        return [Sentence("Membership: not measured in this examination. Examine the run again.", "unknown", "attacks")]
    judged = judge(attacks)
    released = [look for look in judged if look.observes != GENERATOR]
    sentences = [_released(released, attacks)]
    inside = [look for look in judged if look.observes == GENERATOR and look.level == "leak"]
    if inside:
        text = f"The model itself: “{inside[0].title}” can tell records used from others: it {_area(inside[0])}."
        text += " That is what publishing the model would give away, not its text."
        sentences.append(Sentence(text, "leak", "attacks"))
    return sentences


def _released(looks: Sequence[Look], attacks: pd.DataFrame) -> Sentence:
    judged = [look for look in looks if look.level != "unknown"]
    if not judged:
        return Sentence(_unjudged(looks, attacks), "unknown", "attacks")
    seen = [look for look in judged if look.level == "leak"]
    best, number = judged[0], len(judged)
    alone = f"Membership: the attack “{best.title}”"
    if seen:
        can = "can tell records used from records nobody used"
        text = f"{alone} {can}; it" if number == 1 else (
            f"Membership: {len(seen)} of {number} attacks {can}. The clearest, “{best.title}”,"
        )  # fmt: skip
        found = f", and at 1% false alarms it finds {_percent(best.tpr)} of them" if best.tpr == best.tpr else ""
        return Sentence(f"{text} {_area(best)}{found}.", "leak", "attacks")
    cannot = "cannot tell records used from records nobody used" if number == 1 else (
        f"Membership: none of {number} attacks can tell records used from records nobody used"
    )  # fmt: skip
    said = f"{alone} {cannot}; it {_area(best)}" if number == 1 else (
        f"{cannot}. The strongest, “{best.title}”, {_area(best)}"
    )  # fmt: skip
    widest = max(look.high for look in judged)
    if any(look.level == "unsure" for look in judged):
        return Sentence(f"{said}; with so few records {_percent(widest)} cannot be ruled out.", "unsure", "attacks")
    return Sentence(f"{said}.", "chance", "attacks")


def _unjudged(looks: Sequence[Look], attacks: pd.DataFrame) -> str:
    greyed = attacks["greyed"].astype(bool) if "greyed" in attacks else pd.Series(dtype=bool)
    if looks and greyed.any():
        return (
            "Membership: not to be judged. Records used and records kept aside can be told apart without any model, "
            "so no attack shows what the text gives away."
        )
    return "Membership: no attack could be carried out; the attack table says why."


def _area(look: Look) -> str:
    return (
        f"puts the record that was used first in {_percent(look.auc)} of pairs ({_percent(look.low)} to "
        f"{_percent(look.high)}, all attacks allowed for; chance is 50%)"
    )


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"
