"""One run of RPSG with public candidates, stage by stage, from JSON state.

Stages: `sharing` (label shares), `inventing`, `voting`, `writing`, `comparing`, `releasing`.
Privacy posture: no record is at hand here; private data are reached through noisy mechanisms alone. The detector
and the custodian's lists are not used: both may have been made from private text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Required, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from engine.dp.noise.outputs import digest
from engine.errors import InternalError, UserError
from engine.methods.base import Context, Step, SyntheticRecord
from engine.methods.filter.method import batch_seed
from engine.methods.rpsg.filters import retained
from engine.methods.rpsg.parameters import PRESETS, RpsgParameters
from engine.methods.rpsg.stages import REPETITION_PENALTY, TINY, TOP_P, Models, Writer, funnel_step
from engine.methods.rpsg.tone import agreement
from engine.models.builtin.sentiment import BuiltinSentiment
from engine.models.builtin.sentiment_sentences import CLASSES
from engine.models.contracts import OperatorInputs, Sampling

if TYPE_CHECKING:
    from engine.methods.rpsg.parameters import RpsgPublicParameters
    from engine.models.tune.finetune import CausalModel, TunedModel

_NEEDED = ("generator", "operators", "embedder", "mechanisms", "guarantee")
_TOKENS_A_WORD = 1.6


def quotas(shares: Sequence[float] | NDArray[np.float64], total: int) -> list[int]:
    """Return whole numbers that sum to `total` in proportion to noisy counts; negative ones count as zero.

    Largest remainders first, earlier labels first at equal ones; equal shares where nothing is left.
    """
    counts = np.clip(np.asarray(shares, dtype=np.float64), 0.0, None)
    counts = np.ones_like(counts) if counts.sum() <= 0 else counts
    exact = counts / counts.sum() * total
    whole = np.floor(exact).astype(int)
    for i in np.argsort(-(exact - whole), kind="stable")[: total - int(whole.sum())]:
        whole[i] += 1
    return [int(n) for n in whole]


class Candidate(TypedDict):
    """A text that private records vote for: `label` is its place in the list of labels."""

    label: int
    text: str


class Made(Candidate):
    """A synthetic text, with the variant that it was made from."""

    variant: str


class State(TypedDict, total=False):
    """Where a run stands; `position` counts what the stage has done."""

    stage: Required[str]
    quotas: list[int]
    candidates: list[Candidate]
    chosen: list[Candidate]
    made: list[Made]
    position: int


class PublicRun:
    """What one run holds in memory; everything else is in `state`."""

    def __init__(self, context: Context, parameters: RpsgPublicParameters) -> None:
        missing = [name for name in _NEEDED if getattr(context, name) is None]
        if missing:
            raise InternalError(f"rpsg-public was started without {', '.join(missing)}")
        assert context.generator is not None
        assert context.operators is not None
        assert context.embedder is not None
        self.context, self.p = context, parameters
        self.wanted = parameters.wanted(context.count)
        self.labels: list[str | None] = list(context.labels) or [None]
        sentiment = BuiltinSentiment(context.embedder)
        models = Models(context.generator, context.operators, context.embedder, sentiment)
        style = RpsgParameters.model_validate(
            {"temperature": parameters.temperature, "unreadable": parameters.unreadable}
        )
        self.writer = Writer(models, style, parameters.domain, context.seed)
        self.models = models

    def steps(self) -> Iterator[Step]:
        """Yield steps from the state given until all outputs are out or somebody asks to stop."""
        from engine.models.tune.finetune import Cancelled

        state = cast(State, dict(self.context.state or {"stage": "sharing"}))
        stages = {
            "sharing": self._share,
            "inventing": self._invent,
            "voting": self._vote,
            "writing": self._write,
            "comparing": self._compare,
            "releasing": self._release,
        }
        while state["stage"] != "done" and not self.context.cancelled():
            try:
                step = stages[state["stage"]](state)
            except Cancelled:
                return
            state = cast(State, dict(step.state))
            yield step

    def _noise(self, name: str) -> float:
        assert self.context.guarantee is not None
        return float(self.context.guarantee.noise[name]["noise_multiplier"])

    def _share(self, state: State) -> Step:
        """Buy the label shares, or open what was declared public; one share where there are no labels."""
        assert self.context.mechanisms is not None
        shares = [1.0]
        if self.context.label_shares is not None:
            shares = [self.context.label_shares[label] for label in self.context.labels] or [1.0]
        elif self.context.labels and self.p.labels == "bought":
            found = self.context.mechanisms.noisy_histogram(
                "labels", "label", list(self.context.labels), noise_multiplier=self._noise("labels")
            )
            shares = [float(x) for x in found]
        elif self.context.labels:
            declared = self.context.mechanisms.declared("labels", "label", list(self.context.labels))
            shares = [float(x) for x in declared]
        chosen = quotas(shares, self.wanted)
        return funnel_step(
            {"stage": "inventing", "quotas": chosen, "candidates": []}, "sharing", 1, 1, {}, {"quotas": chosen}
        )

    def _invent(self, state: State) -> Step:
        """Write a batch of candidates from public prompts; tones take turns where the model follows instructions."""
        slots = [i for i, n in enumerate(state["quotas"]) for _ in range(n * self.p.candidates)]
        position = len(state["candidates"])
        batch = slots[position : position + max(1, self.context.batch_size)]
        operators, generator = self.models.operators, self.models.generator
        inputs: list[OperatorInputs] = [
            {"label": self.labels[label], "domain": self.p.domain, "words": self.p.words} for label in batch
        ]
        asked: list[int] = []
        if "instruct" in generator.capabilities:  # other models have no word for a tone
            asked = [(position + i) % len(CLASSES) for i in range(len(batch))]
            inputs = [{**entry, "tone": CLASSES[tone]} for entry, tone in zip(inputs, asked, strict=True)]
        sampling = Sampling(
            max_new_tokens=int(self.p.words * _TOKENS_A_WORD * 1.5) + 20,
            temperature=self.p.temperature,
            top_p=TOP_P,
            repetition_penalty=REPETITION_PENALTY,
            seed=batch_seed(self.context.seed, position * 64),
        )
        made = generator.generate([operators.prompt("invent", **entry) for entry in inputs], sampling)
        texts = [operators.parse("invent", g.text, **e).strip() for g, e in zip(made, inputs, strict=True)]
        noted: dict[str, object] = {}
        if asked:
            _, found = self.models.read(texts)
            noted = {"tone": {"invented": agreement(asked, [[int(row.argmax())] for row in found])}}
        candidates = [*state["candidates"], *[{"label": x, "text": t} for x, t in zip(batch, texts, strict=True)]]
        full = len(candidates) >= len(slots)
        return funnel_step(
            {**state, "stage": "voting" if full else "inventing", "candidates": candidates},
            "inventing",
            len(candidates),
            len(slots),
            {},
            noted,
        )

    def _vote(self, state: State) -> Step:
        """Let private records vote, and take the best of each label by noisy votes."""
        assert self.context.mechanisms is not None
        usable = [c for c in state["candidates"] if len(c["text"].split()) >= TINY]
        if not usable:
            raise UserError("rpsg-public: the model invented nothing usable; choose another model or domain")
        groups = [str(self.labels[c["label"]]) for c in usable] if self.context.labels else None
        votes = self.context.mechanisms.noisy_votes(
            "votes",
            self.models.embedder.embed([c["text"] for c in usable]),
            fingerprint=digest([self.models.embedder.id, *[c["text"] for c in usable]]),
            noise_multiplier=self._noise("votes"),
            groups=groups,
        )
        chosen: list[Candidate] = []
        for label, quota in enumerate(state["quotas"]):
            mine = [i for i, c in enumerate(usable) if c["label"] == label]
            ranked = sorted(mine, key=lambda i: -float(votes[i]))
            chosen += [usable[ranked[k % len(ranked)]] for k in range(quota if ranked else 0)]
        return funnel_step(
            {"stage": "writing", "chosen": chosen, "made": [], "position": 0},
            "voting",
            1,
            1,
            {},
            {"votes": {"candidates": len(usable), "chosen": len(chosen)}},
        )

    def _write(self, state: State) -> Step:
        """Write a variant of a batch of winners, and a synthetic text of each variant."""
        begin, chosen = state["position"], state["chosen"]
        batch = chosen[begin : begin + max(1, self.context.batch_size)]
        labels = [self.labels[c["label"]] for c in batch]
        words = [self.p.words] * len(batch)
        # The draws of inventing and writing are told apart by an offset beyond any position of the other.
        draw = len(chosen) * self.p.candidates * 2 + begin
        variants = self.writer.written("expand", [c["text"] for c in batch], labels, words, (draw, 1))
        outputs = self.writer.written("rephrase", variants, labels, words, (draw, 2))
        fresh = [
            {"label": c["label"], "variant": variant, "text": text}
            for c, variant, text in zip(batch, variants, outputs, strict=True)
            if len(text.split()) >= TINY
        ]
        end = begin + len(batch)
        made = [*state["made"], *fresh]
        if end >= len(chosen) and not made:
            raise UserError("rpsg-public: the model wrote nothing usable; choose another model or domain")
        return funnel_step(
            {**state, "stage": "writing" if end < len(chosen) else "comparing", "made": made, "position": end},
            "writing",
            end,
            len(chosen),
            {"dropped: empty or too short": len(batch) - len(fresh)},
            {},
        )

    def _tuned(self, texts: list[str]) -> TunedModel:
        from engine.models.tune.finetune import FinetuneSettings, finetune
        from engine.models.tune.finetune_nets import trainable

        assert self.context.generator is not None
        base = PRESETS[self.p.preset]
        settings = FinetuneSettings(
            epochs=self.p.epochs or base.epochs,
            rate=self.p.rate or base.rate,
            weight_decay=self.p.weight_decay,
            seed=self.context.seed % (2**31),
        )
        net: CausalModel = trainable(self.context.generator, self.p.surrogate_model or None)
        folder = getattr(self.context, "scratch", None)
        return finetune(
            net,
            texts,
            settings,
            None if folder is None else folder / "surrogate",
            self.context.cancelled,
            lambda done, total: self.context.progress("fitting a model to the variants", done, total),
        )

    def _compare(self, state: State) -> Step:
        """Fine-tune the surrogate model on the variants and drop the likeliest outputs; nothing private is read."""
        made = state["made"]
        tuned = self._tuned([entry["variant"] for entry in made])
        nll = [round(float(x), 6) for x in tuned.nll([entry["text"] for entry in made])]
        likely = [int(i) for i in retained([0.0] * len(made), nll, 1.0, self.p.kept()).likely]
        drawn = np.random.default_rng(self.context.seed).permutation(likely).tolist()
        # More are written than are wanted: those that public rules find readable go first.
        ranked = sorted(drawn, key=lambda i: bool(self.writer.rejects(made[i]["text"])))
        chosen = sorted(ranked[: self.context.count])
        return funnel_step(
            {"stage": "releasing", "made": [made[i] for i in chosen], "position": 0},
            "comparing",
            0,
            self.context.count,
            {
                "dropped: looks memorised": len(made) - len(likely),
                "dropped: more than asked for": len(likely) - len(chosen),
            },
            {
                "scores": {"nll": nll, "retained": chosen},
                "surrogate": {"losses": [round(x, 4) for x in tuned.losses]},
            },
        )

    def _release(self, state: State) -> Step:
        """Hand out a batch."""
        begin, made = state["position"], state["made"]
        batch = made[begin : begin + max(1, self.context.batch_size)]
        end = begin + len(batch)
        records = [SyntheticRecord(entry["text"], self.labels[entry["label"]]) for entry in batch]
        last = end >= len(made)
        after = {"stage": "done" if last else "releasing", "made": [] if last else made, "position": end}
        return funnel_step(after, "releasing", end, max(self.context.count, end), {}, {}, records)
