"""Fine-tuning without noise, then writing: the body of two methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.errors import UserError
from engine.methods.base import Context, Facts, Plan, Step
from engine.methods.domains import guess_domain
from engine.methods.evolution import common as pe
from engine.methods.evolution.common import SECONDS_A_TOKEN, TOKENS_A_WORD
from engine.methods.tuned import common as ft
from engine.methods.tuned.parameters import PlainParameters

if TYPE_CHECKING:
    from engine.dp.noise.train import Document
    from engine.models.tune.tuning_rows import Goldfish


_COMMITS = 200  # of a training, at most


def plan_of(p: PlainParameters, facts: Facts, count: int) -> Plan:
    """Return what training and `count` outputs cost."""
    from engine.methods.tuned.common import training_seconds, training_tokens

    steps = p.epochs * -(-facts.records // p.records_a_step)
    trained = facts.records * p.epochs * training_tokens(p, facts)
    written = int(count * min(ft.LONGEST, max(p.words, facts.mean_characters / 6.0)) * TOKENS_A_WORD)
    return Plan(
        model_calls=count,
        tokens=written,
        seconds=round(training_seconds(p, trained) + written * SECONDS_A_TOKEN, 1),
        outputs=count,
        notes=(
            f"{steps:,} training steps of {p.records_a_step} records, about {trained:,.0f} tokens.",
            "Labels and lengths are those of the records.",
            "Seconds are for the built-in model on one CPU core.",
        ),
    )


def run_plain(context: Context, goldfish: Goldfish | None = None) -> Iterator[Step]:
    """Yield steps of training, then of writing; labels and lengths are drawn from the records."""
    from engine.dp.noise.train import Document
    from engine.models.tune.fit import steps_of
    from engine.models.tune.tuner import tuning

    p = context.parameters
    assert isinstance(p, PlainParameters)
    texts = [str(text) for text in context.records["text"]]
    labels = [str(label) if isinstance(label, str) else None for label in context.records["label"]]
    if not texts:
        raise UserError("the training part holds no record: import records, then start the run again")
    documents = [Document(text, label) for text, label in zip(texts, labels, strict=True)]
    domain = guess_domain(texts) if p.domain == "auto" else p.domain
    net = ft.network(context, p)
    prompts = ft.TunedPrompts(context.operators, net.bare, domain, p.kind)
    steps = steps_of(sum(1 for text in texts if text.strip()), p.epochs, p.records_a_step)
    learner = ft.learner(net, prompts, p, rate=p.rate, steps=max(1, steps), apart=False, goldfish=goldfish)
    tuner = tuning(
        learner, documents, epochs=p.epochs, batch=p.records_a_step, seed=context.seed % 2**31,
        folder=ft.scratch(context),
    )  # fmt: skip
    state = ft.state_of(context)
    if context.state is None:
        state["waiting"] = _wanted(context, documents)
    chunk = max(1, tuner.total // _COMMITS)
    while state["step"] < tuner.total and not context.cancelled():
        state["step"] = min(state["step"] + chunk, tuner.total)
        tuner.advance(state["step"])
        yield ft.trained_step(state, state["step"], tuner.total, tuner.losses)
    if state["step"] < tuner.total or state["kept"] >= context.count or context.cancelled():
        return
    tuner.advance(tuner.total)  # from the kept step, or afresh where none was kept
    learner.finish()
    yield from ft.write(context, p, ft.writer_of(context, net), prompts, state)


def _wanted(context: Context, documents: list[Document]) -> list[tuple[str | None, int]]:
    """Return a label and a length an output, each pair that of a record drawn by the run's seed."""
    found = [one for one in documents if one.text.strip()]
    rng = pe.rng_of(context.seed, "labels and lengths")
    drawn = [found[rng.randrange(len(found))] for _ in range(context.count)] if found else []
    return [(one.label, ft.length_of(len(one.text.split()))) for one in drawn]
