"""Study `control-codes`: examples alone, control codes and tuned prefixes side by side, as the paper's tables have it.

Source: Zhao and Field 2025, "Controlled Generation for Private Synthetic Text", Tables 1 to 6, 14 and 15.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.errors import InternalError, UserError
from engine.jobs.studies.base import StudyContext, StudySpec, StudyStep
from engine.jobs.studies.control_tables import ControlCodesParameters, Inputs, study
from engine.methods.control_common import CITATION


class ControlCodesStudy:
    """Run the methods with examples and control codes and compare what they leak and what they are worth."""

    spec = StudySpec(
        id="control-codes",
        title="Control codes, method by method",
        summary="Private entities that come out (PIPP, ELP), overlap with the records (ROUGE), perplexity and MAUVE of "
        "each method over several runs, with intervals; sweeps over examples and weights.",
        citation=f"{CITATION}, Tables 1 to 6, 14 and 15",
        parameters=ControlCodesParameters,
        needs=("generator", "operators", "embedder", "detector", "spans", "train"),
    )

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield a step after each run of a variant."""
        p = context.parameters
        if not isinstance(p, ControlCodesParameters):
            raise InternalError("control-codes was started with another study's parameters")
        if context.run.embedder is None:
            raise InternalError("control-codes needs an embedder")
        if len(context.run.spans) == 0:
            raise UserError(
                "control-codes needs accepted spans; this corpus has none: run detect, or import gold spans"
            )
        inputs = Inputs(context.run, context.holdout, context.run.embedder, context.run.detector)
        for step in study(p, inputs, context.progress, context.tables):
            yield StudyStep(step.done, step.total, step.stage, {"done": step.done}, step.tables)
