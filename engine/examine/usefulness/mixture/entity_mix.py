"""Findings on the types of identifying details: whether names, dates and places stand in it in real proportions."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.samples import halves
from engine.examine.usefulness.mixture.mixes import Mix, apart, at_fewer
from engine.examine.usefulness.sides import without_sources
from engine.examine.values.detected import Detected, detected
from engine.json_types import JSON

NAME = "entity_mix"
FEWEST = 20  # details a side
SIDES: tuple[Reference, ...] = ("train", "real")


def examine_entity_mix(prepared: Prepared) -> Part:
    """Return how far the shares of types among detected details are from those in one half of the real text."""
    if prepared.given.detector is None:
        return Part([missing(NAME, reference, "no detector was given") for reference in SIDES])
    made, real = detected(prepared, "synthetic"), detected(prepared, "train")
    first = halves(prepared.train.units, prepared.seed, "halves")
    in_first = dict(zip(prepared.train.record_ids, first, strict=True))
    usable = without_sources(made.side, in_first)
    labels = sorted({*made.spans["label"], *real.spans["label"]})
    ours, theirs = _mix(made, labels), _mix(real, labels)
    if usable is not None:
        ours = ours.take(usable)
    half = first[real.rows]
    target, other = (theirs.take(np.flatnonzero(side)) for side in (half, ~half))
    size = min(len(ours.counts), len(target.counts), len(other.counts))
    ours, target, other = (mix.drawn(size, prepared.seed) for mix in (ours, target, other))
    found = []
    cases: tuple[tuple[Reference, Mix], ...] = (("train", ours), ("real", other))
    for reference, mix in cases:
        settings: dict[str, JSON] = {"texts_a_side": size}
        if reference == "train":
            settings["own_sources_left_out"] = usable is not None
        found.append(_row(prepared, reference, mix, target, labels, settings))
    return Part(found)


def _row(
    prepared: Prepared, reference: Reference, mix: Mix, target: Mix, labels: list[str], settings: dict[str, JSON]
) -> Finding:
    least = int(min(mix.counts.sum(), target.counts.sum()))
    if least < FEWEST:
        why = f"{least} details were detected on one side; at least {FEWEST} are needed"
        return missing(NAME, reference, why)
    if np.count_nonzero(mix.counts.sum(axis=0) + target.counts.sum(axis=0)) < 2:
        return missing(NAME, reference, "details of one type alone were detected, so there are no shares to compare")
    types: dict[str, JSON] = {
        label: [float(ours), float(real)]
        for label, ours, real in zip(labels, mix.shares(), target.shares(), strict=True)
    }
    settings |= at_fewer(mix, target, prepared.seed, FEWEST)
    return finding(NAME, reference, apart(mix, target, prepared.seed), types_here_and_real=types, **settings)


def _mix(found: Detected, labels: list[str]) -> Mix:
    """Return how many details of each type stand in each text."""
    counts = np.zeros((len(found.side), len(labels)))
    types = pd.Categorical(found.spans["label"], categories=labels).codes
    np.add.at(counts, (found.spans["row"].to_numpy(np.int64), np.asarray(types, np.int64)), 1.0)
    return Mix(counts, found.side.units, NAME)
