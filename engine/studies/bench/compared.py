"""Tables over the repeats of a study's settings: means with intervals, differences between settings, and words.

A verdict is `better` or `worse` where Welch's test, corrected for all differences of the table, falls below 0.05;
else `cannot tell`. Up to 20 differences are corrected by Holm's rule, so that one false claim is made in twenty tables
at most; more by Benjamini and Hochberg's, so that one claim in twenty is false. With few repeats both hold where the
two settings vary alike; how far off they may be is said (`unlike`). What has no value is `not measured`, what has fewer
than three repeats `too few repeats`, and what differs while no repeat of either varies `never varied`, since no test
fits it. What moves with the number of texts is held against each other at the largest number that both settings have,
and is `other number of texts` where there is none. None of these is ever called `cannot tell`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence

import pandas as pd

from engine.examine.findings.findings import CLOSER
from engine.examine.findings.sizes import FEWER, in_common, moved
from engine.examine.stats.over_repeats import (
    LEAST,
    LEVEL,
    detectable,
    difference,
    pairs_needed,
    smallest_p,
    spread,
    unlike,
)
from engine.examine.stats.simultaneous import benjamini_hochberg, holm
from engine.figures.base import listed
from engine.studies.base import TableRow
from engine.studies.bench import measured

BETTER, WORSE, UNTOLD = "better", "worse", "cannot tell"
UNMEASURED, FEW, SIZED = "not measured", "too few repeats", "other number of texts"
FIXED = "never varied"
SUMMARY = ["variant", "measure", "title", "direction", "value", "low", "high", "real", "repeats", "why"]
COMPARISON = ["one", "other", "measure", "title", "difference", "low", "high", "p", "p_corrected", "p_paired",
              "repeats", "at_texts", "verdict"]  # fmt: skip
ALPHA = 1.0 - LEVEL
OFTEN = 1.2  # times as often as it should: from here on it is said how often a test errs at worst
MANY = 20  # differences of one table above which the share of false claims is held, not the chance of any


def summary(runs: pd.DataFrame, keys: Sequence[str] = ()) -> pd.DataFrame:
    """Return a row a setting and measure: the mean over repeats with its 95% interval, and what real text gives.

    Args:
        runs: variant, repeat, measure, title, direction, value, real, why, one row a run and measure. keys: columns
            that belong to a setting and are kept.
    """
    rows = []
    for (name, measure), part in runs.groupby(["variant", "measure"], sort=False):
        found, first = spread(part["value"], measured.bounds(str(measure))), part.iloc[0]
        why = "" if found.repeats else str(part["why"].iloc[-1])
        rows.append(
            {"variant": name, **{key: first[key] for key in keys}, "measure": measure, "title": first["title"],
             "direction": first["direction"], "value": found.value, "low": found.low, "high": found.high,
             "real": spread(part["real"]).value, "repeats": found.repeats, "why": why}
        )  # fmt: skip
    return pd.DataFrame(rows, columns=[SUMMARY[0], *keys, *SUMMARY[1:]])


def scored(part: pd.DataFrame) -> dict[int, float]:
    """Return what is compared of each repeat: the value; where closer to real is better, its distance from real."""
    closer = part["direction"].iloc[0] == CLOSER
    values = (part["value"] - part["real"]).abs() if closer else part["value"]
    return dict(zip(part["repeat"].astype(int), values.astype(float), strict=True))


def compare(runs: pd.DataFrame, pairs: Iterable[tuple[str, str]]) -> pd.DataFrame:
    """Return each pair of settings measure by measure: one minus other, interval, p values, verdict about `one`.

    Args:
        runs: as `summary` takes them. pairs: names of settings; those without a run yet are left out.
    """
    parts = {(str(name), str(m)): part for (name, m), part in runs.groupby(["variant", "measure"], sort=False)}
    rows: list[TableRow] = []
    for one, other in pairs:
        for measure in dict.fromkeys(runs["measure"]):
            if (one, measure) not in parts or (other, measure) not in parts:
                continue
            first, second = parts[one, measure], parts[other, measure]
            texts = 0
            if sized := _sizes_apart(str(measure), first, second):
                cut = _at_fewer(first, second)
                first, second, texts = (first, second, 0) if cut is None else cut
            ours, theirs = scored(first), scored(second)
            repeats = sorted(set(ours) | set(theirs))
            found = difference([ours.get(r, math.nan) for r in repeats], [theirs.get(r, math.nan) for r in repeats])
            good = _sign(str(first["direction"].iloc[0]))
            word = UNMEASURED if not min(found.first, found.second) else UNTOLD if found.enough else FEW
            p = found.p
            if word == UNTOLD and sized and not texts:
                word, p = SIZED, math.nan
            rows.append(
                {"one": one, "other": other, "measure": str(measure), "title": str(first["title"].iloc[0]),
                 "difference": found.value, "low": found.low, "high": found.high, "p": p, "p_corrected": math.nan,
                 "p_paired": found.p_paired, "repeats": min(found.first, found.second), "at_texts": texts,
                 "verdict": word, "good": good}
            )  # fmt: skip
    return judged(rows)


def _sizes_apart(measure: str, first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Return whether a measure moves with the number of texts and one setting was measured on clearly more."""
    if measure not in measured.METRIC_NAMES or not all("of_texts" in part for part in (first, second)):
        return False  # of an earlier edition, or no measure of two sets of texts
    sizes = [float(texts) for part in (first, second) for texts in part.loc[part["value"].notna(), "of_texts"]]
    known = [texts for texts in sizes if texts == texts]
    return bool(known) and moved(measure, min(known), max(known))


