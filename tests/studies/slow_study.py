"""A light study for tests of the worker: counts records of the training part in a few slow variants.

`main` is a worker whose registry holds it; the product has no hook for this.
"""

from __future__ import annotations

import sys
import time

import pandas as pd
from pydantic import BaseModel, Field

import engine.studies
from engine.studies.base import StudySpec, StudyStep

ENTRY = ("tests.studies.slow_study", "SlowStudy")


class SlowParameters(BaseModel):
    """How many variants of how many slow pieces, and where to fail."""

    variants: int = Field(3, ge=1)
    pieces: int = Field(4, ge=1)
    seconds: float = Field(0.05, ge=0)


class SlowStudy:
    """Each variant's row holds how often a variant was begun in this process before it."""

    spec = StudySpec("slow", "Slow", "Counts slowly.", "none", SlowParameters, ())

    def run(self, context):
        finished = list((context.state or {}).get("finished", []))
        table = context.tables.get("summary", pd.DataFrame(columns=["variant", "measure", "value", "begun"]))
        for number in range(context.parameters.variants):
            if number in finished:
                continue
            for piece in range(context.parameters.pieces):
                context.progress(f"variant {number}", piece, context.parameters.pieces)
                time.sleep(context.parameters.seconds)
            row = {"variant": str(number), "measure": "records", "value": float(len(context.run.records))}
            table = pd.concat([table, pd.DataFrame([{**row, "begun": len(finished)}])], ignore_index=True)
            finished.append(number)
            yield StudyStep(
                len(finished), context.parameters.variants, f"variant {number}", {"finished": list(finished)},
                {"summary": table},
            )  # fmt: skip


if __name__ == "__main__":
    from engine.cli import worker

    engine.studies.REGISTRY = (*engine.studies.REGISTRY, ENTRY)
    sys.exit(worker.main())
