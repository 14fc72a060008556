"""A study's run context on a few sample records, with a network of a few thousand weights."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from engine.methods.base import Context
from engine.models.prompts.operators_builtin import BuiltinOperators
from engine.studies.base import StudyContext, parse
from engine.training.samples import generate
from tests.models.small_lm import small_generator

COLUMNS = ["record_id", "text", "source_id", "label"]
QUICK = {"rank": 2, "tokens": 16, "temperature": 1.0, "words": 12}


class Embedder:
    """Unit vectors that follow from a text's words."""

    id = "by-words"

    def embed(self, texts):
        rows = np.zeros((len(texts), 8), np.float32)
        for i, text in enumerate(texts):
            for word in text.split():
                rows[i, sum(map(ord, word)) % 8] += 1.0
            rows[i, 0] += 1.0
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@cache
def sample(count=40, seed=2):
    """Return records and their gold spans."""
    made = generate("clinic_letters", count, seed)
    spans = [{"record_id": r, **span} for r, found in zip(made.record_id, made.spans) for span in found]
    return made[COLUMNS].reset_index(drop=True), pd.DataFrame(spans)


def context(count=40, unit="source", **changes):
    """Return what a study's runs are made from."""
    records, spans = sample(count)
    base = {
        "records": records, "spans": spans, "count": 0, "parameters": None, "seed": 3, "unit": unit,
        "generator": small_generator(), "operators": BuiltinOperators(), "embedder": Embedder(),
        "surrogate_key": b"k" * 32, "labels": tuple(sorted(set(records["label"].dropna()))),
    }  # fmt: skip
    return Context(**base | changes)


def study_context(study, parameters, run, holdout=None, state=None, tables=None, progress=None, scratch=None):
    """Return what a study gets."""
    told = progress or (lambda stage, done, total: None)
    holdout = run.records.iloc[:0] if holdout is None else holdout
    return StudyContext(
        run, holdout, run.spans.iloc[:0], parse(study.spec, parameters), state, dict(tables or {}), told, scratch
    )
