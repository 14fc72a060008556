"""What an extractor of details learns from the text: trained on it, asked to find those of people that nobody used.

One extractor is trained on the synthetic text, one on as many records of the training part; both are told the same
way where the details stand: by the corpus' own detector. Each then marks the details of the sealed holdout, and is held
against what was found and reviewed there. It knows a token by its letters, shape and neighbours, so it can only learn
from text whose sentences carry details the way the original does.

A type counts with at least ten reviewed details of five people in the holdout. A detail is found where start, end and
type agree. The table `extraction_types` says it type by type.

Source: Esteban, Hyland and Rätsch 2017 (Real-valued medical time series generation), section 4 (train on synthetic,
test on real); Tjong Kim Sang and De Meulder 2003 (CoNLL-2003), section 2.3, for F1 of whole details.
Privacy posture: features of private text are in memory while the part runs; findings hold numbers and types alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.findings.findings import Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.samples import sample, sample_units
from engine.examine.stats.intervals import group_numbers
from engine.examine.stats.simultaneous import wider
from engine.examine.usefulness.downstream.downstream_scores import Marks, f1_of, macro_f1, marks_of, measured
from engine.examine.usefulness.one_thread import one_thread
from engine.examine.values.detected import Detected, detected
from engine.examine.values.leaks import NO_HOLDOUT
from engine.json_types import JSON

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

STAGE = "an extractor trained on the text"
NAMES: tuple[tuple[str, Reference], ...] = (
    ("extraction_f1", "train"), ("extraction_f1", "real"), ("extraction_gap", "real")
)  # fmt: skip
MOST_TEXTS = 600  # trained on, a side
MOST_ASKED = 400
LEAST_TEXTS = 20
LEAST_DETAILS, LEAST_PEOPLE = 10, 5  # reviewed details of a type in the holdout
BITS = 18  # of the hashed features
PASSES = 8
REFITS = 8  # trainings on units drawn anew, a side
_TOKEN = re.compile(r"\w+|[^\w\s]")
_REACH = 2  # neighbours a side


@dataclass(frozen=True)
class _Tokens:
    """The tokens of one text: where each begins and ends, int64 (n,), and what it is known by."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    features: list[list[str]]


def examine_extraction(prepared: Prepared) -> Part:
    """Return macro-F1 of extractors trained on synthetic and on real text, and what the synthetic text lost."""
    from scipy.sparse import hstack

    prepared.report(STAGE, 0, 3)
    if prepared.given.detector is None:
        return _none("no detector was given")
    if not len(prepared.holdout):
        return _none(NO_HOLDOUT)
    asked = prepared.holdout.take(sample_units(prepared.holdout.units, MOST_ASKED, prepared.seed, "extraction"))
    types = _types(asked)
    if not types:
        return _none(
            f"no type of detail was reviewed at least {LEAST_DETAILS} times for {LEAST_PEOPLE} people of the holdout"
        )
    made, real = detected(prepared, "synthetic"), detected(prepared, "train")
    size = min(len(made.side), len(real.side), MOST_TEXTS)
    if size < LEAST_TEXTS:
        return _none(f"there are {size} texts a side to train on; at least {LEAST_TEXTS} are needed")
    truth = _reviewed(asked, types)
    questions = _questions(asked)
    units = group_numbers(asked.units)
    marks: dict[str, Marks] = {}
    for number, (name, found) in enumerate((("train", made), ("real", real))):
        prepared.report(STAGE, 1 + number, 3)
        rows = (
            sample(found.side.record_ids, size, prepared.seed, "extraction")
            if name == "train"
            else sample_units(found.side.units, size, prepared.seed, "extraction")
        )
        lesson = _lesson(found, rows, types, prepared.grouped)
        answers = _answers(lesson, questions, prepared, f"{STAGE}: {'synthetic' if name == 'train' else 'real'}")
        whole, *again = (_outcomes(truth, one, units, len(types)) for one in answers)
        anew = hstack(again, format="csr")
        marks[name] = marks_of(whole, len(types), len(asked), prepared.seed, anew)
    settings: dict[str, JSON] = {
        "texts_trained_on": size, "texts_asked": len(asked), "types": list(types),
        "details_asked": sum(len(one) for one in truth), "told_by": "the corpus' detector, on both sides",
        "interval_is_of": "the people asked and those trained on; not of writing the text anew",
    }  # fmt: skip
    part = Part()
    for (name, reference), sides in zip(NAMES, (("train",), ("real",), ("real", "train")), strict=True):
        part.findings.append(finding(name, reference, measured([marks[side] for side in sides], macro_f1), **settings))
    asked_of = np.bincount([kind for one in truth for _, _, kind in one], minlength=len(types))
    part.tables["extraction_types"] = _type_table(types, asked_of, marks)
    return part


