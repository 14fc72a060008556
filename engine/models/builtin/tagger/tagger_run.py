"""Tag texts with the built-in tagger: overlapping windows, batches sorted by length.

Privacy posture: texts and spans stay in memory; nothing is logged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypedDict

import numpy as np
import torch
from numpy.typing import NDArray

from engine.assets import ASSETS
from engine.errors import UserError
from engine.models import cancel
from engine.models.builtin import minilm
from engine.models.builtin.embedder import bf16_pays
from engine.models.builtin.tagger.tagger import (
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
from engine.models.builtin.tagger.tagger_spans import Tagged, spans_of

FOLDER = ASSETS / "models" / "tagger"
STRIDE = 190


class TaggerConfig(TypedDict, total=False):
    """What a tagger's folder says of itself."""

    base_sha256: str
    tags: list[str]
    thresholds: dict[str, float]


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

    def probabilities(
        self, pieces: Sequence[Pieces], stop: Callable[[], bool] | None = None
    ) -> list[NDArray[np.float32]]:
        """Return, for each text, tag probabilities (n, len(TAGS)); of overlapping windows the more central counts.

        Raises:
            Cancelled: `stop`, asked before each pass of the network, said so.
        """
        out = [np.zeros((len(p.ids), len(TAGS)), dtype=np.float32) for p in pieces]
        edge = [np.full(len(p.ids), -1, dtype=np.int32) for p in pieces]
        cuts = [(i, at) for i, p in enumerate(pieces) for at in _starts(len(p.ids))]
        cuts.sort(key=lambda c: -min(MAX_PIECES, len(pieces[c[0]].ids) - c[1]))
        at = 0
        while at < len(cuts):
            cancel.check(stop)
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

    def tag(self, texts: Sequence[str], stop: Callable[[], bool] | None = None) -> list[list[Tagged]]:
        """Return the spans of each text, sorted, without overlap; scores under 0.5 are suggestions."""
        pieces = encode(self.tokenizer, texts)
        found = self.probabilities(pieces, stop)
        return [spans_of(t, p, q, self.thresholds) for t, p, q in zip(texts, pieces, found)]


def _starts(n: int) -> list[int]:
    """Return window starts that cover n pieces."""
    if n <= MAX_PIECES:
        return [0] if n else []
    starts = list(range(0, n - MAX_PIECES, STRIDE))
    return [*starts, n - MAX_PIECES]


def read_config(folder: Path) -> TaggerConfig:
    """Return the configuration of a tagger folder after checking that it fits this version and base.

    Raises:
        UserError: it is missing, for another base model or for other tags.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise UserError(f"the tagger folder {folder.name!r} has no config.json: name a complete folder")
    config: TaggerConfig = json.loads(path.read_text(encoding="utf-8"))
    if config.get("base_sha256") != minilm.SHA256 or config.get("tags") != list(TAGS):
        raise UserError(f"the tagger in {folder.name!r} was trained for another base model or tag set: train it again")
    return config


@lru_cache(maxsize=2)
def load_tagger(folder: str | None = None) -> Tagger:
    """Return the tagger of a folder, the built-in one for None, kept for the life of the process."""
    return Tagger(Path(folder) if folder else None)
