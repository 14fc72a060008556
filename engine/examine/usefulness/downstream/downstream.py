"""What a classifier learns from the text: trained on it, tested on the labels of people that nobody used.

Classifiers of one kind are trained on the synthetic text, on as many records of the training part, and on all of it;
each says the label of every record of the sealed holdout. Beside them stands the answer that asks no text: always the
commonest label. One classifier knows words and word pairs; another, where texts were embedded, their meaning.

A label counts with at least ten holdout records. One that the synthetic text lacks counts as lost, not as left out;
one that it alone has can only be a wrong answer. Synthetic records carry one label column, so that is the task here;
other columns that were kept at import tell subgroups apart here, and are asked for in `downstream.tasks`.

Source: Esteban, Hyland and Rätsch 2017 (Real-valued medical time series generation), section 4 (train on synthetic,
test on real); Salton and Buckley 1988 for TF-IDF.
Privacy posture: findings and tables hold labels and counts of private records, so they are internal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.build import KEPT_PREFIX
from engine.examine.base import Side
from engine.examine.findings.findings import Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.registry import CANARIES
from engine.examine.samples import sample, sample_units
from engine.examine.stats.intervals import group_numbers
from engine.examine.stats.simultaneous import wider
from engine.examine.usefulness.downstream.downstream_scores import (
    REFITS,
    Exam,
    Lesson,
    Marks,
    Score,
    Taught,
    at_random,
    counted,
    f1_of,
    macro_f1,
    mark,
    measured,
    recall,
    teach,
    tf_idf,
    word_counts,
)
from engine.examine.values.leaks import NO_HOLDOUT
from engine.json_types import JSON

if TYPE_CHECKING:
    from engine.examine.usefulness.downstream.downstream_scores import Table

STAGE = "a classifier trained on the text"
WORDS, MEANING, TUNED = "classifier", "encoder", "tuned"
NOT_ASKED = "it was not asked for, as it takes minutes: ask for it where the run is examined"
NO_LABEL = "the synthetic records carry no label, so no classifier can be trained on them"
MOST = 5_000  # texts trained on at equal size
MOST_FULL = 20_000
MOST_TUNED = 1_000  # texts an encoder is trained on
TUNED_REFITS = 4  # further trainings of an encoder a side, each on people drawn anew from another start
MOST_LABELS = 30
LEAST_LABEL = 10  # holdout records of a label that is asked
LEAST_UNITS = 5  # people behind them
LEAST_TRAINED = 20
LEAST_GROUP = 20  # holdout records of a subgroup
GROUP_VALUES = 12
ABSENT = -1


@dataclass(frozen=True)
class _Labels:
    """The labels asked, commonest of the holdout first, and the number of each record's label.

    The numbers behind the labels asked are those of one class for all others; `ABSENT` is no label.
    """

    asked: tuple[str, ...]
    few: tuple[str, ...]
    synthetic: NDArray[np.int64]
    train: NDArray[np.int64]
    holdout: NDArray[np.int64]


@dataclass(frozen=True)
class _Class:
    """The classifiers of one kind by what they were trained on, how they did, and how many texts that was."""

    taught: dict[str, Taught]
    marks: dict[str, Marks]
    sizes: dict[str, int]


def examine_downstream(prepared: Prepared) -> Part:
    """Return macro-F1 of classifiers trained on synthetic and on real text, and tables a label and a subgroup."""
    prepared.report(STAGE, 0, 1)
    found = _labels(prepared)
    if isinstance(found, str):
        return _none(found)
    rows = np.flatnonzero(found.holdout != ABSENT)
    asked = prepared.holdout.take(rows)
    exam = Exam(found.holdout[rows], group_numbers(asked.units), len(found.asked))
    words = _by_words(prepared, exam, found, rows)
    part = _findings(prepared, WORDS, exam, words, found, rows)
    part.tables["classifier_labels"] = _label_table(prepared, found, exam, words)
    groups = pd.DataFrame(_group_rows(prepared, exam, words, rows), columns=GROUP_COLUMNS)
    part.tables["classifier_groups"] = groups
    if prepared.given.tuned_classifier:
        part.add(_findings(prepared, TUNED, exam, _by_tuning(prepared, exam, found, rows), found, rows))
    else:
        part.findings += [missing(f"{TUNED}_{name}", reference, NOT_ASKED) for name, reference in _OF_BOTH]
    if prepared.given.embedder is None:
        why = "no embedder was given"
        part.findings += [missing(f"{MEANING}_{name}", reference, why) for name, reference in _OF_BOTH]
        return part
    meaning = _by_meaning(prepared, found)
    if isinstance(meaning, str):
        part.findings += [missing(f"{MEANING}_{name}", reference, meaning) for name, reference in _OF_BOTH]
        return part
    part.add(_findings(prepared, MEANING, meaning[0], meaning[1], found, meaning[2]))
    return part


_OF_BOTH: tuple[tuple[str, Reference], ...] = (("f1", "train"), ("f1", "real"), ("gap", "real"))
_MODELS = {
    WORDS: "TF-IDF of words and word pairs, logistic regression",
    MEANING: "the sentence encoder's embeddings, logistic regression",
    TUNED: "the sentence encoder with all its weights trained",
}
_OF_WORDS: tuple[tuple[str, Reference], ...] = (*_OF_BOTH, ("full", "real"), ("majority", "none"))


def _none(why: str) -> Part:
    part = Part()
    part.findings += [missing(f"{WORDS}_{name}", reference, why) for name, reference in _OF_WORDS]
    part.findings += [
        missing(f"{kind}_{name}", reference, why) for kind in (MEANING, TUNED) for name, reference in _OF_BOTH
    ]
    return part


def _column(frame: pd.DataFrame, name: str = "label") -> NDArray[np.object_]:
    """Return a column as text, with None where a record has nothing there."""
    found = np.full(len(frame), None, dtype=object)
    if name in frame:
        found[:] = [None if value is None or value != value or value == "" else str(value) for value in frame[name]]
    return found


def _labels(prepared: Prepared) -> _Labels | str:
    """Return the labels that can be asked, or why none can."""
    given = prepared.given
    if not len(prepared.holdout):
        return NO_HOLDOUT
    made, train, holdout = (_column(frame) for frame in (given.synthetic, given.train, given.holdout))
    if all(label is None for label in made):
        return NO_LABEL
    if all(label is None for label in train) or all(label is None for label in holdout):
        return "the private records carry no label to test a classifier on"
    asked = pd.DataFrame({"label": holdout, "unit": prepared.holdout.units}).dropna(subset="label")
    counts = asked.groupby("label")["unit"].agg(["size", "nunique"]).reset_index()
    counts = counts.sort_values(["size", "label"], ascending=[False, True], kind="stable")
    there = set(train)
    enough = (counts["size"] >= LEAST_LABEL) & (counts["nunique"] >= LEAST_UNITS) & counts["label"].isin(there)
    names = tuple(counts["label"][enough].head(MOST_LABELS))
    few = tuple(label for label in counts["label"] if label not in names)
    if len(names) < 2:
        return (
            f"{len(names)} of the labels have at least {LEAST_LABEL} holdout records of {LEAST_UNITS} people; "
            "at least 2 labels must have so many"
        )
    for side, labels in (("synthetic", made), ("training", train)):
        size = sum(label is not None for label in labels)
        if size < LEAST_TRAINED:
            return f"{size} {side} records carry a label; at least {LEAST_TRAINED} are needed to train a classifier"
    number = {label: place for place, label in enumerate(names)}
    codes = [
        np.array([ABSENT if label is None else number.get(label, len(names)) for label in labels], np.int64)
        for labels in (made, train, holdout)
    ]
    return _Labels(names, few, *codes)


def _picked(prepared: Prepared, labels: _Labels, most: int = MOST) -> dict[str, NDArray[np.int64]]:
    """Return the rows trained on: of the synthetic text, as many of the training part, and the whole of it."""
    seed = prepared.seed
    made, real = np.flatnonzero(labels.synthetic != ABSENT), np.flatnonzero(labels.train != ABSENT)
    size = min(len(made), len(real), most)
    ids, units = prepared.synthetic.record_ids[made], prepared.train.units[real]
    return {
        "train": made[sample(ids, size, seed, "classifier")],
        "real": real[sample_units(units, size, seed, "classifier")],
        "full": real[sample_units(units, MOST_FULL, seed, "classifier")],
    }


def _groups(prepared: Prepared, side: Side) -> NDArray[np.object_]:
    """Return whose text each is where units hold several records, else each text's own id."""
    return side.units if prepared.grouped else side.record_ids


