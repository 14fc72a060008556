"""A trained prefix turns control codes into texts; fictional codes then give fictional people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step
from engine.methods.examples import common as cc
from engine.methods.examples.prompts import claim
from engine.methods.prefix import tuning
from engine.methods.prefix.parameters import PrefixParameters

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant


class ControlPrefixMethod:
    """Learn a prefix on pairs of code and text, then write from fictional codes."""

    spec = MethodSpec(
        id="control-prefix",
        title="Prefix tuned on control codes",
        summary="Learns twenty virtual tokens in front of a frozen model from pairs of identifier list and record, "
        "then writes from invented lists.",
        origin="A language model wrote each record after a small part of it was fitted to original texts. It can "
        "repeat what it learned of them by heart.",
        citation=f"{cc.CITATION}, section 2.3; Li and Liang 2021, Prefix-Tuning",
        kind="heuristic",
        needs=("generator", "operators", "spans", "train"),
        parameters=PrefixParameters,
        good_for="Texts that follow the records' manner without any record in the prompt.",
        bad_for="Any setting that needs a provable bound: the prefix is fitted to private text.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the statement that there is no formal guarantee."""
        return claim(
            facts,
            "a prefix is fitted to the private records, private values included, and what it remembers can come out.",
            ("The trained prefix stays inside; only texts leave.", "Invented values come from public pools."),
            ("The prefix has learned a passage or a value by heart.", "An identifier was missed."),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return what training and `count` outputs cost."""
        p = cc.of_type(parameters, PrefixParameters, self.spec.id)
        return tuning.plan_tuning(p, facts, count, masked=False)

    def run(self, context: Context) -> Iterator[Step]:
        """Yield steps of training, then one step a batch until `count` usable texts are made."""
        yield from tuning.run_tuning(context, self.spec.title)
