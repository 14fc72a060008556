"""Rewrite each record until a judge cannot trace it and another still finds its label; one record in, one out.

Reference: Yang et al. 2025, Robust Utility-Preserving Text Anonymization (RUPTA): a privacy evaluator, a utility
evaluator and an optimiser take turns; the optimiser sees the last attempts with their verdicts. Here the privacy
judge must pick the source out of p records, the true one among them; naming it, even by luck, counts as traced.

Privacy posture: prompts hold private records, also those the judge chooses among. What was tried is private and lies
in the run's own folder, owner-only; it is never part of a release.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from engine.at_rest import files
from engine.corpus.keyed import keyed_order
from engine.dp.guarantee import Guarantee
from engine.errors import InternalError, UserError
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step, SyntheticRecord
from engine.methods.domains import guess_domain
from engine.methods.parameters import FlaggingParameters
from engine.models.contracts import Choosing, Sampling
from engine.models.prompts.operators_instruct import InstructOperators
from engine.models.prompts.operators_rewrite import (
    RewritePrompts,
    ShownAttempt,
    parse_privacy,
    parse_utility,
    privacy_choices,
    utility_choices,
)

if TYPE_CHECKING:
    from engine.dp.accounting.accountant import Accountant

ROUNDS, SHOWN = 5, 3  # rounds at most; attempts the rewriter sees
_TOKENS_A_CHARACTER = 0.25
_SECONDS_A_TOKEN = 0.02  # a model of a few billion weights on a GPU, batched
_JUDGED = 80  # tokens of a judge's reply
MOST_CHOICES = 400  # replies a judge is held to; more make a server slow
TRACED, EMPTY = "dropped: still traced to its record", "dropped: empty reply"


class RewriteParameters(FlaggingParameters):
    """Settings of the loop."""

    model_config = ConfigDict(extra="forbid")

    rounds: int = Field(ROUNDS, ge=1, le=20, description="Rounds at most (Yang et al. 2025).")
    candidates: int = Field(5, ge=2, le=20, description="Records the privacy judge chooses among, the true one too.")
    confidence: int = Field(60, ge=0, le=100, description="Confidence in the right label from which a text is useful.")
    unfinished: Literal["drop", "keep"] = Field(
        "drop", description="A text that is still traced after the last round: drop it, or keep its last attempt."
    )
    candidate_characters: int = Field(600, ge=100, le=4000, description="Characters of a record the judge is shown.")
    temperature: float = Field(0.7, gt=0, le=2, description="Randomness of the rewriter; judges answer without it.")
    domain: Literal["auto", "clinical", "legal", "social", "reviews", "generic"] = Field(
        "auto", description="Kind of text; auto looks at the records' vocabulary."
    )


@dataclass
class Attempt:
    """One rewriting and its verdicts."""

    text: str
    private: bool = False
    clues: tuple[str, ...] = ()
    useful: bool = False

    def shown(self) -> ShownAttempt:
        """Return it as the rewriter is shown it."""
        return {"text": self.text, "private": self.private, "clues": self.clues, "useful": self.useful}


@dataclass
class Item:
    """One record under way."""

    record_id: str
    text: str
    label: str | None
    candidates: list[str]
    true: int
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Return whether the last attempt is private and useful."""
        return bool(self.attempts) and self.attempts[-1].private and self.attempts[-1].useful


