"""Study `noiseless`: a method at its ε beside the same method without noise (ε = ∞) and without private text (ε = 0).

What lies between ε = 0 and ε = ∞ is what the method can get out of private text at all; where the run at its ε
stands between them is what the noise leaves of it. Source: the rows ε = ∞ of RPSG's and DPGA-TextSyn's tables.

Privacy posture: texts made without noise are a copy of what private records voted for. They live in memory for the
length of a variant and are never stored; tables hold numbers only. The study's ledger line is an unaccounted touch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from pydantic import BaseModel

from engine.errors import UserError
from engine.examine.prepare import ExamineInput, prepare
from engine.examine.usefulness.metrics import METRICS
from engine.examine.usefulness.part import examine_usefulness
from engine.methods import get_method
from engine.methods.base import parse_parameters
from engine.models.cancel import Cancelled
from engine.studies.base import StudyContext, StudySpec, StudyStep
from engine.studies.bench.rerun import rerun, terms_of
from engine.studies.bench.settings import parsed_settings
from engine.studies.noiseless.parameters import NoiselessParameters

PUBLIC = "public"
NONE, OWN, ENDLESS = "no private text (ε = 0)", "the method at its ε", "without noise (ε = ∞)"
TITLES = {metric.name: metric.title for metric in METRICS}
COLUMNS = ["variant", "kind", "epsilon", "texts", "measure", "title", "value", "low", "high", "real"]


class NoiselessStudy:
    """Run a method with noise and without, and its reference, and measure the three alike."""

    spec = StudySpec(
        id="noiseless",
        title="What the noise costs: ε = 0, the method's ε, and no noise at all",
        summary="The same method runs at its ε and without any noise, beside the same prompts without private text; "
        "all three are held against private text. Nothing of the run without noise is kept or may leave.",
        citation="rows ε = ∞ of RPSG, tables 9 and 11, and of DPGA-TextSyn, tables 1 and 2",
        parameters=NoiselessParameters,
        needs=("generator", "operators", "embedder"),
    )

    def needs(self, parameters: BaseModel) -> tuple[str, ...]:
        """Return what the chosen method needs."""
        assert isinstance(parameters, NoiselessParameters)
        return get_method(parameters.method).spec.needs

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield after each variant."""
        p = context.parameters
        assert isinstance(p, NoiselessParameters)
        method, run = get_method(p.method), context.run
        if context.run.records.empty:
            raise UserError("records: this corpus has no training part")
        values = parse_parameters(method.spec, parsed_settings(p.settings)).model_dump()
        records = run.records.head(p.records or len(run.records)).reset_index(drop=True)
        terms = terms_of(run, p.method, values, records)
        fields = get_method(PUBLIC).spec.parameters.model_fields
        shared = {name: value for name, value in values.items() if name in fields}
        claimed = terms.guarantee
        table = context.tables.get("noiseless")
        done = set() if table is None else set(table["variant"])
        rows = [] if table is None else [table]
        for number, variant in enumerate((NONE, OWN, ENDLESS)):
            if variant in done:
                continue
            if variant == NONE:
                made = rerun(run, PUBLIC, shared, records, run.spans, p.outputs, run.seed, progress=context.progress)
                kind, epsilon = "none", "0"
            else:
                endless = variant == ENDLESS
                made = rerun(
                    run, p.method, values, records, run.spans, p.outputs, run.seed, terms=terms,
                    scratch=context.scratch, progress=context.progress, noiseless=endless,
                )  # fmt: skip
                kind = "none" if endless else claimed.kind
                epsilon = "∞" if endless else f"{values['epsilon']:g}"
            rows.append(self._measured(context, records, made, variant, kind, epsilon))
            yield StudyStep(
                number + 1, 3, variant, {"done": number + 1}, {"noiseless": pd.concat(rows, ignore_index=True)}
            )

    def _measured(
        self, context: StudyContext, records: pd.DataFrame, made: pd.DataFrame, variant: str, kind: str, epsilon: str
    ) -> pd.DataFrame:
        """Return a row a measure: the variant's value with its interval, and what real text scores."""
        run = context.run
        if made.empty:
            raise UserError(f"{variant}: the method left no text; raise outputs")

        def told(stage: str, done: int, total: int) -> None:
            if run.cancelled():
                raise Cancelled("the study was cancelled")
            context.progress(stage, done, total)

        given = ExamineInput(
            made, records, context.holdout, run.spans, context.holdout_spans, unit=run.unit, privacy=False,
            embedder=run.embedder, seed=run.seed,
        )  # fmt: skip
        found = examine_usefulness(prepare(given, progress=told), None)
        real = {one.name: one.value for one in found if one.reference == "real"}
        rows: list[tuple[Any, ...]] = [
            (variant, kind, epsilon, len(made), one.name, TITLES[one.name], one.value, one.low, one.high,
             real.get(one.name, float("nan")))
            for one in found
            if one.reference in ("train", "none")
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=COLUMNS)
