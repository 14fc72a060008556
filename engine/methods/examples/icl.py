"""Three private examples in the prompt and no control code: the uncontrolled baseline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step
from engine.methods.examples import common as cc
from engine.methods.examples import prompts
from engine.methods.examples.parameters import IclParameters

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant


class IclMethod:
    """Show the model private records and ask for one more."""

    spec = MethodSpec(
        id="icl",
        title="Examples alone",
        summary="Shows the model three private records of one label and asks for another in the same manner. Nothing "
        "keeps it from copying them.",
        origin="A language model wrote each record after it was shown original texts as they are. It can repeat "
        "their wordings and what they tell.",
        citation=f"{cc.CITATION}, baseline of Tables 1 to 4",
        kind="heuristic",
        needs=("generator", "operators"),
        parameters=IclParameters,
        good_for="Seeing what a control code is worth: the baseline of the paper.",
        bad_for="Any text that leaves the house: the prompt is private text and may be copied word for word.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the statement that there is no formal guarantee."""
        return prompts.claim(
            facts,
            "the model reads three private records for each text and nothing stops it from repeating them.",
            ("The texts stay with people who may read the records.",),
            ("The model copies a sentence or a name from its prompt.",),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return what `count` outputs cost."""
        p = cc.of_type(parameters, IclParameters, "icl")
        return prompts.plan_of(p, facts, count, p.examples)

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step a batch until `count` usable texts are made."""
        p = cc.of_type(context.parameters, IclParameters, "icl")
        yield from prompts.run_examples(context, p.examples, None)
