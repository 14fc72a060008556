"""Control codes in the prompt, and every private value of the examples barred from the output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.errors import UserError
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step
from engine.methods.examples import common as cc
from engine.methods.examples import prompts
from engine.methods.examples.parameters import ControlIclParameters

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant


class ControlIclBlockedMethod:
    """Refuse the private values while decoding, then write again while one is left."""

    spec = MethodSpec(
        id="control-icl-blocked",
        title="Examples with control codes, values blocked",
        summary="As with control codes alone, but a private value of the records shown is refused while the model "
        "writes, also in another spelling or format, joined, cut short, or a letter or digit away; a text that still "
        "holds one is written again or dropped.",
        origin="A language model wrote each record after it was shown original texts. Identifiers that were marked in "
        "them were kept from it as far as they were recognised; it can repeat their wordings and what they tell.",
        citation=f"{cc.CITATION}, section 2.2, ICL with privacy enhancement",
        kind="heuristic",
        needs=("generator", "operators", "spans", "block_tokens"),
        parameters=ControlIclParameters,
        good_for="Readable texts in which no identifier that was found can stand.",
        bad_for="Text whose story identifies a person, and identifiers that no detector or reviewer found.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the statement that there is no formal guarantee."""
        return prompts.claim(
            facts,
            "a text in which an accepted identifier of the records shown is recognised is dropped. Recognised are "
            "other letter forms, spacing and marks, re-formatted numbers and dates, parts of a name, a name or code "
            "cut short, and one within one or two letters or digits. The rest of those records can be copied word "
            "for word, and what was not marked is not blocked.",
            (
                "Every identifying mention was found by the detector or by the reviewer.",
                "Values that cannot identify (function words, under two letters or digits, everyday words and short "
                "numbers among quasi-identifiers) are let through; the Run page lists them.",
                "An everyday word that is also somebody's name is refused only where it stands as a name: behind a "
                "form of address or an initial, or with a capital inside a sentence.",
            ),
            (
                "An identifier was missed.",
                "An identifier is paraphrased, translated, abbreviated, misspelt further or written in words.",
                "Sentences are copied from the prompt.",
            ),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return what `count` outputs cost."""
        p = cc.of_type(parameters, ControlIclParameters, self.spec.id)
        note = "A text that holds a private value is written again; how often is counted in the run's funnel."
        return prompts.plan_of(p, facts, count, p.examples, (note,))

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step a batch until `count` usable texts are made."""
        p = cc.of_type(context.parameters, ControlIclParameters, self.spec.id)
        cc.need_spans(context, self.spec.title)
        if "block_tokens" not in getattr(context.generator, "capabilities", ()):
            raise UserError(
                f"{self.spec.title} needs a model that can be kept from writing given words (block_tokens); this one "
                "cannot: choose another model, or control-icl, which blocks nothing"
            )
        yield from prompts.run_examples(context, p.examples, p.identifiers, block=True)