def _by_words(prepared: Prepared, exam: Exam, labels: _Labels, asked: NDArray[np.int64]) -> _Class:
    picked = _picked(prepared, labels)
    used = {
        "train": picked["train"],
        "real": np.union1d(picked["real"], picked["full"]),
    }  # what no lesson has is left out
    sides = (
        prepared.synthetic.words.take(used["train"]), prepared.train.words.take(used["real"]),
        prepared.holdout.words.take(asked),
    )  # fmt: skip
    made, train, questions = word_counts(sides)
    taught: dict[str, Taught] = {}
    for name, rows in picked.items():
        if name == "full" and len(rows) == len(picked["real"]):
            taught[name] = Taught(taught["real"].answers, taught["real"].again[:0])
            continue
        table, codes = (made, labels.synthetic) if name == "train" else (train, labels.train)
        side = prepared.synthetic if name == "train" else prepared.train
        own = table[np.searchsorted(used["train" if name == "train" else "real"], rows)]
        taught[name] = _taught(prepared, name, tf_idf(own, questions), codes[rows], side.take(rows))
    commonest = int(np.bincount(labels.train[picked["full"]]).argmax())
    nothing = np.empty((0, len(asked)), np.int64)
    taught["majority"] = Taught(np.full(len(asked), commonest, np.int64), nothing)
    return _Class(taught, _marks(exam, taught, prepared.seed), {name: len(rows) for name, rows in picked.items()})


