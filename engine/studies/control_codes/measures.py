"""Run one variant of the control-code methods and measure what came out; put repeats together into tables.

Measures, after Zhao and Field 2025, sections 3.4 and 3.5: PIPP, ELP, ROUGE-2 and ROUGE-L (lower is safer),
perplexity of a fresh model tuned on the outputs (lower is better) and MAUVE (higher is better).
Everything here is computed on private text: internal, never released.
"""

from __future__ import annotations

import dataclasses
import math
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Literal

import pandas as pd

from engine.examine.stats.intervals import wilson
from engine.examine.values.context_leaks import LeakMeter
from engine.json_types import JSONObject
from engine.methods import get_method
from engine.methods.base import Context, parse_parameters
from engine.methods.examples.common import fault
from engine.methods.examples.prompts import drawn_from
from engine.methods.readable import run as run_readable
from engine.methods.surrogate import spans_by_record
from engine.models.contracts import Embedder, Generator
from engine.pii.control_codes import Passage, Which, passages, private_spans

# Two-sided 95% quantiles of Student's t by degrees of freedom; beyond, the normal one is close enough.
_T = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
KEYS = ("variant", "repeat", "method", "identifiers", "entities", "sweep", "guarantee", "codes")
COUNTED = ("texts", "valid", "valid_with_value", "tried_again")
VALID_TOKENS = 100  # shortest output that counts as a text (Zhao and Field 2025, section 4)
LEAKS = ("pipp", "elp")
UNBOUNDED = ("perplexity",)  # every other measure lies between 0 and 1
MEASURES = ("pipp", "elp", "rouge_2", "rouge_l", "rouge_2_max", "rouge_l_max", "perplexity", "mauve")


@dataclass(frozen=True)
class Variant:
    """One row of a table: a method and what is set; `repeats` counts its runs, `sweep` names what it is a part of."""

    name: str
    method: str
    settings: JSONObject = field(default_factory=dict)
    identifiers: Which = "direct"
    entities: Literal["known", "unknown"] = "known"
    sweep: str = ""
    repeats: int = 1

    @property
    def keys(self) -> dict[str, str]:
        """Return the columns that name it in the tables."""
        return {
            "variant": self.name, "method": self.method, "identifiers": self.identifiers, "entities": self.entities,
            "sweep": self.sweep,
        }  # fmt: skip


@dataclass(frozen=True)
class Made:
    """What one run of a variant gave: usable texts, the passages each prompt showed, and counts."""

    texts: tuple[str, ...]
    shown: tuple[tuple[Passage, ...], ...]
    funnel: Mapping[str, int]
    retries: Mapping[str, int]


def gold_passages(records: pd.DataFrame, spans: pd.DataFrame, which: Which, parts: int = 2) -> list[Passage]:
    """Return the records' passages with the spans that count as private in the measuring."""
    by_record = spans_by_record(spans)
    return [
        passage
        for record_id, text in zip(records["record_id"].astype(str), records["text"].astype(str), strict=True)
        for passage in passages(
            record_id, text, private_spans(record_id, text, by_record.get(record_id, ()), which), None, 6, parts
        )
    ]


def make(
    variant: Variant, context: Context, repeat: int, progress: Callable[[int, int], None] = lambda done, total: None
) -> Made:
    """Run the variant once and return what it made; `repeat` moves the seed.

    Args:
        variant: which method, and what is set.
        context: records, spans, models and the count; its parameters are replaced.
        repeat: 0 for the first run.
        progress: told outputs done and in all after each batch.
    """
    method = get_method(variant.method)
    parameters = parse_parameters(method.spec, variant.settings)
    context = dataclasses.replace(context, parameters=parameters, seed=context.seed + 1000 * repeat, state=None)
    texts: list[str] = []
    slots: list[int] = []
    funnel: Counter[str] = Counter()
    retries: Counter[str] = Counter()
    for step in run_readable(method, context):
        texts += [record.text for record in step.records]
        slots += step.diagnostics.get("last_slots", [])
        funnel.update(step.funnel)
        retries.update(step.diagnostics.get("retries", {}))
        progress(step.done, step.total)
    shown: list[tuple[Passage, ...]] = []
    examples = getattr(parameters, "examples", 0)
    if examples:
        material, prompts = drawn_from(context, examples, getattr(parameters, "identifiers", None))
        shown = [tuple(prompts.cut(p) for p in material.slot(slot, examples).shown) for slot in slots]
    return Made(tuple(texts), tuple(shown), dict(funnel), dict(retries))


