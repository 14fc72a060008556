"""Studies: experiments over several variants on one corpus, with internal tables and figures."""

from __future__ import annotations

from importlib import import_module

from engine.jobs.studies.base import INTERNAL, Study, StudyContext, StudySpec, StudyStep, find

__all__ = ["INTERNAL", "Study", "StudyContext", "StudySpec", "StudyStep", "get_study", "studies"]

# (module, class): what the page and the command line offer, in this order.
REGISTRY: tuple[tuple[str, str], ...] = (
    ("engine.jobs.studies.filter_presets", "FilterPresetsStudy"),
    ("engine.jobs.studies.control_codes", "ControlCodesStudy"),
    ("engine.jobs.studies.ngram_curves", "NgramCurvesStudy"),
    ("engine.jobs.studies.pairs", "PairsStudy"),
    ("engine.jobs.studies.surprisal", "SurprisalStudy"),
    ("engine.jobs.studies.finetune_quality", "FinetunePerplexityStudy"),
    ("engine.jobs.studies.canary_audit", "CanaryAuditStudy"),
    ("engine.jobs.studies.nll_filter", "NllFilterStudy"),
    ("engine.jobs.studies.noiseless", "NoiselessStudy"),
)


def studies() -> tuple[Study, ...]:
    """Return every study."""
    return tuple(getattr(import_module(module), name)() for module, name in REGISTRY)


def get_study(study_id: str) -> Study:
    """Return the study with this id, or raise `UserError`."""
    return find(studies(), study_id)
