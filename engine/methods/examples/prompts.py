"""In-context generation from three examples, with or without control codes: the body of three methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, Plan, Step
from engine.methods.examples import common as cc
from engine.methods.examples.parameters import ExampleParameters
from engine.models.builtin.shipped import SECONDS_A_TOKEN
from engine.models.contracts import Generator, OperatorInputs, Operators
from engine.pii.control_codes import Passage

_CODE_TOKENS = 72  # set aside for the fictional code
_LEAST_TOKENS = 24  # a shorter example shows nothing
_READ = 0.1  # share of a written token's seconds that a prompt's token takes


def claim(facts: Facts, sentence: str, assumptions: Sequence[str], voided_by: Sequence[str]) -> Guarantee:
    """Return the statement that there is no formal guarantee, and why."""
    return Guarantee(
        kind="heuristic",
        sentence=f"No formal guarantee: {sentence}",
        unit=facts.unit,
        assumptions=tuple(assumptions),
        voided_by=tuple(voided_by),
    )


def plan_of(p: ExampleParameters, facts: Facts, count: int, examples: int, notes: Sequence[str] = ()) -> Plan:
    """Return calls, tokens and seconds of `count` outputs behind prompts with `examples` records."""
    text = facts.mean_characters / 3.3 + 1
    each = min(p.max_new_tokens, max(text, 20.0))
    prompt = examples * min(text, 300.0) + 60
    tokens = int(count * each)
    return Plan(
        model_calls=count,
        tokens=tokens,
        seconds=round(count * (each + _READ * prompt) * SECONDS_A_TOKEN + 1, 1),
        outputs=count,
        notes=(*notes, "Seconds are for the built-in model on two CPU cores and outputs usable at the first try."),
    )


def run_examples(context: Context, examples: int, which: str | None, block: bool = False) -> Iterator[Step]:
    """Yield steps of a run that shows `examples` records for each output, with codes unless `which` is None."""
    material, prompts = drawn_from(context, examples, which)
    assert context.generator is not None
    run = cc.SlotRun(material, context.generator, examples, prompts, prompts.parse, block)
    yield from run.steps(cc.run_state(context))


def drawn_from(context: Context, examples: int, which: str | None) -> tuple[cc.Material, Prompts]:
    """Return what a run draws from and how it shows it."""
    assert context.generator is not None
    assert context.operators is not None
    assert isinstance(context.parameters, ExampleParameters)
    material = cc.Material(context, context.parameters, which)
    return material, Prompts(material, context.generator, context.operators, examples, which is not None)


class Prompts:
    """Builds the prompts of a run; examples are cut so that all of them fit the model's context."""

    def __init__(
        self, material: cc.Material, generator: Generator, operators: Operators, examples: int, with_codes: bool
    ) -> None:
        self.material, self.operators, self.with_codes = material, operators, with_codes
        self.name = "from_control_code" if with_codes else "from_examples"
        self.count: Callable[[str], int] = cc.token_counter(generator)
        room = cc.prompt_room(generator, material.p.max_new_tokens)
        empty = self.operators.prompt(self.name, **self._inputs("NONE", ["-"] * examples, None))
        room -= self.count(empty) + (_CODE_TOKENS if with_codes else 8)
        self.each = max(_LEAST_TOKENS, room // examples - 2)
        self._fitted: dict[tuple[str, int], Passage] = {}

    def __call__(self, slots: Sequence[cc.Slot]) -> list[str]:
        """Return a prompt a slot."""
        return [
            self.operators.prompt(
                self.name, **self._inputs(slot.code or "NONE", [self._shown(p) for p in slot.shown], slot.label)
            )
            for slot in slots
        ]

    def cut(self, passage: Passage) -> Passage:
        """Return a passage as far as the prompt shows it."""
        key = (passage.record_id, passage.part)
        if key not in self._fitted:
            self._fitted[key] = cc.fitted(passage, self.each, self.count, self.with_codes)
        return self._fitted[key]

    def _shown(self, passage: Passage) -> str:
        return cc.shown_text(self.cut(passage), self.with_codes)

    def parse(self, text: str) -> str:
        """Return the usable text of a raw output."""
        return str(self.operators.parse(self.name, text))

    def _inputs(self, code: str, examples: list[str], label: str | None) -> OperatorInputs:
        common: OperatorInputs = {
            "domain": self.material.domain,
            "words": self.material.words,
            "label": label or "",
            "examples": examples,
        }
        return {**common, "code": code} if self.with_codes else common