def make_private(
    variant: Variant, context: Context, repeat: int, progress: Callable[[int, int], None] = lambda done, total: None
) -> Made:
    """Run a method with a formal guarantee once, its mechanisms over the context's records, noise drawn anew.

    It reads neither spans nor codes, so its texts are the same whatever counts as private.
    """
    from engine.studies.bench.rerun import rerun

    with tempfile.TemporaryDirectory(prefix="understudy-") as scratch:
        made = rerun(
            context, variant.method, variant.settings, context.records, context.spans.iloc[:0], context.count,
            context.seed + 1000 * repeat, scratch=Path(scratch),
            progress=lambda stage, done, total: progress(done, total),
        )  # fmt: skip
    texts = tuple(str(text) for text in made["text"])
    return Made(texts, (), {"kept": len(texts)}, {})


def leaks(made: Made, gold: Sequence[Passage]) -> dict[str, float]:
    """Return the privacy measures of a run against gold passages of the training part.

    For methods with examples PIPP, ELP and ROUGE are held against the passages a prompt showed, as far as it showed
    them; for tuned ones against all. `*_corpus` and `*_max` hold every method against all.
    """
    meter = LeakMeter(gold)
    whole = meter.tuned(made.texts)
    near = whole
    if made.shown:
        by_key = {(p.record_id, p.part): p for p in gold}
        seen = [[by_key[p.record_id, p.part].cut(len(p.text)) for p in shown] for shown in made.shown]
        near = meter.in_context(made.texts, seen)
    return {
        "pipp": near.pipp, "elp": near.elp, "rouge_2": near.rouge_2, "rouge_l": near.rouge_l,
        "pipp_corpus": whole.pipp, "elp_corpus": whole.elp,
        "rouge_2_max": whole.rouge_2, "rouge_l_max": whole.rouge_l,
    }  # fmt: skip


def validity(made: Made, gold: Sequence[Passage], count: Callable[[str], int]) -> dict[str, int]:
    """Return how many texts there are, how many are valid, and how many valid ones hold a private value.

    Args:
        made: one run. gold: passages of the training part. count: tokens of a text.
    """
    good = [i for i, text in enumerate(made.texts) if not fault(text, count(text), VALID_TOKENS)]
    shown = tuple(made.shown[i] for i in good) if made.shown else ()
    chosen = Made(tuple(made.texts[i] for i in good), shown, {}, {})
    share = leaks(chosen, gold)["pipp"] if good else 0.0
    return {
        "texts": len(made.texts), "valid": len(good), "valid_with_value": round(share * len(good)),
        "tried_again": sum(made.retries.values()),
    }  # fmt: skip


def perplexity(
    generator: Generator,
    texts: Sequence[str],
    unseen: Sequence[str],
    seed: int,
    epochs: int = 2,
    on_batch: Callable[[int, int], None] = lambda done, total: None,
) -> float:
    """Return the perplexity a token of unseen texts under a fresh model tuned on `texts`; none: the model as it is.

    Args:
        on_batch: told batches tuned and in all; may raise to stop.
    """
    from engine.models.tune.finetune import FinetuneSettings, TunedModel, finetune
    from engine.models.tune.finetune_nets import trainable

    net: Any = trainable(generator)
    settings = FinetuneSettings(epochs=epochs, seed=seed % 2**31)
    tuned = finetune(net, texts, settings, on_batch=on_batch) if texts else TunedModel(net, settings.tokens, ())
    rows = tuned.score(unseen)
    return math.exp(-sum(float(row.sum()) for row in rows) / max(1, sum(len(row) for row in rows)))


