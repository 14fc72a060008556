"""What a language model learns from the text: how often it knows the next word of text that nobody trained on.

Fresh small causal models of one shape are trained on the synthetic text, on as many tokens of the training part, and
on as many of unrelated text; each is asked for every word of the sealed holdout. Tokens come from public text.

Privacy posture: models trained on private text stay in memory and are dropped when the part ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.examine.findings import Reference
from engine.examine.make import finding, missing
from engine.examine.part import Part
from engine.examine.prepare import Prepared
from engine.examine.samples import sample, sample_units
from engine.examine.stats import intervals
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
    """Most tokens trained on and texts asked, tokens of a text; width, layers and epochs of a model, models a side."""

    tokens: int
    asked: int
    context: int
    width: int
    layers: int
    epochs: int
    models: int


FULL = Effort(tokens=60_000, asked=400, context=128, width=64, layers=2, epochs=6, models=2)
TINY = Effort(tokens=TINY_TOKENS, asked=100, context=64, width=32, layers=1, epochs=4, models=1)


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
    synthetic = sample(prepared.synthetic.record_ids, len(prepared.synthetic), seed, "language model")
    real = sample_units(prepared.train.units, len(prepared.train), seed, "language model")
    unrelated = unrelated_text(prepared)
    sources: list[tuple[Reference, Sequence[str]]] = [
        ("train", [str(prepared.synthetic.texts[row]) for row in _shuffled(synthetic, seed)]),
        ("real", [str(prepared.train.texts[row]) for row in _shuffled(real, seed)]),
    ]
    if unrelated is not None:
        sources.append(("unrelated", [str(text) for text in unrelated.texts]))
    rows = [(reference, _first_tokens(texts, FULL.tokens, lm.encode)) for reference, texts in sources]
    size = min(sum(map(len, found)) for _, found in rows[:2])
    if size < FEWEST_TOKENS:
        return _none(f"there are {size} tokens to train on; at least {FEWEST_TOKENS} are needed")
    effort = TINY if size < TINY_TOKENS else FULL
    sides = [(reference, _cut(found, min(size, effort.tokens))) for reference, found in rows]
    asked = sample_units(prepared.holdout.units, effort.asked, seed, "language model")
    questions = [row[: effort.context] for row in lm.encode([str(prepared.holdout.texts[i]) for i in asked])]
    with one_thread(effort is TINY):
        stack, untrained = _trained(prepared, effort, [found for _, found in sides])
        answers = lm.next_tokens(stack, questions)
        blank = lm.next_tokens(untrained, questions)
    references = [side for side, _ in sides]
    return _part(prepared, effort, references, min(size, effort.tokens), (answers, blank), questions, asked)


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


def _cut(rows: Sequence[Row], tokens: int) -> list[Row]:
    """Return the first rows with so many tokens in all; the last one is cut."""
    kept: list[Row] = []
    left = tokens
    for row in rows:
        if left <= 0:
            break
        kept.append(row[:left])
        left -= len(row)
    return kept


def _trained(prepared: Prepared, effort: Effort, sides: Sequence[Sequence[Row]]) -> tuple[Stack, Stack]:
    """Return the models, `effort.models` a side in the order of sides, and one that was not trained."""
    from engine.models.tune import small_causal as lm
    from engine.models.tune.stacked import Shape, Stack, Training

    shape = Shape(lm.vocabulary_size(), effort.width, effort.layers, context=effort.context)
    rows = [row for side in sides for row in side]
    of_side = np.repeat(np.arange(len(sides)), [len(side) for side in sides])
    members = np.repeat(np.arange(len(sides)), effort.models)[:, None] == of_side[None, :]
    first = prepared.seed * 1_000 + SEED_MODELS
    seeds = [first + model for _ in sides for model in range(effort.models)]  # the same starts a side
    tell = lambda done, total: prepared.report("training on the synthetic text", done, total)  # noqa: E731
    stack, _ = lm.fitted(rows, members, seeds, shape, Training(epochs=effort.epochs), tell)
    return stack, Stack(shape, [first])


def _part(
    prepared: Prepared,
    effort: Effort,
    references: Sequence[Reference],
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
        "models_a_side": effort.models,
        "model": f"fresh causal transformer, {effort.layers} layers of width {effort.width}, {effort.epochs} epochs",
        "interval_is_of": "the words asked, whole units drawn; not of training anew",
    }
    part = Part()
    real = slice(references.index("real") * effort.models, (references.index("real") + 1) * effort.models)
    for name, table, of in (("next_word", right, 1), ("next_word_loss", loss, 0)):
        before = np.concatenate([found[of] for found in blank], axis=1)
        untrained = float(before.mean())
        learned = intervals.mean(table[real].mean(axis=0) - before.mean(axis=0), prepared.seed, units)
        if name == "next_word" and (learned.low is None or learned.low <= 0.0):
            why = f"{tokens} tokens are too few: as much real text did not teach the models one more word than none"
            part.findings += [missing(name, reference, why) for reference in references]
            continue
        for place, reference in enumerate(references):
            rows = table[place * effort.models : (place + 1) * effort.models]
            interval = intervals.mean(rows.mean(axis=0), prepared.seed, units)
            more: dict[str, JSON] = {"untrained": untrained, "by_model": [float(row.mean()) for row in rows]}
            part.findings.append(finding(name, reference, interval, **settings, **more))
    return part


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
