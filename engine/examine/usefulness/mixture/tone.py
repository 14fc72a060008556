"""Findings on sentiment: its mixture beside that of the real text, and whether rewritten records keep their source's.

The classifier reads the embeddings that are at hand already; it was trained on made-up sentences and a word list, so it
says how alike two texts sound, not what a person felt.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.errors import UserError
from engine.examine.base import Side
from engine.examine.each import each_output
from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import OWN_SOURCES, Prepared
from engine.examine.samples import sample
from engine.examine.stats import intervals
from engine.examine.usefulness.mixture.mixes import apart, at_fewer, mix_of
from engine.examine.usefulness.sides import REAL, TARGET, equal_sides
from engine.examine.usefulness.unrelated import unrelated_text
from engine.examine.values.leaks import NO_LINEAGE
from engine.json_types import JSON
from engine.models.builtin.sentiment import BuiltinSentiment
from engine.models.builtin.sentiment_sentences import CLASSES

SHIFT, KEPT = "tone_shift", "tone_kept"
LARGEST = 1000
FEWEST = 20  # texts a side, and pairs


def examine_tone(prepared: Prepared) -> Part:
    """Return how far the sentiments are from real ones, and the share of records with the sentiment of their source."""
    embedder = prepared.given.embedder
    if embedder is None:
        return _none("no embedder was given")
    try:
        classifier = BuiltinSentiment(embedder)
    except UserError as error:
        return _none(str(error))
    part = Part(_shift(prepared, classifier))
    part.add(_kept(prepared, classifier))
    return part


def _none(why: str) -> Part:
    part = Part([missing(SHIFT, reference, why) for reference in ("train", "real")])
    part.add(_not_kept(why))
    return part


def _tones(side: Side, classifier: BuiltinSentiment) -> NDArray[np.int64]:
    """Return the likeliest class of each text, int64 (n,), as numbers of `CLASSES`."""
    if side.embeddings is None:
        raise UserError("embedder: sentiment is read from embeddings, and these texts have none")
    return np.asarray(classifier.from_vectors(side.embeddings).argmax(axis=1), np.int64)


def _shift(prepared: Prepared, classifier: BuiltinSentiment) -> list[Finding]:
    sides = equal_sides(prepared, LARGEST, True, unrelated_text(prepared))
    size = len(sides.target)
    if size < FEWEST:
        why = f"{size} texts a side are too few; at least {FEWEST} are needed"
        return [missing(SHIFT, reference, why) for reference in ("train", "real")]
    target = mix_of(_tones(sides.target, classifier), len(CLASSES), sides.target.units, TARGET)
    cases: list[tuple[Reference, Side | None]] = [
        ("train", sides.synthetic), ("real", sides.real), ("unrelated", sides.unrelated)
    ]  # fmt: skip
    found = []
    for reference, side in cases:
        if side is None or len(side) < FEWEST:
            continue
        order = REAL if reference == "real" else SHIFT
        mix = mix_of(_tones(side, classifier), len(CLASSES), side.units, order)
        shares: dict[str, JSON] = {
            name: [float(ours), float(real)]
            for name, ours, real in zip(CLASSES, mix.shares(), target.shares(), strict=True)
        }
        settings: dict[str, JSON] = {"texts_a_side": len(side), "shares_here_and_real": shares}
        if reference == "train":
            settings["own_sources_left_out"] = sides.apart
        beside = target.drawn(len(side), prepared.seed)
        if reference != "unrelated":
            settings |= at_fewer(mix, beside, prepared.seed, FEWEST)
        interval = apart(mix, beside, prepared.seed)
        found.append(finding(SHIFT, reference, interval, **settings))
    return found


def _kept(prepared: Prepared, classifier: BuiltinSentiment) -> Part:
    """Return the share with the sentiment of their own source, and with that of another record's source."""
    rows, places = _pairs(prepared)
    if not len(rows):
        return _not_kept(NO_LINEAGE)
    if len(rows) < FEWEST:
        return _not_kept(f"{len(rows)} records name their source; at least {FEWEST} are needed")
    made, sources = prepared.synthetic.take(rows), prepared.train.take(places)
    other = np.random.default_rng(prepared.seed).permutation(len(made))
    strange = sources.units[other] != sources.units
    if not strange.any():
        return _not_kept("all records stem from one source")
    ours = _tones(prepared.embedded(made, "synthetic"), classifier)
    theirs = _tones(prepared.embedded(sources, "train"), classifier)
    own = intervals.share(ours == theirs, sources.units)
    by_chance = intervals.share((ours == theirs[other])[strange], sources.units[strange])
    part = Part(tables=each_output(prepared, KEPT, "train", ours == theirs, rows))
    part.findings += [
        finding(KEPT, "train", own, pairs=len(made), chance=by_chance.value),
        finding(KEPT, "baseline", by_chance, pairs=int(strange.sum()), what="the source of another record"),
    ]
    return part


def _not_kept(why: str) -> Part:
    return Part([missing(KEPT, reference, why) for reference in ("train", "baseline")])


def _pairs(prepared: Prepared) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of records that name a source of the training part, and the rows of those sources."""
    synthetic = prepared.synthetic
    lineage = synthetic.lineage if synthetic.lineage is not None else np.full(len(synthetic), None, object)
    place = {record: row for row, record in enumerate(prepared.train.record_ids)}
    known = np.array([row for row, source in enumerate(lineage) if source in place], np.int64)
    rows = known[sample(synthetic.record_ids[known], OWN_SOURCES, prepared.seed, "tone")]
    return rows, np.array([place[lineage[row]] for row in rows], np.int64)
