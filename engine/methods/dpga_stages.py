"""Pieces of DPGA-TextSyn that need no run: key words, lengths, elite with similarity suppression, the paper's ε.

Source: Sun et al. 2025, "DPGA-TextSyn", sections 3.2 to 4.3 and appendix B.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from engine.dp import closed_form
from engine.methods.pe_common import Pair
from engine.models.lm_format import STOPWORDS

LENGTH_BINS = 100
TAU_STEP = 0.01
_WORD = re.compile(r"[^\W\d_]{4,}")
_MATRIX = 6000  # candidates up to which all similarities are kept at hand


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


def elite(
    embeddings: NDArray[np.float32],
    votes: NDArray[np.float64],
    pool: Sequence[Pair],
    wanted: Mapping[str | None, int],
    tau: float | None,
) -> tuple[list[int], float, int]:
    """Return survivors by votes that are not too similar to better ones, the threshold used, and how many it held back.

    Args:
        embeddings: float32 (n, d) of unit rows. votes: noisy, (n,). wanted: survivors a label; the pool holds enough.
        tau: cosine above which a candidate is too similar, raised by 0.01 until enough survive; None: no suppression.
    """
    order = [int(i) for i in np.argsort(-votes, kind="stable")]
    if tau is None:
        kept, _ = _greedy(embeddings, order, pool, wanted, math.inf, None)
        return kept, 1.0, 0
    matrix = embeddings @ embeddings.T if len(order) <= _MATRIX else None
    total = sum(wanted.values())
    threshold = tau
    while True:
        level = threshold if threshold < 1.0 else math.inf
        kept, held = _greedy(embeddings, order, pool, wanted, level, matrix)
        if len(kept) == total or level == math.inf:
            return kept, min(threshold, 1.0), held
        threshold += TAU_STEP


def _greedy(
    embeddings: NDArray[np.float32],
    order: Sequence[int],
    pool: Sequence[Pair],
    wanted: Mapping[str | None, int],
    level: float,
    matrix: NDArray[np.float32] | None,
) -> tuple[list[int], int]:
    left = dict(wanted)
    blocked = np.zeros(len(order), dtype=bool)
    kept: list[int] = []
    held = 0
    for i in order:
        label = pool[i][1]
        if left.get(label, 0) <= 0:
            continue
        if blocked[i]:
            held += 1
            continue
        kept.append(i)
        left[label] -= 1
        if level != math.inf:
            near = matrix[i] if matrix is not None else embeddings @ embeddings[i]
            blocked |= near > level
        if not any(left.values()):
            break
    return kept, held


def paper_epsilon(noise_multiplier: float, rounds: int, sampling_rate: float, delta: float, fixed: float) -> float:
    """Return the total by the paper's own formula: fixed parts + ln(1 + q (e^ε − 1)).

    ε is that of T Gaussian releases composed, at δ / q, since the formula's δ is q times theirs (sections 4.2, 4.3).
    """
    mu = math.sqrt(rounds) / noise_multiplier
    inner = closed_form.epsilon(mu, delta / sampling_rate)
    return fixed + math.log1p(sampling_rate * math.expm1(inner))
