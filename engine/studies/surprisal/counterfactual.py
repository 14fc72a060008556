"""Counterfactual memorisation: how much better models know a record when it was among what they were trained on.

mem(x) = mean over models with x in training of M(f, x) − mean over models without x of M(f, x), where M is how well a
model does on x (Zhang, Ippolito, Lee, Jagielski, Tramèr and Carlini 2023, Counterfactual Memorization in Neural
Language Models, definition 2.1; there M is the share of tokens ranked first, which is `right` here).

What every model knows alike, common phrases for instance, cancels out. With few models a record's value is noisy: the
mean over records has an interval, a single record's value has the spread of its models beside it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from engine.examine.stats import intervals

MOST = 200
MEASURES: Mapping[str, str] = {"right": "share of tokens ranked first", "nats": "log-likelihood a token, nats"}


def memorised(scores: pd.DataFrame) -> pd.DataFrame:
    """Return, for each record with models on both sides, its counterfactual memorisation, largest first.

    Args:
        scores: as `engine.studies.surprisal.shown.tables_of` reads them.

    Returns:
        Columns record_id, unit, memorised (share of tokens, −1 to 1), memorised_nats (a token), spread (standard
        deviation of the share over models with the record), with, without (numbers of models), percentile.
    """
    frame = scores.assign(nats=-scores["surprisal"] / scores["tokens"].clip(lower=1))
    inside, outside = (frame[frame["side"] == side].groupby("record_id") for side in ("included", "excluded"))
    with_x, without = inside[["right", "nats"]].mean(), outside[["right", "nats"]].mean()
    both = with_x.index.intersection(without.index)
    found = pd.DataFrame(
        {
            "record_id": both.astype(str),
            "unit": frame.drop_duplicates("record_id").set_index("record_id").loc[both, "unit"].to_numpy(),
            "memorised": (with_x.loc[both, "right"] - without.loc[both, "right"]).to_numpy(float),
            "memorised_nats": (with_x.loc[both, "nats"] - without.loc[both, "nats"]).to_numpy(float),
            "spread": inside["right"].std().reindex(both).to_numpy(float),
            "with": inside.size().loc[both].to_numpy(),
            "without": outside.size().loc[both].to_numpy(),
        }
    )
    found = found.sort_values("memorised_nats", ascending=False, kind="stable").reset_index(drop=True)
    found["percentile"] = 100.0 * (1.0 - np.arange(len(found)) / max(1, len(found)))
    return found


def tables_of(scores: pd.DataFrame, seed: int = 0) -> dict[str, pd.DataFrame]:
    """Return the records most memorised (at most 200), the distribution over all, and the means with intervals."""
    found = memorised(scores)
    if not len(found):
        return {}
    rows = []
    for name, column in (("right", "memorised"), ("nats", "memorised_nats")):
        value = intervals.mean(found[column].to_numpy(float), seed, found["unit"].to_numpy(object))
        rows.append(
            {"measure": MEASURES[name], "mean": value.value, "low": value.low, "high": value.high,
             "records": value.n, "largest": float(found[column].max()),
             **{f"quantile_{q}": float(found[column].quantile(q / 100)) for q in (5, 50, 95)}}
        )  # fmt: skip
    return {"memorised": found.head(MOST), "memorised_mean": pd.DataFrame(rows)}
