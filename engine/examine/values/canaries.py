"""Findings from canaries that the corpus itself holds: a kept column named `canary` with the value planted in a record.

Whoever plants canaries before the import keeps that column; the split by chance then decides which are used, and those
of the holdout show what chance echoes. A corpus without any gets no number here: the study `canary-audit` plants its
own.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.words import cut
from engine.examine.base import Side
from engine.examine.findings.findings import Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.registry import CANARIES
from engine.examine.stats import intervals
from engine.examine.values.canary_echo import Echoes
from engine.examine.values.leaks import NO_HOLDOUT

STAGE = "planted canaries"
NONE = (
    "this corpus holds no canary: run the study “Canary audit”, which plants canaries and looks for them, or plant "
    "some before the import and keep a column named canary with the value planted in each record"
)
NONE_HELD = "all canaries lie in the training part"
COLUMNS = ["record_id", "reference", "whole", "longest_words", "words"]


def examine_canaries(prepared: Prepared) -> Part:
    """Return how many planted canaries come back, whole and by half, against train, holdout and real records."""
    prepared.report(STAGE, 0, 3)
    part = Part()
    train = planted(prepared, prepared.train, prepared.given.train)
    holdout = planted(prepared, prepared.holdout, prepared.given.holdout)
    holdout = holdout[~holdout["secret"].isin(set(train["secret"]))].reset_index(drop=True)
    if train.empty:
        part.findings += [missing("canary_echo", "train", NONE), missing("canary_partial", "train", NONE)]
        prepared.report(STAGE, 3, 3)
        return part
    echoes = _echoes(prepared.synthetic, train, holdout)
    whole = {}
    for step, (name, table) in enumerate((("train", train), ("holdout", holdout)), 1):
        whole[name] = _one_side(part, prepared, name, table, echoes)  # type: ignore[arg-type]
        prepared.report(STAGE, step, 3)
    if len(holdout):
        part.findings.append(
            finding("canary_echo_excess", "holdout", intervals.difference_independent(whole["train"], whole["holdout"]))
        )
    if len(prepared.holdout):
        real = longest(_echoes(prepared.holdout, train, holdout), train) == train["words"].to_numpy()
        part.findings.append(
            finding("canary_echo", "baseline", intervals.share(real),
                    what="holdout records in the place of the synthetic ones, against the training part's canaries")
        )  # fmt: skip
    prepared.report(STAGE, 3, 3)
    return part


def planted(prepared: Prepared, side: Side, records: pd.DataFrame) -> pd.DataFrame:
    """Return a side's distinct canaries: record_id, unit, secret (word numbers), words (how many).

    A value that does not stand in its own record was not planted there and is left out.
    """
    columns = ["record_id", "unit", "secret", "words"]
    if CANARIES not in records:
        return pd.DataFrame(columns=columns)
    values = [value if isinstance(value, str) else "" for value in records[CANARIES]]
    wanted = cut(values, prepared.vocabulary)
    rows = []
    for row in np.flatnonzero(wanted.counts):
        secret = wanted.of(int(row)).tolist()
        own = Echoes(side.words.take(np.array([row])), set(secret))
        if own.longest(secret) == len(secret):
            rows.append((side.record_ids[row], side.units[row], tuple(secret), len(secret)))
    return pd.DataFrame(rows, columns=columns).drop_duplicates("secret").reset_index(drop=True)


def _echoes(side: Side, *tables: pd.DataFrame) -> Echoes:
    return Echoes(side.words, {word for table in tables for secret in table["secret"] for word in secret})


def longest(echoes: Echoes, table: pd.DataFrame) -> NDArray[np.int64]:
    """Return how many words of each canary stand in a row at most."""
    return np.array([echoes.longest(secret) for secret in table["secret"]], np.int64)


def _one_side(
    part: Part, prepared: Prepared, name: Reference, table: pd.DataFrame, echoes: Echoes
) -> intervals.Interval:
    """Add a side's findings and rows; return the share that came back whole."""
    if table.empty:
        why = NONE_HELD if len(prepared.holdout) else NO_HOLDOUT
        part.findings += [missing("canary_echo", name, why), missing("canary_partial", name, why)]
        return intervals.share(np.zeros(0, bool))
    runs, words = longest(echoes, table), table["words"].to_numpy(np.int64)
    units = table["unit"].to_numpy(object) if prepared.grouped else None
    whole = intervals.share(runs == words, units)
    part.findings += [
        finding("canary_echo", name, whole),
        finding("canary_partial", name, intervals.share(2 * runs >= words, units)),
    ]
    rows = table.assign(reference=name, whole=runs == words, longest_words=runs)[COLUMNS]
    part.add(Part(tables={"canaries": rows}))
    return whole