class RewriteMethod:
    """Rewriter against two judges."""

    spec = MethodSpec(
        id="rewrite",
        title="Rewriting against a judge",
        summary="Has a model rewrite each text, asks it whether the text can be traced among records and still shows "
        "its label, and rewrites again, up to five times.",
        origin="A language model rewrote one original text for each record. It can keep wordings, details and the "
        "whole story of that text.",
        citation="Yang et al. 2025, Robust Utility-Preserving Text Anonymization (RUPTA)",
        kind="none",
        needs=("generator", "operators", "instruct"),
        parameters=RewriteParameters,
        good_for="One rewritten text a record, where a capable instruct model is at hand and texts stay inside.",
        bad_for="Any formal promise: a judge that fails to trace a text proves nothing about a better one.",
        one_to_one=True,
    )

    def guarantee(self, parameters: BaseModel, facts: Facts, accountant: Accountant | None = None) -> Guarantee:
        """Return the statement that there is no guarantee of any kind."""
        return Guarantee(
            kind="none",
            sentence="No formal guarantee: each text is rewritten from one private record, and what another reader, or "
            "a better judge, can trace is unknown.",
            unit=facts.unit,
            voided_by=("The texts are used outside the circle that may read the records.",),
        )

    def plan(self, parameters: BaseModel, facts: Facts, count: int) -> Plan:
        """Return calls, tokens and seconds if every record takes every round."""
        assert isinstance(parameters, RewriteParameters)
        tokens = int(count * parameters.rounds * (facts.mean_characters * _TOKENS_A_CHARACTER + 2 * _JUDGED))
        return Plan(
            model_calls=3 * count * parameters.rounds,
            tokens=tokens,
            seconds=round(tokens * _SECONDS_A_TOKEN + 1.0, 1),
            outputs=count,
            notes=(
                f"At most: a text that passes both judges early takes fewer than {parameters.rounds} rounds.",
                "Seconds are for a model of a few billion weights on a GPU.",
            ),
        )

    def run(self, context: Context) -> Iterator[Step]:
        """Yield one step a batch; a batch's rounds run side by side."""
        loop = _Loop(context)
        position = int((context.state or {"position": 0})["position"])
        total = min(context.count, len(context.records))
        while position < total and not context.cancelled():
            items = [loop.item(i) for i in range(position, min(total, position + context.batch_size))]
            loop.refine(items, position)
            loop.keep_traces(items, position)
            kept, funnel, told = loop.outcome(items)
            position += len(items)
            yield Step(
                state={"position": position},
                records=tuple(kept),
                funnel=funnel,
                stage="rewriting",
                done=position,
                total=total,
                diagnostics=told,
            )


