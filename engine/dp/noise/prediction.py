"""Private prediction: tokens drawn from logits that a batch of private prompts moves a little.

Mechanism: a batch of private records, each in a prompt of its own, and one public prompt without a record read the
same growing text. Each private row may move the public logits (`difference-clip`), or enter a mean (`mean-clip`),
within ±C in each coordinate; the sum is divided by s, and the next token is one draw from its softmax at temperature
τ, an exponential mechanism. `mean-clip` first asks by sparse vector, a token at a time, whether the batch disagrees
with the public prompt at all; where it does not, the token is drawn from the public logits.
Sensitivity: a unit has at most r rows in a run's batches; s, the expected number of rows in a batch, is a constant and
an absent row adds nothing. A unit therefore moves every coordinate of the mean within ±r C/s, a range of 2 r C/s: each
draw is ½ (r C / (s τ))²-zCDP (Cesar and Rogers 2021: η-bounded range is η²/8-zCDP). The sparse vector's question is a
total variation between a mean of distributions and the public one: it moves by at most r/s.
Unit: a record or a source. Batches are disjoint: by label, by public topic (each of them a function of the record and
of public inputs alone), and by keyed hash of the unit's name. So they compose in parallel; the texts that one batch
writes add up. A unit's rows in different batches cost no more than the same rows in one, where their ranges add up.
Adjacency: zero-out (a unit's rows become absent; N public). Replace-one doubles the range, and so has four times the
cost. There the rows that a unit had and those that it has now may lie in different batches, a or b of them in one:
ranges of a + b rows add up to 2 r at most, whose square is paid; the sparse vector's question moves by max(a, b)/s,
whose squares add up to 2 r²/s² at most, so a search costs twice what it does under zero-out.
Public: the prompts, the model, N, s, r, C, τ, k, lengths and counts; the public logits, which come from a computation
of their own and alone decide which tokens may be drawn at all.
An attacker sees every token of every text, knows all of the above and every other unit's records, and does not see
logits, uniforms or timings. Every token of the schedule is paid for, also where a text ends early.
Assumptions: draws are by inversion of 53-bit uniforms from the operating system over float64 sums; a row's logits do
not depend on which other rows are computed beside it (equal shapes, see `engine.models.folder.logits`).

Sources: Vinod, Pillutla and Thakurta 2025 (InvisibleInk, arXiv 2507.02974); Amin et al. 2024 (arXiv 2407.12108,
algorithm 1); Canonne, Kamath and Steinke 2020, proposition 12; Bun and Steinke 2016, proposition 1.4.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.dp.events import Event, Whom
from engine.dp.noise import mechanisms
from engine.dp.noise.private_data import PrivateData
from engine.errors import InternalError

Variant = Literal["difference-clip", "mean-clip"]
PAID, PARALLEL = "tokens of private prediction", "tokens of private prediction, on other units"


class Prefixes(Protocol):
    """Prompts that all go on with the same tokens."""

    def logits(self) -> NDArray[np.float32]:
        """Return next-token logits, shape (rows, V)."""
        ...

    def append(self, token: int) -> None:
        """Put one token behind every row."""
        ...


class TokenModel(Protocol):
    """A language model with its prompts. `allowed` (V,) says which tokens may be drawn; `end` ends a text."""

    allowed: NDArray[np.bool_]
    end: int

    def start(self, texts: Sequence[str | None]) -> Prefixes:
        """Return a prompt a text, each with that record in it; None is the public prompt without a record."""
        ...


@dataclass(frozen=True)
class Cell:
    """One batch: records of a label (or of all), and of some topics, whose keyed place is in part `number` of `parts`.

    `slots` is s, the rows it is expected to have; a public constant, never the rows it has. topics: numbers of public
    topics that records carry; empty for records of all of them.
    """

    label: str | None
    number: int
    parts: int
    slots: float
    topics: tuple[int, ...] = ()

    def rows(self, data: PrivateData, most: int) -> list[str]:
        """Return the texts of this batch; a unit's first `most` records in keyed order count, over all labels."""
        taken: dict[int, int] = {}
        found = []
        inside = np.isin(data.topics, self.topics) if self.topics else np.ones(len(data.texts), dtype=bool)
        rows = zip(data.unit_of, data.labels, data.texts, data.places, inside, strict=True)
        for unit, label, text, place, topic in rows:
            taken[unit] = taken.get(unit, 0) + 1
            mine = topic and (self.label is None or label == self.label) and int(place * self.parts) == self.number
            if mine and taken[unit] <= most:
                found.append(text)
        return found

    def stored(self) -> dict[str, object]:
        """Return the batch as what a stored text is known by; without topics as before there were any."""
        found = asdict(self)
        if not self.topics:
            del found["topics"]
        return found


