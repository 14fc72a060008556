"""Prefix tuning that learns from the words around private values and turns away from the values themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step
from engine.methods.examples import common as cc
from engine.methods.examples.prompts import claim
from engine.methods.prefix import tuning
from engine.methods.prefix.parameters import MaskedPrefixParameters

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant


class ControlPrefixMaskedMethod:
    """Learn a prefix with private tokens masked, then write from fictional codes."""

    spec = MethodSpec(
        id="control-prefix-masked",
        title="Prefix tuned with private tokens masked",
        summary="As with the tuned prefix, but private tokens are not learned: their probability is pushed below the "
        "frozen model's, and everywhere else the model is kept close to itself.",
        origin="A language model wrote each record after a small part of it was fitted to original texts whose "
        "marked identifiers it was taught to avoid. It can repeat other wordings by heart.",
        citation=f"{cc.CITATION}, section 2.3, equations 2 to 5",
        kind="heuristic",
        needs=("generator", "operators", "spans", "train"),
        parameters=MaskedPrefixParameters,
        good_for="Tuned texts where accepted identifiers should leave no trace in what was learned.",
        bad_for="Stories that identify by what they tell, and identifiers that no detector or reviewer found.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the statement that there is no formal guarantee."""
        p = cc.of_type(parameters, MaskedPrefixParameters, self.spec.id)
        turned = (
            "the prefix is taught away from accepted identifiers"
            if p.contrastive == "suppress"
            else "equation 3 as printed teaches the prefix the accepted identifiers"
        )
        return claim(
            facts,
            f"{turned}, and it is fitted to the rest of the private records, which can come out.",
            (
                "Every identifying mention was found by the detector or by the reviewer.",
                "The trained prefix stays inside; only texts leave.",
            ),
            ("An identifier was missed.", "The prefix has learned a passage by heart."),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return what training and `count` outputs cost."""
        p = cc.of_type(parameters, MaskedPrefixParameters, self.spec.id)
        return tuning.plan_tuning(p, facts, count, masked=True)

    def run(self, context: Context) -> Iterator[Step]:
        """Yield steps of training, then one step a batch until `count` usable texts are made."""
        yield from tuning.run_tuning(context, self.spec.title)
