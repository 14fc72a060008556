"""Study `nll-filter`: attacks on models trained on RPSG's output, with and without its likelihood filter.

Table 14 of RPSG compares the full output with the filtered one, which is smaller; a model fitted to fewer texts is
attacked less well or better for that alone. So a third variant holds as many texts as the filter leaves, drawn at
random from the full output.
Source: RPSG, section 3.4 and table 14; attacks and their sources as in `engine.examine.members.trained.models`.

Privacy posture: outputs are an internal experiment and are gone when the study ends; tables hold numbers only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypedDict, cast

import numpy as np
import pandas as pd

from engine.errors import UserError
from engine.examine.members.trained.models import examine_model_attacks
from engine.examine.prepare import ExamineInput, prepare
from engine.json_types import JSON, JSONObject
from engine.methods import get_method
from engine.methods.base import parse_parameters
from engine.methods.rpsg.parameters import RpsgParameters, left, needed
from engine.models.cancel import Cancelled
from engine.studies.base import StudyContext, StudySpec, StudyStep
from engine.studies.bench.rerun import Terms, rerun, terms_of
from engine.studies.bench.settings import parsed_settings
from engine.studies.nll_filter.parameters import NllFilterParameters

METHOD = "rpsg"
WITH, WITHOUT, AS_FEW = "with the filter", "without the filter", "without, as few texts"
COLUMNS = ["attack", "title", "auc", "low", "high", "p", "tpr_01", "members", "others", "greyed"]


class NllFilterStudy:
    """Write with and without the filter, train a model on each, attack it."""

    spec = StudySpec(
        id="nll-filter",
        title="RPSG's likelihood filter: attacks with and without it",
        summary="RPSG writes with its likelihood filter on and off; fresh models are trained on both outputs, and on "
        "as few texts without it, and attacked with seeds as members and the holdout as non-members.",
        citation="RPSG, section 3.4, table 14",
        parameters=NllFilterParameters,
        needs=get_method(METHOD).spec.needs,
    )

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield after each variant."""
        p = context.parameters
        assert isinstance(p, NllFilterParameters)
        if context.holdout.empty:
            raise UserError("holdout: this corpus has none, so nobody is a non-member; import it with a holdout")
        given = parse_parameters(get_method(METHOD).spec, parsed_settings(p.settings))
        assert isinstance(given, RpsgParameters)
        work = _Work(context, p, given)
        state = cast(State, dict(context.state or {"left": 0, "done": []}))
        table = context.tables.get("nll_filter")
        rows = [] if table is None else [table]
        for number, (variant, count, values) in enumerate(work.variants()):
            if variant in state["done"]:
                continue
            made = work.made(count, values)
            for name, frame in work.parts(variant, made, int(state["left"])):
                rows.append(work.attacked(name, frame))
            state = {"left": len(made) if variant == WITH else state["left"], "done": [*state["done"], variant]}
            yield StudyStep(number + 1, 2, variant, dict(state), {"nll_filter": pd.concat(rows, ignore_index=True)})


class State(TypedDict):
    """Texts that the filter left, and the variants that are done."""

    left: int
    done: list[str]


class _Work:
    """The study's records and terms, the same for every variant."""

    def __init__(self, context: StudyContext, p: NllFilterParameters, given: RpsgParameters) -> None:
        self.context, self.p, self.given = context, p, given
        run = context.run
        self.records = run.records.head(p.records or len(run.records)).reset_index(drop=True)
        self.terms: Terms = terms_of(run, METHOD, given.model_dump(), self.records)

    def variants(self) -> list[tuple[str, int, dict[str, JSON]]]:
        """Return name, texts and RPSG's parameters of both runs; they write equally many texts before the filter."""
        own = self.given.settings()
        made = needed(self.p.outputs, own.similarity_keep, own.nll_keep)
        values = self.given.model_dump()
        full = left(made, own.similarity_keep, 1.0)
        return [(WITH, self.p.outputs, values), (WITHOUT, full, values | {"nll_keep": 1.0})]

    def made(self, count: int, values: JSONObject) -> pd.DataFrame:
        """Return RPSG's output."""
        run = self.context.run
        return rerun(
            run, METHOD, values, self.records, run.spans, count, run.seed, terms=self.terms,
            scratch=self.context.scratch, progress=self.context.progress,
        )  # fmt: skip

    def parts(self, variant: str, made: pd.DataFrame, few: int) -> list[tuple[str, pd.DataFrame]]:
        """Return what is attacked: the output, and as few texts as the filter left, where it was off."""
        if variant == WITH:
            return [(variant, made)]
        size = min(len(made), max(few, 1))
        chosen = np.sort(np.random.default_rng(self.context.run.seed).permutation(len(made))[:size])
        return [(variant, made), (AS_FEW, made.iloc[chosen].reset_index(drop=True))]

    def attacked(self, variant: str, synthetic: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of one variant: each attack's area with its interval."""
        context, run = self.context, self.context.run
        if synthetic.empty:
            raise UserError(f"{variant}: RPSG left no text; raise outputs or keep more in its filters")
        self._check()
        prepared = prepare(
            ExamineInput(
                synthetic, self.records, context.holdout, run.spans, context.holdout_spans, unit=run.unit, seed=run.seed
            ),
            progress=self._told,
        )
        part = examine_model_attacks(prepared)
        found = part.tables.get("attacks", pd.DataFrame(columns=COLUMNS))[COLUMNS].copy()
        found.insert(0, "variant", variant)
        found.insert(1, "texts", len(synthetic))
        return found

    def _told(self, stage: str, done: int, total: int) -> None:
        self._check()
        self.context.progress(stage, done, total)

    def _check(self) -> None:
        if self.context.run.cancelled():
            raise Cancelled("the study was cancelled")