class _Loop:
    """The loop over one batch at a time."""

    def __init__(self, context: Context) -> None:
        if context.generator is None:
            raise InternalError("the method was started without a generator")
        if "instruct" not in context.generator.capabilities:
            raise UserError(
                f"rewrite needs a model that follows instructions; {context.generator.id} does not (instruct): choose "
                "another model"
            )
        assert isinstance(context.parameters, RewriteParameters)
        self.context, self.p, self.generator = context, context.parameters, context.generator
        self.texts = [str(text) for text in context.records["text"]]
        domain = guess_domain(self.texts) if self.p.domain == "auto" else self.p.domain
        operators = context.operators
        changed = operators.changed if isinstance(operators, InstructOperators) else None
        self.prompts = RewritePrompts(domain, changed)
        self.judged: Counter[str] = Counter()

    def item(self, position: int) -> Item:
        """Return a record with the others that its judge chooses among, by keyed choice."""
        row = self.context.records.iloc[position]
        name = str(row["record_id"])
        key = self.context.surrogate_key
        others = [i for i, text in enumerate(self.texts) if i != position and text != self.texts[position]]
        drawn = keyed_order(key, f"rewrite candidates {name}", [str(i) for i in others])[: self.p.candidates - 1]
        shown = [position, *(others[i] for i in drawn)]
        order = keyed_order(key, f"rewrite order {name}", [str(i) for i in shown])
        candidates = [" ".join(self.texts[shown[i]].split())[: self.p.candidate_characters] for i in order]
        label = row["label"] if isinstance(row["label"], str) else None
        return Item(name, self.texts[position], label, candidates, order.index(0))

    def refine(self, items: Sequence[Item], position: int) -> None:
        """Rewrite and judge until each is private and useful, or the rounds are used up."""
        for turn in range(self.p.rounds):
            left = [item for item in items if not item.done]
            if not left:
                return
            prompts = [
                self.prompts.rewrite(
                    item.text, item.label, len(item.text.split()), [a.shown() for a in item.attempts[-SHOWN:]]
                )
                for item in left
            ]
            most = max(len(item.text) for item in left)
            replies = self._ask(prompts, int(most * 0.5) + 64, (position, turn), self.p.temperature)
            for item, reply in zip(left, replies, strict=True):
                item.attempts.append(Attempt(self.prompts.rewritten(reply)))
            self._judge([item for item in left if item.attempts[-1].text], (position, turn))

    def _judge(self, items: Sequence[Item], place: tuple[int, int]) -> None:
        labels = self.context.labels
        if not items:
            return
        asked = [self.prompts.privacy(item.attempts[-1].text, item.candidates) for item in items]
        asked += [
            self.prompts.utility(item.attempts[-1].text, item.text, labels if item.label else ()) for item in items
        ]
        replies = self._ask(asked, _JUDGED, place, 0.01)
        choices = [privacy_choices(len(item.candidates)) for item in items]
        choices += [utility_choices(labels if item.label else ()) for item in items]
        read: list[object] = [parse_privacy(reply, len(item.candidates)) for item, reply in zip(items, replies)]
        read += [parse_utility(reply) for reply in replies[len(items) :]]
        unread = [at for at, verdict in enumerate(read) if verdict is None]
        self.judged["as asked"] += len(replies) - len(unread)
        for at, reply in self._held(asked, choices, unread, place).items():
            replies[at] = reply
        for item, privacy, utility in zip(items, replies[: len(items)], replies[len(items) :], strict=True):
            attempt, traced = item.attempts[-1], parse_privacy(privacy, len(item.candidates))
            # A verdict that cannot be read is no acquittal.
            attempt.private = traced is not None and traced[0] != item.true
            attempt.clues = traced[1] if traced is not None and not attempt.private else ()
            verdict = parse_utility(utility)
            wanted = item.label or "yes"
            attempt.useful = (
                verdict is not None and verdict[0].casefold() == wanted.casefold() and verdict[1] >= self.p.confidence
            )

    def _held(
        self, asked: Sequence[str], choices: Sequence[Sequence[str]], unread: Sequence[int], place: tuple[int, int]
    ) -> dict[int, str]:
        """Return replies of judges that could not be read and were asked again, held to what they may reply.

        Only where the model can be held to replies, and to as many as there are.
        """
        able = [at for at in unread if len(choices[at]) <= MOST_CHOICES]
        found: dict[int, str] = {}
        if able and isinstance(self.generator, Choosing) and "choices" in self.generator.capabilities:
            sampling = self._sampling(_JUDGED, place, 0.01)
            made = self.generator.choose([asked[at] for at in able], [choices[at] for at in able], sampling)
            found = {at: reply for at, reply in zip(able, made, strict=True) if reply is not None}
        self.judged["held to its choices"] += len(found)
        self.judged["unreadable"] += len(unread) - len(found)
        return found

    def _ask(self, prompts: list[str], tokens: int, place: tuple[int, int], temperature: float) -> list[str]:
        sampling = self._sampling(tokens, place, temperature)
        return [made.text for made in self.generator.generate(prompts, sampling)]

    def _sampling(self, tokens: int, place: tuple[int, int], temperature: float) -> Sampling:
        seed = (self.context.seed * 1_000_003 + place[0] * 101 + place[1]) % 2**31
        return Sampling(max_new_tokens=tokens, temperature=temperature, seed=seed)

    def outcome(self, items: Sequence[Item]) -> tuple[list[SyntheticRecord], dict[str, int], dict[str, dict[str, int]]]:
        """Return what is kept, the funnel, and counts of rounds and verdicts."""
        kept, dropped, rounds = [], Counter[str](), Counter[str]()
        for item in items:
            rounds[str(len(item.attempts))] += 1
            written = [attempt for attempt in item.attempts if attempt.text]
            private = [attempt for attempt in written if attempt.private]
            chosen = item.attempts[-1] if item.done else next(iter(reversed(private)), None)
            if chosen is None and self.p.unfinished == "keep":
                chosen = next(iter(reversed(written)), None)
            if chosen is None:
                dropped[TRACED if written else EMPTY] += 1
            else:
                kept.append(SyntheticRecord(chosen.text, item.label, item.record_id))
        told = {
            "rounds": dict(rounds),
            "ended": {"private and useful": sum(item.done for item in items)},
            "judged": dict(self.judged),
        }
        self.judged.clear()
        return kept, {"made": len(items), **dropped, "kept": len(kept)}, told

    def keep_traces(self, items: Sequence[Item], position: int) -> None:
        """Write what was tried, owner-only, where the run has a folder of its own."""
        if self.context.scratch is None:
            return
        folder = self.context.scratch / "traces"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lines = [
            json.dumps({"record_id": item.record_id, "attempts": [asdict(attempt) for attempt in item.attempts]})
            for item in items
        ]
        part = folder / f"attempts_{position:07d}.part"
        files.write_bytes(part, ("\n".join(lines) + "\n").encode(), at=part.with_suffix(".jsonl"))
        files.put(part, part.with_suffix(".jsonl"))
