"""Examine a run: every privacy and utility finding, the tables of the pages, and the approval order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from engine.examine import apart
from engine.examine.battery import run_battery
from engine.examine.expected import LENGTHS, MAP, METRICS, READING
from engine.examine.findings.embedders import marked
from engine.examine.findings.findings import Finding
from engine.examine.findings.part import Part
from engine.examine.findings.risk import record_risk
from engine.examine.keeping import measured
from engine.examine.prepare import (
    CancelledError,
    ExamineInput,
    Prepared,
    Progress,
    Shelf,
    never,
    no_part,
    no_progress,
    prepare,
)
from engine.examine.registry import USEFULNESS

__all__ = ["ExamineInput", "ExamineOutput", "examine_run"]


@dataclass(frozen=True)
class ExamineOutput:
    """What an examination gives back.

    Args:
        findings: one a (name, reference).
        tables: tidy frames by name, internal: `leaks, verbatim, elp, nearest, nearest_quantiles, pii,
            lengths, ngrams, topics, likeness, map`.
        record_risk: synthetic record id -> risk in [0, 1]; higher = look at it sooner.
        cancelled: whether it was stopped on request; then the rest is empty.
    """

    findings: list[Finding] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    record_risk: dict[str, float] = field(default_factory=dict)
    cancelled: bool = False


def examine_run(
    given: ExamineInput,
    progress: Progress = no_progress,
    cancelled: Callable[[], bool] = never,
    begin: Callable[[str], None] = no_part,
    shelf: Shelf | None = None,
    ahead: Callable[[Prepared], None] | None = None,
) -> ExamineOutput:
    """Return all findings of a run, or an empty output if it was stopped on request.

    Args:
        given: synthetic records, both private parts with their accepted spans, and tools.
        progress: told (stage, done, total).
        cancelled: asked between batches.
        begin: told the key of each part as it begins, in the order of `engine.examine.expected.parts`.
        shelf: where finished parts are kept and taken from; None keeps nothing.
        ahead: has parts measured by whoever there is, and kept on the shelf, before they are put together in order.

    Raises:
        UserError: there is no synthetic or no training record.
    """
    try:
        begin(READING)
        prepared = prepare(given, progress, cancelled)
        prepared.begin, prepared.shelf = begin, shelf
        apart.settle(prepared)
        if ahead is not None:
            ahead(prepared)
            prepared.check()
        part = Part()
        if given.privacy:
            part.add(run_battery(prepared))
        if given.utility:
            part.add(_utility(prepared))
    except CancelledError:
        return ExamineOutput(cancelled=True)
    risk: dict[str, float] = {}
    if given.privacy:
        scores = record_risk(part.signals, len(prepared.synthetic))
        risk = {str(i): float(r) for i, r in zip(prepared.synthetic.record_ids, scores, strict=True)}

    findings = part.findings
    if given.embedder is not None:
        findings = marked(findings, given.embedder.id, given.embedder_since)
    return ExamineOutput(findings, part.tables, risk)


def _utility(prepared: Prepared) -> Part:
    part = Part()
    for key in (LENGTHS, METRICS, *(one.key for one in USEFULNESS)):
        part.add(measured(prepared, key, apart.run_of(key))[0])
    if prepared.given.embedder is not None:
        part.add(measured(prepared, MAP, apart.run_of(MAP), apart.kept_as(prepared.given, MAP))[0])
    return part
