"""The table of how alike two texts of one side are: what a page draws beside the numbers of `self_similarity`."""

from __future__ import annotations

import numpy as np
import pandas as pd

from engine.examine.prepare import Prepared
from engine.examine.usefulness.meaning.embeddings import embedded
from engine.examine.usefulness.meaning.self_similarity import shares_of_pairs
from engine.examine.usefulness.sides import pick
from engine.examine.usefulness.unrelated import unrelated_text

BINS = 100
LARGEST = 1000
FEWEST = 10  # texts a side
COLUMNS = ["kind", "cosine", "share", "texts"]


def likeness(prepared: Prepared) -> pd.DataFrame:
    """Return how the cosines of two texts of one side are spread: of synthetic text, and of both halves of real text.

    The same texts, equally many a side, as `likeness_shift` has. No row where there are too few.

    Returns:
        Columns kind (synthetic, private, other private), cosine (middle of a bin), share (of pairs), texts (a side).

    Source: Sun et al. 2025 (DPGA-TextSyn), Figure 3.
    """
    trio = pick(prepared, LARGEST, "embeddings", unrelated_text(prepared))
    sides = {"synthetic": trio.synthetic, "private": trio.target, "other private": trio.real}
    size = min(map(len, sides.values()))
    if size < FEWEST:
        return pd.DataFrame(columns=COLUMNS)
    middle = (np.arange(BINS) + 0.5) * 2.0 / BINS - 1.0
    frames = [
        pd.DataFrame({
            "kind": kind, "cosine": middle, "share": shares_of_pairs(embedded(side)[:size], BINS), "texts": size
        })
        for kind, side in sides.items()
    ]  # fmt: skip
    return pd.concat(frames, ignore_index=True)
