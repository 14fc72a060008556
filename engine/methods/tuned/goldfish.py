"""Fine-tuning that leaves tokens out of its loss, so that no passage can be learned whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.json_types import JSON
from engine.methods.base import Context, Facts, Make, MethodSpec, Plan, Step
from engine.methods.tuned import common as ft
from engine.methods.tuned.parameters import GoldfishParameters
from engine.methods.tuned.run import plan_of, run_plain

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant


class GoldfishMethod:
    """Fit a model with the goldfish loss, then have it write."""

    spec = MethodSpec(
        id="goldfish",
        title="Fine-tuning with the goldfish loss",
        summary="Fits a language model to the records, but never to every fourth token: which ones, a hash of the "
        "tokens before them decides, so that a passage has the same gaps wherever it stands.",
        origin="A language model wrote each record after it was fitted to most of each original text. It can repeat "
        "passages of them by heart.",
        citation="Hans et al. 2024, Be like a Goldfish, Don't Memorize! (arXiv 2406.10209)",
        kind="heuristic",
        needs=("generator", "operators", "train"),
        parameters=GoldfishParameters,
        good_for="Fewer long verbatim copies than plain fine-tuning, at almost no loss of quality.",
        bad_for="Short secrets: a name or number between two gaps is learned like anything else.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the statement that there is no formal guarantee."""
        assert isinstance(parameters, GoldfishParameters)
        return Guarantee(
            kind="heuristic",
            sentence="There is no formal guarantee: the model is fitted to the private records except for one token "
            f"in {parameters.drop_every} on average. That makes long copies rarer; short ones come out as they are.",
            unit=facts.unit,
            assumptions=("The tuned model stays inside; only texts leave.",),
            voided_by=(
                "A name, number or phrase lies between two left-out tokens.",
                "A passage stands in many records with different words around it: its gaps then differ.",
            ),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return what training and `count` outputs cost."""
        assert isinstance(parameters, GoldfishParameters)
        return plan_of(parameters, facts, count)

    def run(self, context: Context) -> Iterator[Step]:
        """Yield steps of training, then one step a batch until `count` usable texts are made."""
        from engine.models.tune.tuning_rows import Goldfish

        p = context.parameters
        assert isinstance(p, GoldfishParameters)
        yield from run_plain(context, Goldfish(p.drop_every, p.hash_context))

    def maker(self, context: Context, known: JSON) -> Make:
        """Return what writes with the tuned model."""
        return ft.maker(context, known)
