"""Private prediction: write texts token by token from a public prompt that batches of private records move.

Privacy posture: this sees no record. Tokens come from the mechanism `private_logits`, which stores each text before
it is used; see `engine.dp.noise.prediction` for mechanism, sensitivity and what an attacker sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.dp.noise.cells import Cell as Counted
from engine.dp.noise.outputs import digest
from engine.dp.noise.prediction import Cell, Prediction
from engine.errors import InternalError
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step, SyntheticRecord
from engine.methods.prediction.claim import CLUSTERS, figures, guarantee_of, nodes, parts_of, schedule
from engine.methods.prediction.parameters import PrivatePredictionParameters
from engine.methods.topics.public import load_topics

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant
    from engine.models.contracts import OperatorInputs
    from engine.models.folder.logits import PromptedModel

SECONDS_A_ROW_TOKEN = 1 / 900  # two CPU cores, built-in model in float32, a block of rows
SECONDS_A_PROMPT_TOKEN = 1 / 6000
_PROMPT_TOKENS = 20
_SENTENCE = re.compile(r"[.!?][\"')\]]?(?=\s|$)")


class PrivatePredictionMethod:
    """Draws tokens from clipped logits of batches of private records."""

    spec = MethodSpec(
        id="private-prediction",
        title="Private prediction",
        summary="Has a batch of private records vote, softly and within limits, on each next token of a text.",
        origin="A language model wrote each record word by word. Many original texts together had a limited, random "
        "say in each word.",
        citation="Vinod, Pillutla and Thakurta 2025 (InvisibleInk); Amin et al. 2024 (mean-clip)",
        kind="dp",
        needs=("generator", "operators", "logits"),
        parameters=PrivatePredictionParameters,
        good_for="A formal guarantee without any training, where some dozens of records a text can be spared.",
        bad_for="Small corpora, long texts and many of them: batches are disjoint and every token costs.",
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the claim; it has a closed form, so the accountant is not asked."""
        assert isinstance(parameters, PrivatePredictionParameters)
        return guarantee_of(parameters, facts)

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return calls, tokens, seconds, and how many texts the corpus affords."""
        assert isinstance(parameters, PrivatePredictionParameters)
        planned = schedule(parameters, facts)
        outputs = min(count, planned.texts)
        rows = planned.slots + 1
        read = rows * (_PROMPT_TOKENS + parameters.record_tokens) * SECONDS_A_PROMPT_TOKEN
        drawn = rows * planned.settings.longest * SECONDS_A_ROW_TOKEN
        bought = figures(parameters, facts)
        notes = [
            f"Every text pays for {parameters.tokens} tokens, also where it ends earlier.",
            *(f"{row['figure']}: {row['value']} ({row['reference']})." for row in bought["rows"][:2]),
            *bought["advice"],
            "Seconds are for the built-in model on two CPU cores.",
        ]
        if count > planned.texts:
            notes.insert(
                0,
                f"{planned.texts:,} texts at most, not {count:,}: this corpus gives that many disjoint batches. Raise "
                "the texts a batch, which share its budget, or lower the batch size.",
            )
        return Plan(
            model_calls=outputs * planned.settings.longest,
            tokens=outputs * planned.settings.longest,
            seconds=round(outputs * (read + drawn), 2),
            outputs=outputs,
            ledger=tuple(event.as_dict() for event in planned.events),
            notes=tuple(notes),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step a text; a text is stored before it is used."""
        writing = _Writing(context)
        state: dict[str, Any] = dict(context.state or {"position": 0, "kept": 0})
        cells = writing.cells()
        total = len(cells) * writing.p.texts_a_batch
        while state["position"] < total and state["kept"] < context.count and not context.cancelled():
            turn, cell = divmod(state["position"], len(cells))
            text = writing.text(turn, cell, cells)
            kept = bool(text)
            state = {"position": state["position"] + 1, "kept": state["kept"] + kept}
            yield Step(
                state=state,
                records=(SyntheticRecord(text, cells[cell].label),) if kept else (),
                funnel={"made": 1, "kept": 1} if kept else {"made": 1, "kept": 0, "dropped: empty or too short": 1},
                stage="generating",
                done=state["kept"],
                total=context.count,
            )


