"""Tag texts with the built-in tagger: overlapping windows, batches sorted by length, spans by words.

Privacy posture: texts and spans stay in memory; nothing is logged.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from engine.errors import UserError
from engine.models import minilm
from engine.models.embedder import bf16_pays
from engine.models.tagger import (
    MAX_PIECES,
    TAGS,
    TYPES,
    Pieces,
    TaggerNet,
    collate,
    encode,
    load_tokenizer,
    load_weights,
)

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "models" / "tagger"
STRIDE = 190
FLOOR = 0.4
EDGES = frozenset(" \t\n,;:\"“”‘'")
TYPE_OF_TAG = np.array([0, *(1 + i // 2 for i in range(2 * len(TYPES)))])
BEGINS = np.array([tag.startswith("B") for tag in TAGS])


@dataclass(frozen=True)
class Tagged:
    """One found span, code-point offsets; `score` in [0, 1] is 0.5 at the type's tuned threshold."""

    start: int
    end: int
    label: str
    score: float


class Tagger:
    """The trained network with its thresholds (probability from which a word counts, a type; 1 = never)."""

    def __init__(self, folder: Path | None = None, *, batch_pieces: int = 8192) -> None:
        folder = folder or FOLDER
        self.config = read_config(folder)
        base = minilm.base_folder()
        self.tokenizer = load_tokenizer(base)
        self.net = TaggerNet(base)
        load_weights(self.net, folder)
        self.net.eval()
        self.batch_pieces = batch_pieces
        self.thresholds = np.array([self.config.get("thresholds", {}).get(t, 0.5) for t in TYPES], dtype=np.float32)
        self.half = bf16_pays()

    def probabilities(self, pieces: Sequence[Pieces]) -> list[NDArray[np.float32]]:
        """Return, a text, tag probabilities (n, len(TAGS)); of overlapping windows the more central counts."""
        out = [np.zeros((len(p.ids), len(TAGS)), dtype=np.float32) for p in pieces]
        edge = [np.full(len(p.ids), -1, dtype=np.int32) for p in pieces]
        cuts = [(i, at) for i, p in enumerate(pieces) for at in _starts(len(p.ids))]
        cuts.sort(key=lambda c: -min(MAX_PIECES, len(pieces[c[0]].ids) - c[1]))
        at = 0
        while at < len(cuts):
            width = min(MAX_PIECES, len(pieces[cuts[at][0]].ids) - cuts[at][1]) + 2
            batch = cuts[at : at + max(1, self.batch_pieces // width)]
            at += len(batch)
            windows = [(pieces[i].ids[s : s + MAX_PIECES], pieces[i].shapes[s : s + MAX_PIECES]) for i, s in batch]
            for (i, s), (ids, _), found in zip(batch, windows, self._forward(windows)):
                n = len(ids)
                depth = np.minimum(np.arange(n), np.arange(n)[::-1])
                better = depth > edge[i][s : s + n]
                out[i][s : s + n][better] = found[:n][better]
                edge[i][s : s + n][better] = depth[better]
        return out

    def _forward(self, windows: Sequence[tuple[NDArray[np.int32], NDArray[np.int8]]]) -> NDArray[np.float32]:
        """Return probabilities (B, T, len(TAGS)) without the special pieces."""
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.half):
            logits = self.net(*collate(windows))
        return logits.float().softmax(-1)[:, 1:].numpy()

    def tag(self, texts: Sequence[str]) -> list[list[Tagged]]:
        """Return the spans of each text, sorted, without overlap; scores under 0.5 are suggestions."""
        pieces = encode(self.tokenizer, texts)
        return [self._spans(t, p, q) for t, p, q in zip(texts, pieces, self.probabilities(pieces))]

    def _spans(self, text: str, pieces: Pieces, found: NDArray[np.float32]) -> list[Tagged]:
        if not len(pieces.ids):
            return []
        firsts = np.flatnonzero(np.r_[True, np.diff(pieces.words) != 0])
        counts = np.diff(np.r_[firsts, len(pieces.words)])[:, None]
        words = np.add.reduceat(found, firsts, axis=0) / counts
        lasts = np.r_[firsts[1:], len(pieces.words)] - 1
        types = np.stack([words[:, i + 1 == TYPE_OF_TAG].sum(1) for i in range(len(TYPES))], axis=1)
        begins = words[:, BEGINS].sum(1) > words[:, ~BEGINS & (TYPE_OF_TAG > 0)].sum(1)
        relative = np.where(self.thresholds < 1, rescale(types, self.thresholds), 0)
        best = relative.argmax(1)
        score = relative.max(1)
        state = np.where(score >= 0.5, 2, np.where(score >= FLOOR, 1, 0))
        out: list[Tagged] = []
        at = 0
        while at < len(best):
            if not state[at]:
                at += 1
                continue
            to = at + 1
            while to < len(best) and state[to] == state[at] and best[to] == best[at] and not begins[to]:
                to += 1
            start, end = int(pieces.starts[firsts[at]]), int(pieces.ends[lasts[to - 1]])
            start, end = trimmed(text, start, end)
            if any(c.isalnum() for c in text[start:end]):
                out.append(Tagged(start, end, TYPES[best[at]], float(score[at:to].mean())))
            at = to
        return out


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range without punctuation that cannot belong to a name or a number."""
    while start < end and text[start] in EDGES:
        start += 1
    while end > start and (text[end - 1] in EDGES or (text[end - 1] == "(")):
        end -= 1
    return start, end


def rescale(probability: NDArray[np.float32], thresholds: NDArray[np.float32]) -> NDArray[np.float32]:
    """Map probabilities piecewise linearly so that the threshold becomes 0.5, 0 stays 0 and 1 stays 1."""
    low = 0.5 * probability / thresholds
    high = 0.5 + 0.5 * (probability - thresholds) / np.maximum(1e-6, 1 - thresholds)
    return np.where(probability < thresholds, low, high).astype(np.float32)


def _starts(n: int) -> list[int]:
    """Return window starts that cover n pieces."""
    if n <= MAX_PIECES:
        return [0] if n else []
    starts = list(range(0, n - MAX_PIECES, STRIDE))
    return [*starts, n - MAX_PIECES]


def read_config(folder: Path) -> dict[str, Any]:
    """Return the configuration of a tagger folder after checking that it fits this version and base.

    Raises:
        UserError: it is missing, for another base model or for other tags.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise UserError(f"the tagger folder {folder.name!r} has no config.json: name a complete folder")
    config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if config.get("base_sha256") != minilm.SHA256 or config.get("tags") != list(TAGS):
        raise UserError(f"the tagger in {folder.name!r} was trained for another base model or tag set: train it again")
    return config


@lru_cache(maxsize=2)
def load_tagger(folder: str | None = None) -> Tagger:
    """Return the tagger of a folder, the built-in one for None, kept for the life of the process."""
    return Tagger(Path(folder) if folder else None)
