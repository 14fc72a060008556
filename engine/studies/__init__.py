"""Studies: experiments over several variants on one corpus, with internal tables and figures.

    base, task, running       what a study is, its job, and studies of the workspace
    figures                   figures of studies by id
    bench/                    what studies share that run several settings several times
    units, injected           units of an experiment, and identifiers planted in copies of records
    lemmas                    word forms, lemmas or both: what is counted, and the sentence that says so
    audit_bounds, attacked    what an audit proves; an attack's curve from a study's table
    a folder a study          parameters, run, tables, figures

May import `engine.jobs` and below. One more study: a folder, a line in `REGISTRY` and one in `figures`.
"""

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