@dataclass(frozen=True)
class Prediction:
    """Public settings of the mechanism.

    Args:
        variant: `difference-clip` or `mean-clip`. rows: r, records of a unit that take part. reach: C/s, how far one
            row moves a coordinate of the mean, in nats.
        temperature: τ. tokens: T, draws from private logits paid a text. longest: tokens a text has at most
            (difference-clip: T). shortest: tokens before it may end. top_k: how many tokens the public logits leave
            (0: all of them). threshold: total variation, and search: pure loss of one search (mean-clip).
    """

    variant: Variant
    rows: int
    reach: float
    temperature: float
    tokens: int
    longest: int
    shortest: int = 4
    top_k: int = 100
    threshold: float = 0.3
    search: float = 0.0

    def token_rho(self, adjacency: str = "zero-out") -> float:
        """Return the zCDP loss of one private token, its search included."""
        factor = 1.0 if adjacency == "zero-out" else 2.0
        search = search_rho(self.search, adjacency) if self.variant == "mean-clip" else 0.0
        return 0.5 * (factor * self.rows * self.reach / self.temperature) ** 2 + search


def search_rho(epsilon: float, adjacency: str = "zero-out") -> float:
    """Return the zCDP loss of one search of this pure loss a batch; under replace-one a unit may move two batches."""
    return 0.5 * epsilon**2 * (1.0 if adjacency == "zero-out" else 2.0)


def search_of(rho: float, adjacency: str = "zero-out") -> float:
    """Return the pure loss of a search that costs `rho`: the inverse of `search_rho`."""
    return math.sqrt(2.0 * rho / (1.0 if adjacency == "zero-out" else 2.0))


def reach_of(rho: float, rows: int, temperature: float, adjacency: str = "zero-out") -> float:
    """Return C/s at which one draw from softmax(m/τ) costs `rho`: the inverse of the loss of a draw."""
    return temperature * math.sqrt(2.0 * rho) / (rows * (1.0 if adjacency == "zero-out" else 2.0))


def events(asked: Prediction, whom: Whom, texts: int, batches: int) -> tuple[Event, ...]:
    """Return the events of a schedule: `texts` written by each of `batches` disjoint batches."""
    paid = event_of(asked, whom)
    paid = replace(paid, count=paid.count * texts)
    if batches < 2:
        return (paid,)
    return (paid, replace(parallel_of(asked, whom), count=texts * (batches - 1)))


def event_of(asked: Prediction, whom: Whom) -> Event:
    """Return the event of one text by every batch."""
    rho = asked.token_rho(whom["adjacency"])
    return Event("zcdp", PAID, rho=rho, count=asked.tokens, sensitivity=asked.rows * asked.reach, **whom)


def parallel_of(asked: Prediction, whom: Whom) -> Event:
    """Return the event of a text that the first batch's event has paid for: it reads other units."""
    return Event("parallel", PARALLEL, sensitivity=asked.rows * asked.reach, **whom)


def check_disjoint(cells: Sequence[Cell]) -> None:
    """Refuse batches that could share a unit's row."""
    seen = {(cell.label, cell.topics, cell.number) for cell in cells}
    parts: dict[tuple[str | None, tuple[int, ...]], int] = {}
    same = all(parts.setdefault((cell.label, cell.topics), cell.parts) == cell.parts for cell in cells)
    labels = sorted({label for label, _ in parts if label is not None})
    width = max((max(topics, default=0) for _, topics in parts), default=0) + 2  # and one for every topic unnamed
    taken = np.zeros((len(labels) + 1, width), dtype=np.int64)
    for label, topics in parts:
        rows = list(range(len(labels) + 1)) if label is None else [labels.index(label)]
        taken[np.ix_(rows, sorted(set(topics)) if topics else range(width))] += 1
    if len(seen) < len(cells) or not same or taken.max(initial=0) > 1:
        raise InternalError("batches of private prediction overlap; their losses would add up")


