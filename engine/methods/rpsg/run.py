"""One run of RPSG, stage by stage, from JSON state.

Stages: `abstracting` and `writing` take turns batch by batch until there are enough texts; `comparing` fine-tunes
the surrogate model and scores; `releasing` redacts and hands out what both filters retained.

Privacy posture: the state holds candidates and texts made from private records; it lives in the run's private
storage and goes with the run. Diagnostics hold numbers only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Required, TypedDict, cast

import numpy as np

from engine.errors import InternalError, UserError
from engine.json_types import JSON
from engine.methods.base import Context, Step, SyntheticRecord
from engine.methods.domains import guess_domain
from engine.methods.filter.stages import reapply
from engine.methods.readable import rejects
from engine.methods.rpsg.filters import Retained, attack_table, auc, retained
from engine.methods.rpsg.parameters import needed
from engine.methods.rpsg.stages import TINY, Models, Writer, funnel_step, length_wanted
from engine.methods.rpsg.tone import agreement
from engine.models.builtin.sentiment import load_sentiment
from engine.pii.redact import redact
from engine.pii.spans import Span

if TYPE_CHECKING:
    from engine.methods.rpsg.parameters import RpsgParameters
    from engine.models.tune.finetune import CausalModel, TunedModel

_ATTACKED = 500  # seeds, and as many records that seeded nothing, in the internal attack figures
_NEEDED = ("generator", "operators", "embedder", "detector", "mechanisms")


class Pending(TypedDict):
    """A seed with its candidates: its place among the records, the length asked for in words, and their utilities.

    tone, tones: the seed's sentiment class, and the candidates'.
    """

    row: int
    words: int
    texts: list[str]
    utilities: list[float]
    tone: int
    tones: list[int]


class Made(TypedDict):
    """A synthetic text, with the variant and the record that it was made from, and that record's sentiment class."""

    row: int
    variant: str
    text: str
    tone: int


class State(TypedDict, total=False):
    """Where a run stands: seeds drawn, what waits for a choice, what is written, what was handed out."""

    stage: Required[str]
    position: int
    pending: list[Pending]
    made: list[Made]
    released: int


