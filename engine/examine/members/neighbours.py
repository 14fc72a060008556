"""Findings from neighbours: membership by the closeness of a private record's k nearest synthetic records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.findings.findings import Finding
from engine.examine.findings.make import missing
from engine.examine.findings.part import Part
from engine.examine.members.members import member_rows, other_rows
from engine.examine.members.membership import RELEASED, membership_part
from engine.examine.members.neighbours_scores import NEAREST, by_embedding, by_words
from engine.examine.prepare import EMBEDDED, Prepared
from engine.examine.samples import sample
from engine.examine.values.leaks import NO_HOLDOUT

STAGE = "neighbours"
PAIRS = 20_000_000  # similarities computed a side
LEAST, MOST = 2_000, 50_000  # records a side
SYNTHETIC = 5_000  # synthetic records compared with
TITLES = {"jaccard": "shared words", "cosine": "meaning"}

Rows = NDArray[np.int64]
Numbers = NDArray[np.float64]


def examine_neighbours(prepared: Prepared) -> Part:
    """Return membership by neighbours for k = 1, 5, 10 and 25, by shared words and by embeddings."""
    prepared.report(STAGE, 0, 2)
    part = Part()
    if not len(prepared.holdout):
        for kind in TITLES:
            part.findings += _missing(kind, NEAREST, NO_HOLDOUT)
        return part
    _by_words(prepared, part)
    prepared.report(STAGE, 1, 2)
    _by_embedding(prepared, part)
    prepared.report(STAGE, 2, 2)
    return part


def _by_words(prepared: Prepared, part: Part) -> None:
    made = _synthetic(prepared)
    most = int(np.clip(PAIRS // max(1, len(made)), LEAST, MOST))
    ours, who = member_rows(prepared, most, "neighbours")
    theirs = other_rows(prepared, most, "neighbours")
    ks = _possible("jaccard", len(made), part)

    def scored(side: Side, rows: Rows, what: str) -> Numbers:
        stage = f"{STAGE} by words: {what}"
        return by_words(side.words.take(rows), made.words, len(prepared.vocabulary), ks,
                        lambda done, total: prepared.report(stage, done, total))  # fmt: skip

    if ks:
        scores = scored(prepared.train, ours, "train"), scored(prepared.holdout, theirs, "holdout")
        _add(prepared, part, "jaccard", ks, scores, (ours, theirs), who, len(made))


def _by_embedding(prepared: Prepared, part: Part) -> None:
    if prepared.given.embedder is None:
        part.findings += _missing("cosine", NEAREST, "no embedder was given")
        return
    made = prepared.embedded(prepared.synthetic.take(prepared.embedding_rows()["synthetic"]), "synthetic")
    ours, who = member_rows(prepared, EMBEDDED, "embed")
    theirs = other_rows(prepared, EMBEDDED, "embed")
    ks = _possible("cosine", len(made), part)
    members = prepared.embedded(prepared.train.take(ours), "train").embeddings
    others = prepared.embedded(prepared.holdout.take(theirs), "holdout").embeddings
    if not ks or members is None or others is None or made.embeddings is None:
        return
    scores = by_embedding(members, made.embeddings, ks), by_embedding(others, made.embeddings, ks)
    _add(prepared, part, "cosine", ks, scores, (ours, theirs), who, len(made))


def _synthetic(prepared: Prepared) -> Side:
    made = prepared.synthetic
    if len(made) <= SYNTHETIC:
        return made
    return made.take(sample(made.record_ids, SYNTHETIC, prepared.seed, "neighbours"))


def _possible(kind: str, records: int, part: Part) -> tuple[int, ...]:
    """Return the ks that the number of synthetic records allows; the others are said to be missing."""
    few = tuple(k for k in NEAREST if k > records)
    part.findings += _missing(kind, few, f"there are only {records} synthetic records")
    return tuple(k for k in NEAREST if k <= records)


def _missing(kind: str, ks: Sequence[int], why: str) -> list[Finding]:
    names = [f"neighbours_{kind}_{k}" for k in ks]
    return [missing(name, "train", why) for attack in names for name in (attack, f"{attack}_tpr01")]


def _add(
    prepared: Prepared,
    part: Part,
    kind: str,
    ks: tuple[int, ...],
    scores: tuple[Numbers, Numbers],
    rows: tuple[Rows, Rows],
    who: str,
    synthetic: int,
) -> None:
    """Add one attack a k."""
    for column, k in enumerate(ks):
        prepared.check()
        title = f"Nearest synthetic records by {TITLES[kind]}, k = {k}"
        part.add(
            membership_part(
                prepared, f"neighbours_{kind}_{k}", title, RELEASED, scores[0][:, column], scores[1][:, column],
                train_rows=rows[0], holdout_rows=rows[1], note=f"Members: {who}.",
                settings={"members_are": who, "nearest": k, "synthetic_records": synthetic},
            )
        )  # fmt: skip