def draw_text(texts: Sequence[str], model: TokenModel, asked: Prediction, slots: float) -> NDArray[np.int64]:
    """Return one text's tokens, drawn from OS entropy; the end token, where drawn, is the last.

    Args:
        texts: the batch's private records, any number of them. slots: s, how many are expected.
    """
    public = model.start([None])
    private = model.start(list(texts)) if texts else None
    search = _Search(asked, slots)
    made: list[int] = []
    while len(made) < asked.longest:
        base = public.logits()[0].astype(np.float64)
        rows = np.empty((0, len(base))) if private is None else private.logits().astype(np.float64)
        allowed = model.allowed.copy()
        allowed[model.end] = len(made) >= asked.shortest
        if asked.variant == "difference-clip":
            scores = base + moved(base, rows, asked, slots)
        else:
            scores = clipped_mean(rows, len(base), asked, slots) if search.private(base, rows) else base
        kept = support(base, allowed, asked)
        token = int(kept[inverse_cdf(scores[kept] / asked.temperature)])
        made.append(token)
        if token == model.end or len(made) == asked.longest:
            break
        public.append(token)
        if private is not None:
            private.append(token)
    return np.array(made, dtype=np.int64)


def moved(base: NDArray[np.float64], rows: NDArray[np.float64], asked: Prediction, slots: float) -> NDArray[np.float64]:
    """Return (1/s) Σ clip(φ_j − φ_pub, ±C), shape (V,); an absent row adds 0."""
    clip = asked.reach * slots
    change = np.clip(np.nan_to_num(rows - base, nan=0.0), -clip, clip)
    return np.asarray(change.sum(axis=0) / slots)


def clipped_mean(rows: NDArray[np.float64], vocabulary: int, asked: Prediction, slots: float) -> NDArray[np.float64]:
    """Return (1/s) Σ max(−C, z_j − max z_j + C), shape (V,): logits shifted to a top of C and cut at −C."""
    clip = asked.reach * slots
    if not len(rows):
        return np.zeros(vocabulary)
    top = rows.max(axis=1, keepdims=True)
    return np.asarray(np.clip(np.nan_to_num(rows - top, nan=-2 * clip) + clip, -clip, clip).sum(axis=0) / slots)


def support(base: NDArray[np.float64], allowed: NDArray[np.bool_], asked: Prediction) -> NDArray[np.int64]:
    """Return the tokens that may be drawn: φ_pub at most 2C/s below its k-th largest; from public logits alone."""
    ids = np.flatnonzero(allowed & np.isfinite(base))
    if asked.top_k < 1 or len(ids) <= asked.top_k:
        return ids
    values = base[ids]
    least = np.partition(values, len(values) - asked.top_k)[len(values) - asked.top_k]
    return ids[values >= least - 2.0 * asked.reach]


def inverse_cdf(scores: NDArray[np.float64]) -> int:
    """Return one draw from softmax(scores) by one 53-bit uniform from the operating system."""
    steps = np.cumsum(np.exp(scores - scores.max()))
    uniform = (int.from_bytes(os.urandom(8), "little") >> 11) / 2.0**53
    return min(int(np.searchsorted(steps, uniform * steps[-1], side="right")), len(scores) - 1)


class _Search:
    """Sparse vector over the tokens of one text: which of them the batch's own logits are drawn for.

    Lap(2Δ/ε) on the threshold, fresh a private token, and Lap(4Δ/ε) on each question: ε a private token however
    many public ones come before it (Lyu, Su and Li 2017, algorithm 1).
    """

    def __init__(self, asked: Prediction, slots: float) -> None:
        self.asked, self.slots, self.left = asked, slots, asked.tokens
        self.level: float | None = None

    def private(self, base: NDArray[np.float64], rows: NDArray[np.float64]) -> bool:
        """Return whether this token is drawn from private logits; a public answer for good once T are drawn."""
        if self.left < 1:
            return False
        # Distances are asked about times s, so that the noise is as wide for large batches as for small ones.
        # Rounding to the noise's grid can move neighbouring values apart by one step more.
        sensitivity = self.asked.rows + 1.0 / mechanisms.GRID
        if self.level is None:
            self.level = _laplace(self.slots * self.asked.threshold, 2.0 * sensitivity / self.asked.search)
        distance = self.slots * disagreement(base, rows, self.asked, self.slots)
        if _laplace(distance, 4.0 * sensitivity / self.asked.search) < self.level:
            return False
        self.left, self.level = self.left - 1, None
        return True


def disagreement(base: NDArray[np.float64], rows: NDArray[np.float64], asked: Prediction, slots: float) -> float:
    """Return the total variation of (1/s) Σ (p_j − p_pub), in [0, rows/s]; an absent row adds 0."""
    if not len(rows):
        return 0.0
    change = (_softmax(rows, asked.temperature) - _softmax(base[None], asked.temperature)).sum(axis=0)
    return float(0.5 * np.abs(change).sum() / slots)


def _softmax(logits: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    weights = np.exp((logits - logits.max(axis=1, keepdims=True)) / temperature)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _laplace(value: float, scale: float) -> float:
    return float(mechanisms.laplace([value], scale)[0])