def mauve(embedder: Embedder, texts: Sequence[str], unseen: Sequence[str], seed: int) -> float:
    """Return MAUVE of the texts against unseen ones; not a number below 100 texts a side.

    A fictional code takes its types from a training passage, and nothing else: texts from it stand for unseen
    passages as well as texts from the unseen passages' own codes would.
    """
    import numpy as np

    from engine.examine.usefulness.base import Sample
    from engine.examine.usefulness.meaning.embeddings import LEAST
    from engine.examine.usefulness.meaning.embeddings import mauve as score

    def sample(side: Sequence[str]) -> Sample:
        nothing = (np.array([], np.int32),) * len(side)  # MAUVE reads embeddings alone
        return Sample(nothing, np.arange(len(side)).astype(object), embedder.embed(list(side)))

    enough = min(len(texts), len(unseen)) >= LEAST
    return score(sample(texts), sample(unseen), seed).value if enough else math.nan


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row a variant and measure: mean over repeats, 95% interval as `measured` has it, repeats.

    Args:
        rows: columns variant, repeat and one a measure.
    """
    found = []
    for name, part in rows.groupby("variant", sort=False):
        for measure in [c for c in rows.columns if c not in (*KEYS, *COUNTED)]:
            value, low, high = measured(part, measure)
            found.append((name, measure, value, low, high, int(part[measure].notna().sum())))
    return pd.DataFrame(found, columns=["variant", "measure", "value", "low", "high", "repeats"])


def measured(runs: pd.DataFrame, measure: str) -> tuple[float, float, float]:
    """Return the mean of a measure over repeats and the ends of its 95% interval; not numbers where there is none.

    Shares and overlaps lie between 0 and 1, whatever Student's t allows, so their interval is cut there.
    Where no repeat shows a private value, equal zeros would make the t-interval a point, and none seen does not mean
    none: PIPP then has Wilson's interval of none in so many texts, ELP no interval.
    """
    values = [float(v) for v in runs[measure] if v == v and v is not None]
    value, low, high = interval(values)
    if values and not any(values) and measure.startswith(LEAKS):
        texts = int(runs["texts"].sum()) if measure.startswith("pipp") and "texts" in runs else 0
        low, high = wilson(0, texts) if texts else (math.nan, math.nan)
    if measure not in UNBOUNDED:
        low, high = (end if end != end else min(max(end, 0.0), 1.0) for end in (low, high))
    return value, low, high


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean and the ends of its 95% t-interval; not a number where there are too few values.

    Source: Student 1908; with three repeats the interval is wide, and that is what three repeats can tell.
    """
    if not values:
        return math.nan, math.nan, math.nan
    if len(values) < 2:
        return values[0], math.nan, math.nan
    half = _T.get(len(values) - 1, 1.96) * stdev(values) / math.sqrt(len(values))
    return mean(values), mean(values) - half, mean(values) + half


def compared(rows: pd.DataFrame, first: str, second: str, measures: Sequence[str]) -> pd.DataFrame:
    """Return, for each measure, whether `first` lies below or above `second`, or whether one cannot tell.

    The differences are paired by repeat: both variants draw the same places under one seed. The verdict follows
    from the 95% t-interval of the mean difference.
    """
    ours, theirs = (rows[rows["variant"] == name].set_index("repeat") for name in (first, second))
    found = []
    for measure in measures:
        both = (ours[measure] - theirs[measure]).dropna()
        value, low, high = interval([float(x) for x in both])
        verdict = "below" if high < 0 else "above" if low > 0 else "cannot tell"
        found.append((measure, value, low, high, len(both), verdict))
    return pd.DataFrame(found, columns=["measure", "difference", "low", "high", "repeats", "verdict"])
