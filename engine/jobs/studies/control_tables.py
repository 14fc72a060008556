"""The control-code study: variants, repeats and the tables of Zhao and Field 2025 (Tables 1 to 6, 14 and 15).

Whether identifiers are known (accepted spans) or not (found by the detector) decides what the codes are made of;
leaks are counted on the accepted spans either way, as in its section 3.3.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from engine.jobs.studies.control_measures import (
    MEASURES,
    Variant,
    compared,
    gold_passages,
    leaks,
    make,
    mauve,
    perplexity,
    summary,
)
from engine.methods.base import Context
from engine.models.contracts import Detector, Embedder

METHODS = ("icl", "control-icl", "control-icl-blocked", "control-prefix", "control-prefix-masked")
_ENOUGH = 0.5  # score from which a detected span counts where identifiers are not known
_EVERY_PART = 1000
REFERENCE = "real training text"


class ControlCodesParameters(BaseModel):
    """What the study runs."""

    model_config = ConfigDict(extra="forbid")

    methods: tuple[str, ...] = Field(METHODS, min_length=1, description="Methods compared.")
    count: int = Field(100, ge=2, le=2000, description="Texts of each run.")
    repeats: int = Field(3, ge=1, le=10, description="Runs of each variant, each with a seed of its own.")
    identifiers: Literal["direct", "quasi", "both"] = Field(
        "direct",
        description="What counts as private: direct identifiers, quasi-identifiers or both (Tables 1, 14, 6).",
    )
    entities: Literal["known", "unknown"] = Field(
        "known", description="Codes from accepted spans (Table 1), or from the detector alone (Table 2)."
    )
    sweep: Literal["none", "examples", "weights"] = Field(
        "none", description="Besides: other numbers of examples, or other weights and both directions of the objective."
    )
    utility: bool = Field(True, description="Measure perplexity and MAUVE too (Table 4); takes as long again.")
    minimum_tokens: int | None = Field(None, ge=0, le=1000, description="Shortest usable output; empty: the method's.")


@dataclass(frozen=True)
class Inputs:
    """What the study reads: a context with records and accepted spans of the training part, and unseen records."""

    context: Context
    unseen: pd.DataFrame
    embedder: Embedder
    detector: Detector | None = None


@dataclass(frozen=True)
class Progress:
    """How far the study is; `tables` hold what is measured so far."""

    done: int
    total: int
    stage: str
    tables: dict[str, pd.DataFrame]


def variants(p: ControlCodesParameters) -> list[Variant]:
    """Return the rows of the study: the methods, then the sweep."""
    common: dict[str, Any] = {} if p.minimum_tokens is None else {"minimum_tokens": p.minimum_tokens}
    coded = {**common, "identifiers": p.identifiers}
    rows = [Variant(m, m, common if m == "icl" else coded) for m in p.methods]
    if p.sweep == "examples":
        for method in [m for m in p.methods if m.startswith("control-icl")]:
            rows += [Variant(f"{method}, {n} examples", method, {**coded, "examples": n}) for n in (1, 2, 5)]
    if p.sweep == "weights":
        masked = "control-prefix-masked"
        rows.append(Variant(f"{masked}, paper", masked, {**coded, "contrastive": "paper"}))
        for name in ("lm", "contrast", "kl"):
            rows += [
                Variant(f"{masked}, λ {name} {weight:g}", masked, {**coded, f"lambda_{name}": weight})
                for weight in (0.0, 4.0)
            ]
        published = {"lambda_lm": 1.0, "lambda_contrast": 4.0, "lambda_kl": 1.6}
        rows.append(Variant(f"{masked}, λ 1, 4, 1.6", masked, {**coded, **published}))
    return rows


def study(
    p: ControlCodesParameters,
    inputs: Inputs,
    batch: Callable[[str, int, int], None] = lambda stage, done, total: None,
    before: Mapping[str, pd.DataFrame] | None = None,
) -> Iterator[Progress]:
    """Yield the tables after each run of a variant; repeats go round all variants, so that a stop leaves whole rounds.

    Args:
        p: what to run. inputs: what to read.
        batch: told stage, texts done and in all within a run.
        before: tables of an earlier, stopped study with the same parameters; its runs are not made again.
    """
    gold = gold_passages(inputs.context.records, inputs.context.spans, p.identifiers)
    unseen = [x.text for x in gold_passages(inputs.unseen, inputs.context.spans, p.identifiers, _EVERY_PART)]
    context = dataclasses.replace(inputs.context, count=p.count)
    if p.entities == "unknown":
        context = dataclasses.replace(context, spans=detected(context.records, inputs.detector))
    rows, counts = (_rows(before, name) for name in ("runs", "counts"))
    chosen = variants(p)
    made_before = {(row["variant"], int(row["repeat"])) for row in rows}
    total = len(chosen) * p.repeats
    if p.utility and (REFERENCE, 0) not in made_before:
        batch("measuring real text", 0, 1)
        rows += _references(inputs, [x.text for x in gold], unseen, p)
    for repeat in range(p.repeats):
        for variant in chosen:
            if (variant.name, repeat) in made_before:
                continue
            if context.cancelled():
                return
            stage = f"{variant.name}, run {repeat + 1}"
            made = make(variant, context, repeat, _told(batch, stage))
            if len(made.texts) < p.count:
                return  # cancelled inside a run: a part of it is not measured
            row: dict[str, Any] = {"variant": variant.name, "repeat": repeat, **leaks(made, gold)}
            if p.utility:
                batch(f"{stage}: measuring", p.count, p.count)
                row |= usefulness(inputs, made.texts, unseen, repeat)
            rows.append(row)
            counts += [
                {"variant": variant.name, "repeat": repeat, "what": what, "count": count}
                for what, count in [*made.funnel.items(), ("tried again", sum(made.retries.values()))]
            ]
            done = len([r for r in rows if r["variant"] != REFERENCE])
            yield Progress(done, total, stage, tables(rows, counts))


def _told(batch: Callable[[str, int, int], None], stage: str) -> Callable[[int, int], None]:
    return lambda done, total: batch(stage, done, total)


def _rows(before: Mapping[str, pd.DataFrame] | None, name: str) -> list[dict[str, Any]]:
    frame = (before or {}).get(name)
    return [] if frame is None else [{str(k): v for k, v in row.items()} for row in frame.to_dict(orient="records")]


def usefulness(inputs: Inputs, texts: Sequence[str], unseen: Sequence[str], repeat: int) -> dict[str, float]:
    """Return perplexity and MAUVE of texts against unseen ones."""
    assert inputs.context.generator is not None
    seed = inputs.context.seed + repeat
    return {
        "perplexity": perplexity(inputs.context.generator, texts, unseen, seed),
        "mauve": mauve(inputs.embedder, texts, unseen, seed),
    }


def _references(
    inputs: Inputs, real: Sequence[str], unseen: Sequence[str], p: ControlCodesParameters
) -> list[dict[str, Any]]:
    """Return what as many real training passages give: the level that synthetic text is held against."""
    rows = []
    for repeat in range(p.repeats):
        texts = Random(repeat).sample(list(real), min(p.count, len(real)))
        rows.append({"variant": REFERENCE, "repeat": repeat, **usefulness(inputs, texts, unseen, repeat)})
    return rows


def detected(records: pd.DataFrame, detector: Detector | None) -> pd.DataFrame:
    """Return what the detector alone finds in the records, as spans."""
    assert detector is not None
    found = detector.detect([str(t) for t in records["text"]])
    rows = [
        (str(record), s["start"], s["end"], s["label"], s["identifier_type"])
        for record, spans in zip(records["record_id"], found, strict=True)
        for s in spans
        if s["score"] >= _ENOUGH
    ]
    return pd.DataFrame(rows, columns=["record_id", "start", "end", "label", "identifier_type"])


def tables(rows: Sequence[dict[str, Any]], counts: Sequence[dict[str, Any]]) -> dict[str, pd.DataFrame]:
    """Return the study's tables: runs, summary with intervals, comparison of masked and plain, counts."""
    runs = pd.DataFrame(list(rows))
    held = [m for m in MEASURES if m in runs.columns]
    names = set(runs["variant"])
    found = {"runs": runs, "summary": summary(runs), "counts": pd.DataFrame(list(counts))}
    if {"control-prefix", "control-prefix-masked"} <= names:
        found["masked_against_plain"] = compared(runs, "control-prefix-masked", "control-prefix", held)
    return found
