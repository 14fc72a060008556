"""Figures of studies by id: what the page draws from a study's tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from engine.figures.base import Figure


def figures(study_id: str, tables: Mapping[str, pd.DataFrame]) -> list[tuple[str, Figure]]:
    """Return a study's figures with short names; none for a study that has only tables."""
    from engine.studies.canary_audit import figures as audit
    from engine.studies.control_codes import figures as study_control
    from engine.studies.dp_methods import figures as dp_methods
    from engine.studies.epsilon_sweep import figures as epsilon_sweep
    from engine.studies.evolution_ablation import figures as evolution_ablation
    from engine.studies.filter_presets import figures as study_filter
    from engine.studies.finetune_perplexity import figures as study_finetune
    from engine.studies.ngram_curves import figures as direct
    from engine.studies.nll_filter import figures as nll_filter
    from engine.studies.pairs import figures as pairs
    from engine.studies.repeats import figures as repeats
    from engine.studies.rpsg_grid import figures as rpsg_grid
    from engine.studies.surprisal import figures as surprisal

    known: dict[str, Callable[[Mapping[str, pd.DataFrame]], list[tuple[str, Figure]]]] = {
        "filter-presets": study_filter.figures,
        "control-codes": study_control.figures,
        "canary-audit": audit.figures,
        "ngram-curves": direct.figures,
        "pairs": pairs.figures,
        "surprisal": surprisal.figures,
        "finetune-perplexity": study_finetune.figures,
        "nll-filter": nll_filter.figures,
        "repeats": repeats.figures,
        "epsilon-sweep": epsilon_sweep.figures,
        "dp-methods": dp_methods.figures,
        "rpsg-grid": rpsg_grid.figures,
        "evolution-ablation": evolution_ablation.figures,
    }
    return known[study_id](tables) if study_id in known else []
