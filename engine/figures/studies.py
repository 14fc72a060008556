"""Figures of studies by id: what the page draws from a study's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from engine.figures.base import Figure


def figures(study_id: str, tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return a study's figures with short names; none for a study that has only tables."""
    from engine.figures import audit, direct, nll_filter, pairs, study_control, study_filter, study_finetune, surprisal

    known: dict[str, Callable[[Mapping[str, pd.DataFrame]], list[tuple[str, Figure]]]] = {
        "filter-presets": study_filter.figures,
        "control-codes": study_control.figures,
        "canary-audit": audit.figures,
        "ngram-curves": direct.figures,
        "pairs": pairs.figures,
        "surprisal": surprisal.figures,
        "finetune-perplexity": study_finetune.figures,
        "nll-filter": nll_filter.figures,
    }
    return known[study_id](tables) if study_id in known else []
