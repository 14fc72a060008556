"""Findings from guessing a missing attribute: the label, and marked details such as an age band or a place.

A guess that is right for records nobody used tells of people in general; only what is right more often for records used
is a leak. So each share stands beside the holdout's, beside the same attack with real unused records in the place of
the synthetic ones, and beside always guessing the most frequent value (`majority_value`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.guesses.attributes_scores import NEAREST, UNKNOWN, guess, weighted, weights
from engine.examine.members.members import ALL, SEEDS
from engine.examine.persons.people import details, seeds
from engine.examine.persons.profiles import grams, present
from engine.examine.prepare import Prepared
from engine.examine.samples import sample, sample_units
from engine.examine.stats import intervals
from engine.examine.values.entities import EntityIndex, Matches, find_entities
from engine.examine.values.leaks import NO_HOLDOUT, NO_SPANS
from engine.json_types import JSON

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

STAGE = "guessing attributes"
TARGETS = 1000  # records a side
RELEASED = 2000
RANKED = 200
SIDES: tuple[Reference, ...] = ("train", "holdout", "baseline")
LABEL, DETAIL = "attribute_inference", "detail_inference"
BAND = 10  # years of an age band
LEAST_TARGETS = 20  # a side, of a type of detail
REAL = "holdout records in the place of the synthetic ones, against training records"
_NUMBER = re.compile(r"\d+")
_TYPES = ("AGE", "LOCATION", "ORGANISATION", "DEMOGRAPHIC", "DATE", "QUANTITY", "MISC")


@dataclass(frozen=True)
class _Hits:
    """How one attribute was guessed: bool a target and side, whose they are, and how sure the guess was."""

    attribute: str
    right: dict[Reference, NDArray[np.bool_]]
    units: dict[Reference, NDArray[np.object_]]
    majority: NDArray[np.bool_]
    ranking: pd.DataFrame


@dataclass(frozen=True)
class _Sides:
    """Targets of both parts, what is released, and real records in its place, with their words, (n, words) each."""

    train: Side
    holdout: Side
    made: Side
    real: Side
    tables: dict[str, csr_matrix]

    def of(self, name: str) -> Side:
        side: Side = getattr(self, name)
        return side


def examine_inference(prepared: Prepared) -> Part:
    """Return shares guessed right of labels and of details, a row an attribute, and where the attack was surest."""
    prepared.report(STAGE, 0, 1 + len(_TYPES))
    if not len(prepared.holdout):
        return Part([*_none(LABEL, NO_HOLDOUT), *_none(DETAIL, NO_HOLDOUT)])
    sides = _sides(prepared)
    hits: list[_Hits] = []
    part = Part()
    why = _no_label(prepared)
    label = None if why else _label(prepared, sides)
    if label is None:
        part.findings += _none(LABEL, why or "the records looked at carry no label")
    else:
        hits.append(label)
        part.findings += _findings(prepared, LABEL, hits)
    found = _details(prepared, sides)
    if found:
        part.findings += _findings(prepared, DETAIL, found)
    else:
        empty = not len(details(prepared))
        part.findings += _none(DETAIL, NO_SPANS if empty else "no type of detail stands in enough records on each side")
    hits += found
    if hits:
        part.tables["inference"] = pd.DataFrame([row for each in hits for row in _rows(each)])
        part.tables["inference_ranking"] = pd.concat([each.ranking for each in hits], ignore_index=True)
    return part


def _none(name: str, why: str) -> list[Finding]:
    return [*(missing(name, side, why) for side in SIDES), missing(f"{name}_excess", "holdout", why)]


def _sides(prepared: Prepared) -> _Sides:
    seed, used = prepared.seed, seeds(prepared)
    rows = np.arange(len(prepared.train)) if used is None else np.flatnonzero(used)
    train = prepared.train.take(rows[sample_units(prepared.train.units[rows], TARGETS, seed, "inference")])
    holdout = prepared.holdout.take(sample_units(prepared.holdout.units, TARGETS, seed, "inference"))
    made = prepared.synthetic.take(sample(prepared.synthetic.record_ids, RELEASED, seed, "inference"))
    real = prepared.holdout.take(sample(prepared.holdout.record_ids, len(made), seed, "in its place"))
    both = (train, holdout, made, real)
    tables = [present(table) for table in grams([side.words for side in both], 1)]
    return _Sides(*both, dict(zip(("train", "holdout", "made", "real"), tables, strict=True)))


def _attack(
    attribute: str, sides: _Sides, values: dict[str, NDArray[np.int64]], hidden: dict[str, csr_matrix]
) -> _Hits | None:
    """Return how often an attribute is guessed right.

    Args:
        values: int, the attribute of each record of `train, holdout, made, real`, or `UNKNOWN`.
        hidden: words of the attribute in the targets, (n, words) sparse, which the attacker does not see; may be {}.
    """
    if any(not (known >= 0).any() for known in values.values()):
        return None
    right: dict[Reference, NDArray[np.bool_]] = {}
    units: dict[Reference, NDArray[np.object_]] = {}
    asked: dict[str, NDArray[np.int64]] = {n: np.flatnonzero(values[n] >= 0) for n in ("train", "holdout")}
    guesses = {}
    plan: tuple[tuple[Reference, str, str], ...] = (
        ("train", "train", "made"), ("holdout", "holdout", "made"), ("baseline", "train", "real")
    )  # fmt: skip
    for reference, target, released in plan:
        weight = weights(sides.tables[released])
        table = sides.tables[target]
        if target in hidden:
            table = table - table.multiply(hidden[target])
            table.eliminate_zeros()
        rows = asked[target]
        found = guess(weighted(table.tocsr()[rows], weight), weighted(sides.tables[released], weight), values[released])
        guesses[reference] = found
        right[reference] = found.values == values[target][rows]
        units[reference] = sides.of(target).units[rows]
    known = values["made"][values["made"] >= 0]
    majority = values["train"][asked["train"]] == np.bincount(known).argmax()
    ours = guesses["train"]
    ranking = pd.DataFrame({
        "attribute": attribute, "record_id": sides.train.record_ids[asked["train"]], "unit": units["train"],
        "right": right["train"], "right_without": right["baseline"], "votes": ours.votes, "likeness": ours.likeness,
    })  # fmt: skip
    sure = np.lexsort((-ours.likeness, -ours.votes, right["baseline"], ~right["train"]))
    return _Hits(attribute, right, units, majority, ranking.iloc[sure[:RANKED]])


def _no_label(prepared: Prepared) -> str:
    frames = (prepared.given.synthetic, prepared.given.train, prepared.given.holdout)
    made, train, holdout = (
        frame["label"].dropna() if "label" in frame else pd.Series(dtype=object) for frame in frames
    )
    if not len(made):
        return "synthetic records carry no label"
    if not len(train) or not len(holdout):
        return "private records carry no label"
    return "" if train.nunique() > 1 else "all private records have one label"


def _label(prepared: Prepared, sides: _Sides) -> _Hits | None:
    given = prepared.given
    of_record: dict[str, dict[str, object]] = {}
    for name, frame in (("train", given.train), ("holdout", given.holdout), ("made", given.synthetic)):
        of_record[name] = dict(zip(frame["record_id"].astype(str), frame["label"], strict=True))
    of_record["real"] = of_record["holdout"]
    names = sorted({str(label) for known in of_record.values() for label in known.values() if label == label and label})
    number = {label: place for place, label in enumerate(names)}
    values = {
        name: np.array([number.get(str(of_record[name].get(record)), UNKNOWN) for record in sides.of(name).record_ids])
        for name in of_record
    }
    return _attack("label", sides, values, {})


def _details(prepared: Prepared, sides: _Sides) -> list[_Hits]:
    """Return how each type of detail is guessed, where enough records on each side have one."""
    index = details(prepared)
    found = []
    standing = {name: find_entities(sides.of(name).words, index) for name in ("train", "holdout", "made", "real")}
    words = prepared.vocabulary.words()
    for done, kind in enumerate(_TYPES, 1):
        prepared.report(STAGE, done, 1 + len(_TYPES))
        classes = _classes(index, kind, words)
        values = {name: _values(standing[name], classes, len(sides.of(name))) for name in standing}
        if min((values[name] >= 0).sum() for name in ("train", "holdout")) < LEAST_TARGETS:
            continue
        hidden = {
            name: _hidden(sides.of(name), sides.tables[name], standing[name], classes) for name in ("train", "holdout")
        }
        hits = _attack(kind, sides, values, hidden)
        if hits is not None:
            found.append(hits)
    return found


def _classes(index: EntityIndex, kind: str, words: Sequence[str]) -> NDArray[np.int64]:
    """Return the value each entity stands for, or `UNKNOWN`: its age band, or itself; entities of other types none."""
    found = np.full(len(index), UNKNOWN, np.int64)
    for key, number in index.by_words.items():
        if index.direct[number] or index.labels[number] != kind:
            continue
        found[number] = age_band([words[word] for word in key]) if kind == "AGE" else number
    return found


def age_band(words: Sequence[str]) -> int:
    """Return the band of ten years an age in words and figures falls into, 0 upwards, or `UNKNOWN`."""
    text = " ".join(words)
    number = _NUMBER.search(text)
    if number is None:
        return UNKNOWN
    years = 0 if re.search(r"\d ?(d|w|m|day|week|wk|month|mo)", text) else int(number.group())
    return years // BAND if years <= 120 else UNKNOWN


def _values(found: Matches, classes: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the first value of each text, or `UNKNOWN`."""
    values = np.full(size, UNKNOWN, np.int64)
    known = classes[found.entity] >= 0 if len(classes) else np.zeros(0, bool)
    text, value, place = found.text[known], classes[found.entity[known]], found.first[known]
    order = np.lexsort((place, text))[::-1]  # the first in a text is written last
    values[text[order]] = value[order]
    return values