class RpsgRun:
    """What one run holds in memory; everything else is in `state`."""

    def __init__(self, context: Context, parameters: RpsgParameters) -> None:
        missing = [name for name in _NEEDED if getattr(context, name) is None]
        if missing:
            raise InternalError(f"rpsg was started without {', '.join(missing)}")
        if context.records.empty:
            raise UserError("rpsg needs at least one training record, and this corpus has none; lower the holdout")
        self.context, self.p, self.settings = context, parameters, parameters.settings()
        self.needed = needed(context.count, self.settings.similarity_keep, self.settings.nll_keep)
        self.texts = [str(text) for text in context.records["text"]]
        self.labels = [x if isinstance(x, str) else None for x in context.records["label"]]
        self.ids = [str(x) for x in context.records["record_id"]]
        # Which records are seeds is drawn from the run's seed; their order in the file says nothing.
        self.order = np.random.default_rng(context.seed).permutation(len(self.texts))
        self.limit = max(2 * self.needed, 16)
        assert context.generator is not None
        assert context.operators is not None
        assert context.embedder is not None
        models = Models(
            context.generator,
            context.operators,
            context.embedder,
            load_sentiment(parameters.sentiment_model, context.embedder),
        )
        domain = guess_domain(self.texts) if parameters.domain == "auto" else parameters.domain
        self.writer = Writer(models, parameters, domain, context.seed)
        self.accepted = {str(key): frame for key, frame in context.spans.groupby("record_id")}

    def steps(self) -> Iterator[Step]:
        """Yield steps from the state given until all outputs are out or somebody asks to stop."""
        from engine.models.tune.finetune import Cancelled

        state = cast(State, dict(self.context.state or {"stage": "abstracting", "position": 0, "made": []}))
        while state["stage"] != "done" and not self.context.cancelled():
            stages = {
                "abstracting": self._abstract,
                "writing": self._write,
                "comparing": self._compare,
                "releasing": self._release,
            }
            try:
                step = stages[state["stage"]](state)
            except Cancelled:
                return
            state = cast(State, dict(step.state))
            yield step

    def _rows(self, state: State) -> list[int]:
        """Return the next batch's records of the drawn order, wrapping around."""
        position = state["position"]
        size = min(self.context.batch_size, self.needed - len(state["made"]), self.limit - position)
        return [int(self.order[(position + i) % len(self.order)]) for i in range(size)]

    def _seeds(self, rows: list[int]) -> list[str]:
        """Return the records' texts with identifiers replaced: accepted spans first, then what is detected."""
        assert self.context.detector is not None
        texts = []
        for row in rows:
            frame = self.accepted.get(self.ids[row])
            spans = [] if frame is None else list(zip(frame["start"], frame["end"], frame["label"]))
            found = [Span(self.ids[row], int(s), int(e), str(label)) for s, e, label in spans]
            texts.append(redact(self.texts[row], found, "placeholder").text if found else self.texts[row])
        return [entry.text for entry in reapply(texts, self.context.detector, self.p.minimum_score)]

    def _abstract(self, state: State) -> Step:
        """Draw a batch of seeds, remove identifiers, write and prune candidates."""
        rows = self._rows(state)
        seeds = self._seeds(rows)
        pools = self.writer.pools(seeds, [self.labels[row] for row in rows], state["position"])
        usable = [i for i, pool in enumerate(pools) if pool.texts]
        pending: list[Pending] = [
            {
                "row": rows[i],
                "words": length_wanted(seeds[i]),
                "texts": pools[i].texts,
                "utilities": pools[i].utilities,
                "tone": pools[i].tone,
                "tones": pools[i].tones,
            }
            for i in usable
        ]
        lost = len(rows) - len(usable)
        abstraction = {
            "seeds": len(rows),
            "written": sum(pool.made for pool in pools),
            "kept": sum(len(pool.texts) for pool in pools),
            "retried": sum(pool.retried for pool in pools),
            "words": sum(len(text.split()) for pool in pools for text in pool.texts),
        }
        return funnel_step(
            {**state, "stage": "writing", "pending": pending, "position": state["position"] + len(rows)},
            "abstracting",
            len(state["made"]),
            self.needed,
            {"dropped: no usable abstraction": lost},
            {
                "abstraction": abstraction,
                "tone": {"candidates": agreement([p.tone for p in pools], [p.tones for p in pools])},
            },
        )

    def _choose(self, pending: list[Pending], position: int) -> list[int]:
        """Return each seed's choice; seeds with equally many candidates are chosen for together."""
        assert self.context.mechanisms is not None
        chosen = [0] * len(pending)
        for size in sorted({len(entry["texts"]) for entry in pending}):
            which = [i for i, entry in enumerate(pending) if len(entry["texts"]) == size]
            utilities = np.array([pending[i]["utilities"] for i in which], dtype=np.float64)  # (n, size)
            picked = self.context.mechanisms.noisy_selection(f"selection/{position}/{size}", utilities, **self._noise())
            for i, value in zip(which, picked, strict=True):
                chosen[i] = int(value)
        return chosen

    def _noise(self) -> dict[str, float]:
        """Return how the choice is made noisy, as reserved."""
        if self.p.noise == "exact":
            return {"epsilon": self.p.epsilon}
        claimed = self.context.guarantee
        if claimed is None:
            raise InternalError("rpsg was started without its guarantee")
        return {"sigma": float(claimed.noise["selection"]["sigma"])}

    def _write(self, state: State) -> Step:
        """Choose one candidate a seed, write a variant from it, and a synthetic text from the variant."""
        pending, position = state["pending"], state["position"]
        chosen = self._choose(pending, position)
        labels = [self.labels[entry["row"]] for entry in pending]
        words = [entry["words"] for entry in pending]
        texts = [entry["texts"][choice] for entry, choice in zip(pending, chosen, strict=True)]
        variants = self.writer.written("expand", texts, labels, words, (position, 1))
        outputs = self.writer.written("rephrase", variants, labels, words, (position, 2))
        rows = zip(pending, variants, outputs, strict=True)
        made = [
            {"row": entry["row"], "variant": variant, "text": text, "tone": entry["tone"]}
            for entry, variant, text in rows
            if len(text.split()) >= TINY
        ]
        lost = len(pending) - len(made)
        best = [[u == max(entry["utilities"]) for u in entry["utilities"]] for entry in pending]
        fidelity = {
            "seeds": len(pending),
            "best_chosen": sum(row[choice] for row, choice in zip(best, chosen, strict=True)),
            "best_by_chance": round(sum(sum(row) / len(row) for row in best), 6),
        }
        tones = [[entry["tones"][choice]] for entry, choice in zip(pending, chosen, strict=True)]
        everything = [*state["made"], *made]
        more = len(everything) < self.needed and position < self.limit
        if not everything and not more:
            raise UserError("rpsg: the model wrote nothing usable from any seed; choose another model or domain")
        return funnel_step(
            {
                "stage": "abstracting" if more else "comparing",
                "position": position,
                "made": everything,
            },
            "writing",
            len(everything),
            self.needed,
            {"dropped: empty or too short": lost},
            {"fidelity": fidelity, "tone": {"chosen": agreement([entry["tone"] for entry in pending], tones)}},
        )

    def _tuned(self, texts: list[str], scratch: str) -> TunedModel:
        from engine.models.tune.finetune import FinetuneSettings, finetune
        from engine.models.tune.finetune_nets import trainable

        assert self.context.generator is not None
        settings = FinetuneSettings(
            epochs=self.settings.epochs,
            rate=self.settings.rate,
            weight_decay=self.p.weight_decay,
            seed=self.context.seed % (2**31),
        )
        folder = getattr(self.context, "scratch", None)
        net: CausalModel = trainable(self.context.generator, self.p.surrogate_model or None)
        return finetune(
            net,
            texts,
            settings,
            None if folder is None else folder / scratch,
            self.context.cancelled,
            lambda done, total: self.context.progress("fitting a model to the variants", done, total),
        )

    def _compare(self, state: State) -> Step:
        """Fine-tune the surrogate model on the variants, score the outputs, and filter."""
        made = state["made"]
        outputs = [entry["text"] for entry in made]
        tuned = self._tuned([entry["variant"] for entry in made], "surrogate")
        rows = sorted({entry["row"] for entry in made})
        place = {row: i for i, row in enumerate(rows)}
        vectors, seeds = tuned.embed(outputs), tuned.embed([self.texts[row] for row in rows])
        table = vectors @ seeds.T  # (n, seeds)
        own = table[np.arange(len(made)), [place[entry["row"]] for entry in made]]
        nearest = table.max(axis=1)
        similarity = [round(float(x), 6) for x in (own if self.p.compare == "own" else nearest)]
        nll = [round(float(x), 6) for x in tuned.nll(outputs)]
        kept = retained(similarity, nll, self.settings.similarity_keep, self.settings.nll_keep)
        rejected = rejects(self.p)  # more are written than are wanted: readable ones go first
        chosen = sorted((int(i) for i in kept.likely), key=lambda i: bool(rejected(outputs[i])))[: self.context.count]
        scores = {"similarity": similarity, "nearest": [round(float(x), 6) for x in nearest], "nll": nll}
        return funnel_step(
            {"stage": "releasing", "made": [made[i] for i in chosen], "released": 0},
            "comparing",
            0,
            self.context.count,
            {
                "dropped: too near a seed": len(made) - len(kept.similar),
                "dropped: looks memorised": len(kept.similar) - len(kept.likely),
                "dropped: more than asked for": len(kept.likely) - len(chosen),
            },
            {
                "scores": {**scores, "retained": chosen},
                "surrogate": {"losses": [round(x, 4) for x in tuned.losses]},
                "attack": self._attack(outputs, scores, kept, rows, tuned),
                "tone": {"outputs": self._tone([made[i] for i in chosen])},
            },
        )

    def _tone(self, made: list[Made]) -> dict[str, JSON]:
        """Return how many outputs have the sentiment of the seed that they were made from."""
        shares = self.writer.models.read([entry["text"] for entry in made])[1]
        return agreement([entry["tone"] for entry in made], [[int(row.argmax())] for row in shares])

    def _attack(
        self, outputs: list[str], scores: Mapping[str, list[float]], kept: Retained, rows: list[int], tuned: TunedModel
    ) -> dict[str, JSON]:
        """Return how well seeds are told from other training records: internal figures, never released."""
        assert self.context.embedder is not None
        seeds = set(rows)
        others = [int(row) for row in self.order if int(row) not in seeds][:_ATTACKED]
        members = rows[:: math.ceil(len(rows) / _ATTACKED)][: len(others)]
        if len(members) < 2:
            return {}
        inside, outside = [self.texts[r] for r in members], [self.texts[r] for r in others]
        embed = self.context.embedder.embed
        table = attack_table(embed(outputs), embed(inside), embed(outside), scores["similarity"], scores["nll"])
        found: dict[str, JSON] = {
            "members": len(members),
            "others": len(others),
            "nearest_output": table,
            "variants_model": round(auc(-tuned.nll(inside), -tuned.nll(outside)), 4),
        }
        if self.p.ablation:
            for name, which in (("without_nll", kept.similar), ("with_nll", kept.likely)):
                model = self._tuned([outputs[i] for i in which], name)
                found[name] = {"outputs": len(which), "auc": round(auc(-model.nll(inside), -model.nll(outside)), 4)}
        return found

    def _release(self, state: State) -> Step:
        """Remove identifiers from a batch of retained outputs and hand them out."""
        assert self.context.detector is not None
        begin = state["released"]
        batch = state["made"][begin : begin + self.context.batch_size]
        cleaned = reapply([entry["text"] for entry in batch], self.context.detector, self.p.minimum_score)
        records = [
            SyntheticRecord(clean.text, self.labels[entry["row"]], self.ids[entry["row"]])
            for clean, entry in zip(cleaned, batch, strict=True)
        ]
        end = begin + len(batch)
        last = end >= len(state["made"])
        return funnel_step(
            {"stage": "done" if last else "releasing", "made": [] if last else state["made"], "released": end},
            "releasing",
            end,
            max(self.context.count, end),
            {},
            {"replaced_at_the_end": sum(entry.replaced for entry in cleaned)},
            records,
        )
