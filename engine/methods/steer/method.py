"""dp-steer: write with a public model whose hidden states one noisy vector moves towards the private texts.

After EPSVec (Banayeeanzade et al. 2026): the mean difference between the states of private and public texts is a
direction, and added to the states while the model writes it moves what is written. There noise is seeded and the mean
is taken over a private number; here one sum of cut differences is released with exact noise, and divided by a public
number. Any number of texts may follow.

Privacy posture: this sees no record. The sum comes from `noisy_sum`; everything after it reads its output and public
quantities alone. States of private texts never leave the mechanism's call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Required, TypedDict, cast

import numpy as np
from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.errors import InternalError, UserError
from engine.json_types import JSON, JSONObject, as_list, as_number
from engine.methods import label_list
from engine.methods.base import Context, Facts, Make, MethodSpec, Piece, Plan, Step
from engine.methods.batches import TRIES, plain_label, written
from engine.methods.evolution import claim as pe_claim
from engine.methods.evolution import common as pe
from engine.methods.public import invention
from engine.methods.steer import claim, public, vector
from engine.methods.steer.parameters import DpSteerParameters
from engine.models.cancel import Cancelled
from engine.models.contracts import Steerable

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant

READING, NOTED = "read private records", "steering"
_READ_TOKENS_A_SECOND = 3000  # two CPU cores, built-in model


class State(TypedDict, total=False):
    """Where a run stands: public texts tried and kept, outputs tried and kept, and the labels still wanted."""

    tried: Required[int]
    texts: Required[list[str]]
    position: Required[int]
    kept: Required[int]
    waiting: list[str | None]
    failed: list[str | None]


class DpSteerMethod:
    """Read once with noise, then write any number of texts."""

    spec = MethodSpec(
        id="dp-steer",
        title="Steered model (dp-steer)",
        summary="A language model reads the private records once; how they differ from its own texts is summed up, "
        "with noise, into one direction, and the model writes moved in that direction.",
        origin="A language model wrote each record from public prompts. Original texts took part in one sum with "
        "noise, which moved the model.",
        citation="Banayeeanzade et al. 2026, EPSVec; mechanism and sensitivity are ours",
        kind="dp",
        needs=("generator", "operators", "states"),
        parameters=DpSteerParameters,
        good_for="Some hundreds of records and any number of texts.",
        bad_for="What one direction cannot tell: single subjects, rare cases. A model that writes far from the records "
        "by itself, as the built-in one often does, is moved towards them and seldom to them.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return (ε, δ) of the one noisy sum."""
        assert isinstance(parameters, DpSteerParameters)
        return claim.guarantee_of(parameters, facts, accountant)

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return calls, tokens and seconds, and the ledger's lines."""
        p = parameters
        assert isinstance(p, DpSteerParameters)
        calls = count + p.public_texts
        tokens = int(calls * p.words * pe.TOKENS_A_WORD)
        # How many records a source has is not public: one each is read at least.
        seconds = tokens * pe.SECONDS_A_TOKEN + (facts.units + p.public_texts) * p.tokens / _READ_TOKENS_A_SECOND
        return Plan(
            model_calls=calls,
            tokens=tokens,
            seconds=round(seconds, 1),
            outputs=count,
            ledger=pe_claim.ledger_preview(claim.guarantee_of(p, facts)),
            notes=(
                "Private records are read once; the budget pays for that reading, and any number of texts follows "
                "from it.",
                f"The model first writes {p.public_texts:,} texts without them, to compare with.",
            ),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield batches of public texts, the sum, and one step a batch of outputs."""
        run = _Run(context)
        state = cast(State, dict(context.state or {"tried": 0, "texts": [], "position": 0, "kept": 0}))
        while len(state["texts"]) < run.p.public_texts and not context.cancelled():
            state = run.compared(state)
            yield Step(
                dict(state), (), {"made": 0, "kept": 0}, "public texts", len(state["texts"]), run.p.public_texts
            )  # fmt: skip
        if len(state["texts"]) < run.p.public_texts or state["kept"] >= context.count or context.cancelled():
            return
        found = run.found(state["texts"])
        if "waiting" not in state:
            state["waiting"] = run.wanted(found)
            noted: dict[str, float] = {"length": found.length, "noise": found.noise, "kept": found.kept}
            yield Step(dict(state), (), {"made": 0, "kept": 0}, READING, 1, 1, diagnostics={NOTED: noted})
        yield from run.write(state, found)

    def maker(self, context: Context, known: JSON) -> Make:
        """Return what writes with the moved model; the sum was drawn before."""
        return maker(context, known)


class _Run:
    """One run: its model, its noise as reserved."""

    def __init__(self, context: Context) -> None:
        if context.mechanisms is None or context.guarantee is None or context.facts is None:
            raise InternalError("the method was started without mechanisms or a guarantee")
        assert isinstance(context.parameters, DpSteerParameters)
        self.model: Steerable = model_of(context)
        self.context, self.p, self.facts = context, context.parameters, context.facts
        self.mechanisms, self.level = context.mechanisms, context.guarantee.noise[claim.SUM]
        self.writer = pe.Writer(context, self.p)
        self.layers = public.layers_of(self.model.depth, self.p.depth, self.p.layers)

    def compared(self, state: State) -> State:
        """Return the state after another batch of public texts.

        Raises:
            UserError: the model gives too few usable texts.
        """
        wanted, done = self.p.public_texts, state["tried"]
        if done > TRIES * wanted + 32:
            raise UserError(
                f"the model gave {len(state['texts'])} usable texts of {wanted} wanted after {done} tries: use another "
                "model, or ask for other words or another domain"
            )
        labels: list[str | None] = list(self.context.labels) or [None]
        size = min(self.writer.batch_size(wanted), wanted - len(state["texts"]))
        tasks = [
            invention(self.writer, self.p, labels[(done + i) % len(labels)], self.context.seed, -1 - done - i)
            for i in range(size)
        ]
        written = self.writer.write(tasks, "compared", done, worked=bool(state["texts"]))
        made = [text for text in written.texts if text is not None]
        return {**state, "tried": done + size, "texts": [*state["texts"], *made]}

    def found(self, texts: list[str]) -> vector.Found:
        """Return what the sum says: drawn now, or as it was stored."""
        p, labels = self.p, self.counted()
        frame = public.frame_of(self.model.states(texts, self.layers, p.tokens), self.layers, p.basis)
        read = public.reader_of(self.model, frame, p.clip, p.tokens, self.report)
        settings = (frame.layers, p.basis, p.clip, p.tokens)
        total = self.mechanisms.noisy_sum(
            claim.SUM, read, frame.size, what=claim.WHAT, noise_multiplier=float(self.level["noise_multiplier"]),
            fingerprint=public.fingerprint(self.model.id, texts, settings), labels=labels,
            label_share=p.label_share if labels else 0.0,
        )  # fmt: skip
        return vector.found_of(
            total, frame, clip=p.clip, strength=p.strength, units=p.expected or self.facts.units,
            sigma=float(self.level["sigma"]), labels=labels, label_share=p.label_share if labels else 0.0,
        )  # fmt: skip

    def counted(self) -> tuple[str, ...]:
        """Return the labels that the sum counts."""
        return tuple(self.context.labels) if claim.counts_labels(self.p, self.facts) else ()

    def report(self, done: int, total: int) -> None:
        """Say how many records are read; a run that is cancelled in the middle has drawn nothing."""
        if self.context.cancelled():
            raise Cancelled("cancelled while records were read")
        self.context.progress(READING, done, total)

    def wanted(self, found: vector.Found) -> list[str | None]:
        """Return a label an output, in the bought or declared shares, in an order that the seed fixes."""
        names = self.context.labels
        shares: dict[str | None, float] = dict.fromkeys(names, 1.0) if names else {None: 1.0}
        if self.context.label_shares is not None and names:
            shares |= {name: self.context.label_shares[name] for name in names}
        elif found.shares:
            shares |= found.shares.items()
        elif names and self.p.labels == "public" and label_list.known(self.p, self.facts).labels:
            counts = self.mechanisms.declared("labels", "label", list(names))
            shares |= zip(names, counts.tolist(), strict=True)
        labels = [label for label, quota in pe.quotas(shares, self.context.count).items() for _ in range(quota)]
        pe.rng_of(self.context.seed, "labels").shuffle(labels)
        return labels

    def write(self, state: State, found: vector.Found) -> Iterator[Step]:
        """Yield one step a batch until `count` texts are kept.

        Raises:
            UserError: the moved model gives too few usable texts.
        """
        moves: JSON = [[layer, move.tolist()] for layer, move in sorted(found.moves.items())]
        size = self.writer.batch_size(self.context.count)
        yield from written(
            self.context, state, size, plain_label, moves, maker(self.context, moves), "the moved model",
            "ask for less strength, other words, or use another model",
        )  # fmt: skip


def maker(context: Context, known: JSON) -> Make:
    """Return what has the moved model write a text for each label that a piece asks for.

    Args:
        known: what to add to each layer, as the noisy sum gave it.
    """
    p, model = context.parameters, model_of(context)
    assert isinstance(p, DpSteerParameters)
    writer = pe.Writer(context, p)
    moves = {int(as_number(layer) or 0): np.array(move) for layer, move in map(as_list, as_list(known))}

    def make(piece: Piece) -> JSONObject:
        tasks = [
            invention(writer, p, plain_label(label), context.seed, piece.start + i)
            for i, label in enumerate(as_list(piece.asked))
        ]
        with model.moved(moves):
            return writer.write(tasks, "steered", piece.start, worked=True).as_dict(len(tasks))

    return make


def model_of(context: Context) -> Steerable:
    """Return the run's model.

    Raises:
        UserError: its states cannot be moved.
    """
    model: object = context.generator
    if not isinstance(model, Steerable):
        raise UserError("dp-steer needs a model whose hidden states can be moved: bring one in on the Models page")
    return model
