"""Text that has nothing to do with a corpus: the level that utility metrics must be clearly better than."""

from __future__ import annotations

import numpy as np

from engine.corpus.text.words import cut
from engine.examine.base import Side
from engine.examine.prepare import Prepared
from engine.examine.usefulness.base import Sample
from engine.examine.usefulness.wording.ngrams import ngram_divergence

LARGEST = 1000
KEY = "shipped samples"  # in `prepared.kept`


def unrelated_text(prepared: Prepared) -> Side | None:
    """Return the shipped sample corpus whose words differ most from the training part's, or None if none is shipped."""
    sides = shipped_samples(prepared)
    return sides[-1] if sides else None


def shipped_samples(prepared: Prepared) -> list[Side]:
    """Return the shipped sample corpora, the one whose words are most like the training part's first."""
    if KEY not in prepared.kept:
        prepared.kept[KEY] = _by_distance(prepared)
    found: list[Side] = prepared.kept[KEY]
    return found


def _by_distance(prepared: Prepared) -> list[Side]:
    from engine.corpus.samples import SAMPLES, load_sample
    from engine.errors import UserError

    real = _sample(prepared.train)
    found: list[tuple[float, Side]] = []
    for info in SAMPLES:
        try:
            frame = load_sample(info.id)
        except (UserError, OSError):
            continue
        texts = frame["text"].head(LARGEST).to_numpy(dtype=object)
        ids = np.array([f"{info.id}:{record}" for record in frame["record_id"].head(LARGEST)], dtype=object)
        side = Side(ids, texts, cut(texts.tolist(), prepared.vocabulary), ids)
        found.append((ngram_divergence(_sample(side), real, 1).value, side))
    return [side for _, side in sorted(found, key=lambda pair: pair[0])]


def _sample(side: Side) -> Sample:
    rows = range(min(len(side), LARGEST))
    return Sample(tuple(side.words.of(row) for row in rows), side.units[: len(rows)])
