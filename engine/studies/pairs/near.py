"""How near a generation comes to the texts of those left out: what a pair experiment keeps for its semantic attack.

Privacy posture: embeddings of private texts live in memory; what is kept is one cosine a private text and generation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.errors import InternalError
from engine.examine.repeats.nearest import nearest
from engine.models.cancel import Cancelled
from engine.studies.pairs import semantic as pairs_semantic
from engine.studies.pairs.keep import Keep

if TYPE_CHECKING:
    from engine.examine.curves.ngram_counts import Ints
    from engine.models.contracts import Embedder

_CHUNK = 64  # texts embedded between two looks at a cancel


@dataclass(frozen=True)
class Near:
    """Embeds generated texts and holds them against the texts of all sets U.

    Args:
        embedder: the study's. rows: positions in X of the texts of any U. vectors: their embeddings, (r, d).
        cancelled: whether the study was stopped.
    """

    embedder: Embedder
    rows: Ints
    vectors: NDArray[np.float32]
    cancelled: Callable[[], bool]

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the cosine of each text of any U to its nearest of `texts`: (r,)."""
        return nearest(self.vectors, _embedded(self.embedder, texts, self.cancelled))[0]


def near(
    embedder: Embedder | None, x: pd.DataFrame, units: Ints, sets: Sequence[Ints], cancelled: Callable[[], bool]
) -> Near | None:
    """Return what holds generations against the texts of U; None where the study has no embedder."""
    if embedder is None or not len(sets):
        return None
    rows = np.flatnonzero(np.isin(units, np.concatenate(list(sets))))
    texts = [str(text) for text in x["text"].iloc[rows]]
    return Near(embedder, rows, _embedded(embedder, texts, cancelled), cancelled)


def measured(
    held: Near,
    keep: Keep,
    sides: Sequence[tuple[Sequence[str], Sequence[object]]],
    units: Ints,
    excluded: Ints,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Return the tables of the semantic attack on one U, and their `summary`.

    Args:
        keep: has the cosines of each generation. sides: from X and from X ∖ U: the generations' names, and the
            training each comes from.
        units: the unit of each record of X. excluded: numbers of the units of U.
    """
    columns = np.flatnonzero(np.isin(units[held.rows], excluded))
    groups = []
    for names, trainings in sides:
        found = [kept for name in names if (kept := keep.load_cosines(name)) is not None]
        if len(found) < len(names):
            raise InternalError("the cosines of a generation that was made are missing")
        groups.append(pairs_semantic.Group(np.stack(found)[:, columns].astype(float), tuple(trainings)))
    tables = pairs_semantic.tables_of(groups[0], groups[1], units[held.rows[columns]], seed)
    return tables | {"summary": pairs_semantic.summary(tables["semantic"])}


def _embedded(embedder: Embedder, texts: Sequence[str], cancelled: Callable[[], bool]) -> NDArray[np.float32]:
    parts = []
    for at in range(0, len(texts), _CHUNK):
        if cancelled():
            raise Cancelled("the study was cancelled")
        parts.append(embedder.embed(list(texts[at : at + _CHUNK])))
    return np.concatenate(parts)
