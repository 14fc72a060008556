"""Study `control-codes`: examples alone, control codes and tuned prefixes side by side, as the paper's tables have it.

One command gives every table that a corpus and a model allow (`identifiers=each entities=each sweep=each`); which table
holds what stands in `paper`. Table 1 becomes Table 3 on notes with de-identification marks, and Table 5 with
another `--model`.

Source: Zhao and Field 2025, "Controlled Generation for Private Synthetic Text", Tables 1 to 6, 14 and 15.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from engine.errors import InternalError, UserError
from engine.methods.examples.common import CITATION
from engine.studies.base import StudyContext, StudySpec, StudyStep
from engine.studies.control_codes.parameters import PRIVATE, ControlCodesParameters
from engine.studies.control_codes.tables import Inputs, study, variants


class ControlCodesStudy:
    """Run the methods with examples and control codes and compare what they leak and what they are worth."""

    spec = StudySpec(
        id="control-codes",
        title="Control codes, method by method",
        summary="Private entities that come out (PIPP, ELP), overlap with the records (ROUGE), perplexity and MAUVE of "
        "each method over several runs, with intervals; direct and quasi-identifiers, known or detected; sweeps over "
        "examples and weights.",
        citation=f"{CITATION}, Tables 1 to 6, 14 and 15",
        parameters=ControlCodesParameters,
        needs=("generator", "operators", "embedder", "detector", "spans"),
    )

    def needs(self, parameters: BaseModel) -> tuple[str, ...]:
        """Return what is needed: a model that can be trained only where a prefix or a fresh model is tuned."""
        return (*self.spec.needs, "train") if _tunes(_checked(parameters)) else self.spec.needs

    def run(self, context: StudyContext) -> Iterator[StudyStep]:
        """Yield a step after each run of a variant."""
        p = _checked(context.parameters)
        if context.run.embedder is None:
            raise InternalError("control-codes needs an embedder")
        if _tunes(p) and "train" not in getattr(context.run.generator, "capabilities", ()):
            raise UserError(
                "control-codes: tuned prefixes, dp-finetune and perplexity need a model that can be trained; choose "
                "one, or set utility to false and methods to icl, control-icl and control-icl-blocked"
            )
        if len(context.run.spans) == 0:
            raise UserError(
                "control-codes needs accepted spans; this corpus has none: run detect, or import gold spans"
            )
        inputs = Inputs(context.run, context.holdout, context.run.embedder, context.run.detector)
        for step in study(p, inputs, context.progress, context.tables):
            yield StudyStep(step.done, step.total, step.stage, {"done": step.done}, step.tables)


def _checked(parameters: BaseModel) -> ControlCodesParameters:
    if not isinstance(parameters, ControlCodesParameters):
        raise InternalError("control-codes was started with another study's parameters")
    return parameters


def _tunes(p: ControlCodesParameters) -> bool:
    return p.utility or any("prefix" in v.method or v.method == PRIVATE for v in variants(p))
