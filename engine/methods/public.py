"""The same prompts without any private input: ε = 0, the reference beside every run with a guarantee."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from engine.dp.guarantee import Guarantee
from engine.errors import UserError
from engine.json_types import JSON, JSONObject, as_list
from engine.methods.base import Context, Facts, Make, MethodSpec, Piece, Plan, Step
from engine.methods.batches import plain_label, written
from engine.methods.evolution import common as pe
from engine.methods.parameters import WritingParameters
from engine.methods.public_inputs import declared_labels, listed, settings_taken

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant


class PublicParameters(WritingParameters):
    """What is asked of the model."""

    shares: str = Field(
        "", max_length=2000,
        description="Label shares declared public, such as: yes=0.3, no=0.7. Empty: each label equally often.",
    )  # fmt: skip


class PublicMethod:
    """Write from public prompts alone."""

    spec = MethodSpec(
        id="public",
        title="Public prompts only",
        summary="Has the model write from a domain, a length and public word lists. No private record is looked at.",
        origin="A language model wrote each record from public prompts. No original text was read.",
        citation="The reference at ε = 0 of Xie et al. 2024 (AUG-PE), its initial population",
        kind="dp",
        needs=("generator", "operators"),
        parameters=PublicParameters,
        good_for="Seeing what a budget bought: the same prompts with nothing private behind them.",
        bad_for="Standing in for the private text: only the model and the prompts shape it.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return ε = 0: nothing private is read."""
        assert isinstance(parameters, PublicParameters)
        return Guarantee(
            kind="dp",
            sentence=f"No private text is read: {_given(parameters, facts)}, the output is the same whoever is in the "
            f"corpus, so it reveals nothing about any {facts.unit} (ε = 0, δ = 0)."
            + ("" if facts.labels else " The outputs carry no labels."),
            scope="the run's complete output",
            epsilon=0.0,
            delta=0.0,
            unit=facts.unit,
            adjacency="zero-out",
            assumptions=(
                settings_taken("the length", "the domain", "the prompts"),
                f"N is the number of {facts.unit}s; the number of outputs may tell it.",
                *(["The list of labels, and any shares of theirs, were declared public."] if facts.labels else []),
                "The model was not trained on this corpus.",
            ),
            voided_by=(
                "The prompts, the shares or the outputs were chosen with anything computed from private text.",
                "The model has seen this corpus.",
            ),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return calls, tokens and seconds for `count` outputs."""
        assert isinstance(parameters, PublicParameters)
        tokens = int(count * parameters.words * pe.TOKENS_A_WORD)
        return Plan(
            model_calls=count,
            tokens=tokens,
            seconds=round(tokens * pe.SECONDS_A_TOKEN, 2),
            outputs=count,
            notes=("Costs no budget.", "Seconds are for the built-in model on two CPU cores."),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step a batch until `count` texts are written."""
        parameters = context.parameters
        assert isinstance(parameters, PublicParameters)
        state = dict(context.state or {"position": 0, "kept": 0})
        if "waiting" not in state:
            state["waiting"] = _labels(parameters, context.labels, context.count, context.seed)
        yield from written(
            context, state, pe.Writer(context, parameters).batch_size(context.count), plain_label, None,
            self.maker(context, None), "the model", "use another model or ask for other words",
        )  # fmt: skip

    def maker(self, context: Context, known: JSON) -> Make:
        """Return what writes a text for each label that a piece asks for."""
        parameters = context.parameters
        assert isinstance(parameters, PublicParameters)
        writer = pe.Writer(context, parameters)

        def make(piece: Piece) -> JSONObject:
            tasks = [
                invention(writer, parameters, plain_label(label), context.seed, piece.start + i)
                for i, label in enumerate(as_list(piece.asked))
            ]
            return writer.write(tasks, "public", piece.start, worked=True).as_dict(len(tasks))

        return make


def _given(parameters: PublicParameters, facts: Facts) -> str:
    """Return the condition of the claim; N enters it through the number of outputs alone."""
    whose = "people or other sources" if facts.unit == "source" else "records"
    count = f"the number of outputs (it follows from the number of {whose} unless another was asked for)"
    inputs = [count, f"the length of {parameters.words} words", "the domain and the prompts"]
    labels = declared_labels(facts, bool(parameters.shares.strip()))
    return f"given {listed(inputs)}, which are taken as public{labels}"


def _labels(parameters: PublicParameters, known: tuple[str, ...], count: int, seed: int) -> list[str | None]:
    """Return one label an output, in an order fixed by the seed."""
    shares = declared_shares(parameters.shares, known)
    labels = [label for label, quota in pe.quotas(shares, count).items() for _ in range(quota)]
    pe.rng_of(seed, "labels").shuffle(labels)
    return labels


def declared_shares(text: str, known: tuple[str, ...]) -> dict[str | None, float]:
    """Return each label's share as declared, equal shares where nothing is declared.

    Raises:
        UserError: a share is no number >= 0, or a label is not in the public list.
    """
    if not known:
        return {None: 1.0}
    if not text.strip():
        return dict.fromkeys(known, 1.0)
    shares: dict[str | None, float] = dict.fromkeys(known, 0.0)
    for part in text.split(","):
        label, _, value = part.rpartition("=")
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if label.strip() not in shares or share < 0:
            raise UserError(f"shares: must read like label=0.3, label=0.7 with labels {', '.join(known)}; got {part!r}")
        shares[label.strip()] = share
    return shares


def invention(writer: pe.Writer, parameters: WritingParameters, label: str | None, seed: int, position: int) -> pe.Task:
    """Return the task of one new text with words and a persona drawn from the public lists."""
    rng = pe.rng_of(seed, "invent", position)
    return pe.Task(
        "invent",
        label,
        parameters.words,
        keywords=tuple(rng.sample(writer.prompts.keywords, 2)),
        persona=rng.choice(writer.prompts.personas),
    )