def _at_fewer(first: pd.DataFrame, second: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, int] | None:
    """Return both settings' rows at the largest number of texts that every repeat with a value has, and that number."""
    rows = [part[part["value"].notna()] for part in (first, second)]
    if any(part.empty or FEWER not in part for part in rows):
        return None
    values = [[_by_size(row) for _, row in part.iterrows()] for part in rows]
    shared = in_common([own for side in values for own in side])
    if shared is None:
        return None
    sizes, cut = iter(shared), []
    for part, side in zip(rows, values, strict=True):
        taken = [own[next(sizes)] for own in side]
        cut.append(part.assign(value=[value for value, _ in taken], real=[real for _, real in taken]))
    return cut[0], cut[1], min(shared)


def _by_size(row: pd.Series) -> dict[int, tuple[float, float]]:
    """Return number of texts -> value and what real text gives, of one repeat; only where it can be compared.

    A repeat that an earlier edition measured does not say of how many texts.
    """
    kept = row[FEWER]
    found = json.loads(kept) if isinstance(kept, str) else {}
    if not math.isnan(row["of_texts"]):
        found[row["of_texts"]] = (row["value"], row["real"])
    closer = row["direction"] == CLOSER
    return {
        int(texts): (float(value), float(real))
        for texts, (value, real) in found.items()
        if not math.isnan(value) and not (closer and math.isnan(real))
    }


def judged(rows: list[TableRow], columns: Sequence[str] = COMPARISON) -> pd.DataFrame:
    """Return the rows as a table, with p values corrected for all of them and the verdicts that follow.

    Args:
        rows: of these columns, `verdict` as it is where nothing was shown, and `good`: 1 where more is better, else -1.
    """
    values = [_number(row["p"]) for row in rows]
    tests = sum(value == value for value in values)
    for row, p in zip(rows, (holm if tests <= MANY else benjamini_hochberg)(values), strict=True):
        row["p_corrected"] = p
        if row["verdict"] == UNTOLD and p != p:
            row["verdict"] = FIXED
        elif row["verdict"] == UNTOLD and p < ALPHA:
            row["verdict"] = BETTER if _number(row["good"]) * _number(row["difference"]) > 0 else WORSE
    return pd.DataFrame(rows, columns=list(columns))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan


def _sign(direction: str) -> int:
    return 1 if direction == "higher is better" else -1


def sentences(comparison: pd.DataFrame) -> list[str]:
    """Return a sentence a pair of settings: in what one is better or worse, what cannot be told or was not measured."""
    said = []
    for (one, other), rows in comparison.groupby(["one", "other"], sort=False):
        parts = []
        for verdict, words in (
            (BETTER, "better in {}"), (WORSE, "worse in {}"), (UNTOLD, "no difference can be told in {}"),
            (UNMEASURED, "not measured: {}"), (FEW, f"fewer than {LEAST} repeats: {{}}"),
            (FIXED, "apart by the same in every repeat, so that no test fits: {}"),
            (SIZED, "moves with the number of texts, of which they have none in common: {}"),
        ):  # fmt: skip
            held = rows[rows["verdict"] == verdict]
            titles = [
                f"“{title}”{f' at {texts:,} texts' if texts else ''}"
                for title, texts in zip(held["title"], held["at_texts"], strict=True)
            ]
            if titles:
                parts.append(words.format(listed(titles)))
        said.append(f"{one}, against {other}: {'; '.join(parts)}.")
    return said


