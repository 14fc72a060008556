"""How well a network knows texts, before and after it was fitted, and what planted canaries give away.

Perplexities are a token, given the public prompt of label and length, over all tokens together; intervals are of a
bootstrap over records and say nothing about another training. Everything here is computed on private text: internal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.dp.noise.train import Document
from engine.models.tune.learner import NetLearner
from engine.models.tune.tuning_rows import Prompt, rows
from engine.studies.injected import canary_phrases

COLUMNS = ["variant", "measure", "value", "low", "high", "n"]
DRAWS = 1000
BATCH = 64
DIGITS = 12
Row = tuple[str, float, float, float, int]


@dataclass(frozen=True)
class Known:
    """What a network makes of texts: nats of each text's tokens added up (n,), and how many tokens that were (n,)."""

    nats: NDArray[np.float64]
    tokens: NDArray[np.float64]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Return nats a token of each text (n,)."""
        return self.nats / np.maximum(self.tokens, 1.0)


def known(
    learner: NetLearner, documents: Sequence[Document], prompt: Prompt, told: Callable[[int, int], None]
) -> Known:
    """Score documents; `told` gets how many are done, and how many there are, after each batch."""
    order = sorted(range(len(documents)), key=lambda i: len(documents[i].text))
    nats, tokens = np.zeros(len(documents)), np.zeros(len(documents))
    for at in range(0, len(order), BATCH):
        chosen = order[at : at + BATCH]
        part = [documents[i] for i in chosen]
        made = rows(learner.net, part, prompt, learner.settings.tokens)
        tokens[chosen] = [sum(row.counted) for row in made]
        nats[chosen] = np.array(learner.losses(part)) * tokens[chosen]
        told(min(at + BATCH, len(order)), len(order))
    return Known(nats, tokens)


def perplexity(name: str, found: Known, seed: int) -> Row:
    """Return the perplexity of all tokens, with its bootstrap interval over texts."""
    if not found.tokens.sum():
        return name, math.nan, math.nan, math.nan, 0
    drawn = _draws(len(found.nats), seed)
    again = np.exp(found.nats[drawn].sum(axis=1) / found.tokens[drawn].sum(axis=1).clip(1.0))
    low, high = np.quantile(again, [0.025, 0.975])
    return name, float(np.exp(found.nats.sum() / found.tokens.sum())), float(low), float(high), len(found.nats)


def ratio(name: str, first: Known, second: Known, seed: int, *, paired: bool = True) -> Row:
    """Return the perplexity under `first` over that under `second`; paired: the same texts in the same order."""
    if not first.tokens.sum() or not second.tokens.sum():
        return name, math.nan, math.nan, math.nan, 0
    drawn = _draws(len(first.nats), seed)
    other = drawn if paired else _draws(len(second.nats), seed + 1)

    def logs(found: Known, places: NDArray[np.int64]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = found.nats[places].sum(-1) / found.tokens[places].sum(-1).clip(1.0)
        return values

    low, high = np.quantile(np.exp(logs(first, drawn) - logs(second, other)), [0.025, 0.975])
    value = math.exp(first.nats.sum() / first.tokens.sum() - second.nats.sum() / second.tokens.sum())
    return name, value, float(low), float(high), len(first.nats)


def _draws(n: int, seed: int) -> NDArray[np.int64]:
    return np.random.default_rng(seed).integers(0, n, (DRAWS, n))


@dataclass(frozen=True)
class Canaries:
    """Made-up texts, and which of them a fair coin put among the training records."""

    texts: tuple[str, ...]
    inside: NDArray[np.bool_]


def canaries(count: int, seed: int) -> Canaries:
    """Return texts that no corpus contains, each with a number of its own, and their coins."""
    draw = Random(f"coins {seed}")
    numbers = ["".join(str(draw.randrange(10)) for _ in range(DIGITS)) for _ in range(count)]
    texts = tuple(f"{phrase}, number {n}." for phrase, n in zip(canary_phrases(count, seed), numbers, strict=True))
    return Canaries(texts, np.array([draw.random() < 0.5 for _ in range(count)], dtype=bool))


def audited(planted: Canaries, gain: NDArray[np.float64], delta: float) -> Row:
    """Return the lower bound on ε from guessing the coins of a quarter of the canaries at either end.

    Args:
        gain: nats a token by which each canary became better known, (count,). delta: of the claim.

    Source: Steinke, Nasr and Jagielski 2023, theorem 5.2; one run, so its failure to find a leak proves nothing.
    """
    from engine.studies.audit_bounds import one_run_epsilon

    count, each = len(gain), len(gain) // 4
    order = np.argsort(gain, kind="stable")
    right = int(planted.inside[order[count - each :]].sum() + (~planted.inside[order[:each]]).sum())
    return "audited_epsilon_canaries", one_run_epsilon(count, 2 * each, right, delta), math.nan, math.nan, count


def exposure(planted: Canaries, gain: NDArray[np.float64]) -> Row:
    """Return the chance that a canary that was in became better known than one that was not (AUC), ties half."""
    ours, theirs = gain[planted.inside], gain[~planted.inside]
    if not len(ours) or not len(theirs):
        return "canary_auc", math.nan, math.nan, math.nan, len(gain)
    above = np.sign(ours[:, None] - theirs[None, :])
    area = float((above + 1.0).mean() / 2.0)
    # Hanley and McNeil 1982, equations 1 and 2
    one, two = area / (2.0 - area), 2.0 * area**2 / (1.0 + area)
    spread = area * (1 - area) + (len(ours) - 1) * (one - area**2) + (len(theirs) - 1) * (two - area**2)
    half = 1.96 * math.sqrt(max(0.0, spread) / (len(ours) * len(theirs)))
    return "canary_auc", area, max(0.0, area - half), min(1.0, area + half), len(gain)


def frame(variant: str, found: Sequence[Row]) -> pd.DataFrame:
    """Return rows as a tidy table of one variant."""
    return pd.DataFrame([(variant, *row) for row in found], columns=COLUMNS)
