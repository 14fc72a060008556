"""Pieces of DPGA-TextSyn that need no run: key words, lengths, the paper's ε.

Source: Sun et al. 2025, "DPGA-TextSyn", sections 3.2 to 4.3 and appendix B.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from engine.dp.accounting import closed_form
from engine.models.builtin.format import STOPWORDS

LENGTH_BINS = 100
_WORD = re.compile(r"[^\W\d_]{4,}")


def words_of(text: str) -> int:
    """Return the length of a text in words: the public measure of the searches and the histogram."""
    return len(text.split())


def keyword_list(samples: Sequence[str], others: Sequence[str], public: Sequence[str], size: int) -> list[str]:
    """Return `size` words or phrases for a label from texts the model made for it, topped up from a public list.

    Words count by how many samples hold them, less so where samples of other labels hold them too.
    """
    own = Counter(word for text in samples for word in set(_content(text)))
    rest = Counter(word for text in others for word in set(_content(text)))
    scale = max(1, len(others)) / max(1, len(samples))
    ranked = sorted(own, key=lambda word: (-(own[word] - 0.5 * rest[word] / scale), word))
    return list(dict.fromkeys([*ranked[: size - size // 4], *public, *ranked]))[:size]


def _content(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in STOPWORDS]


def softmax(votes: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    """Return choice probabilities of noisy votes: softmax of standardised counts.

    Raw counts would put all weight on one word as soon as there are a few hundred records.
    """
    spread = float(votes.std())
    scores = (votes - votes.mean()) / (spread if spread > 0 else 1.0) / temperature
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def above_noise(votes: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    """Return choice probabilities in proportion to votes above the noise; even ones where none stands out.

    Args:
        votes: with Laplace noise, (n,). scale: of that noise; a count of twice it is exceeded by noise alone in 7%.
    """
    weights = np.maximum(0.0, votes - 2.0 * scale)
    if weights.sum() <= 0:
        weights = np.ones(len(votes))
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def length_edges(shortest: int, longest: int) -> list[float]:
    """Return at most 101 rising edges of length bins, in words, from shortest to longest + 1."""
    low, high = min(shortest, longest), max(shortest, longest) + 1
    bins = min(LENGTH_BINS, high - low)
    return [float(edge) for edge in np.linspace(low, high, bins + 1)]


def draw_length(rng: Random, edges: Sequence[float], counts: Sequence[float]) -> int:
    """Return a length in words drawn from a noisy histogram, evenly within its bin; negative counts are nothing."""
    weights = [max(0.0, count) for count in counts]
    if sum(weights) <= 0:
        weights = [1.0] * len(counts)
    bin_ = rng.choices(range(len(weights)), weights)[0]
    return max(3, min(400, int(rng.uniform(edges[bin_], edges[bin_ + 1]))))


def matched_lengths(lengths: Sequence[int], edges: Sequence[float], counts: Sequence[float]) -> list[int]:
    """Return for each text the length that a noisy histogram has at the text's rank among all, in words.

    So what is bred from the texts is as long as private texts are: kept as it is, length grows from round to round.

    Args:
        lengths: of n texts, in words. edges, counts: of the histogram; negative counts are nothing.
    """
    weights = np.maximum(0.0, np.asarray(counts, dtype=np.float64))
    if weights.sum() <= 0:
        weights = np.ones(len(weights))
    below = np.concatenate([[0.0], np.cumsum(weights) / weights.sum()])  # share below each edge
    ranks = np.argsort(np.argsort(np.asarray(lengths), kind="stable"), kind="stable")
    found = np.interp((ranks + 0.5) / max(1, len(lengths)), below, np.asarray(edges, dtype=np.float64))
    return [max(3, min(400, int(length))) for length in found]


def paper_epsilon(noise_multiplier: float, rounds: int, sampling_rate: float, delta: float, fixed: float) -> float:
    """Return the total by the paper's own formula: fixed parts + ln(1 + q (e^ε − 1)).

    ε is that of T Gaussian releases composed, at δ / q, since the formula's δ is q times theirs (sections 4.2, 4.3).
    """
    mu = math.sqrt(rounds) / noise_multiplier
    inner = closed_form.epsilon(mu, delta / sampling_rate)
    return fixed + math.log1p(sampling_rate * math.expm1(inner))
