"""A model fitted to the records without any protection: the reference that shows what protection costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.json_types import JSON
from engine.methods.base import Context, Facts, Make, MethodSpec, Plan, Step
from engine.methods.tuned import common as ft
from engine.methods.tuned.parameters import PlainParameters
from engine.methods.tuned.run import plan_of, run_plain

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant


class FinetuneMethod:
    """Fit a model to the records, then have it write."""

    spec = MethodSpec(
        id="finetune",
        title="Fine-tuning, no protection",
        summary="Fits a language model to the records, each behind its label and length, and has it write new ones.",
        origin="A language model wrote each record after it was fitted to the original texts. It can repeat passages"
        " of them by heart.",
        citation="Hu et al. 2022, LoRA; the non-private reference of Yu et al. 2022, Differentially Private "
        "Fine-tuning of Language Models",
        kind="none",
        needs=("generator", "operators", "train"),
        parameters=PlainParameters,
        good_for="Seeing how near a model can come to the records, as the reference beside private training.",
        bad_for="Anything that leaves: a fitted model repeats what it has read.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the statement that there is no guarantee."""
        return Guarantee(
            kind="none",
            sentence="There is no formal guarantee and no safeguard: the model is fitted to the private records, and "
            "what it remembers can come out word by word.",
            unit=facts.unit,
            assumptions=("The tuned model stays inside; only texts leave.",),
            voided_by=("Nothing is promised, so nothing can be voided.",),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return what training and `count` outputs cost."""
        assert isinstance(parameters, PlainParameters)
        return plan_of(parameters, facts, count)

    def run(self, context: Context) -> Iterator[Step]:
        """Yield steps of training, then one step a batch until `count` usable texts are made."""
        yield from run_plain(context)

    def maker(self, context: Context, known: JSON) -> Make:
        """Return what writes with the tuned model."""
        return ft.maker(context, known)
