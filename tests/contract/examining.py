"""A tiny corpus and a run that copied some of it, for the suite over every examination."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from engine.examine.prepare import Effort, ExamineInput
from tests.examine.examine_helpers import WordEmbedder

WORDS = [f"{a}{b}" for a in ("knee", "ward", "pain", "dose", "scan", "calm", "walk", "rest") for b in "abcdefghijkl"]
MARK = re.compile(r"zq\d+\w")  # a private word: each stands in the records of one person alone
FOUND = ((MARK, "PERSON", "direct"), (re.compile(r"\d+ May"), "DATE", "quasi"))
LABELS = ("mild", "severe", "unknown")
WINGS = ("north", "south")


class MarkDetector:
    """A real, tiny detector: it finds the marks and the days."""

    def detect(self, texts: Any) -> list[list[dict[str, Any]]]:
        return [
            [{"start": m.start(), "end": m.end(), "label": label, "score": 1.0, "recogniser": "pattern",
              "identifier_type": kind} for pattern, label, kind in FOUND for m in pattern.finditer(text)]
            for text in texts
        ]  # fmt: skip


class PackagedEmbedder:
    """A real, tiny embedder under the packaged encoder's name and width: what reads that one's vectors reads these."""

    id = "all-MiniLM-L6-v2"

    def embed(self, texts: Any) -> Any:
        return np.repeat(WordEmbedder().embed(texts), 6, axis=1) / np.float32(np.sqrt(6.0))


def records(prefix: str, people: int, each: int = 4) -> pd.DataFrame:
    """Return `each` records a person: a mark, a day, and words of which some are the person's own favourites."""
    rng = np.random.default_rng([7, *prefix.encode()])
    rows = []
    for person in range(people):
        own = rng.choice(WORDS, 6, replace=False)
        for number in range(each):
            words = " ".join(rng.choice(np.concatenate([WORDS, np.repeat(own, 8)]), 22))
            wing = WINGS[person % 2]
            text = f"zq{person}{prefix} came {wing} on {1 + person % 28} May because of {words}."
            rows.append((f"{prefix}{person}-{number}", text, f"{prefix}{person}", LABELS[person % 3], wing))
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label", "x_wing"])


def plant(frame: pd.DataFrame) -> None:
    """Put eight words of its own into every fifth record."""
    rng = np.random.default_rng(len(frame))
    frame["x_canary"] = None
    for row in frame.index[::6]:
        canary = " ".join(f"rune{i}" for i in rng.integers(0, 10**6, 8))
        frame.loc[row, "x_canary"] = canary
        frame.loc[row, "text"] += f" {canary}"


def spans(frame: pd.DataFrame) -> pd.DataFrame:
    """Return each record's mark as a direct identifier and its day as a quasi one."""
    rows = []
    for record, text in zip(frame["record_id"], frame["text"], strict=True):
        for pattern, label, kind in FOUND:
            rows += [(record, m.start(), m.end(), label, kind) for m in pattern.finditer(text)]
    return pd.DataFrame(rows, columns=["record_id", "start", "end", "label", "identifier_type"])


def world(
    *, people: int = 60, holdout: int = 30, copies: int = 30, made: int = 30, given_spans: bool = True,
    embedder: bool = True, detector: bool = True, labels: bool = True, models: bool = False,
    canaries: bool = True, columns: bool = True, seed: int = 3,
) -> ExamineInput:  # fmt: skip
    """Return an examination's input: the first `copies` synthetic records are records of as many people."""
    train, held, fresh = records("t", people), records("h", holdout), records("s", made, 1)
    for frame in (train, held) if canaries else ():
        plant(frame)
    copied = train.iloc[::4].head(copies)  # of as many people
    synthetic = pd.concat([copied, fresh], ignore_index=True)
    synthetic["lineage"] = [*copied["record_id"], *[None] * len(fresh)]
    synthetic["record_id"] = [f"s-{i}" for i in range(len(synthetic))]
    synthetic["label"] = synthetic["label"] if labels else None
    synthetic = synthetic.drop(columns=["x_wing", "x_canary"], errors="ignore")
    if not columns:
        train, held = train.drop(columns="x_wing"), held.drop(columns="x_wing")
    return ExamineInput(
        synthetic, train, held, spans(train).iloc[: None if given_spans else 0],
        spans(held).iloc[: None if given_spans else 0], unit="source",
        embedder=PackagedEmbedder() if embedder else None, detector=MarkDetector() if detector else None,
        seed=seed, model_attacks=models, effort=Effort(len(synthetic), 90.0),
    )  # fmt: skip