TYPE_COLUMNS = ["type", "reference", "f1", "low", "high", "asked"]


def _type_table(types: Sequence[str], asked: NDArray[np.int64], marks: dict[str, Marks]) -> pd.DataFrame:
    """Return a row a type and extractor; `gap` rows say what the synthetic text lost, all types held together."""
    rows: list[tuple[object, ...]] = []
    together = wider(len(types))
    for number, name in enumerate(types):
        for reference, sides in (("train", ("train",)), ("real", ("real",)), ("gap", ("real", "train"))):
            found = measured([marks[side] for side in sides], f1_of(number))
            ends = [math.nan if end is None else end for end in (found.low, found.high)]
            if reference == "gap":
                ends = [found.value + together * (end - found.value) for end in ends]
            rows.append((name, reference, found.value, *ends, int(asked[number])))
    return pd.DataFrame(rows, columns=TYPE_COLUMNS)


def _none(why: str) -> Part:
    return Part([missing(name, reference, why) for name, reference in NAMES])


def _types(asked: Side) -> tuple[str, ...]:
    """Return the types of detail that count, in order."""
    spans = asked.spans
    if spans is None or spans.empty:
        return ()
    unit = dict(zip(asked.record_ids, asked.units, strict=True))
    table = pd.DataFrame({"label": spans["label"], "unit": spans["record_id"].map(unit)})
    counts = table.groupby("label")["unit"].agg(["size", "nunique"])
    enough = (counts["size"] >= LEAST_DETAILS) & (counts["nunique"] >= LEAST_PEOPLE)
    return tuple(sorted(str(label) for label in counts.index[enough]))


Detail = tuple[int, int, int]
"""Start, end and number of the type."""


def _reviewed(asked: Side, types: Sequence[str]) -> list[set[Detail]]:
    """Return the details reviewed in each text asked, at token ends."""
    row = {record: number for number, record in enumerate(asked.record_ids)}
    number = {label: place for place, label in enumerate(types)}
    found: list[set[Detail]] = [set() for _ in range(len(asked))]
    assert asked.spans is not None
    columns = (asked.spans[name].tolist() for name in ("record_id", "start", "end", "label"))
    for record, start, end, label in zip(*columns, strict=True):
        if label in number:
            found[row[record]].add((int(start), int(end), number[label]))
    return found


def _tokens(text: str) -> _Tokens:
    places = [match.span() for match in _TOKEN.finditer(text)]
    words = [text[a:b] for a, b in places]
    lower, shapes = [word.lower() for word in words], [_shape(word) for word in words]
    features = []
    for i, word in enumerate(lower):
        own = [f"w={word}", f"s={shapes[i]}", f"e={word[-3:]}", f"b={word[:3]}", "bias"]
        for step in range(-_REACH, _REACH + 1):
            at = i + step
            if step:
                own.append(f"{step}w={lower[at] if 0 <= at < len(lower) else '-'}")
                own.append(f"{step}s={shapes[at] if 0 <= at < len(lower) else '-'}")
        features.append(own)
    starts, ends = (np.array([place[i] for place in places], np.int64) for i in (0, 1))
    return _Tokens(starts, ends, features)


def _shape(word: str) -> str:
    """Return capitals as A, small letters as a, digits as 0, each run at most three long."""
    kinds = "".join("A" if c.isupper() else "a" if c.isalpha() else "0" if c.isdigit() else c for c in word)
    return re.sub(r"(.)\1{3,}", r"\1\1\1", kinds)


def _hashed(rows: Sequence[list[str]]) -> csr_matrix:
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction import FeatureHasher

    if not rows:  # texts of nothing, which the library refuses
        return csr_matrix((0, 1 << BITS))
    return FeatureHasher(1 << BITS, input_type="string", alternate_sign=False).transform(rows)


@dataclass(frozen=True)
class _Questions:
    """The tokens of each text asked, and of all of them what they are known by, one row a token."""

    texts: list[_Tokens]
    table: csr_matrix


@dataclass(frozen=True)
class _Lesson:
    """What an extractor is trained on: what tokens are known by, the code of each, the unit of its text, 0 to u - 1.

    Codes: 0 outside, 1 + 2 t the first token of a detail of type t, 2 + 2 t a later one.
    """

    table: csr_matrix
    codes: NDArray[np.int64]
    units: NDArray[np.int64]


