"""Methods for tests of the canary audit: one repeats its records, one claims ε = 1 and repeats them all the same.

`main` is a worker whose registry holds them; the product has no hook for this.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

import engine.methods
from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step, SyntheticRecord

ENTRIES = (
    ("copying", "tests.jobs.copying_method", "CopyingMethod"),
    ("copying-liar", "tests.jobs.copying_method", "LyingMethod"),
)


class CopyingParameters(BaseModel):
    """Which share of the records is repeated."""

    model_config = ConfigDict(extra="forbid")

    share: float = Field(1.0, ge=0, le=1)


class CopyingMethod:
    """Repeats records as they are: what an audit must see."""

    spec = MethodSpec(
        id="copying", title="Copying", summary="Repeats records.", citation="none", kind="none", needs=(),
        parameters=CopyingParameters, good_for="tests", bad_for="all else", one_to_one=True,
    )  # fmt: skip

    def guarantee(self, parameters: CopyingParameters, facts: Facts, accountant=None) -> Guarantee:
        """Promise nothing."""
        return Guarantee("none", "No formal guarantee.")

    def plan(self, parameters: CopyingParameters, facts: Facts, count: int) -> Plan:
        """Cost nothing."""
        return Plan(0, 0, 0.0, count)

    def run(self, context: Context) -> Iterator[Step]:
        """Yield all records in one step."""
        rows = context.records.sample(frac=context.parameters.share, random_state=context.seed)
        made = tuple(SyntheticRecord(t, None, r) for t, r in zip(rows["text"], rows["record_id"], strict=True))
        yield Step({}, made, {"made": len(made), "kept": len(made)}, "copy", len(made), len(made))


class LyingMethod(CopyingMethod):
    """Copies and claims ε = 1; of kind `dp`, so it gets at its records behind the mechanisms' back."""

    spec = replace(CopyingMethod.spec, id="copying-liar", kind="dp", one_to_one=False)

    def guarantee(self, parameters: CopyingParameters, facts: Facts, accountant=None) -> Guarantee:
        """Claim what is not so."""
        return Guarantee("dp", "Untrue.", "nothing", 1.0, 1e-5, facts.unit, "zero-out")

    def run(self, context: Context) -> Iterator[Step]:
        """Yield the records that the mechanisms hold."""
        texts = context.mechanisms._data._texts  # what no real method may do
        records = pd.DataFrame({"record_id": [f"r{i}" for i in range(len(texts))], "text": texts})
        yield from super().run(replace(context, records=records))


def register() -> None:
    """Put the methods into this process' registry."""
    engine.methods.REGISTRY = (*engine.methods.REGISTRY, *(e for e in ENTRIES if e not in engine.methods.REGISTRY))


if __name__ == "__main__":
    from engine.cli.worker import main

    register()
    sys.exit(main())
