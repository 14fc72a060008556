"""What the privacy page shows of one run: its findings, tables of attacks, and what is proven.

How to use: `sides = privacy_data.load(workspace, runs)`, one `Examined` a run. Tables hold ids and numbers, no text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

import engine
from engine import Finding
from pages._ui.examined import attack_names
from pages._ui.privacy import studies as privacy_studies
from pages._ui.texts import run_title

if TYPE_CHECKING:
    from engine.figures.privacy.proof_attack import Audited, Claim

NEW = "blind"  # a finding that examinations have since they carry out membership attacks
ATTACKS = ["attack", "title", "observes", "auc", "low", "high", "p", "tpr_01", "tpr_01_low", "tpr_01_high", "tpr_001",
           "tpr_001_low", "tpr_001_high", "members", "others", "without_duplicates_auc", "greyed", "note"]  # fmt: skip
ROC = ["attack", "fpr", "tpr", "tpr_low", "tpr_high"]


@dataclass(frozen=True)
class Examined:
    """One run as the page draws it.

    `attacks` and `roc` are None where the examination is older than membership attacks; titles of attacks are plain
    words, as `attack_names` says. `claim` is None where nothing
    is proven, or while its curve is computed (`pending`). `audit` is of the newest canary audit of the method.
    `units`, `unit_flags` and `groups` are tables of the examination: names of units and groups, counts, never text.
    """

    run: engine.RunSummary
    name: str
    findings: list[Finding]
    attacks: pd.DataFrame | None
    roc: pd.DataFrame | None
    claim: Claim | None
    pending: bool
    audit: Audited | None
    units: pd.DataFrame | None
    unit_flags: pd.DataFrame | None
    groups: pd.DataFrame | None


def load(workspace: engine.Workspace, runs: Sequence[engine.RunSummary]) -> list[Examined]:
    """Return the runs as the page draws them, named A and B where there are two."""
    return [_load(workspace, run, "" if len(runs) == 1 else letter) for run, letter in zip(runs, "AB", strict=False)]


def _load(workspace: engine.Workspace, run: engine.RunSummary, letter: str) -> Examined:
    findings = [finding for finding in workspace.examinations.findings(run.id) if finding.group == "privacy"]
    attacks, roc = workspace.examinations.table(run.id, "attacks"), workspace.examinations.table(run.id, "roc")
    if attacks is None and any(finding.name == NEW for finding in findings):
        attacks, roc = pd.DataFrame(columns=ATTACKS), pd.DataFrame(columns=ROC)
    if attacks is not None:
        attacks = attacks.reindex(columns=ATTACKS)
        attacks["greyed"] = attacks["greyed"].map(lambda value: value is True or value == 1).astype(bool)
        attacks = attack_names.named(attacks)
    if attacks is not None and roc is None:
        roc = pd.DataFrame(columns=ROC)
    claim, pending = _claim(workspace, run)
    audit = privacy_studies.audited(workspace, run)
    name = f"{letter} · {run_title(run)}" if letter else run_title(run)
    units, flags, groups = (workspace.examinations.table(run.id, table) for table in ("units", "unit_flags", "groups"))
    return Examined(run, name, findings, attacks, roc, claim, pending, audit, units, flags, groups)


def _claim(workspace: engine.Workspace, run: engine.RunSummary) -> tuple[Claim | None, bool]:
    from engine.figures.privacy.proof_attack import Claim

    if run.guarantee.kind != "dp" or run.guarantee.epsilon is None:
        return None, False
    unit, adjacency = run.guarantee.unit, run.guarantee.adjacency
    if run.guarantee.epsilon == 0:  # no private record went in: every attack must stay at chance
        return Claim([0.0], [0.0], [0.0], 0.0, 0.0, unit, adjacency), False
    try:
        curve = workspace.plan.run_curve(run.id)
    except engine.UserError:  # a claim of an older form; its sentence stands, its curve cannot be computed
        return None, False
    if curve.pending or not curve.epsilons:
        return None, curve.pending
    return Claim(
        curve.epsilons, curve.standard, curve.strict, run.guarantee.epsilon, run.guarantee.delta or 0.0, unit, adjacency
    ), False