def _hidden(side: Side, table: csr_matrix, found: Matches, classes: NDArray[np.int64]) -> csr_matrix:
    """Return the words of the attribute in each text as 1, in the columns of `table`, (n, words)."""
    from scipy.sparse import csr_matrix

    known = classes[found.entity] >= 0
    sizes = (found.last - found.first + 1)[known]
    text = np.repeat(found.text[known], sizes)
    start = np.repeat(found.first[known] - (np.cumsum(sizes) - sizes), sizes)
    columns = side.words.ids[start + np.arange(len(start))]
    made = csr_matrix((np.ones(len(text), np.float32), (text, columns)), shape=table.shape)
    made.data = np.ones_like(made.data)
    return made


def _findings(prepared: Prepared, name: str, hits: Sequence[_Hits]) -> list[Finding]:
    """Return the triple of a share guessed right, attributes taken together, and its excess over the holdout."""
    shares = {}
    for side in SIDES:
        right = np.concatenate([each.right[side] for each in hits])
        units = np.concatenate([each.units[side] for each in hits])
        shares[side] = intervals.share(right, units)
    majority = float(np.mean(np.concatenate([each.majority for each in hits])))
    members = ALL if seeds(prepared) is None else SEEDS
    base: dict[str, JSON] = {"attributes": [each.attribute for each in hits], "nearest": NEAREST, "members": members}
    rows = [
        finding(name, "train", shares["train"], majority_value=majority,
                advantage=shares["train"].value - majority, most_targets=TARGETS, **base),
        finding(name, "holdout", shares["holdout"], **base),
        finding(name, "baseline", shares["baseline"], what=REAL, **base),
    ]  # fmt: skip
    excess = intervals.difference_independent(shares["train"], shares["holdout"])
    return [*rows, finding(f"{name}_excess", "holdout", excess, **base)]


def _rows(hits: _Hits) -> list[dict[str, str | int | float | None]]:
    """Return the attribute's rows of the table `inference`."""
    rows: list[dict[str, str | int | float | None]] = []
    for side in SIDES:
        share = intervals.share(hits.right[side], hits.units[side])
        rows.append({"attribute": hits.attribute, "reference": side, "value": share.value, "low": share.low,
                     "high": share.high, "targets": share.n, "majority": float(np.mean(hits.majority))})  # fmt: skip
    return rows
