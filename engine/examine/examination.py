"""Examine a run: every privacy and utility finding, the tables of the pages, and the approval order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pandas as pd

from engine.examine.battery import run_battery
from engine.examine.findings import Finding
from engine.examine.part import Part
from engine.examine.prepare import (
    CancelledError,
    ExamineInput,
    Prepared,
    Progress,
    never,
    no_progress,
    prepare,
)
from engine.examine.registry import USEFULNESS
from engine.examine.risk import record_risk
from engine.examine.tables import CORPUS_MAP, corpus_map, lengths, ngrams, text_map
from engine.examine.usefulness.part import examine_usefulness
from engine.examine.usefulness.topics import topics
from engine.examine.usefulness.unrelated import unrelated_text

__all__ = ["ExamineInput", "ExamineOutput", "examine_run"]


@dataclass(frozen=True)
class ExamineOutput:
    """What an examination gives back.

    Args:
        findings: one a (name, reference).
        tables: tidy frames by name, internal: `leaks, verbatim, elp, nearest, nearest_quantiles, pii,
            lengths, ngrams, topics, map`.
        record_risk: synthetic record id -> risk in [0, 1]; higher = look at it sooner.
        cancelled: whether it was stopped on request; then the rest is empty.
    """

    findings: list[Finding] = field(default_factory=list)
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    record_risk: dict[str, float] = field(default_factory=dict)
    cancelled: bool = False


def examine_run(
    given: ExamineInput, progress: Progress = no_progress, cancelled: Callable[[], bool] = never
) -> ExamineOutput:
    """Return all findings of a run, or an empty output if it was stopped on request.

    Args:
        given: synthetic records, both private parts with their accepted spans, and tools.
        progress: told (stage, done, total).
        cancelled: asked between batches.

    Raises:
        UserError: there is no synthetic or no training record.
    """
    try:
        prepared = prepare(given, progress, cancelled)
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

    return ExamineOutput(part.findings, part.tables, risk)


def _utility(prepared: Prepared) -> Part:
    part = Part()
    prepared.report("lengths and phrases", 0, 1)
    part.tables["lengths"] = lengths(prepared)
    part.tables["ngrams"] = ngrams(prepared)
    part.findings += examine_usefulness(prepared, unrelated_text(prepared))
    for one in USEFULNESS:
        part.add(one.run(prepared))
    if prepared.given.embedder is not None:
        part.tables[CORPUS_MAP] = corpus_map(prepared)
        part.tables["map"] = text_map(prepared, part.tables[CORPUS_MAP])
        part.tables["topics"] = topics(prepared)
    return part
