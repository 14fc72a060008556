"""What a language model learns from the text: how often it knows the next word of text that nobody trained on.

Fresh small causal models of one shape are trained on the synthetic text, on as many tokens of the training part, and
on as many of unrelated text; each is asked for every word of the sealed holdout. Tokens come from public text. Models
trained on people drawn anew, of the synthetic and of the real text, say what the interval owes to the texts trained on.

Privacy posture: models trained on private text stay in memory and are dropped when the part ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.findings.findings import Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.samples import sample, sample_units
from engine.examine.stats import intervals
from engine.examine.stats.intervals import group_numbers
from engine.examine.usefulness.unrelated import unrelated_text
from engine.examine.values.leaks import NO_HOLDOUT
from engine.json_types import JSON

if TYPE_CHECKING:
    from engine.models.tune.stacked import Stack

NAMES = ("next_word", "next_word_loss")
SWITCHED_OFF = "models trained on the synthetic text were switched off"
FEWEST_TEXTS = 10  # of the holdout
FEWEST_TOKENS = 500  # to train on
TINY_TOKENS = 10_000  # tokens to train on below which the models are kept small
SEED_MODELS = 9_000

Row = NDArray[np.int64]


@dataclass(frozen=True)
class Effort:
    """Most tokens trained on and texts asked, tokens of a text; width, layers and epochs of a model; models a side.

    refits: further models of the synthetic and of the real text, each trained on people drawn anew.
    """

    tokens: int
    asked: int
    context: int
    width: int
    layers: int
    epochs: int
    models: int
    refits: int


FULL = Effort(tokens=60_000, asked=400, context=128, width=64, layers=2, epochs=6, models=2, refits=4)
TINY = Effort(tokens=TINY_TOKENS, asked=100, context=64, width=32, layers=1, epochs=4, models=1, refits=6)


@dataclass(frozen=True)
class _Side:
    """What models are trained on: token ids a text, and whose text each is; None where no refit is made."""

    reference: Reference
    rows: list[Row]
    units: NDArray[np.object_] | None


@dataclass(frozen=True)
class _Network:
    """One model to train: the number of its side, its start, and how often it is given each text of the side."""

    side: int
    seed: int
    counts: NDArray[np.int64]
    refit: bool = False


def examine_language(prepared: Prepared) -> Part:
    """Return next-word accuracy and loss of models trained on synthetic, real and unrelated text.

    Source: next-word accuracy of a small model trained on synthetic text, as in Xie et al. 2024 (AUG-PE), section 5.1.
    """
    if not prepared.given.model_attacks:
        return _none(SWITCHED_OFF)
    if not len(prepared.holdout):
        return _none(NO_HOLDOUT)
    if len(prepared.holdout) < FEWEST_TEXTS:
        return _none(f"the holdout has {len(prepared.holdout)} texts; at least {FEWEST_TEXTS} are needed")
    from engine.models.threads import one_thread
    from engine.models.tune import small_causal as lm

    prepared.report("a language model trained on the text", 0, 1)
    seed = prepared.seed
    synthetic = _shuffled(sample(prepared.synthetic.record_ids, len(prepared.synthetic), seed, "language model"), seed)
    real = _shuffled(sample_units(prepared.train.units, len(prepared.train), seed, "language model"), seed)
    unrelated = unrelated_text(prepared)
    sources: list[tuple[Reference, Side]] = [
        ("train", prepared.synthetic.take(synthetic)), ("real", prepared.train.take(real))
    ]  # fmt: skip
    if unrelated is not None:
        sources.append(("unrelated", unrelated))
    sides = [_side(prepared, reference, source, lm.encode) for reference, source in sources]
    size = min(sum(map(len, side.rows)) for side in sides[:2])
    if size < FEWEST_TOKENS:
        return _none(f"there are {size} tokens to train on; at least {FEWEST_TOKENS} are needed")
    effort = TINY if size < TINY_TOKENS else FULL
    tokens = min(size, effort.tokens)
    sides = [_cut(side, tokens) for side in sides]
    asked = sample_units(prepared.holdout.units, effort.asked, seed, "language model")
    questions = [row[: effort.context] for row in lm.encode([str(prepared.holdout.texts[i]) for i in asked])]
    networks = _networks(sides, effort, seed)
    with one_thread(effort is TINY):
        stack, untrained = _trained(prepared, effort, sides, networks)
        answers = lm.next_tokens(stack, questions)
        blank = lm.next_tokens(untrained, questions)
    return _part(prepared, effort, sides, networks, tokens, (answers, blank), questions, asked)


def _none(why: str) -> Part:
    part = Part()
    part.findings += [missing(name, reference, why) for name in NAMES for reference in ("train", "real")]
    return part


def _shuffled(rows: Row, seed: int) -> Row:
    return np.random.default_rng(seed).permutation(rows)


def _first_tokens(texts: Sequence[str], most: int, encode: Callable[[Sequence[str]], list[Row]]) -> list[Row]:
    """Return the token ids of as many texts as hold `most` tokens."""
    found: list[Row] = []
    total = 0
    for start in range(0, len(texts), 64):
        if total >= most:
            break
        batch = encode(texts[start : start + 64])
        found += batch
        total += sum(map(len, batch))
    return found


def _side(
    prepared: Prepared, reference: Reference, source: Side, encode: Callable[[Sequence[str]], list[Row]]
) -> _Side:
    rows = _first_tokens([str(text) for text in source.texts], FULL.tokens, encode)
    units = source.units if prepared.grouped else source.record_ids
    return _Side(reference, rows, None if reference == "unrelated" else units[: len(rows)])


def _cut(side: _Side, tokens: int) -> _Side:
    """Return the first rows with so many tokens in all; the last one is cut."""
    kept: list[Row] = []
    left = tokens
    for row in side.rows:
        if left <= 0:
            break
        kept.append(row[:left])
        left -= len(row)
    return _Side(side.reference, kept, None if side.units is None else side.units[: len(kept)])


def _networks(sides: Sequence[_Side], effort: Effort, seed: int) -> list[_Network]:
    """Return the models to train: on each side as it is, then on its people drawn with replacement."""
    first = seed * 1_000 + SEED_MODELS
    found: list[_Network] = []
    for number, side in enumerate(sides):
        whole = np.ones(len(side.rows), np.int64)
        models = effort.models if side.units is not None else 1
        found += [_Network(number, first + model, whole) for model in range(models)]  # the same starts a side
        if side.units is None:
            continue
        units = group_numbers(side.units)
        count = int(units.max(initial=-1)) + 1
        rng = np.random.default_rng([seed, number])
        for refit in range(effort.refits):
            drawn = np.bincount(rng.integers(0, count, count), minlength=count)[units]
            found.append(_Network(number, first + effort.models + refit, drawn, refit=True))
    return found


def _trained(
    prepared: Prepared, effort: Effort, sides: Sequence[_Side], networks: Sequence[_Network]
) -> tuple[Stack, Stack]:
    """Return the models in the order of networks, and one that was not trained."""
    from engine.models.tune import small_causal as lm
    from engine.models.tune.stacked import Shape, Stack, Training

    shape = Shape(lm.vocabulary_size(), effort.width, effort.layers, context=effort.context)
    most = max(int(network.counts.max()) for network in networks)
    rows = [row for side in sides for row in side.rows] * most  # a text drawn twice is given twice
    ends = np.cumsum([len(side.rows) for side in sides])
    members = np.zeros((len(networks), most, int(ends[-1])), bool)
    for number, network in enumerate(networks):
        end = int(ends[network.side])
        own = network.counts[None, :] > np.arange(most)[:, None]
        members[number, :, end - len(network.counts) : end] = own
    tell = lambda done, total: prepared.report("training on the synthetic text", done, total)  # noqa: E731
    seeds = [network.seed for network in networks]
    stack, _ = lm.fitted(rows, members.reshape(len(networks), -1), seeds, shape, Training(epochs=effort.epochs), tell)
    return stack, Stack(shape, seeds[:1])


def _part(
    prepared: Prepared,
    effort: Effort,
    sides: Sequence[_Side],
    networks: Sequence[_Network],
    tokens: int,
    answers: tuple[Sequence[NDArray[np.float64]], Sequence[NDArray[np.float64]]],
    questions: Sequence[Row],
    asked: Row,
) -> Part:
    """Return the findings of what the models answered."""
    by_word = [_a_word(answer, question) for answer, question in zip(answers[0], questions, strict=True)]
    loss, right = (np.concatenate([found[i] for found in by_word], axis=1) for i in (0, 1))  # (models, words)
    units = np.repeat(prepared.holdout.units[asked], [found[0].shape[1] for found in by_word])
    blank = [_a_word(answer, question) for answer, question in zip(answers[1], questions, strict=True)]
    settings: dict[str, JSON] = {
        "tokens_a_side": tokens,
        "texts_asked": len(questions),
        "model": f"fresh causal transformer, {effort.layers} layers of width {effort.width}, {effort.epochs} epochs",
    }
    part = Part()
    whole, again = _places(sides, networks, refit=False), _places(sides, networks, refit=True)
    for name, table, of in (("next_word", right, 1), ("next_word_loss", loss, 0)):
        before = np.concatenate([found[of] for found in blank], axis=1)
        untrained = float(before.mean())
        learned = intervals.mean(table[whole["real"]].mean(axis=0) - before.mean(axis=0), prepared.seed, units)
        if name == "next_word" and (learned.low is None or learned.low <= 0.0):
            why = f"{tokens} tokens are too few: as much real text did not teach the models one more word than none"
            part.findings += [missing(name, side.reference, why) for side in sides]
            continue
        for side in sides:
            rows = table[whole[side.reference]]
            interval = intervals.mean(rows.mean(axis=0), prepared.seed, units)
            anew = table[again[side.reference]].mean(axis=1)
            interval = intervals.trained_anew(interval, anew, (0.0, 1.0 if of else math.inf))
            more: dict[str, JSON] = {
                "models_a_side": len(rows), "models_trained_anew": len(anew), "untrained": untrained,
                "by_model": [float(row.mean()) for row in rows],
                "interval_is_of": f"the words asked, whole units drawn{', and of training anew' if len(anew) else ''}; "
                "not of writing the text anew",
            }  # fmt: skip
            part.findings.append(finding(name, side.reference, interval, **settings, **more))
    return part


def _places(sides: Sequence[_Side], networks: Sequence[_Network], refit: bool) -> dict[Reference, list[int]]:
    """Return the places of each side's models, those trained on it as it is or on people drawn anew."""
    return {
        side.reference: [
            place for place, network in enumerate(networks) if network.side == number and network.refit == refit
        ]
        for number, side in enumerate(sides)
    }


def _a_word(answer: NDArray[np.float64], question: Row) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bits a word, and whether each of its tokens was the likeliest, float arrays (models, words).

    The first word of a text and the end token are not asked for; a word cut at the end of the row is.
    """
    from engine.models.tune.small_causal import words_of

    word = words_of(question)
    count = int(word.max()) + 1 if len(word) else 0
    loss, right = np.zeros((answer.shape[1], count)), np.ones((answer.shape[1], count))
    for token, place in enumerate(word):
        if place >= 0:
            loss[:, place] -= answer[0, :, token] / np.log(2.0)
            right[:, place] *= answer[1, :, token]
    return loss[:, 1:], right[:, 1:]