def reach(repeats: int, tests: int) -> list[str]:
    """Return what the permutation of so many repeats can show at all, and how many tests are corrected, in words.

    Args:
        repeats: a setting has. tests: of the table, corrected together.
    """
    if repeats < LEAST:
        return [
            f"With {repeats} repeat{'s' if repeats != 1 else ''} a setting no interval and no difference is given; "
            f"{LEAST} are the fewest."
        ]
    least = smallest_p(repeats)
    shown = "so it can never fall below 0.05" if least > ALPHA else "which is below 0.05"
    enough = pairs_needed()
    more = f"; {enough} repeats are the fewest with which it can" if repeats < enough else ""
    said = [
        f"With {repeats} repeats the paired permutation test has no p value below {least:.3g}, {shown} for a single "
        f"test{more}."
    ]
    if tests > MANY:
        said.append(
            f"{tests} tests are corrected together, so that of what is called a difference one in twenty is false on "
            "average (Benjamini and Hochberg)."
        )
    elif tests > 1:
        said.append(
            f"{tests} tests are corrected together, so that chance is called a difference in one study of twenty "
            f"(Holm); the permutation test would need {pairs_needed(tests)} repeats to show the clearest of them."
        )
    return said


def power(repeats: int, tests: int) -> list[str]:
    """Return what so many repeats a setting can show at all, in words.

    Args:
        repeats: a setting has. tests: differences in the table, corrected together.
    """
    said = reach(repeats, tests)
    if repeats >= LEAST:
        said.append(
            f"Welch's test, which takes repeats to vary normally, sees a single difference of {detectable(repeats):.1f}"
            f" standard deviations of a repeat four times in five{_among(repeats, tests)}; smaller ones it mostly "
            "cannot tell."
        )
        often = unlike(repeats, tests)
        if often >= OFTEN:
            said.append(
                "It errs as seldom as it should where both settings vary alike. Where one varies several times as much "
                f"as the other, it calls chance a difference up to {often:.1f} times as often; more repeats mend that."
            )
    return said


def _among(repeats: int, tests: int) -> str:
    if not 1 < tests <= MANY:
        return ""
    return f", and the clearest of {tests} where it is {detectable(repeats, tests):.1f}"


def in_words(comparison: pd.DataFrame, repeats: int, asked: int) -> pd.DataFrame:
    """Return the sentences about the differences and what the repeats can show, as a table.

    Args:
        repeats: that every setting has run. asked: that it was to run; fewer are there of a study that goes on or was
            stopped.
    """
    tests = int(comparison["p"].notna().sum()) if len(comparison) else 0
    said = [*sentences(comparison), *fewer_values(comparison, repeats), *so_far(repeats, asked)]
    return pd.DataFrame({"sentence": [*said, *power(repeats, tests)]})


def so_far(repeats: int, asked: int) -> list[str]:
    """Return what a study that is not at its end may be read for, in a sentence; none where all repeats are there."""
    if repeats >= asked:
        return []
    return [
        f"{repeats} of {asked} repeats are there. The tests hold for a number of repeats that was fixed beforehand: "
        "who looks after each one and stops at the first difference calls chance a difference more often than they say."
    ]


def fewer_values(comparison: pd.DataFrame, repeats: int) -> list[str]:
    """Return which differences rest on fewer repeats than have run, in a sentence; none where none does."""
    rows = comparison[comparison["repeats"].between(1, repeats - 1)] if len(comparison) else comparison
    if rows.empty:
        return []
    parts = [
        f"“{title}” of {one} against {other} ({count} of {repeats})"
        for title, one, other, count in zip(rows["title"], rows["one"], rows["other"], rows["repeats"], strict=True)
    ]
    return [f"Not every repeat has a value, and which ones do may be no chance: {listed(parts)}."]


def cell(row: pd.Series) -> str:
    """Return a mean with half its interval (its upper half) as words; the mean alone where there is no interval."""
    value, high = float(row["value"]), float(row["high"])
    if value != value:
        return UNMEASURED
    if high != high:
        return f"{value:.3g}"
    digits = max(0, 1 - math.floor(math.log10(max(high - value, 1e-9))))
    return f"{value:.{digits}f} ± {high - value:.{digits}f}"
