"""What many attacks say together: intervals that hold for all of them at once, so that chance is not called a leak.

Fifteen attacks with 95% intervals each miss once in two examinations. Here every interval is widened so that all
hold together with 95% (Bonferroni; Dunn 1961, Multiple comparisons among means), whether attacks depend on each
other or not; one that rests on Student's t, on its quantile. p values are corrected by Holm 1979 (A simple
sequentially rejective multiple test procedure).
An area is a leak where its interval lies above chance and its permutation p value, times the attacks, is small too.
A greyed attack (members and others can be told apart without any model) is never judged by itself; it is only said
whether it does better than the words alone do (Das, Zhang and Tramèr 2024, Blind baselines beat membership inference
attacks for foundation models).

Light: the web process imports this.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from engine.examine.findings.sentence import BARELY, NEGLIGIBLE, Level, Sentence
from engine.examine.stats.intervals import t_quantile
from engine.examine.stats.roc import PERMUTATIONS

LEVEL = 0.95
CHANCE = 0.5
FALSE_ALARMS = 0.01  # the rate at which true positives are judged as well
BLIND = "no model (blind)"
GENERATOR = "generator"


@dataclass(frozen=True)
class JudgedAttack:
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

    @property
    def nothing(self) -> bool:
        """Whether nothing beyond chance was seen, though too few records keep the interval wide."""
        found = self.tpr != self.tpr or self.tpr <= FALSE_ALARMS + NEGLIGIBLE
        return self.level == "unsure" and self.auc <= CHANCE + BARELY and found


def wider(intervals: int, freedom: float = math.inf) -> float:
    """Return by what factor a two-sided 95% interval grows so that `intervals` of them hold together.

    Args:
        freedom: of Student's t, where the interval's ends lie at its quantile.
    """
    return _quantile(intervals, freedom) / _quantile(1, freedom)


def _quantile(intervals: int, freedom: float) -> float:
    return t_quantile(1 - (1 - LEVEL) / (2 * max(1, intervals)), freedom)


def judge(attacks: pd.DataFrame | None) -> list[JudgedAttack]:
    """Return every attack but the blind one with joint intervals; clearest first, those without a number last.

    Args:
        attacks: rows of the table `attacks`; None where it was not measured. Without `freedom` (an earlier edition's
            table) an interval is widened on the normal quantile.
    """
    if attacks is None or attacks.empty:
        return []
    rows = [row for row in attacks.to_dict("records") if row["observes"] != BLIND]
    usable = [row for row in rows if _number(row["auc"])]
    intervals = len(usable) + sum(_number(row.get("tpr_01")) for row in usable)
    alone = _alone(attacks)
    judged = [_judged({str(k): v for k, v in row.items()}, intervals, len(usable), alone) for row in rows]
    return sorted(judged, key=lambda one: (one.level == "unknown", -_strength(one)))


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


def _judged(row: Mapping[str, object], intervals: int, attacks: int, alone: float) -> JudgedAttack:
    factor, freedom = wider(intervals), _float(row.get("freedom"))
    area_factor = factor if freedom != freedom else wider(intervals, freedom)
    auc, low, high = (_float(row.get(name)) for name in ("auc", "low", "high"))
    tpr, tpr_low = _float(row.get("tpr_01")), _float(row.get("tpr_01_low"))
    low, high = max(0.0, auc - area_factor * (auc - low)), min(1.0, auc + area_factor * (high - auc))
    tpr_low = max(0.0, tpr - factor * (tpr - tpr_low))
    greyed = bool(row.get("greyed"))
    sure = _agrees(_float(row.get("p")), attacks)
    level = "unknown" if greyed else _level(low, high, tpr_low, sure)
    attack, title, observes = (str(row[name]) for name in ("attack", "title", "observes"))
    return JudgedAttack(attack, title, observes, auc, low, high, tpr, tpr_low, level, greyed and sure and low > alone)


def _agrees(p: float, attacks: int) -> bool:
    """Return whether membership dealt out again finds an area beyond chance, with as many attacks allowed for.

    So it does where p is not known (tables of earlier editions), and where it is the least that the deals can give.
    """
    return p != p or p * attacks <= 1 - LEVEL or p <= 1 / (1 + PERMUTATIONS)


def _level(low: float, high: float, tpr_low: float, sure: bool) -> Level:
    if low != low or high != high:
        return "unknown"
    if (low > CHANCE and sure) or tpr_low > FALSE_ALARMS:
        return "leak"
    return "chance" if high <= CHANCE + NEGLIGIBLE else "unsure"


def _strength(one: JudgedAttack) -> float:
    """Return how far an attack lies above chance, in widths of its interval; the better of its two numbers."""
    if one.auc != one.auc or one.low != one.low:
        return -math.inf
    area = (one.auc - CHANCE) / max(one.auc - one.low, 1e-9)
    if one.tpr_low != one.tpr_low:
        return area
    return max(area, (one.tpr - FALSE_ALARMS) / max(one.tpr - one.tpr_low, 1e-9))


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


def benjamini_hochberg(values: Sequence[float]) -> list[float]:
    """Return p values corrected for the share of false claims among all claims; NaN stays NaN and is not counted.

    Source: Benjamini and Hochberg 1995 (Controlling the false discovery rate), section 3.1.
    """
    known = sorted((value, place) for place, value in enumerate(values) if value == value)
    corrected = [math.nan] * len(values)
    lowest = 1.0
    for number, (value, place) in reversed(list(enumerate(known, start=1))):
        lowest = min(lowest, len(known) / number * value)
        corrected[place] = lowest
    return corrected


def membership(attacks: pd.DataFrame | None) -> list[Sentence]:
    """Return the sentence about membership; a second one where attacks on the generator itself see it."""
    if attacks is None:
        return [Sentence("Membership: not measured in this examination. Examine the run again.", "unknown", "attacks")]
    judged = judge(attacks)
    released = [one for one in judged if one.observes != GENERATOR]
    sentences = [_released(released, attacks)]
    inside = [one for one in judged if one.observes == GENERATOR and one.level == "leak"]
    if inside:
        text = f"The model itself: “{inside[0].title}” can tell records used from others: it {_area(inside[0])}."
        text += " That is what publishing the model would give away, not its text."
        sentences.append(Sentence(text, "leak", "attacks"))
    return sentences


def _released(every: Sequence[JudgedAttack], attacks: pd.DataFrame) -> Sentence:
    judged = [one for one in every if one.level != "unknown"]
    if not judged:
        beyond = [one for one in every if one.beyond]
        return _beyond(beyond, every, attacks) if beyond else Sentence(_unjudged(every, attacks), "unknown", "attacks")
    seen = [one for one in judged if one.level == "leak"]
    best, number = judged[0], len(judged)
    alone = f"Membership: the attack “{best.title}”"
    if seen:
        can = "can tell records used from records nobody used"
        found = f", and at 1% false alarms it finds {_percent(best.tpr)} of them" if best.tpr == best.tpr else ""
        if number == 1:
            return Sentence(f"{alone} {can}; it {_area(best)}{found}.", "leak", "attacks")
        text = f"Membership: {len(seen)} of {number} attacks {can}."
        return Sentence(text, "leak", "attacks", f"The clearest, “{best.title}”, {_area(best)}{found}.")
    cannot = "cannot tell records used from records nobody used" if number == 1 else (
        f"Membership: none of {number} attacks can tell records used from records nobody used"
    )  # fmt: skip
    level: Level = "unsure" if any(one.level == "unsure" for one in judged) else "chance"
    nothing = level == "unsure" and all(one.nothing for one in judged if one.level == "unsure")
    end = "."
    if level == "unsure":
        most = _percent(max(one.high for one in judged))
        end = f"; with so few records one could be right in up to {most} of pairs unseen (chance is 50%)."
    if number == 1:
        return Sentence(f"{alone} {cannot}; it {_area(best)}{end}", level, "attacks", nothing=nothing)
    more = f"The strongest, “{best.title}”, {_area(best)}."
    return Sentence(f"{cannot}{end}", level, "attacks", more, nothing=nothing)


def _beyond(beyond: Sequence[JudgedAttack], every: Sequence[JudgedAttack], attacks: pd.DataFrame) -> Sentence:
    area, low, high = blind_row(attacks) or (math.nan, math.nan, math.nan)
    measured = sum(one.auc == one.auc for one in every)
    text = (
        "Membership: records used and records kept aside differ by themselves; their words alone, without any model, "
        f"order {_percent(area)} of pairs ({_percent(low)} to {_percent(high)}; chance is 50%). {len(beyond)} of "
        f"{measured} attacks do clearly better than that. The clearest, “{beyond[0].title}”, {_area(beyond[0])}."
    )
    return Sentence(text, "leak", "attacks")


def _unjudged(every: Sequence[JudgedAttack], attacks: pd.DataFrame) -> str:
    greyed = attacks["greyed"].astype(bool) if "greyed" in attacks else pd.Series(dtype=bool)
    if every and greyed.any():
        return (
            "Membership: not to be judged. Records used and records kept aside can be told apart without any model, "
            "and no attack does clearly better, so none shows what the text gives away."
        )
    return "Membership: no attack could be carried out; the attack table says why."


def _area(one: JudgedAttack) -> str:
    return (
        f"puts the record that was used first in {_percent(one.auc)} of pairs ({_percent(one.low)} to "
        f"{_percent(one.high)}, all attacks allowed for; chance is 50%)"
    )


def _percent(value: float) -> str:
    return f"{100 * value:.1f}%"
