"""What many attacks say together: intervals that hold for all of them at once, so that chance is not called a leak.

Fifteen attacks with 95% intervals each miss once in two examinations. Here every interval is widened so that all
hold together with 95% (Bonferroni; Dunn 1961, Multiple comparisons among means), whether attacks depend on each
other or not. p values are corrected by Holm 1979 (A simple sequentially rejective multiple test procedure).
A greyed attack (members and others can be told apart without any model) is never judged by itself; it is only said
whether it does better than the words alone do (Das, Zhang and Tramèr 2024, Blind baselines beat membership inference
attacks for foundation models).

Light: the web process imports this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import pandas as pd

from engine.examine.sentence import NEGLIGIBLE, Level, Sentence

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
        beyond: greyed, but its joint interval lies above what the blind baseline's own allows.
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
    beyond: bool = False


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
    usable = [row for row in rows if _number(row["auc"])]
    looks = len(usable) + sum(_number(row.get("tpr_01")) for row in usable)
    alone = _alone(attacks)
    judged = [_look({str(k): v for k, v in row.items()}, looks, alone) for row in rows]
    return sorted(judged, key=lambda look: (look.level == "unknown", -_strength(look)))


def blind_row(attacks: pd.DataFrame | None) -> tuple[float, float, float] | None:
    """Return the blind baseline's area under the ROC curve with its interval, None where it has none."""
    if attacks is None or attacks.empty:
        return None
    for row in attacks[attacks["observes"] == BLIND].to_dict("records"):
        found = tuple(_float(row.get(name)) for name in ("auc", "low", "high"))
        if all(math.isfinite(value) for value in found):
            return found[0], found[1], found[2]
    return None


def _alone(attacks: pd.DataFrame) -> float:
    """Return the area that words alone may reach in either direction; infinite where that is not known."""
    found = blind_row(attacks)
    return math.inf if found is None else max(CHANCE, found[2], 1 - found[1])


def _number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _look(row: Mapping[str, object], looks: int, alone: float) -> Look:
    factor = wider(looks)
    auc, low, high = (_float(row.get(name)) for name in ("auc", "low", "high"))
    tpr, tpr_low = _float(row.get("tpr_01")), _float(row.get("tpr_01_low"))
    low, high = max(0.0, auc - factor * (auc - low)), min(1.0, auc + factor * (high - auc))
    tpr_low = max(0.0, tpr - factor * (tpr - tpr_low))
    greyed = bool(row.get("greyed"))
    level = "unknown" if greyed else _level(low, high, tpr_low)
    attack, title, observes = (str(row[name]) for name in ("attack", "title", "observes"))
    return Look(attack, title, observes, auc, low, high, tpr, tpr_low, level, greyed and low > alone)


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
        beyond = [look for look in looks if look.beyond]
        return _beyond(beyond, looks, attacks) if beyond else Sentence(_unjudged(looks, attacks), "unknown", "attacks")
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


def _beyond(beyond: Sequence[Look], looks: Sequence[Look], attacks: pd.DataFrame) -> Sentence:
    area, low, high = blind_row(attacks) or (math.nan, math.nan, math.nan)
    measured = sum(look.auc == look.auc for look in looks)
    text = (
        "Membership: records used and records kept aside differ by themselves; their words alone, without any model, "
        f"order {_percent(area)} of pairs ({_percent(low)} to {_percent(high)}; chance is 50%). {len(beyond)} of "
        f"{measured} attacks do clearly better than that. The clearest, “{beyond[0].title}”, {_area(beyond[0])}."
    )
    return Sentence(text, "leak", "attacks")


def _unjudged(looks: Sequence[Look], attacks: pd.DataFrame) -> str:
    greyed = attacks["greyed"].astype(bool) if "greyed" in attacks else pd.Series(dtype=bool)
    if looks and greyed.any():
        return (
            "Membership: not to be judged. Records used and records kept aside can be told apart without any model, "
            "and no attack does clearly better, so none shows what the text gives away."
        )
    return "Membership: no attack could be carried out; the attack table says why."


def _area(look: Look) -> str:
    return (
        f"puts the record that was used first in {_percent(look.auc)} of pairs ({_percent(look.low)} to "
        f"{_percent(look.high)}, all attacks allowed for; chance is 50%)"
    )


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"
