"""Which configurations of the filter can be told apart, measure by measure, and which cannot.

Differences come from the configurations' own intervals (squares of the distances to the limits added: Newcombe 1998b,
method 10; Zou and Donner 2008), widened so that all pairs and measures hold together at 95 %. The configurations write
from the same records, which makes their differences surer than this says; so "cannot be told apart" is on the safe
side. Configurations that wrote the same text for every record are one result, whatever the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import pandas as pd

from engine.examine.stats.simultaneous import wider
from engine.figures.base import listed

MEASURES: Mapping[str, str] = {
    "identifier_leakage": "outputs with a planted identifier",
    "canary_words": "words of a canary repeated",
    "semantic_similarity": "likeness to the clean record",
    "perplexity": "perplexity",
    "words": "words an output",
    "placeholders_per_100_words": "placeholders a hundred words",
}
HIGHER, LOWER, UNTOLD, SAME = "higher", "lower", "cannot be told apart", "the same text"
COLUMNS = ["measure", "one", "other", "difference", "low", "high", "verdict"]


def compare(tables: Mapping[str, pd.DataFrame], names: Sequence[str]) -> pd.DataFrame:
    """Return every pair of configurations measure by measure: difference (one - other), its interval, a verdict.

    Args:
        tables: the study's `summary` and `written`. names: the configurations, in order.
    """
    summary, pairs = tables["summary"], list(combinations(names, 2))
    same = {pair for pair in pairs if _wrote_the_same(tables.get("written"), *pair)}
    known = {name: rows for name in MEASURES if len(rows := _rows(summary, name, names)) > 1}
    factor = wider(sum(len(list(combinations(rows, 2))) for rows in known.values()))
    found = []
    for measure, rows in known.items():
        for one, other in pairs:
            if one not in rows or other not in rows:
                continue
            (a, a_low, a_high), (b, b_low, b_high) = rows[one], rows[other]
            low = a - b - factor * math.hypot(a - a_low, b_high - b)
            high = a - b + factor * math.hypot(a_high - a, b - b_low)
            told = HIGHER if low > 0 else LOWER if high < 0 else UNTOLD
            found.append((measure, one, other, a - b, low, high, SAME if (one, other) in same else told))
    return pd.DataFrame(found, columns=COLUMNS)


def sentences(comparison: pd.DataFrame, titles: Mapping[str, str]) -> list[str]:
    """Return one sentence a measure: which configurations differ, and that the others do not, as far as can be told."""
    said = []
    for measure, rows in comparison.groupby("measure", sort=False):
        higher: dict[str, list[str]] = {}
        for row in rows.itertuples():
            if row.verdict == HIGHER:
                higher.setdefault(str(row.one), []).append(str(row.other))
            elif row.verdict == LOWER:
                higher.setdefault(str(row.other), []).append(str(row.one))
        told = sum(map(len, higher.values()))
        parts = [f"{titles[one]} above {listed([titles[x] for x in others])}" for one, others in higher.items()]
        title = MEASURES[str(measure)]
        if not told:
            said.append(f"{title[0].upper()}{title[1:]}: no two configurations can be told apart.")
            continue
        rest = len(rows) - told
        tail = f"; the other {rest} of {len(rows)} pairs cannot be told apart" if rest else ""
        said.append(f"{title[0].upper()}{title[1:]}: {', '.join(parts)}{tail}.")
    same = dict.fromkeys((str(r.one), str(r.other)) for r in comparison.itertuples() if r.verdict == SAME)
    said += [f"{titles[a]} and {titles[b]} wrote the same text for every record: one result, not two." for a, b in same]
    return said


def _rows(summary: pd.DataFrame, measure: str, names: Sequence[str]) -> dict[str, tuple[float, float, float]]:
    """Return value and limits of each configuration that has all three."""
    rows = summary[summary["measure"] == measure].drop_duplicates("variant", keep="last").set_index("variant")
    limits = rows[["value", "low", "high"]].astype(float).dropna()
    return {name: tuple(limits.loc[name]) for name in names if name in limits.index}


def _wrote_the_same(written: pd.DataFrame | None, one: str, other: str) -> bool:
    if written is None:
        return False
    first, second = (written[written["variant"] == name].set_index("record")["mark"] for name in (one, other))
    return len(first) > 0 and first.sort_index().equals(second.sort_index())
