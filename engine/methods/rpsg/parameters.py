"""RPSG's published settings, by name.

Source: Ma and Rajtmajer, "Private Seeds, Public LLMs", Tables 5, 6 and 8. The proportions are what each filter
*retains*. The sample counts of Table 8 do not follow from its proportions in most rows (800 × 0.4 × 0.4 is not
257), so counts are not part of a preset: the run makes as many outputs as the filters need to leave the wanted count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

PresetName = Literal[
    "reddit-gpt-3.5",
    "reddit-gpt-4o-mini",
    "reddit-deepseek-r1",
    "reddit-phi-4",
    "reddit-distilgpt2",
    "reddit-gpt-2",
    "pubmed-gpt-3.5",
    "pubmed-gpt-4o-mini",
    "pubmed-deepseek-r1",
    "pubmed-phi-4",
]


@dataclass(frozen=True)
class Preset:
    """One row of Table 8.

    Args:
        epochs: passes of the surrogate model over the variants. rate: its peak learning rate.
        similarity_keep: share retained by the cosine filter, (0, 1].
        nll_keep: share of those retained by the likelihood filter, (0, 1].
    """

    epochs: int
    rate: float
    similarity_keep: float
    nll_keep: float


PRESETS: dict[PresetName, Preset] = {
    "reddit-gpt-3.5": Preset(5, 3e-4, 0.4, 0.4),
    "reddit-gpt-4o-mini": Preset(5, 4e-4, 0.5, 0.4),
    "reddit-deepseek-r1": Preset(3, 4e-4, 0.8, 0.7),
    "reddit-phi-4": Preset(5, 4e-4, 0.65, 0.55),
    "reddit-distilgpt2": Preset(5, 5e-4, 0.85, 0.3),
    "reddit-gpt-2": Preset(5, 4e-4, 0.8, 0.25),
    "pubmed-gpt-3.5": Preset(5, 1e-4, 0.45, 0.35),
    "pubmed-gpt-4o-mini": Preset(5, 5e-5, 0.45, 0.4),
    "pubmed-deepseek-r1": Preset(3, 4e-4, 0.45, 0.4),
    "pubmed-phi-4": Preset(5, 4e-4, 0.65, 0.55),
}


def share(size: int, keep: float) -> int:
    """Return how many of `size` a proportion retains: rounded down, at least one."""
    return max(min(1, size), math.floor(round(keep * size, 9)))


def left(made: int, similarity_keep: float, nll_keep: float) -> int:
    """Return how many of `made` outputs both filters retain."""
    return share(share(made, similarity_keep), nll_keep)


def needed(count: int, similarity_keep: float, nll_keep: float) -> int:
    """Return the least number of outputs of which both filters leave `count`."""
    made = count
    while left(made, similarity_keep, nll_keep) < count:
        made += 1
    return made