def _questions(asked: Side) -> _Questions:
    texts = [_tokens(str(text)) for text in asked.texts]
    return _Questions(texts, _hashed([row for one in texts for row in one.features]))


def _lesson(found: Detected, rows: NDArray[np.int64], types: Sequence[str], grouped: bool) -> _Lesson:
    number = {label: place for place, label in enumerate(types)}
    places: dict[int, list[Detail]] = {}
    for row, start, end, label in zip(
        *(found.spans[name].tolist() for name in ("row", "start", "end", "label")), strict=True
    ):
        if label in number:
            places.setdefault(int(row), []).append((int(start), int(end), number[label]))
    features: list[list[str]] = []
    codes: list[NDArray[np.int64]] = []
    for row in rows:
        tokens = _tokens(str(found.side.texts[row]))
        own = np.zeros(len(tokens.starts), np.int64)
        for start, end, kind in places.get(int(row), ()):
            inside = np.flatnonzero((tokens.starts < end) & (tokens.ends > start))
            own[inside] = 2 + 2 * kind
            own[inside[:1]] = 1 + 2 * kind
        features += tokens.features
        codes.append(own)
    side = found.side.take(rows)
    units = np.repeat(group_numbers(side.units if grouped else side.record_ids), [len(own) for own in codes])
    return _Lesson(_hashed(features), np.concatenate(codes) if codes else np.zeros(0, np.int64), units)


def _answers(lesson: _Lesson, questions: _Questions, prepared: Prepared, stage: str) -> Iterator[list[set[Detail]]]:
    """Yield the details marked in each text asked by the extractor, then by those trained on units drawn anew."""
    yield _extracted(lesson, np.ones(len(lesson.codes)), questions, prepared.seed)
    count = int(lesson.units.max(initial=-1)) + 1
    rng = np.random.default_rng(prepared.seed)
    for done in range(REFITS):
        prepared.report(stage, done, REFITS)
        drawn = np.bincount(rng.integers(0, count, count), minlength=count).astype(np.float64)
        yield _extracted(lesson, drawn[lesson.units], questions, prepared.seed)


def _extracted(lesson: _Lesson, weights: NDArray[np.float64], questions: _Questions, seed: int) -> list[set[Detail]]:
    """Return the details that an extractor marks in each text asked; tokens count by their weights."""
    from sklearn.linear_model import SGDClassifier

    rows = np.flatnonzero(weights > 0)
    told = lesson.codes[rows]
    if len(np.unique(told)) < 2 or not questions.table.shape[0]:  # nothing to find, or nothing else: no extractor
        return [set() for _ in questions.texts]
    model = SGDClassifier(
        loss="log_loss", alpha=1e-6, max_iter=PASSES, tol=None, random_state=seed % 2**32, average=True
    )  # fmt: skip
    with one_thread(__name__):
        model.fit(lesson.table[rows], told, sample_weight=weights[rows])
        said = np.asarray(model.predict(questions.table), np.int64)
    ends = np.cumsum([len(one.starts) for one in questions.texts])[:-1]
    return [_details(tokens, own) for tokens, own in zip(questions.texts, np.split(said, ends), strict=True)]


def _details(tokens: _Tokens, codes: NDArray[np.int64]) -> set[Detail]:
    """Return the details that token codes spell; a later token with nothing of its type before it begins one."""
    found: set[Detail] = set()
    begun = -1
    for i, code in enumerate([*codes.tolist(), 0]):
        own = (code - 1) // 2 if code else -1
        before = (int(codes[i - 1]) - 1) // 2 if i and codes[i - 1] else -1
        if begun >= 0 and (own != before or code % 2 == 1):
            found.add((int(tokens.starts[begun]), int(tokens.ends[i - 1]), before))
            begun = -1
        if own >= 0 and begun < 0:
            begun = i
    return found


def _outcomes(
    truth: Sequence[set[Detail]], answers: Sequence[set[Detail]], units: NDArray[np.int64], types: int
) -> csr_matrix:
    """Return, a unit, details found rightly, wrongly and not at all by type: (units, 3 x types)."""
    from scipy.sparse import csr_matrix

    rows, columns = [], []
    for unit, true, said in zip(units.tolist(), truth, answers, strict=True):
        for place, some in ((0, true & said), (1, said - true), (2, true - said)):
            rows += [unit] * len(some)
            columns += [place * types + kind for _, _, kind in some]
    shape = (int(units.max(initial=-1)) + 1, 3 * types)
    return csr_matrix((np.ones(len(rows)), (rows, columns)), shape=shape)
