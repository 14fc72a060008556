"""A light method for tests of the worker: writes made-up sentences, slowly, from its seed.

`main` is a worker whose registry holds it; the product has no hook for this.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterator

from pydantic import Field

import engine.methods
from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step, SyntheticRecord
from engine.methods.parameters import ReadableParameters

EMPTY = "the applicant of the applicant of the applicant"
ENTRY = ("slow", "tests.jobs.slow_method", "SlowMethod")


class SlowParameters(ReadableParameters):
    """How slow, how large a batch, where to fail, and after how many sentences one says nothing."""

    seconds: float = Field(0.02, ge=0)
    batch: int = Field(5, ge=1)
    fail_at: int = -1
    fail_with: str = "value"
    empty_every: int = 0


class SlowMethod:
    """Each output depends on seed, position, source record and the state carried along."""

    spec = MethodSpec(
        id="slow",
        title="Slow",
        summary="Writes slowly.",
        citation="none",
        kind="none",
        needs=("spans",),
        parameters=SlowParameters,
        good_for="tests",
        bad_for="all else",
    )

    def guarantee(self, parameters: SlowParameters, facts: Facts) -> Guarantee:
        """Promise nothing."""
        return Guarantee("none", "No formal guarantee.")

    def plan(self, parameters: SlowParameters, facts: Facts, count: int) -> Plan:
        """Cost nothing."""
        return Plan(0, 0, parameters.seconds * count, count)

    def run(self, context: Context) -> Iterator[Step]:
        """Yield batches; what follows depends on all that went before."""
        state = dict(context.state or {"done": 0, "chain": str(context.seed)})
        sources = list(context.records["record_id"])
        parameters = context.parameters
        while state["done"] < context.count and not context.cancelled():
            records = []
            for i in range(state["done"], min(context.count, state["done"] + parameters.batch)):
                if i == parameters.fail_at:
                    if parameters.fail_with == "die":
                        import os

                        os._exit(9)
                    raise ValueError("Zanzibarnacle is in this message")
                source = sources[i % len(sources)]
                state["chain"] = hashlib.sha256(f"{state['chain']} {source}".encode()).hexdigest()[:16]
                empty = parameters.empty_every and i % parameters.empty_every == 0
                text = EMPTY if empty else f"Sentence {i} says {state['chain']}."
                records.append(SyntheticRecord(text, None, source))
                time.sleep(parameters.seconds)
            state["done"] += len(records)
            yield Step(
                dict(state),
                tuple(records),
                {"made": len(records), "kept": len(records)},
                "write",
                state["done"],
                context.count,
            )


def register() -> None:
    """Put the method into this process' registry."""
    if ENTRY not in engine.methods.REGISTRY:
        engine.methods.REGISTRY = (*engine.methods.REGISTRY, ENTRY)


if __name__ == "__main__":
    from engine.cli.worker import main

    register()
    sys.exit(main())