def _marks(exam: Exam, taught: dict[str, Taught], seed: int) -> dict[str, Marks]:
    return {name: mark(exam, one, seed) for name, one in taught.items()}


def _taught(prepared: Prepared, name: str, tables: tuple[Table, Table], codes: NDArray[np.int64], side: Side) -> Taught:
    lesson = Lesson(tables[0], codes, _groups(prepared, side), tables[1])
    stage = f"{STAGE}: {'synthetic' if name == 'train' else 'real'}"
    if name == "full":
        return teach(lesson, prepared.seed, refits=0)
    return teach(lesson, prepared.seed, after=lambda done: prepared.report(stage, done, REFITS))


def _by_tuning(prepared: Prepared, exam: Exam, labels: _Labels, asked: NDArray[np.int64]) -> _Class:
    """Return encoders trained on synthetic and on as much real text, and each again on people drawn anew."""
    from engine.models.tune.encoder_classifier import tuned_answers

    picked = _picked(prepared, labels, MOST_TUNED)
    del picked["full"]
    questions = [str(prepared.holdout.texts[row]) for row in asked]
    taught: dict[str, Taught] = {}
    for name, rows in picked.items():
        side, codes = (prepared.synthetic, labels.synthetic) if name == "train" else (prepared.train, labels.train)
        stage = f"an encoder trained on the text: {'synthetic' if name == 'train' else 'real'}"
        answers = np.empty((1 + TUNED_REFITS, len(asked)), np.int64)
        for number, chosen in enumerate([rows, *_drawn_anew(prepared, name, side, rows)]):
            answers[number] = tuned_answers(
                [str(side.texts[row]) for row in chosen], codes[chosen], questions, len(labels.asked) + 1,
                prepared.seed + number, partial(_part_of, prepared, stage, number),
            )  # fmt: skip
        taught[name] = Taught(answers[0], answers[1:])
    return _Class(taught, _marks(exam, taught, prepared.seed), {name: len(rows) for name, rows in picked.items()})


