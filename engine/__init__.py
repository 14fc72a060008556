"""Understudy's engine: private free text in, reviewed, synthesised, examined and released text out.

What pages and scripts may use stands here by name. A name is looked up when it is first used, so `import engine` is
light: what is heavy is loaded by whoever asks for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

PLACES = {  # public name -> its module, and its name there where that is another
    "Admission": ("engine.dp.ledger", "Admission"),
    "Answers": ("engine.release.wizard", "Answers"),
    "AssessmentField": ("engine.release.assessment.questions", "Field"),
    "Audience": ("engine.release.policy.audience", "Audience"),
    "BLIND": ("engine.examine.stats.simultaneous", "BLIND"),
    "BUNDLE_FILES": ("engine.release.bundle.bundle", "WHAT"),
    "BudgetCurve": ("engine.jobs.drafts", "BudgetCurve"),
    "BuiltInModel": ("engine.jobs.models.built_in", "BuiltInModel"),
    "BulkChoice": ("engine.store.review.bulk", "Choice"),
    "CAPABILITIES": ("engine.models.catalogue", "CAPABILITIES"),
    "ColumnMapping": ("engine.corpus.columns.mapping", "ColumnMapping"),
    "CorpusStatistics": ("engine.corpus.statistics", "CorpusStatistics"),
    "CorpusSummary": ("engine.store.views", "CorpusSummary"),
    "Curve": ("engine.examine.curves.lbf", "Curve"),
    "CustomPattern": ("engine.pii.detect.settings", "CustomPattern"),
    "DataError": ("engine.errors", "DataError"),
    "Description": ("engine.corpus.description", "Description"),
    "DetectorSettings": ("engine.pii.detect.settings", "DetectorSettings"),
    "Draft": ("engine.jobs.drafts", "Draft"),
    "Event": ("engine.dp.events", "Event"),
    "FEWEST_ASIDE": ("engine.corpus.split", "FEWEST_ASIDE"),
    "FEWEST_HOLDERS": ("engine.corpus.label_rules", "FEWEST_HOLDERS"),
    "FILE_FORMATS": ("engine.corpus.readers", "FORMATS"),
    "Facts": ("engine.methods.base", "Facts"),
    "FilePreview": ("engine.corpus.readers", "FilePreview"),
    "Finding": ("engine.examine.findings.findings", "Finding"),
    "GENERATOR": ("engine.examine.stats.simultaneous", "GENERATOR"),
    "Gathered": ("engine.corpus.pool.gather", "Gathered"),
    "GATE_AGAIN": ("engine.release.policy.facts", "AGAIN"),
    "GATE_EXAMINE": ("engine.release.policy.facts", "EXAMINE"),
    "GATE_OLDER": ("engine.release.policy.facts", "OLDER"),
    "GATE_UNMEASURED": ("engine.release.policy.facts", "UNMEASURED"),
    "Guarantee": ("engine.dp.guarantee", "Guarantee"),
    "INTRUDER_LIMIT": ("engine.store.runs.intruder.words", "LIMIT"),
    "IntruderResult": ("engine.store.runs.intruder.views", "TrialResult"),
    "IntruderText": ("engine.store.runs.intruder.views", "TrialText"),
    "IntruderTrial": ("engine.store.runs.intruder.views", "Trial"),
    "JSON": ("engine.json_types", "JSON"),
    "JSONObject": ("engine.json_types", "JSONObject"),
    "JobView": ("engine.store.views", "JobView"),
    "LABELS": ("engine.pii.spans", "LABELS"),
    "LANGUAGE_NAMES": ("engine.corpus.description", "LANGUAGES"),
    "LIST_SHARE": ("engine.dp.ledger", "LIST_SHARE"),
    "LockedError": ("engine.at_rest.header", "LockedError"),
    "LONGEST_LABEL": ("engine.corpus.label_rules", "LONGEST_LABEL"),
    "LONGEST_NAME": ("engine.store.runs.runs", "LONGEST_NAME"),
    "LONGEST_NOTE": ("engine.store.runs.runs", "LONGEST_NOTE"),
    "LEAKS_LISTED": ("engine.examine.findings.part", "LISTED"),
    "LedgerView": ("engine.store.views", "LedgerView"),
    "LOOK_REASONS": ("engine.store.people.reasons", "STANDARD"),
    "LONGEST_ANSWER": ("engine.release.assessment.questions", "LONGEST_ANSWER"),
    "MAX_DELTA": ("engine.dp.accounting.closed_form", "MAX_DELTA"),
    "MEASURES": ("engine.examine.measures", "MEASURES"),
    "METHODS": ("engine.methods", "REGISTRY"),
    "MIN_DELTA": ("engine.dp.accounting.closed_form", "MIN_DELTA"),
    "MOST_LABELS": ("engine.corpus.label_rules", "MOST_LABELS"),
    "MethodPreset": ("engine.methods.presets", "Preset"),
    "MethodSpec": ("engine.methods.base", "MethodSpec"),
    "IntruderRule": ("engine.release.policy.policy", "IntruderRule"),
    "MissedRule": ("engine.release.policy.policy", "MissedRule"),
    "MODEL_USES": ("engine.jobs.models.verdict", "IN_SHORT"),
    "ModelInfo": ("engine.models.catalogue", "ModelInfo"),
    "NAME_LABELS": ("engine.pii.spans", "NAME_LABELS"),
    "NO_LABELS": ("engine.jobs.planning", "NO_LABELS"),
    "NamedSpread": ("engine.store.review.named", "Spread"),
    "NotAllowedError": ("engine.errors", "NotAllowedError"),
    "NotFoundError": ("engine.errors", "NotFoundError"),
    "PACK_DECLARED": ("engine.jobs.packs", "DECLARED"),
    "PACK_FORMATS": ("engine.models.prompts.pack_formats", "FORMATS"),
    "PACK_NEEDS_MODEL": ("engine.models.prompts.pack_formats", "NEEDS_MODEL"),
    "POLICY_FILES": ("engine.release.policy.policy", "PRESETS"),
    "POLICY_OF": ("engine.release.wizard", "POLICIES"),
    "POOL_DECLARED": ("engine.store.pools.pools", "DECLARED"),
    "POOL_SUFFIXES": ("engine.corpus.pool.gather", "SUFFIXES"),
    "PRECISIONS": ("engine.models.offered.offers", "PRECISIONS"),
    "PROMPT_DOMAINS": ("engine.models.builtin.format", "DOMAINS"),
    "PackSummary": ("engine.store.pools.views", "PackSummary"),
    "PairsParameters": ("engine.studies.pairs.parameters", "PairsParameters"),
    "Person": ("engine.store.people.roles", "Person"),
    "Policy": ("engine.release.policy.policy", "Policy"),
    "PoolSummary": ("engine.store.pools.views", "PoolSummary"),
    "Proposal": ("engine.release.wizard", "Proposal"),
    "Proposals": ("engine.jobs.models.hub", "Proposals"),
    "READABLE_FIELD": ("engine.methods.readable", "FIELD"),
    "READABLE_HELP": ("engine.methods.parameters", "HELP"),
    "READABLE_NOTED": ("engine.methods.readable", "NOTED"),
    "ROLE_MEANING": ("engine.store.people.roles", "MEANING"),
    "ReasonNeededError": ("engine.errors", "ReasonNeededError"),
    "REFERENCES": ("engine.examine.measures", "REFERENCES"),
    "ReadOptions": ("engine.corpus.readers", "ReadOptions"),
    "Recipients": ("engine.release.wizard", "Recipients"),
    "Recommended": ("engine.release.wizard", "Recommended"),
    "RefusedError": ("engine.errors", "RefusedError"),
    "ReleaseSummary": ("engine.store.views", "ReleaseSummary"),
    "Right": ("engine.store.people.roles", "Right"),
    "Role": ("engine.store.people.roles", "Role"),
    "Rule": ("engine.release.policy.policy", "Rule"),
    "RuleVerdict": ("engine.release.policy.verdicts", "RuleVerdict"),
    "RunSummary": ("engine.store.views", "RunSummary"),
    "SECOND_ASSUMES": ("engine.pii.decide.second", "ASSUMES"),
    "SET_ASIDE": ("engine.examine.values.shared", "TABLE"),
    "SYSTEM_TEMPLATE": ("engine.models.prompts.templates", "SYSTEM"),
    "Scores": ("engine.methods.rpsg.filters", "Scores"),
    "SelfTest": ("engine.store.model_settings", "SelfTest"),
    "Sentence": ("engine.examine.findings.sentence", "Sentence"),
    "Sheet": ("engine.store.views", "Sheet"),
    "SignalVerdict": ("engine.methods.advice.verdict", "SignalVerdict"),
    "SpanView": ("engine.store.views", "SpanView"),
    "SpotEstimate": ("engine.store.review.spot.views", "Estimate"),
    "StorageError": ("engine.errors", "StorageError"),
    "StudyRun": ("engine.studies.running", "StudyRun"),
    "StudySpec": ("engine.studies.base", "StudySpec"),
    "Suggestion": ("engine.models.offered.suggest", "Suggestion"),
    "SweepDraft": ("engine.jobs.sweeps", "SweepDraft"),
    "TEMPLATE_FILTERS": ("engine.models.prompts.templates", "FILTERS"),
    "TICK": ("engine.examine.findings.uses", "TICK"),
    "TOPICS": ("engine.examine.measures", "TOPICS"),
    "Template": ("engine.jobs.models.prompts", "Template"),
    "Use": ("engine.examine.findings.uses", "Use"),
    "UserError": ("engine.errors", "UserError"),
    "VERIFY_COMMANDS": ("engine.release.bundle.bundle", "VERIFY_COMMANDS"),
    "Verdict": ("engine.release.policy.verdicts", "Verdict"),
    "WARN": ("engine.examine.findings.uses", "WARN"),
    "WIDEST_FIRST": ("engine.release.policy.audience", "WIDEST_FIRST"),
    "Wanted": ("engine.jobs.sweeps", "Wanted"),
    "WorkerStatus": ("engine.jobs.worker.launch", "WorkerStatus"),
    "Workspace": ("engine.workspace", "Workspace"),
    "assessment_questions": ("engine.release.assessment.questions", "questions"),
    "as_list": ("engine.json_types", "as_list"),
    "as_number": ("engine.json_types", "as_number"),
    "as_object": ("engine.json_types", "as_object"),
    "attack_curve": ("engine.studies.attacked", "of_attack"),
    "blind_row": ("engine.examine.stats.simultaneous", "blind_row"),
    "changed_verdicts": ("engine.store.runs.intruder.words", "changed"),
    "clearly_lost": ("engine.examine.findings.uses", "clearly_lost"),
    "curves_are_current": ("engine.studies.attacked", "current"),
    "default_cap": ("engine.corpus.columns.mapping", "default_cap"),
    "default_delta": ("engine.dp.accounting.closed_form", "default_delta"),
    "detector_presets": ("engine.pii.detect.presets", "presets"),
    "earlier_trials": ("engine.store.runs.intruder.words", "earlier"),
    "embedder_sentence": ("engine.examine.findings.embedders", "embedder_sentence"),
    "epsilon_for": ("engine.dp.accounting.closed_form", "epsilon_for"),
    "epsilon_of": ("engine.dp.accounting.closed_form", "epsilon"),
    "failure": ("engine.dp.accounting.failure", "failure"),
    "example_file": ("engine.corpus.readers", "example_file"),
    "filters_moved": ("engine.methods.rpsg.filters", "moved"),
    "gaussian_failure": ("engine.dp.accounting.failure", "gaussian_failure"),
    "gaussian_mu": ("engine.dp.accounting.closed_form", "gaussian_mu"),
    "get_method": ("engine.methods", "get_method"),
    "get_study": ("engine.studies", "get_study"),
    "group_bound": ("engine.dp.groups", "group_bound"),
    "group_words": ("engine.dp.groups", "words"),
    "headline": ("engine.examine.findings.uses", "headline"),
    "holm": ("engine.examine.stats.simultaneous", "holm"),
    "judge_attacks": ("engine.examine.stats.simultaneous", "judge"),
    "known_languages": ("engine.pii.languages.registry", "languages"),
    "can_be_set_aside": ("engine.release.policy.aside", "can_be_set_aside"),
    "Reach": ("engine.release.policy.reach", "Reach"),
    "ENOUGH_OUTPUTS": ("engine.methods.presets", "ENOUGH"),
    "enough_for": ("engine.release.wizard", "enough_for"),
    "reach_of": ("engine.release.wizard", "reach_of"),
    "least_aside": ("engine.release.policy.aside", "least_aside"),
    "language_name": ("engine.corpus.text.language_names", "language_name"),
    "noise_multiplier": ("engine.dp.accounting.closed_form", "noise_multiplier"),
    "opens_with": ("engine.store.disk.encryption.encryption", "opens_with"),
    "open_share": ("engine.release.policy.aside", "open_share"),
    "open_workspace": ("engine.workspace", "open_workspace"),
    "parsed_settings": ("engine.studies.bench.settings", "parsed_settings"),
    "planned_pairs": ("engine.studies.pairs.run", "plan"),
    "policy_for": ("engine.release.wizard", "policy_for"),
    "posterior": ("engine.dp.accounting.closed_form", "posterior"),
    "downward": ("engine.dp.upward", "downward"),
    "upward": ("engine.dp.upward", "upward"),
    "minutes_left": ("engine.store.runs.intruder.reading", "minutes_left"),
    "presets_of": ("engine.methods.presets", "presets_of"),
    "privacy_verdict": ("engine.examine.findings.verdict", "privacy_verdict"),
    "COPIES": ("engine.examine.findings.levels", "COPIES"),
    "rests_on_all": ("engine.examine.findings.levels", "rests_on_all"),
    "stands_out": ("engine.examine.findings.levels", "stands_out"),
    "too_wide": ("engine.examine.findings.levels", "too_wide"),
    "proof_taken": ("engine.release.wizard", "proof_taken"),
    "propose": ("engine.release.wizard", "propose"),
    "ranked_sentences": ("engine.examine.findings.verdict", "ranked"),
    "read_steps": ("engine.store.review.desk.steps", "read_steps"),
    "read_table": ("engine.corpus.readers", "read_table"),
    "proposed_preset": ("engine.pii.detect.presets", "proposed"),
    "recognisers": ("engine.pii.detect.recognisers", "catalogue"),
    "recommended": ("engine.release.wizard", "recommended"),
    "spot_words": ("engine.store.review.spot.words", "sentences"),
    "prompt_languages": ("engine.models.prompts.domains", "prompt_languages"),
    "share_allowed": ("engine.release.policy.aside", "share_allowed"),
    "show_measure": ("engine.examine.measures", "show"),
    "study_figures": ("engine.studies.figures", "figures"),
    "sweep_grid": ("engine.jobs.sweeps", "grid"),
    "template_fields": ("engine.models.prompts.templates", "fields_of"),
    "unusual_labels": ("engine.corpus.label_rules", "unusual"),
    "unlock_workspace": ("engine.store.disk.encryption.encryption", "unlock"),
    "tells_nothing": ("engine.examine.findings.uses", "tells_nothing"),
    "use_table": ("engine.examine.findings.uses", "use_table"),
    "gate_order": ("engine.release.policy.gate", "in_order"),
    "out_of_reach": ("engine.release.policy.gate", "out_of_reach"),
    "waivable": ("engine.release.policy.gate", "waivable"),
    "wider_level": ("engine.examine.stats.simultaneous", "wider"),
    "workspace_folder": ("engine.store.disk.address", "workspace_folder"),
}
__all__ = sorted(PLACES)

if TYPE_CHECKING:
    from engine.at_rest.header import LockedError
    from engine.corpus.columns.mapping import ColumnMapping, default_cap
    from engine.corpus.description import LANGUAGES as LANGUAGE_NAMES
    from engine.corpus.description import Description
    from engine.corpus.label_rules import FEWEST_HOLDERS, LONGEST_LABEL, MOST_LABELS
    from engine.corpus.label_rules import unusual as unusual_labels
    from engine.corpus.pool.gather import SUFFIXES as POOL_SUFFIXES
    from engine.corpus.pool.gather import Gathered
    from engine.corpus.readers import FORMATS as FILE_FORMATS
    from engine.corpus.readers import FilePreview, ReadOptions, example_file, read_table
    from engine.corpus.split import FEWEST_ASIDE
    from engine.corpus.statistics import CorpusStatistics
    from engine.corpus.text.language_names import language_name
    from engine.dp.accounting.closed_form import (
        MAX_DELTA,
        MIN_DELTA,
        default_delta,
        epsilon_for,
        gaussian_mu,
        noise_multiplier,
        posterior,
    )
    from engine.dp.accounting.closed_form import epsilon as epsilon_of
    from engine.dp.accounting.failure import failure, gaussian_failure
    from engine.dp.events import Event
    from engine.dp.groups import group_bound
    from engine.dp.groups import words as group_words
    from engine.dp.guarantee import Guarantee
    from engine.dp.ledger import LIST_SHARE, Admission
    from engine.dp.upward import downward, upward
    from engine.errors import (
        DataError,
        NotAllowedError,
        NotFoundError,
        ReasonNeededError,
        RefusedError,
        StorageError,
        UserError,
    )
    from engine.examine.curves.lbf import Curve
    from engine.examine.findings.embedders import embedder_sentence
    from engine.examine.findings.findings import Finding
    from engine.examine.findings.levels import COPIES, rests_on_all, stands_out, too_wide
    from engine.examine.findings.part import LISTED as LEAKS_LISTED
    from engine.examine.findings.sentence import Sentence
    from engine.examine.findings.uses import TICK, WARN, Use, clearly_lost, headline, tells_nothing, use_table
    from engine.examine.findings.verdict import privacy_verdict
    from engine.examine.findings.verdict import ranked as ranked_sentences
    from engine.examine.measures import MEASURES, REFERENCES, TOPICS
    from engine.examine.measures import show as show_measure
    from engine.examine.stats.simultaneous import BLIND, GENERATOR, blind_row, holm
    from engine.examine.stats.simultaneous import judge as judge_attacks
    from engine.examine.stats.simultaneous import wider as wider_level
    from engine.examine.values.shared import TABLE as SET_ASIDE
    from engine.jobs.drafts import BudgetCurve, Draft
    from engine.jobs.models.built_in import BuiltInModel
    from engine.jobs.models.hub import Proposals
    from engine.jobs.models.prompts import Template
    from engine.jobs.models.verdict import IN_SHORT as MODEL_USES
    from engine.jobs.packs import DECLARED as PACK_DECLARED
    from engine.jobs.planning import NO_LABELS
    from engine.jobs.sweeps import SweepDraft, Wanted
    from engine.jobs.sweeps import grid as sweep_grid
    from engine.jobs.worker.launch import WorkerStatus
    from engine.json_types import JSON, JSONObject, as_list, as_number, as_object
    from engine.methods import REGISTRY as METHODS
    from engine.methods import get_method
    from engine.methods.advice.verdict import SignalVerdict
    from engine.methods.base import Facts, MethodSpec
    from engine.methods.parameters import HELP as READABLE_HELP
    from engine.methods.presets import ENOUGH as ENOUGH_OUTPUTS
    from engine.methods.presets import Preset as MethodPreset
    from engine.methods.presets import presets_of
    from engine.methods.readable import FIELD as READABLE_FIELD
    from engine.methods.readable import NOTED as READABLE_NOTED
    from engine.methods.rpsg.filters import Scores
    from engine.methods.rpsg.filters import moved as filters_moved
    from engine.models.builtin.format import DOMAINS as PROMPT_DOMAINS
    from engine.models.catalogue import CAPABILITIES, ModelInfo
    from engine.models.offered.offers import PRECISIONS
    from engine.models.offered.suggest import Suggestion
    from engine.models.prompts.domains import prompt_languages
    from engine.models.prompts.pack_formats import FORMATS as PACK_FORMATS
    from engine.models.prompts.pack_formats import NEEDS_MODEL as PACK_NEEDS_MODEL
    from engine.models.prompts.templates import FILTERS as TEMPLATE_FILTERS
    from engine.models.prompts.templates import SYSTEM as SYSTEM_TEMPLATE
    from engine.models.prompts.templates import fields_of as template_fields
    from engine.pii.decide.second import ASSUMES as SECOND_ASSUMES
    from engine.pii.detect.presets import presets as detector_presets
    from engine.pii.detect.presets import proposed as proposed_preset
    from engine.pii.detect.recognisers import catalogue as recognisers
    from engine.pii.detect.settings import CustomPattern, DetectorSettings
    from engine.pii.languages.registry import languages as known_languages
    from engine.pii.spans import LABELS, NAME_LABELS
    from engine.release.assessment.questions import LONGEST_ANSWER
    from engine.release.assessment.questions import Field as AssessmentField
    from engine.release.assessment.questions import questions as assessment_questions
    from engine.release.bundle.bundle import VERIFY_COMMANDS
    from engine.release.bundle.bundle import WHAT as BUNDLE_FILES
    from engine.release.policy.aside import can_be_set_aside, least_aside, open_share, share_allowed
    from engine.release.policy.audience import WIDEST_FIRST, Audience
    from engine.release.policy.facts import AGAIN as GATE_AGAIN
    from engine.release.policy.facts import EXAMINE as GATE_EXAMINE
    from engine.release.policy.facts import OLDER as GATE_OLDER
    from engine.release.policy.facts import UNMEASURED as GATE_UNMEASURED
    from engine.release.policy.gate import in_order as gate_order
    from engine.release.policy.gate import out_of_reach, waivable
    from engine.release.policy.policy import PRESETS as POLICY_FILES
    from engine.release.policy.policy import IntruderRule, MissedRule, Policy, Rule
    from engine.release.policy.reach import Reach
    from engine.release.policy.verdicts import RuleVerdict, Verdict
    from engine.release.wizard import POLICIES as POLICY_OF
    from engine.release.wizard import (
        Answers,
        Proposal,
        Recipients,
        Recommended,
        enough_for,
        policy_for,
        proof_taken,
        propose,
        reach_of,
        recommended,
    )
    from engine.store.disk.address import workspace_folder
    from engine.store.disk.encryption.encryption import opens_with
    from engine.store.disk.encryption.encryption import unlock as unlock_workspace
    from engine.store.model_settings import SelfTest
    from engine.store.people.reasons import STANDARD as LOOK_REASONS
    from engine.store.people.roles import MEANING as ROLE_MEANING
    from engine.store.people.roles import Person, Right, Role
    from engine.store.pools.pools import DECLARED as POOL_DECLARED
    from engine.store.pools.views import PackSummary, PoolSummary
    from engine.store.review.bulk import Choice as BulkChoice
    from engine.store.review.desk.steps import read_steps
    from engine.store.review.named import Spread as NamedSpread
    from engine.store.review.spot.views import Estimate as SpotEstimate
    from engine.store.review.spot.words import sentences as spot_words
    from engine.store.runs.intruder.reading import minutes_left
    from engine.store.runs.intruder.views import Trial as IntruderTrial
    from engine.store.runs.intruder.views import TrialResult as IntruderResult
    from engine.store.runs.intruder.views import TrialText as IntruderText
    from engine.store.runs.intruder.words import LIMIT as INTRUDER_LIMIT
    from engine.store.runs.intruder.words import changed as changed_verdicts
    from engine.store.runs.intruder.words import earlier as earlier_trials
    from engine.store.runs.runs import LONGEST_NAME, LONGEST_NOTE
    from engine.store.views import (
        CorpusSummary,
        JobView,
        LedgerView,
        ReleaseSummary,
        RunSummary,
        Sheet,
        SpanView,
    )
    from engine.studies import get_study
    from engine.studies.attacked import current as curves_are_current
    from engine.studies.attacked import of_attack as attack_curve
    from engine.studies.base import StudySpec
    from engine.studies.bench.settings import parsed_settings
    from engine.studies.figures import figures as study_figures
    from engine.studies.pairs.parameters import PairsParameters
    from engine.studies.pairs.run import plan as planned_pairs
    from engine.studies.running import StudyRun
    from engine.workspace import Workspace, open_workspace
else:

    def __getattr__(name: str) -> object:
        if name not in PLACES:
            raise AttributeError(f"module 'engine' has no attribute {name!r}")
        module, own = PLACES[name]
        return getattr(import_module(module), own)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
