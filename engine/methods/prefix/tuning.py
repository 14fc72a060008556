"""Prefix tuning on pairs of control code and text: the body of two methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from engine.errors import InternalError
from engine.methods.base import Context, Facts, Plan, Step
from engine.methods.examples import common as cc
from engine.methods.examples.prompts import plan_of
from engine.methods.prefix.parameters import PrefixParameters

if TYPE_CHECKING:
    from engine.models.contracts import Operators
    from engine.models.tune.prefix_tuning import Objective, Pair, PrefixSettings

_SECONDS_A_TRAINED_TOKEN = 1 / 700  # one CPU core, built-in model; twice that where the frozen model is asked too
_TRAINED_TOKENS_A_CHARACTER = 1 / 3.3


def objective(parameters: PrefixParameters) -> Objective:
    """Return what is minimised: plain language modelling, or the masked objective where the parameters have it."""
    from engine.models.tune.prefix_tuning import Objective

    contrastive = getattr(parameters, "contrastive", None)
    if contrastive is None:
        return Objective(masked=False)
    weights = {name: getattr(parameters, f"lambda_{name}") for name in ("lm", "contrast", "kl")}
    return Objective(masked=True, contrastive=contrastive, **weights)


def plan_tuning(p: PrefixParameters, facts: Facts, count: int, masked: bool) -> Plan:
    """Return what training and `count` outputs cost."""
    written = plan_of(p, facts, count, 0)
    trained = facts.records * facts.mean_characters * _TRAINED_TOKENS_A_CHARACTER * p.epochs
    seconds = trained * _SECONDS_A_TRAINED_TOKEN * (1.5 if masked else 1.0)
    return Plan(
        model_calls=written.model_calls,
        tokens=written.tokens,
        seconds=round(written.seconds + seconds, 1),
        outputs=count,
        notes=(f"About {trained:,.0f} tokens are trained on.", *written.notes),
    )


def run_tuning(context: Context, title: str) -> Iterator[Step]:
    """Yield steps of training, then of writing. A prefix in training is kept in the run's own folder only."""
    from engine.models.tune.prefix_nets import prefix_base
    from engine.models.tune.prefix_tuning import PrefixLearner

    assert context.generator is not None
    p = cc.of_type(context.parameters, PrefixParameters, title)
    cc.need_spans(context, title)
    material = cc.Material(context, p, p.identifiers)
    base = prefix_base(context.generator, p.tuned_model)
    prompts = Prompts(material, context.operators, base.bare)
    folder = None if context.scratch is None else context.scratch / "prefix"
    learner = PrefixLearner(base, prompts.pairs(), _settings(p, context.seed, base.bare))
    trainer = learner.fit(folder)
    state: cc.SlotState = {"step": 0, **cc.run_state(context)}
    while state["step"] < trainer.total and not context.cancelled():
        step = min(state["step"] + max(1, context.batch_size), trainer.total)
        trainer.advance(step)
        state = {**state, "step": step}
        yield Step(
            state, (), {"made": 0, "kept": 0}, "training", step, trainer.total,
            diagnostics={"training_losses": [loss["total"] for loss in trainer.losses]},
        )  # fmt: skip
    if state["step"] < trainer.total or state["kept"] >= context.count:
        return
    trainer.advance(trainer.total)  # from the kept prefix, or afresh where none was kept
    learner.check()
    run = cc.SlotRun(material, base.writer(), 1, prompts, prompts.parse)
    yield from run.steps(state)


def _settings(p: PrefixParameters, seed: int, bare: bool) -> PrefixSettings:
    from engine.models.tune.prefix_tuning import PrefixSettings

    rate = p.rate if bare or p.builtin_rate is None else p.builtin_rate
    return PrefixSettings(p.virtual_tokens, p.epochs, rate, p.pairs_a_step, seed % 2**31, objective(p))


class Prompts:
    """Builds the prompts of training and writing: the code, in the built-in model's format or as it stands."""

    def __init__(self, material: cc.Material, operators: Operators | None, bare: bool) -> None:
        if operators is None and not bare:
            raise InternalError("the method was started without operators")
        self.material, self.operators = material, None if bare else operators

    def __call__(self, slots: Sequence[cc.Slot]) -> list[str]:
        """Return a prompt a slot."""
        return [self._prompt(slot.code, slot.label, self.material.words) for slot in slots]

    def pairs(self) -> list[Pair]:
        """Return the training pairs: a passage's own code, its text, and where its private values stand."""
        from engine.models.tune.prefix_tuning import Pair

        return [
            Pair(
                self._prompt(passage.code.lines(), passage.label, len(passage.text.split())),
                passage.text,
                tuple((span.start, span.end) for span in passage.spans),
            )
            for passage in self.material.passages
        ]

    def parse(self, text: str) -> str:
        """Return the usable text of a raw output."""
        return text.strip() if self.operators is None else self.operators.parse("from_control_code", text)

    def _prompt(self, code: str, label: str | None, words: int) -> str:
        if self.operators is None:
            return f"{code or 'NONE'}\n\n"
        return self.operators.prompt(
            "from_control_code", domain=self.material.domain, words=words, label=label or "", code=code or "NONE"
        )
