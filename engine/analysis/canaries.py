"""Findings from canaries that the corpus itself holds: accepted spans with the label CANARY.

Whoever plants canaries before the import marks them so; the split by chance then decides which are used, and those of
the holdout show what chance echoes. A corpus without any gets no number here: the study `canary-audit` plants its own.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.analysis import intervals
from engine.analysis.findings import Reference
from engine.analysis.leaks import NO_HOLDOUT
from engine.analysis.make import finding, missing
from engine.analysis.part import Part
from engine.analysis.prepare import Prepared
from engine.attacks.base import Side
from engine.attacks.canary_echo import Echoes, words_between

STAGE = "planted canaries"
LABEL = "CANARY"
NONE = (
    f"no accepted span has the label {LABEL}: run the study “Canary audit”, which plants canaries and looks for them, "
    f"or give planted values that label in the `spans` column of the file and import it again"
)
NONE_HELD = "all canaries lie in the training part"
COLUMNS = ["record_id", "reference", "start", "end", "whole", "longest_words", "words"]


def examine_canaries(prepared: Prepared) -> Part:
    """Return how many planted canaries come back, whole and by half, against train, holdout and real records."""
    prepared.report(STAGE, 0, 3)
    part = Part()
    train = planted(prepared.train)
    holdout = planted(prepared.holdout)
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


def planted(side: Side) -> pd.DataFrame:
    """Return a side's distinct canaries: record_id, start, end, unit, secret (word numbers), words (how many)."""
    columns = ["record_id", "start", "end", "unit", "secret", "words"]
    spans = side.spans
    marked = None if spans is None else spans[spans["label"].astype(str).str.upper() == LABEL]
    if marked is None or marked.empty:
        return pd.DataFrame(columns=columns)
    row_of = {record: row for row, record in enumerate(side.record_ids)}
    rows = []
    for record, start, end in zip(marked["record_id"], marked["start"], marked["end"], strict=True):
        row = row_of.get(str(record))
        secret = () if row is None else tuple(words_between(side.words, row, int(start), int(end)))
        if row is not None and secret:
            rows.append((str(record), int(start), int(end), side.units[row], secret, len(secret)))
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
