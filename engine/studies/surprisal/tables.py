"""Tables of the study `surprisal` that need no model: how often prefixes gave records away, answers on fragments."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd

from engine.errors import UserError
from engine.examine.stats.intervals import wilson
from engine.studies.surprisal import fragment
from engine.studies.surprisal import shown as analysis


def extraction_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Return, for each strategy and side, the share of prefixes whose continuation came out whole, and mean words."""
    rows = []
    for (strategy, side), part in table.groupby(["strategy", "side"], sort=False):
        hits, number = int((part["agreed"] >= part["asked"]).sum()), len(part)
        low, high = wilson(hits, number)
        rows.append(
            {"strategy": strategy, "side": side, "share": hits / max(1, number), "low": low, "high": high,
             "prefixes": number, "mean_words": float(part["agreed"].mean()),
             "mean_longest": float(part["longest"].mean())}
        )  # fmt: skip
    return pd.DataFrame(rows)


def fragments_of(scores: pd.DataFrame, public: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return, for each fragment, what its surprisal under the public model gives away."""
    known = bool(np.isfinite(scores["reference"].to_numpy(float)).all())
    name = "against untuned" if known else "a token"
    inside, outside = analysis.sides(scores, "main")
    clusters = [[f"{m}/{u}" for m, u in zip(side["model"], side["unit"], strict=True)] for side in (inside, outside)]
    held = [analysis.member_scores(side, name) for side in (inside, outside)]
    rows = []
    for record_id, value in zip(public["record_id"], analysis.member_scores(public, name), strict=True):
        try:
            found = dataclasses.asdict(fragment.assess(float(value), held[0], held[1], clusters[0], clusters[1], seed))
        except UserError as error:
            found = {"score": float(value), "answer": str(error)}
        rows.append({"record_id": record_id, "by": name, **found})
    return pd.DataFrame(rows)
