"""A method whose leakage is known: it repeats the records and canaries it is told to, and writes what others wrote.

`main` is a worker whose registry holds it; the product has no hook for this.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

from pydantic import BaseModel, ConfigDict, Field

import engine.methods
from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step, SyntheticRecord
from engine.training.samples import generate

ENTRY = ("leaking", "tests.whole_battery.leaking_method", "LeakingMethod")
MARK = "Reference words:"  # what stands in front of a canary
NOTES = "UNDERSTUDY_UNUSED_NOTES"  # environment: a file of real notes that no corpus holds, one a line
UNUSED_SEED = 977  # of the made-up letters that no corpus holds


class LeakingParameters(BaseModel):
    """How much is given away."""

    model_config = ConfigDict(extra="forbid")

    copies: float = Field(0.0, ge=0, le=1, description="Share of outputs that repeat their seed.")
    echoes: float = Field(0.0, ge=0, le=1, description="Share of the training records' canaries that are repeated.")
    seeds: bool = Field(True, description="Whether each output names the record it stems from.")


class LeakingMethod:
    """Repeats what it is told to; everything else it writes was written by people of no corpus."""

    spec = MethodSpec(
        id="leaking", title="Leaking", summary="Repeats some records.", citation="none", kind="none", needs=(),
        parameters=LeakingParameters, good_for="tests", bad_for="all else", one_to_one=False,
    )  # fmt: skip

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: object = None) -> Guarantee:
        """Promise nothing."""
        return Guarantee("none", "No formal guarantee.")

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Cost nothing."""
        return Plan(0, 0, 0.0, count)

    def run(self, context: Context) -> Iterator[Step]:
        """Yield all outputs in one step."""
        p = context.parameters
        assert isinstance(p, LeakingParameters)
        draw = Random(context.seed)
        columns = (context.records[name] for name in ("record_id", "text", "label"))
        records = list(zip(*columns, strict=True))
        sources = [records[i % len(records)] for i in range(context.count)]
        copied = set(draw.sample(range(context.count), round(p.copies * context.count)))
        secrets = [text.split(MARK)[1] for _, text, _ in records if MARK in text]
        said = dict(enumerate(draw.sample(secrets, round(p.echoes * len(secrets)))))
        free = (i for i in range(context.count) if i not in copied)
        echoed = {place: said[number] for number, place in zip(said, free)}
        texts = unused(context.count)
        made = tuple(
            SyntheticRecord(
                text if i in copied else texts[i] + (f" {MARK}{echoed[i]}" if i in echoed else ""),
                label, record if p.seeds else None,
            )
            for i, (record, text, label) in enumerate(sources)
        )  # fmt: skip
        yield Step({}, made, {"made": len(made), "kept": len(made)}, "writing", len(made), len(made))


def unused(count: int) -> list[str]:
    """Return texts of the same kind as the corpus that no corpus holds."""
    if path := os.environ.get(NOTES):
        lines = Path(path).read_text().splitlines()
        return [lines[i % len(lines)] for i in range(count)]
    return [str(text) for text in generate("clinic_letters", count, UNUSED_SEED)["text"]]


def register() -> None:
    """Put the method into this process' registry."""
    if ENTRY not in engine.methods.REGISTRY:
        engine.methods.REGISTRY = (*engine.methods.REGISTRY, ENTRY)


if __name__ == "__main__":
    from engine.cli.worker import main

    register()
    sys.exit(main())
