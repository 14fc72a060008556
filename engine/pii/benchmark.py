"""Measure detection on court judgments with gold spans: all of them and two fixed halves, intervals over judgments.

`python -m engine.pii.benchmark --data FILE [--tagger FOLDER] [--preset legal] [--without TYPE]`, where FILE holds
`{id, text, spans}` a line as the Text Anonymization Benchmark's own (`tab_train_92.jsonl.gz`). A tagger that was
trained on these judgments only compares settings here; `engine.training.tagger --without-tab` trains one that
has not seen them.

Source: Pilán et al. 2022 (see `engine.pii.evaluate`); bootstrap over clusters: Field and Welsh 2007.

Privacy posture: texts stay in memory; the output holds counts and shares, never text.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict, get_args

import numpy as np
import pandas as pd

from engine.models.builtin.tagger.tagger import TYPES
from engine.pii.detect.detector import RecordDetector
from engine.pii.detect.presets import PresetName
from engine.pii.detect.settings import DetectorSettings
from engine.pii.evaluate import evaluate, wilson
from engine.pii.gold import MarkedSpan, gold_frame
from engine.pii.spans import Span

Measure = Literal["direct_recall", "quasi_recall", "token_precision"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
DRAWS = 2000
Counts = Mapping[Measure, tuple[int, int]]


class Judgment(TypedDict):
    """One line of the file."""

    id: str
    text: str
    spans: list[MarkedSpan]


class Summary(TypedDict):
    """A share of `n` cases, `hits` of them, with its interval; value is None where there is no case."""

    value: float | None
    low: float
    high: float
    hits: int
    n: int


def halves(ids: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return two halves of the ids, the first in the order of their SHA-256 first; nothing but the ids decides."""
    order = sorted(set(ids), key=lambda i: hashlib.sha256(i.encode()).hexdigest())
    return frozenset(order[: len(order) // 2]), frozenset(order[len(order) // 2 :])


def counted(
    gold: Mapping[str, Sequence[MarkedSpan]], texts: Mapping[str, str], found: Mapping[str, Sequence[Span]]
) -> dict[str, Counts]:
    """Return, for each record with gold spans, hits and cases of each measure; `found` holds accepted spans only."""
    out: dict[str, Counts] = {}
    for record, text in texts.items():
        frame = gold_frame({record: gold[record]})
        if frame.empty:
            continue
        spans = [(record, s.start, s.end, s.label) for s in found[record]]
        shares = evaluate(frame, pd.DataFrame(spans, columns=["record_id", "start", "end", "label"]), {record: text})
        out[record] = {m: (round((shares[m]["value"] or 0) * shares[m]["n"]), shares[m]["n"]) for m in MEASURES}
    return out


def summary(rows: Sequence[Counts], draws: int = DRAWS) -> dict[Measure, Summary]:
    """Return, for each measure, value, low, high and n.

    Cases of one record are alike, so records are drawn anew (95% of `draws` draws, fixed seed); where all cases hit,
    no draw says anything, so the interval is never narrower than Wilson's over the cases.
    """
    rng = np.random.default_rng(1)
    picks = rng.integers(0, max(1, len(rows)), (draws, len(rows)))
    out: dict[Measure, Summary] = {}
    for measure in MEASURES:
        table = np.array([r[measure] for r in rows], dtype=np.int64).reshape(-1, 2)
        hits, cases = (int(v) for v in table.sum(0))
        low, high = wilson(hits, cases)
        drawn = table[picks].sum(1)
        shares = drawn[:, 0][drawn[:, 1] > 0] / drawn[:, 1][drawn[:, 1] > 0]
        if len(shares):
            low, high = min(low, float(np.quantile(shares, 0.025))), max(high, float(np.quantile(shares, 0.975)))
        out[measure] = {"value": hits / cases if cases else None, "low": low, "high": high, "hits": hits, "n": cases}
    return out


def measure(rows: Sequence[Judgment], settings: DetectorSettings, without: str = "") -> dict[str, dict[str, object]]:
    """Return the summary of all judgments and of both halves.

    Args:
        rows: judgments.
        settings: the detector's; `tagger_model` names the weights.
        without: a type that the tagger never gives, for weights that no training data taught it.
    """
    detector = RecordDetector(settings)
    if without and detector.tagger is not None:
        detector.tagger.thresholds[TYPES.index(without)] = 1.0
    texts = {str(r["id"]): str(r["text"]) for r in rows}
    spans = detector.find(list(texts.values()))
    accepted = {i: [s for s in row if s.score >= settings.threshold(s.label)] for i, row in zip(texts, spans)}
    counts = counted({str(r["id"]): r["spans"] for r in rows}, texts, accepted)
    first, second = halves(list(counts))
    parts = {"all": frozenset(counts), "half_a": first, "half_b": second}
    found: dict[str, dict[str, object]] = {}
    for name, ids in parts.items():
        shares = summary([counts[i] for i in sorted(ids)])
        found[name] = {"records": len(ids), **{str(measure): share for measure, share in shares.items()}}
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Measure one tagger under one preset and print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="gzipped JSON lines {id, text, spans}")
    parser.add_argument("--tagger", default=None, help="folder of the weights; the built-in ones where left out")
    parser.add_argument("--preset", choices=get_args(PresetName), default="legal")
    parser.add_argument("--without", choices=TYPES, default="", help="a type that the tagger was never taught")
    args = parser.parse_args(argv)
    with gzip.open(args.data, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    found = measure(rows, DetectorSettings(preset=args.preset, tagger_model=args.tagger), args.without)
    sys.stdout.write(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
