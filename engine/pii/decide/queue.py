"""What to look at first, the table of values, and how much detection probably missed.

Privacy posture: the value table shows private values to the custodian; it is made on demand and kept nowhere.

Sources: Clopper and Pearson 1934 for the interval; the risk order is this project's own rule.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from engine.pii.decide.decisions import ADDED_BY
from engine.pii.detect.settings import DEFAULT_THRESHOLD
from engine.pii.spans import folded

WEIGHTS = {"direct": 1.0, "quasi": 0.5, "none": 0.1}
REACH = 0.5


def span_risk(
    spans: pd.DataFrame, counts: pd.Series | None = None, thresholds: Mapping[str, float] | None = None
) -> pd.Series:
    """Return each span's risk in [0, 1], higher = look sooner; 0 where it was decided.

    Risk is type weight x doubt x rarity: weight 1 direct, 0.5 quasi; doubt 1 at the threshold and falling
    to 0.1 half a point away; rarity 1 / sqrt(number of spans with the value).

    Args:
        spans: resolved spans with score, label, identifier_type, decided.
        counts: how often each span's value occurs, same index; None counts every value as unique.
        thresholds: a label's threshold; 0.5 for other labels.
    """
    limit = spans["label"].map(lambda label: (thresholds or {}).get(label, DEFAULT_THRESHOLD)).astype(float)
    doubt = (1 - (spans["score"].astype(float) - limit).abs() / REACH).clip(0.1, 1.0)
    weight = spans["identifier_type"].map(WEIGHTS).fillna(0.1).astype(float)
    rarity = 1.0 if counts is None else 1.0 / np.sqrt(counts.astype(float).clip(lower=1.0))
    return (weight * doubt * rarity).where(~spans["decided"].astype(bool), 0.0)


def review_queue(
    spans: pd.DataFrame, counts: pd.Series | None = None, thresholds: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Return record_id, spans, undecided, risk, decided; riskiest first, ties by record id.

    A record's risk is 1 - prod(1 - span risk).
    """
    table = spans.assign(risk=span_risk(spans, counts, thresholds), open=~spans["decided"].astype(bool))
    grouped = table.groupby("record_id", sort=True)
    out = pd.DataFrame(
        {
            "spans": grouped.size(),
            "undecided": grouped["open"].sum().astype(int),
            "risk": grouped["risk"].agg(lambda r: 1.0 - float(np.prod(1.0 - r.to_numpy(dtype=float)))),
        }
    ).reset_index()
    out["decided"] = out["undecided"] == 0
    return out.sort_values(["risk", "record_id"], ascending=[False, True], ignore_index=True)


def value_table(spans: pd.DataFrame, texts: Mapping[str, str]) -> pd.DataFrame:
    """Return value, label, count, records, state, decided: one row a case-folded value and label.

    `state` is `accepted`, `rejected` or `mixed`; `decided` is True where every span of the value was.
    `value` is the value's most frequent spelling; most frequent values come first.
    """
    surface = [
        " ".join(texts[r][int(a) : int(b)].split()) for r, a, b in zip(spans["record_id"], spans["start"], spans["end"])
    ]
    table = spans.assign(value=surface, key=[folded(s) for s in surface])
    rows = []
    for (_, label), group in table.groupby(["key", "label"], sort=False):
        states = set(group["state"])
        rows.append(
            {
                "value": group["value"].mode().iloc[0],
                "label": label,
                "count": len(group),
                "records": group["record_id"].nunique(),
                "state": states.pop() if len(states) == 1 else "mixed",
                "decided": bool(group["decided"].all()),
            }
        )
    out = pd.DataFrame(rows, columns=["value", "label", "count", "records", "state", "decided"])
    return out.sort_values(["count", "value"], ascending=[False, True], ignore_index=True)


@dataclass(frozen=True)
class ResidualRisk:
    """Share of identifiers that detection misses: estimate, 95% interval, identifiers and misses seen."""

    value: float
    low: float
    high: float
    n: int
    missed: int
    records: int


def residual_risk(spans: pd.DataFrame, reviewed: Collection[str]) -> ResidualRisk | None:
    """Estimate the share of identifiers that detection left in, from records a person read.

    In a reviewed record the spans added by the custodian are what detection missed; the other accepted
    spans are what it found. The estimate holds for the rest of the corpus only if the reviewed records were
    not chosen by what detection found in them.

    Args:
        spans: resolved spans with record_id, recogniser, state.
        reviewed: ids of the records that were read to the end.

    Returns:
        None where no record was reviewed; without any identifier the upper bound is 1.
    """
    if not reviewed:
        return None
    rows = spans[spans["record_id"].isin(list(reviewed)) & (spans["state"] == "accepted")]
    missed, n = int((rows["recogniser"] == ADDED_BY).sum()), len(rows)
    low, high = clopper_pearson(missed, n)
    return ResidualRisk(missed / n if n else 0.0, low, high, n, missed, len(set(reviewed)))


def clopper_pearson(hits: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of hits / n at `level`; (0, 1) where n is 0."""
    from scipy.stats import beta

    if n == 0:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = 0.0 if hits == 0 else float(beta.ppf(tail, hits, n - hits + 1))
    high = 1.0 if hits == n else float(beta.ppf(1 - tail, hits + 1, n - hits))
    return low, high