class _Writing:
    """One run: its settings, its batches, its prompts."""

    def __init__(self, context: Context) -> None:
        if context.generator is None or context.operators is None or context.mechanisms is None:
            raise InternalError("the method was started without generator, operators or mechanisms")
        if context.guarantee is None or context.facts is None:
            raise InternalError("the method was started without a guarantee")
        assert isinstance(context.parameters, PrivatePredictionParameters)
        from engine.models.folder.logits import logit_source

        self.p, self.facts = context.parameters, context.facts
        self.labels, self.noise, self.bought = context.labels, context.guarantee.noise, context.label_shares
        self.mechanisms, self.operators, self.generator = context.mechanisms, context.operators, context.generator
        self.source = logit_source(context.generator)
        planned = schedule(self.p, self.facts).settings
        # As reserved: the run never calibrates anew.
        level = self.noise["tokens"]
        self.settings: Prediction = replace(planned, reach=level["reach"], search=level["search"])
        self.domain = "generic" if self.p.domain == "auto" else self.p.domain
        self._models: dict[str | None, Any] = {}
        if self.p.clusters != "none":
            self.mechanisms.keep_topics(load_topics().centres)

    def cells(self) -> list[Cell]:
        """Return the batches, labels mixed in proportion; the first pays for those beside it."""
        rows = float(self.facts.units * self.settings.rows)
        found = []
        for label, share in self._shares().items():
            for topics, part in self._clusters(label, rows * share):
                parts, slots = parts_of(self.p, rows * share * part)
                found += [Cell(label, number, parts, slots, topics) for number in range(parts)]
        return sorted(found, key=lambda cell: ((cell.number + 0.5) / cell.parts, str(cell.label)))

    def _clusters(self, label: str | None, rows: float) -> list[tuple[tuple[int, ...], float]]:
        """Return the topics that fill batches of their own, and the others together, each with its share of `rows`.

        The others are left out where they would not fill half a batch; if nothing fills one, all are together.
        """
        if self.p.clusters == "none":
            return [((), 1.0)]
        counts = np.maximum(self._topic_counts()[label], 0.0)
        shares = counts / counts.sum() if counts.sum() > 0 else np.full(len(counts), 1.0 / len(counts))
        topics, known = load_topics(), nodes(self.p)
        full = [i for i in range(len(known)) if rows * shares[i] >= self.p.batch_size]
        rest = [i for i in range(len(known)) if i not in full]
        found = [(topics.below(known[i]), float(shares[i])) for i in full]
        left = float(shares[rest].sum())
        if rest and (not full or rows * left >= self.p.batch_size / 2):
            found.append((tuple(sorted(leaf for i in rest for leaf in topics.below(known[i]))), left))
        return found

    def _topic_counts(self) -> dict[str | None, NDArray[np.float64]]:
        """Return how many records of each topic a label has, bought in one histogram."""
        if not hasattr(self, "_counted"):
            topics, known = load_topics(), nodes(self.p)
            labels = list(self._shares())
            asked = [Counted(label, topics.below(node)) for label in labels for node in known]
            multiplier = self.noise["clusters"]["noise_multiplier"]
            counts = self.mechanisms.noisy_cells("clusters", asked, noise_multiplier=multiplier, what=CLUSTERS)
            self._counted = dict(zip(labels, counts.reshape(len(labels), len(known)), strict=True))
        return self._counted

    def text(self, turn: int, cell: int, cells: list[Cell]) -> str:
        """Return a text, empty where nothing usable was drawn."""
        label = cells[cell].label
        if label not in self._models:
            self._models[label] = self._model(label)
        model, prompt = self._models[label]
        tokens = self.mechanisms.private_logits(
            turn, cell, cells, model, self.settings, fingerprint=digest([self.generator.id, prompt(None)])
        )
        ended = bool(len(tokens)) and int(tokens[-1]) == self.source.end
        raw = self.source.decode([int(token) for token in tokens if int(token) != self.source.end])
        text = self.operators.parse(self.p.operator, raw).strip()
        return text if ended else whole_sentences(text)

    def _model(self, label: str | None) -> tuple[PromptedModel, Callable[[str | None], str]]:
        from engine.models.folder.logits import PromptedModel

        def prompt(record: str | None) -> str:
            shown = "" if record is None else record
            own: OperatorInputs = {
                "domain": self.domain, "kind": self.p.kind, "label": label, "words": self.p.words
            }  # fmt: skip
            if self.p.operator == "from_examples":
                own["examples"] = [shown] if shown else []
            else:
                own["text"] = shown
            return self.operators.prompt(self.p.operator, **own)

        room = self.settings.longest
        return PromptedModel(self.source, prompt, record_tokens=self.p.record_tokens, room=room), prompt

    def _shares(self) -> dict[str | None, float]:
        """Return each label's share of the records: bought, or declared public."""
        if not self.labels or not (self.facts.labels or self.bought):
            return {None: 1.0}
        if not hasattr(self, "_bought"):
            if self.bought is not None:
                counts = np.array([self.bought[label] for label in self.labels])
            elif self.p.labels == "public":
                counts = self.mechanisms.declared("labels", "label", self.labels)
            else:
                multiplier = self.noise["labels"]["noise_multiplier"]
                counts = self.mechanisms.noisy_histogram("labels", "label", self.labels, noise_multiplier=multiplier)
            counts = np.maximum(counts, 0.0)
            weights = counts / counts.sum() if counts.sum() > 0 else np.full(len(counts), 1.0 / len(counts))
            self._bought: dict[str | None, float] = {
                label: float(share) for label, share in zip(self.labels, weights, strict=True) if share > 0.0
            }
        return dict(self._bought)


def whole_sentences(text: str) -> str:
    """Return a text that was cut off, up to the end of its last sentence where that keeps half of it."""
    ends = [match.end() for match in _SENTENCE.finditer(text)]
    return text[: ends[-1]] if ends and ends[-1] * 2 >= len(text) else text