def _drawn_anew(prepared: Prepared, name: str, side: Side, rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of as many people drawn with replacement, who stand there as often as they were drawn."""
    units = group_numbers(_groups(prepared, side.take(rows)))
    count = int(units.max(initial=-1)) + 1
    rng = np.random.default_rng([prepared.seed, len(name)])
    for _ in range(TUNED_REFITS):
        drawn = np.bincount(rng.integers(0, count, count), minlength=count)
        yield np.repeat(rows, drawn[units])


def _part_of(prepared: Prepared, stage: str, number: int, done: int, total: int) -> None:
    """Report a training's steps as a part of all of its side's."""
    prepared.report(stage, number * total + done, (1 + TUNED_REFITS) * total)


def _by_meaning(prepared: Prepared, labels: _Labels) -> tuple[Exam, _Class, NDArray[np.int64]] | str:
    """Return the classifiers on embeddings of the rows that other measures embed, or why there are none."""
    rows = prepared.embedding_rows()
    asked = rows["holdout"][labels.holdout[rows["holdout"]] != ABSENT]
    made = rows["synthetic"][labels.synthetic[rows["synthetic"]] != ABSENT]
    real = rows["train"][labels.train[rows["train"]] != ABSENT]
    size = min(len(made), len(real))
    counts = np.bincount(labels.holdout[asked], minlength=len(labels.asked) + 1)[: len(labels.asked)]
    if size < LEAST_TRAINED or int((counts >= LEAST_LABEL).sum()) < 2:
        return "too few of the records that are embedded carry a label"
    real = real[sample_units(prepared.train.units[real], size, prepared.seed, "classifier")]
    made = made[sample(prepared.synthetic.record_ids[made], size, prepared.seed, "classifier")]
    taught: dict[str, Taught] = {}
    questions = _vectors(prepared, prepared.holdout.take(asked), "holdout")
    for name, whole, codes, which, picked in (
        ("train", prepared.synthetic, labels.synthetic, "synthetic", made),
        ("real", prepared.train, labels.train, "train", real),
    ):
        side = whole.take(picked)
        taught[name] = _taught(prepared, name, (_vectors(prepared, side, which), questions), codes[picked], side)
    units = group_numbers(prepared.holdout.units[asked])
    # a label with too few of the records embedded is a wrong answer here, and not asked
    order = np.argsort(counts < LEAST_LABEL, kind="stable")
    new = np.arange(len(labels.asked) + 1)
    new[order] = np.arange(len(order))
    exam = Exam(new[labels.holdout[asked]], units, int((counts >= LEAST_LABEL).sum()))
    renamed = {name: Taught(new[one.answers], new[one.again]) for name, one in taught.items()}
    return exam, _Class(renamed, _marks(exam, renamed, prepared.seed), {"train": size, "real": size}), asked


def _vectors(prepared: Prepared, side: Side, which: str) -> NDArray[np.float32]:
    embeddings = prepared.embedded(side, which).embeddings
    assert embeddings is not None
    return embeddings


def _findings(prepared: Prepared, kind: str, exam: Exam, of: _Class, labels: _Labels, asked: NDArray[np.int64]) -> Part:
    part = Part()
    fresh = _not_in_training(prepared, asked)
    texts = int((exam.truth < exam.labels).sum())
    start = ", each time from another start" if kind == TUNED else ""
    base: dict[str, JSON] = {
        "model": f"{_MODELS[kind]}, each label weighted alike", "labels": exam.labels,
        "labels_with_too_few_records": len(labels.few), "texts_asked": texts,
        "interval_is_of": f"the people asked and those trained on{start}; not of writing the text anew",
    }  # fmt: skip
    cases: tuple[tuple[str, Reference, tuple[str, ...]], ...] = (
        ("f1", "train", ("train",)), ("f1", "real", ("real",)), ("gap", "real", ("real", "train")),
        ("full", "real", ("full",)), ("majority", "none", ("majority",)),
    )  # fmt: skip
    for name, reference, sides in cases:
        if not all(side in of.taught for side in sides):
            continue
        interval = measured([of.marks[side] for side in sides], macro_f1)
        settings = dict(base)
        if name != "majority":
            settings["texts_trained_on"] = of.sizes[sides[0]]
        if name in ("f1", "full"):
            settings["at_random"] = at_random(of.marks[sides[0]])
        if name == "f1" and 0 < len(fresh) < len(asked):
            settings["texts_that_training_repeats"] = len(asked) - len(fresh)
            settings["without_texts_that_training_repeats"] = _without(exam, of.taught[sides[0]], fresh)
        part.findings.append(finding(f"{kind}_{name}", reference, interval, **settings))
    return part


def _not_in_training(prepared: Prepared, asked: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places in `asked` of texts that the training part does not repeat word for word."""
    known = {prepared.train.words.of(row).tobytes() for row in range(len(prepared.train))}
    return np.array(
        [place for place, row in enumerate(asked) if prepared.holdout.words.of(int(row)).tobytes() not in known],
        np.int64,
    )


def _without(exam: Exam, taught: Taught, rows: NDArray[np.int64]) -> float:
    return float(macro_f1(counted(exam.take(rows), taught.answers[rows])))


LABEL_COLUMNS = ["label", "reference", "f1", "low", "high", "recall", "asked", "trained_on", "why"]


def _label_table(prepared: Prepared, labels: _Labels, exam: Exam, of: _Class) -> pd.DataFrame:
    """Return a row a label and classifier; `gap` rows say what the synthetic text lost, all labels held together."""
    rows: list[tuple[object, ...]] = []
    codes = {"train": labels.synthetic, "real": labels.train, "full": labels.train}
    trained = {name: np.bincount(codes[name][codes[name] >= 0], minlength=exam.labels + 1) for name in codes}
    together = wider(exam.labels)
    for number, label in enumerate(labels.asked):
        score = f1_of(number)
        asked = int((exam.truth == number).sum())
        for name in ("train", "real", "full", "gap"):
            marks = [of.marks["real"], of.marks["train"]] if name == "gap" else [of.marks[name]]
            interval = measured(marks, score)
            low, high = interval.low, interval.high
            if name == "gap" and low is not None and high is not None:
                low, high = (interval.value + together * (end - interval.value) for end in (low, high))
            share = math.nan if name == "gap" else float(recall(marks[0].whole)[number])
            texts = None if name == "gap" else int(trained[name][number])
            rows.append((label, name, interval.value, low, high, share, asked, texts, ""))
    held = pd.Series(_column(prepared.given.holdout)).value_counts()
    for label in labels.few:
        why = f"fewer than {LEAST_LABEL} holdout records, or of fewer than {LEAST_UNITS} people, or none to train on"
        if held[label] >= LEAST_LABEL and len(labels.asked) == MOST_LABELS:
            why = f"only the {MOST_LABELS} commonest labels are asked"
        rows.append((label, "train", math.nan, None, None, math.nan, int(held[label]), None, why))
    table = pd.DataFrame(rows, columns=LABEL_COLUMNS)
    return table.astype({"low": float, "high": float, "trained_on": float})


GROUP_COLUMNS = ["column", "value", "reference", "f1", "low", "high", "labels", "asked", "why"]


def _group_rows(prepared: Prepared, exam: Exam, of: _Class, asked: NDArray[np.int64]) -> Iterator[tuple[object, ...]]:
    """Yield a row a subgroup and classifier: macro-F1 over labels with at least ten of the subgroup's records.

    `gap` rows say what the synthetic text lost, all subgroups of all columns held together.
    """
    groups = list(_subgroups(prepared, asked))
    known = [_known_labels(exam.take(rows)) for _, _, rows in groups]
    measured_in = [
        len(rows) >= LEAST_GROUP and labels.sum() >= 2 for (_, _, rows), labels in zip(groups, known, strict=True)
    ]
    together = wider(sum(measured_in))
    for (name, value, rows), labels, there in zip(groups, known, measured_in, strict=True):
        size = (int(labels.sum()), len(rows))
        if not there:
            why = f"fewer than {LEAST_GROUP} holdout records, or fewer than 2 labels with {LEAST_LABEL} of them"
            yield name, value, "train", math.nan, math.nan, math.nan, *size, why
            continue
        within = {
            side: Taught(of.taught[side].answers[rows], of.taught[side].again[:, rows]) for side in ("train", "real")
        }
        marks = _marks(exam.take(rows), within, prepared.seed)
        for reference in ("train", "real", "gap"):
            sides = ("real", "train") if reference == "gap" else (reference,)
            one = measured([marks[side] for side in sides], _over(labels))
            wide = together if reference == "gap" else 1.0
            ends = (math.nan if end is None else one.value + wide * (end - one.value) for end in (one.low, one.high))
            yield name, value, reference, one.value, *ends, *size, ""


def _subgroups(prepared: Prepared, asked: NDArray[np.int64]) -> Iterator[tuple[str, str, NDArray[np.int64]]]:
    """Yield column, value and the places in `asked` of each subgroup, by the columns that have two to twelve values."""
    frame = prepared.given.holdout.iloc[asked]
    for column in frame.columns:
        if not str(column).startswith(KEPT_PREFIX) or column == CANARIES:
            continue
        values = _column(frame, column)
        counts = pd.Series(values).dropna().value_counts()
        if 2 <= len(counts) <= GROUP_VALUES:
            for value in sorted(counts.index):
                yield str(column).removeprefix(KEPT_PREFIX), str(value), np.flatnonzero(values == value)


def _known_labels(exam: Exam) -> NDArray[np.bool_]:
    """Return which labels have at least ten of an exam's texts."""
    found: NDArray[np.bool_] = np.bincount(exam.truth, minlength=exam.labels)[: exam.labels] >= LEAST_LABEL
    return found


def _over(known: NDArray[np.bool_]) -> Score:
    def score(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        return macro_f1(counts[..., known])

    return score
