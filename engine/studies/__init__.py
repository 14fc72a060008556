"""Studies: experiments over several variants on one corpus, with internal tables and figures."""

from __future__ import annotations

from importlib import import_module

from engine.studies.base import INTERNAL, Study, StudyContext, StudySpec, StudyStep, find

__all__ = ["INTERNAL", "Study", "StudyContext", "StudySpec", "StudyStep", "get_study", "studies"]

# (module, class): what the page and the command line offer, in this order.
REGISTRY: tuple[tuple[str, str], ...] = (
    ("engine.studies.filter_presets.run", "FilterPresetsStudy"),
    ("engine.studies.control_codes.run", "ControlCodesStudy"),
    ("engine.studies.ngram_curves.run", "NgramCurvesStudy"),
    ("engine.studies.pairs.run", "PairsStudy"),
    ("engine.studies.surprisal.run", "SurprisalStudy"),
    ("engine.studies.finetune_perplexity.run", "FinetunePerplexityStudy"),
    ("engine.studies.canary_audit.run", "CanaryAuditStudy"),
    ("engine.studies.nll_filter.run", "NllFilterStudy"),
    ("engine.studies.noiseless.run", "NoiselessStudy"),
    ("engine.studies.repeats.run", "RepeatsStudy"),
    ("engine.studies.epsilon_sweep.run", "EpsilonSweepStudy"),
    ("engine.studies.dp_methods.run", "DpMethodsStudy"),
    ("engine.studies.evolution_ablation.run", "EvolutionAblationStudy"),
    ("engine.studies.rpsg_grid.run", "RpsgGridStudy"),
)


def studies() -> tuple[Study, ...]:
    """Return every study."""
    return tuple(getattr(import_module(module), name)() for module, name in REGISTRY)


def get_study(study_id: str) -> Study:
    """Return the study with this id, or raise `UserError`."""
    return find(studies(), study_id)
