"""Membership attacks on a classifier that someone trains on the labelled synthetic text.

Privacy posture: private text is judged in memory and never trained on here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.findings.make import missing
from engine.examine.findings.part import Part
from engine.examine.measures import MEASURES
from engine.examine.members.membership import TRAINED, membership_part
from engine.examine.members.trained import classifiers_scores as classifier_attack
from engine.examine.prepare import Prepared
from engine.json_types import JSON

_EVERY = (
    "mia_ppl", "mia_refer", "mia_lira", "mia_zlib", "mia_mink", "mia_minkpp", "mia_recall", "mia_rmia", "mia_entropy",
    "mia_mentropy", "mia_confidence",
)  # fmt: skip
TITLES = {name: MEASURES[name].title for name in _EVERY}
ATTACKS = ("mia_entropy", "mia_mentropy", "mia_confidence")

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Judged:
    """Which records are scored: positions in the training part (members), in the holdout, and in the synthetic text."""

    train: Index
    holdout: Index
    synthetic: Index
    seeds: bool


def all_missing(attacks: tuple[str, ...], why: str) -> Part:
    """Return that attacks could not be made, and why."""
    return Part([missing(name, "train", why) for attack in attacks for name in (attack, f"{attack}_tpr01")])


def classifier_part(prepared: Prepared, judged: Judged, said: Mapping[str, JSON]) -> Part:
    """Return the attacks on a classifier; `said` is what every finding's settings have."""
    prepared.report("classifier on the synthetic text", 0, 2)
    labels = _labels(prepared.given.synthetic, judged.synthetic)
    names, counts = np.unique(labels[labels != ""].astype(str), return_counts=True)
    usable = np.isin(labels.astype(str), names[counts >= classifier_attack.LEAST])
    if (counts >= classifier_attack.LEAST).sum() < 2:
        return all_missing(ATTACKS, "the synthetic text has fewer than two labels with two records each")
    texts = prepared.synthetic.texts[judged.synthetic][usable]
    classes, predict = classifier_attack.trained(list(texts), list(labels[usable]), prepared.seed)
    number = {name: i for i, name in enumerate(classes)}
    sides = []
    given = prepared.given
    for frame, texts, rows in (
        (given.train, prepared.train.texts, judged.train),
        (given.holdout, prepared.holdout.texts, judged.holdout),
    ):
        own = _labels(frame, rows)
        known = np.array([label in number for label in own], bool)
        label = np.array([number[name] for name in own[known]], np.int64)
        chances = predict(list(texts[rows[known]])) if known.any() else np.zeros((0, len(classes)))
        sides.append((rows[known], label, chances))
    prepared.report("classifier on the synthetic text", 1, 2)
    whole = Part()
    settings: dict[str, JSON] = {**said, "classes": len(classes), "classifier_records": int(usable.sum())}
    settings["model"] = "logistic regression on words and word pairs, hardly penalised"
    made = {
        "mia_entropy": [classifier_attack.entropy(chances) for _, _, chances in sides],
        "mia_mentropy": [classifier_attack.modified_entropy(chances, label) for _, label, chances in sides],
        "mia_confidence": [classifier_attack.confidence(chances, label) for _, label, chances in sides],
    }
    for attack, (ours, theirs) in made.items():
        whole.add(
            membership_part(
                prepared, attack, TITLES[attack], TRAINED, ours, theirs, train_rows=sides[0][0],
                holdout_rows=sides[1][0], note="Records whose label the synthetic text has.", settings=settings,
            )
        )  # fmt: skip
    return whole


def _labels(frame: pd.DataFrame, rows: Index) -> NDArray[np.object_]:
    """Return the labels of rows, "" where there is none."""
    if "label" not in frame:
        return np.full(len(rows), "", dtype=object)
    found = np.empty(len(rows), dtype=object)
    found[:] = [label if isinstance(label, str) else "" for label in frame["label"].to_numpy(object)[rows]]
    return found
