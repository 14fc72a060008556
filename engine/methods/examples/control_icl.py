"""Three private examples, each behind its control code, and a fictional code for the text to be written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step
from engine.methods.examples import common as cc
from engine.methods.examples import prompts
from engine.methods.examples.parameters import ControlIclParameters

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant


class ControlIclMethod:
    """Lead the model to invented identifiers by a fictional control code."""

    spec = MethodSpec(
        id="control-icl",
        title="Examples with control codes",
        summary="Shows the model three private records, each behind the list of its identifiers, and asks for a text "
        "about an invented list.",
        origin="A language model wrote each record after it was shown original texts as they are. It can repeat "
        "their wordings and what they tell.",
        citation=f"{cc.CITATION}, section 2.2",
        kind="heuristic",
        needs=("generator", "operators", "spans"),
        parameters=ControlIclParameters,
        good_for="Texts in the manner of the records with invented names, where a few copied details do no harm.",
        bad_for="Text whose wording identifies a person: the model may copy sentences and even real identifiers.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the statement that there is no formal guarantee."""
        return prompts.claim(
            facts,
            "an invented list of identifiers leads the model away from the real ones, but it has read three private "
            "records and may repeat any part of them.",
            ("Every identifying mention was found by the detector or by the reviewer.",),
            ("An identifier was missed.", "The model copies a sentence from its prompt."),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return what `count` outputs cost."""
        p = cc.of_type(parameters, ControlIclParameters, self.spec.id)
        return prompts.plan_of(p, facts, count, p.examples)

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step a batch until `count` usable texts are made."""
        p = cc.of_type(context.parameters, ControlIclParameters, self.spec.id)
        cc.need_spans(context, self.spec.title)
        yield from prompts.run_examples(context, p.examples, p.identifiers)
