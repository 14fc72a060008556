"""A small `dp` method for tests of the worker: noisy label counts, round after round, through the real mechanisms.

`main` is a worker whose registry holds it and the slow method; the product has no hook for this.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

import engine.methods
from engine.dp.accounting.accountant import ExactAccountant
from engine.dp.accounting.closed_form import default_delta
from engine.dp.events import Event
from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step, SyntheticRecord
from tests.jobs import slow_method

ENTRIES = (
    ("counts", "tests.jobs.dp_method", "CountsMethod"),
    ("choice", "tests.jobs.dp_method", "ChoiceMethod"),
)


class CountsParameters(BaseModel):
    """The claim, how many rounds, how slow, and whether a Laplace mechanism makes the accounting slow."""

    model_config = ConfigDict(extra="forbid")

    epsilon: float = Field(1.0, gt=0)
    delta: float | None = None
    rounds: int = Field(3, ge=1)
    seconds: float = Field(0.0, ge=0)
    laplace: float = Field(0.0, ge=0)
    feature: Literal["label", "votes"] = "label"
    fail_at: int = -1


class CountsMethod:
    """Each output says what a mechanism counted, so that a redrawn one would show."""

    spec = MethodSpec(
        id="counts",
        title="Counts",
        summary="Counts with noise.",
        citation="none",
        kind="dp",
        needs=(),
        parameters=CountsParameters,
        good_for="tests",
        bad_for="all else",
    )

    def guarantee(self, parameters: CountsParameters, facts: Facts, accountant=None) -> Guarantee:
        """Claim ε for all rounds together."""
        delta = parameters.delta or default_delta(facts.units)
        fixed = [Event("laplace", "first histogram", epsilon=parameters.laplace)] if parameters.laplace else []
        free = [Event("gaussian", "counts", noise_multiplier=1.0, count=parameters.rounds, unit=facts.unit)]
        answer = (accountant or ExactAccountant()).calibrate(fixed, free, parameters.epsilon, delta)
        noise = next(e.noise_multiplier for e in answer.events if e.type == "gaussian")
        return Guarantee(
            "dp", f"Epsilon is {parameters.epsilon:g}.", "the run's complete output", parameters.epsilon, delta,
            facts.unit, "zero-out", events=tuple(e.as_dict() for e in answer.events),
            noise={"counts": {"sigma": noise, "noise_multiplier": noise, "sensitivity": 1.0}},
            accounting={"epsilon_pld": answer.epsilon},
        )  # fmt: skip

    def plan(self, parameters: CountsParameters, facts: Facts, count: int) -> Plan:
        """Cost nothing but time."""
        return Plan(0, 0, parameters.seconds * parameters.rounds, count)

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one batch a round."""
        parameters, labels = context.parameters, list(context.labels)
        noise = context.guarantee.noise["counts"]["noise_multiplier"]
        if parameters.laplace:
            context.mechanisms.noisy_histogram("first", "label", labels, epsilon=parameters.laplace)
        for t in range(int((context.state or {"round": 0})["round"]), parameters.rounds):
            if context.cancelled():
                return
            if t == parameters.fail_at:
                raise ValueError("Zanzibarnacle is in this message")
            counts = self._draw(context, t, labels, noise)
            time.sleep(parameters.seconds)
            text = f"Round {t} counted {[float(c).hex() for c in counts]}."
            yield Step(
                {"round": t + 1}, (SyntheticRecord(text, labels[0]),), {"made": 1, "kept": 1}, "round", t + 1,
                parameters.rounds, diagnostics={"records seen": len(context.records), "spans seen": len(context.spans)},
                snapshot={"iteration": t, "texts": [text], "labels": [labels[0]]},
            )  # fmt: skip

    def _draw(self, context: Context, t: int, labels: list[str], noise: float) -> np.ndarray:
        if context.parameters.feature == "label":
            return context.mechanisms.noisy_histogram(f"counts/{t}", "label", labels, noise_multiplier=noise)
        candidates = np.eye(384, dtype=np.float32)[:4]
        return context.mechanisms.noisy_votes(
            f"counts/{t}", candidates, fingerprint=f"identity {t}", noise_multiplier=noise
        )


class ChoiceMethod(CountsMethod):
    """Reads records and only chooses with noise."""

    spec = replace(CountsMethod.spec, id="choice", title="Choice", kind="selection-only")

    def guarantee(self, parameters: CountsParameters, facts: Facts, accountant=None) -> Guarantee:
        """Claim the choice alone."""
        event = Event("selection", "choice", noise_multiplier=1.0)
        return Guarantee("selection-only", "Only the choice is noisy.", "the choice", events=(event.as_dict(),))

    def run(self, context: Context) -> Iterator[Step]:
        """Choose one candidate a record, once."""
        chosen = context.mechanisms.noisy_selection("choice", np.zeros((len(context.records), 3)), sigma=1.0)
        yield Step({}, (SyntheticRecord(f"Chose {chosen.tolist()}."),), {"made": 1, "kept": 1}, "choose", 1, 1)


def register() -> None:
    """Put the methods into this process' registry."""
    slow_method.register()
    engine.methods.REGISTRY = (*engine.methods.REGISTRY, *(e for e in ENTRIES if e not in engine.methods.REGISTRY))


if __name__ == "__main__":
    from engine.cli.worker import main
    from engine.jobs.worker import slots

    register()
    own = [sys.executable, "-m", "tests.jobs.dp_method", "--workspace"]
    slots.worker_command = lambda folder: [*own, str(folder.path)]
    sys.exit(main())
