"""Tag texts of other languages with the built-in word tagger: overlapping windows, batches sorted by length.

Privacy posture: texts and spans stay in memory; nothing is logged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from engine.assets import ASSETS
from engine.errors import UserError
from engine.models import cancel
from engine.models.builtin.embedder import bf16_pays
from engine.models.builtin.tagger.tagger import TAGS, TYPES, Pieces
from engine.models.builtin.tagger.tagger_spans import Tagged, spans_of
from engine.models.builtin.tagger.word_tagger import OWN_TAGS, Batch, load_word_net, words_in

FOLDER = ASSETS / "models" / "word_tagger"
WINDOW, STRIDE = 160, 120  # words


class WordTagger:
    """The trained network with its thresholds; types that it was not trained on are never given."""

    def __init__(self, folder: Path | None = None, *, batch_words: int = 6144) -> None:
        folder = folder or FOLDER
        path = folder / "config.json"
        if not path.is_file():
            raise UserError(f"the tagger folder {folder.name!r} has no config.json: name a complete folder")
        config = json.loads(path.read_text(encoding="utf-8"))
        if config.get("tags") != list(OWN_TAGS):
            raise UserError(f"the tagger in {folder.name!r} was trained for another tag set: train it again")
        self.net = load_word_net(folder)
        own = config["thresholds"]
        self.thresholds = np.array([own.get(t, 1.0) for t in TYPES], dtype=np.float32)
        self.of_language = {
            code: np.array([(own | some).get(t, 1.0) for t in TYPES], dtype=np.float32)
            for code, some in config.get("thresholds_of_languages", {}).items()
        }
        self.batch_words = batch_words
        self.half = bf16_pays()

    def probabilities(
        self, texts: Sequence[str], pieces: Sequence[Pieces], stop: Callable[[], bool] | None = None
    ) -> list[NDArray[np.float32]]:
        """Return, for each text, tag probabilities (n, len(TAGS)); of overlapping windows the more central counts.

        Raises:
            Cancelled: `stop`, asked before each pass of the network, said so.
        """
        out = [np.zeros((len(p.starts), len(TAGS)), dtype=np.float32) for p in pieces]
        edge = [np.full(len(p.starts), -1, dtype=np.int32) for p in pieces]
        words = [[t[a:b] for a, b in zip(p.starts, p.ends)] for t, p in zip(texts, pieces)]
        cuts = [(i, at) for i, w in enumerate(words) for at in _starts(len(w))]
        cuts.sort(key=lambda c: -min(WINDOW, len(words[c[0]]) - c[1]))
        at = 0
        while at < len(cuts):
            cancel.check(stop)
            width = min(WINDOW, len(words[cuts[at][0]]) - cuts[at][1])
            batch = cuts[at : at + max(1, self.batch_words // width)]
            at += len(batch)
            rows = [(words[i][s : s + WINDOW], pieces[i].shapes[s : s + WINDOW]) for i, s in batch]
            for (i, s), (own, _), found in zip(batch, rows, self._forward(Batch(rows))):
                n = len(own)
                depth = np.minimum(np.arange(n), np.arange(n)[::-1])
                better = depth > edge[i][s : s + n]
                out[i][s : s + n, : len(OWN_TAGS)][better] = found[:n][better]
                edge[i][s : s + n][better] = depth[better]
        return out

    def _forward(self, batch: Batch) -> NDArray[np.float32]:
        with torch.inference_mode(), torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.half):
            logits = self.net(batch)
        return logits.float().softmax(-1).numpy()

    def tag(
        self,
        texts: Sequence[str],
        stop: Callable[[], bool] | None = None,
        languages: Sequence[str] | None = None,
    ) -> list[list[Tagged]]:
        """Return the spans of each text, sorted, without overlap; scores under 0.5 are suggestions.

        Args:
            languages: the language of each text: some have thresholds of their own.
        """
        pieces = [words_in(t) for t in texts]
        found = self.probabilities(texts, pieces, stop)
        limits = [self.of_language.get(code, self.thresholds) for code in languages or [""] * len(texts)]
        return [spans_of(t, p, q, own) for t, p, q, own in zip(texts, pieces, found, limits)]


def _starts(n: int) -> list[int]:
    """Return window starts that cover n words."""
    if n <= WINDOW:
        return [0] if n else []
    return [*range(0, n - WINDOW, STRIDE), n - WINDOW]


@lru_cache(maxsize=2)
def load_word_tagger(folder: str | None = None) -> WordTagger:
    """Return the tagger of a folder, the built-in one for None, kept for the life of the process."""
    return WordTagger(Path(folder) if folder else None)
