"""The three stages of the filter: before, in and after generation.

Source: Mohammed 2025, "Privacy-Aware Synthetic Data Generation", section 4.1 and Table 1.
Privacy posture: sensitive items live in memory for the length of a run; nothing here logs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from engine.methods.filter.values import KnownValues, Near, chosen
from engine.models.contracts import Detector, Embedder
from engine.pii.content_type import ContentType, content_type
from engine.pii.redact import redact
from engine.pii.sentences import sentence_bounds
from engine.pii.spans import Span

if TYPE_CHECKING:
    from engine.models.contracts import Found


PLACEHOLDER = re.compile(r"\[[A-Z][A-Z_ ]*(?: \d+)?\]")
SIMILAR = "[REDACTED]"
_BLOCK = 4096
Replace = Callable[[str, Sequence[Span]], str]


def placeholders(text: str, spans: Sequence[Span]) -> str:
    """Return the text with typed placeholders for the spans."""
    return redact(text, spans, "placeholder").text


@dataclass(frozen=True)
class Filtered:
    """A text after one stage, how many pieces it replaced, and how many of those for being near a known item."""

    text: str
    replaced: int
    similar: int = 0


def outside_placeholders(text: str, spans: Sequence[Found], minimum_score: float) -> list[Span]:
    """Return detected spans at or above `minimum_score` that touch no typed placeholder."""
    taken = [match.span() for match in PLACEHOLDER.finditer(text)]
    return [
        Span("", s["start"], s["end"], s["label"], s["score"], s["recogniser"], s["identifier_type"])
        for s in spans
        if s["score"] >= minimum_score and all(s["end"] <= left or s["start"] >= right for left, right in taken)
    ]


def detected(texts: Sequence[str], detector: Detector, minimum_score: float) -> list[list[Span]]:
    """Return what the detector finds in each text, placeholders aside."""
    return [
        outside_placeholders(text, found, minimum_score)
        for text, found in zip(texts, detector.detect(texts), strict=True)
    ]


def reapply(
    texts: Sequence[str], detector: Detector, minimum_score: float, replace: Replace = placeholders
) -> list[Filtered]:
    """Replace whatever the detector still finds."""
    found = detected(texts, detector, minimum_score)
    return [Filtered(replace(text, spans), len(spans)) for text, spans in zip(texts, found, strict=True)]


def prefilter(
    texts: Sequence[str], accepted: Sequence[Sequence[Span]], detector: Detector, minimum_score: float
) -> list[Filtered]:
    """Replace the accepted spans, then whatever a second detection pass finds in the result.

    Args:
        texts: private texts.
        accepted: each text's accepted spans.
        detector: the corpus' own detector.
        minimum_score: lowest detection score in [0, 1] the second pass acts on.
    """
    first = [redact(text, spans, "placeholder").text for text, spans in zip(texts, accepted, strict=True)]
    second = reapply(first, detector, minimum_score)
    return [Filtered(r.text, r.replaced + len(spans)) for r, spans in zip(second, accepted, strict=True)]


@dataclass
class SensitiveItems:
    """Unit vectors of the known sensitive items, an (n, d) array."""

    vectors: NDArray[np.float32]

    def nearest(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return each query's highest cosine similarity to any item; -1 where there is none."""
        best = np.full(len(queries), -1.0, dtype=np.float32)
        for start in range(0, len(self.vectors), _BLOCK):
            block = self.vectors[start : start + _BLOCK]  # (b, d)
            best = np.maximum(best, (queries @ block.T).max(axis=1))
        return best


@dataclass(frozen=True)
class PostFilter:
    """Similarity to known items, values with windows of words and sentences with sentences, then detection again.

    Args:
        items: sentences and long phrases; a sentence's similarity to them is the cosine of embeddings.
        threshold: similarity in (0, 1] from which a window or a sentence counts as a known item; None compares nothing.
        action: `redact` replaces the window of words or the sentence, `drop` discards the whole output.
        values: names, numbers and short phrases (`filter_values`).
        minimum_score: lowest detection score the last pass acts on.
        adaptive: a threshold a content type of the output; overrules `threshold`.
        again: whether the detector passes over the output.
        replace: how what is detected is replaced. mark: what stands for a piece too near a known item.
    """

    embedder: Embedder
    detector: Detector
    items: SensitiveItems
    threshold: float | None
    action: Literal["redact", "drop"]
    minimum_score: float
    adaptive: Mapping[ContentType, float] | None = None
    again: bool = True
    replace: Replace = placeholders
    mark: str = SIMILAR
    values: KnownValues = field(default_factory=lambda: KnownValues(()))
    similarities: list[float] = field(default_factory=list)

    def apply(self, texts: Sequence[str], own: Sequence[NDArray[np.float32]]) -> list[Filtered | None]:
        """Return each output filtered, or None where it was dropped.

        Args:
            texts: generated texts.
            own: for each text, vectors of its own source record's sensitive sentences, (k, d).
        """
        bounds = sentence_bounds(texts)
        pieces = [text[a:b] for text, pairs in zip(texts, bounds, strict=True) for a, b in pairs]
        vectors = self.embedder.embed(pieces) if pieces else np.zeros((0, 1), dtype=np.float32)
        shared = self.items.nearest(vectors) if len(self.items.vectors) and pieces else np.full(len(pieces), -1.0)
        kept: list[Filtered | None] = []
        position = 0
        for text, pairs, mine in zip(texts, bounds, own, strict=True):
            rows = slice(position, position + len(pairs))
            position += len(pairs)
            near = shared[rows]
            if len(mine) and len(pairs):
                near = np.maximum(near, (vectors[rows] @ mine.T).max(axis=1))
            windows = [] if self.threshold is None and self.adaptive is None else self.values.near(text)
            highest = max([*near.tolist(), *(window.similarity for window in windows[:1])], default=-1.0)
            self.similarities.append(float(highest))
            kept.append(self._one(text, pairs, near, windows))
        return self._detect_again(kept)

    def _one(
        self, text: str, pairs: Sequence[tuple[int, int]], near: NDArray[np.float32], windows: Sequence[Near]
    ) -> Filtered | None:
        limit = self.limit(text)
        if limit is None:
            return Filtered(text, 0)
        sentences = [p for p, value in zip(pairs, near, strict=True) if value >= limit]
        taken = [*sentences, *(match.span() for match in PLACEHOLDER.finditer(text))]
        hits = sorted([*sentences, *((one.start, one.end) for one in chosen(windows, limit, taken))])
        if hits and self.action == "drop":
            return None
        for start, end in reversed(hits):
            text = text[:start] + self.mark + text[end:]
        return Filtered(text, len(hits), len(hits))

    def limit(self, text: str) -> float | None:
        """Return the similarity from which pieces of this output are too near; None where nothing is compared."""
        return self.threshold if self.adaptive is None else self.adaptive[content_type(text)]

    def _detect_again(self, kept: list[Filtered | None]) -> list[Filtered | None]:
        if not self.again:
            return kept
        live = [entry for entry in kept if entry is not None]
        again = iter(reapply([entry.text for entry in live], self.detector, self.minimum_score, self.replace))
        merged: list[Filtered | None] = []
        for entry in kept:
            if entry is None:
                merged.append(None)
                continue
            last = next(again)
            merged.append(Filtered(last.text, entry.replaced + last.replaced, entry.similar))
        return merged
