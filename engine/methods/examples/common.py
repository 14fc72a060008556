"""What the methods with examples and control codes share: parameters, passages, slots, checks and retries.

Source: Zhao and Field 2025, "Controlled Generation for Private Synthetic Text", sections 2 and 3.
A slot is one output to be made: the passages drawn for it and its fictional code follow from the run's seed and the
slot's number alone, so that a resumed run makes what an uninterrupted one would.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Required, TypedDict, TypeVar, cast

from pydantic import BaseModel

from engine.corpus.text.readability import unreadable
from engine.errors import InternalError, UserError
from engine.methods.base import Context, Step, SyntheticRecord
from engine.methods.domains import guess_domain
from engine.methods.examples.parameters import ExampleParameters
from engine.methods.readable import rejects
from engine.methods.surrogate import spans_by_record, text_or_none
from engine.models.constraints import Blocklist
from engine.models.contracts import Constraints, Generator, Sampling
from engine.pii.control_codes import Passage, passages, private_spans, to_block
from engine.pii.fictional_codes import FictionalCodes
from engine.pii.spans import LABELS

CITATION = "Zhao and Field 2025, Controlled Generation for Private Synthetic Text"
TOKENS_A_WORD = 1.9
_ENOUGH_TOKENS = 100  # what counts as a text in the paper's domain
_MOST_WORDS = 200
_SLOTS_AN_OUTPUT = 4
_UNKNOWN_CONTEXT = 2048
_CODE_LINE = re.compile(rf"\A(?:(?:{'|'.join(LABELS)}): [^\n]*(?:\n+|\Z))+")


@dataclass(frozen=True)
class Slot:
    """One output to be made: its number, the passages shown (the anchor last), and the fictional code."""

    number: int
    shown: tuple[Passage, ...]
    code: str
    label: str | None


@dataclass
class Written:
    """What a batch of slots became."""

    texts: list[str | None]
    funnel: Counter[str]
    retries: Counter[str]
    exempt: Counter[str]
    blocked: int = 0
    let_through: dict[str, Counter[str]] = field(default_factory=dict)


class Material:
    """The passages of a run and what is drawn from them."""

    def __init__(self, context: Context, parameters: ExampleParameters, which: str | None) -> None:
        self.context, self.p = context, parameters
        self.passages = list(_cut(context, parameters, which))
        if not self.passages:
            raise UserError("the training part holds no text: import records with text, then start the run again")
        texts = [p.text for p in self.passages]
        self.domain = guess_domain(texts) if parameters.domain == "auto" else parameters.domain
        lengths = sorted(len(text.split()) for text in texts)
        median = lengths[len(lengths) // 2]
        self.words = parameters.words or max(5, min(median, _MOST_WORDS))
        enough = min(_ENOUGH_TOKENS, int(median * TOKENS_A_WORD / 2), parameters.max_new_tokens // 2)
        self.minimum = enough if parameters.minimum_tokens is None else parameters.minimum_tokens
        self.by_label: dict[str | None, list[int]] = {}
        for i, passage in enumerate(self.passages):
            self.by_label.setdefault(passage.label, []).append(i)
        forbidden = {value for passage in self.passages for value in passage.code.surfaces()}
        self.fiction = FictionalCodes(context.surrogate_key, forbidden) if which else None

    def slot(self, number: int, examples: int) -> Slot:
        """Return what is drawn for an output: an anchor, other records' passages of its label, a fictional code."""
        rng = Random(f"{self.context.seed} slot {number}")
        anchor = self.passages[rng.randrange(len(self.passages))]
        shown = [anchor]
        for i in rng.sample(self.by_label[anchor.label], len(self.by_label[anchor.label])):
            if len(shown) >= examples:
                break
            if self.passages[i].record_id not in {p.record_id for p in shown}:
                shown.append(self.passages[i])
        code = ""
        if self.fiction is not None:
            most = getattr(self.p, "values_a_type", 3)
            code = self.fiction.make(anchor.code.counts(), f"{self.context.seed} slot {number}", most).lines()
        return Slot(number, tuple(reversed(shown)), code, anchor.label)


def _cut(context: Context, p: ExampleParameters, which: str | None) -> Iterator[Passage]:
    spans = spans_by_record(context.spans) if which else {}
    columns = (context.records[c] for c in ("record_id", "text", "label"))
    for record_id, text, label in zip(*columns, strict=True):
        private = private_spans(str(record_id), str(text), spans.get(str(record_id), ()), which) if which else []  # type: ignore[arg-type]
        yield from passages(str(record_id), str(text), private, text_or_none(label), p.paragraphs, p.parts)


def need_spans(context: Context, title: str) -> None:
    """Raise UserError where nothing says what identifies people."""
    if len(context.spans) == 0:
        raise UserError(f"{title} needs accepted spans; this corpus has none: run detect, or import gold spans")


def context_tokens(generator: Generator) -> int:
    """Return how many tokens the model reads and writes in all."""
    own = getattr(generator, "context", None)
    config = getattr(getattr(generator, "net", None), "config", None)
    return int(own if isinstance(own, int) else getattr(config, "context", _UNKNOWN_CONTEXT))


def token_counter(generator: Generator) -> Callable[[str], int]:
    """Return a function that counts a text's tokens, by the model's vocabulary where it is at hand."""
    tokenizer: Any = getattr(generator, "tokenizer", None)
    if tokenizer is None:
        return lambda text: len(text) // 3 + 1

    def count(text: str) -> int:
        found = tokenizer.encode(text, add_special_tokens=False)
        return len(getattr(found, "ids", found))

    return count


def prompt_room(generator: Generator, max_new_tokens: int) -> int:
    """Return how long a prompt may be: the output keeps what it asks for, or a third of a small model's context."""
    whole = context_tokens(generator)
    return whole - min(max_new_tokens, whole // 3)


def fitted(passage: Passage, room: int, count: Callable[[str], int], with_code: bool) -> Passage:
    """Return the passage cut at a word so that it, with its code where shown, takes at most `room` tokens."""
    taken = count(shown_text(passage, with_code))
    while taken > room:
        end = max(1, int(len(passage.text) * min(0.95, room / taken)))
        space = max(passage.text.rfind(" ", 0, end), passage.text.rfind("\n", 0, end))
        if space < 1:
            return passage.cut(end)
        passage = passage.cut(space)
        taken = count(shown_text(passage, with_code))
    return passage


def shown_text(passage: Passage, with_code: bool) -> str:
    """Return a passage as it stands in a prompt: behind its code, or alone."""
    code = passage.code.lines() if with_code else ""
    return f"{code}\n\n{passage.text}" if code else passage.text


def tidy(text: str) -> str:
    """Return an output without code lines repeated at its head."""
    return _CODE_LINE.sub("", text.strip()).strip()


def fault(text: str, tokens: int, minimum: int, rejects: Callable[[str], str] = unreadable) -> str:
    """Return why an output is no usable text, or nothing: it is too short, or public rules find it unreadable."""
    if not text.split() or tokens < minimum:
        return "too short"
    return rejects(text)


class SlotState(TypedDict, total=False):
    """Where a run stands: places tried, texts kept and, where a prefix is learned first, steps of that."""

    slot: Required[int]
    kept: Required[int]
    step: int


class SlotRun:
    """Makes outputs slot by slot, in batches, each tried again while it is unusable.

    Args:
        material: what the run draws from.
        generator: the model that writes.
        examples: passages drawn a slot.
        prompts: turns slots into prompts.
        parse: turns a raw output into text.
        block: whether private values of the passages shown are blocked and looked for.
    """

    def __init__(
        self,
        material: Material,
        generator: Generator,
        examples: int,
        prompts: Callable[[Sequence[Slot]], list[str]],
        parse: Callable[[str], str],
        block: bool = False,
    ) -> None:
        self.material, self.context, self.p = material, material.context, material.p
        self.generator, self.examples, self.prompts, self.parse, self.block = generator, examples, prompts, parse, block
        self.rejects = rejects(self.p)

    def steps(self, state: SlotState) -> Iterator[Step]:
        """Yield one step a batch; `state` needs `slot` and `kept`, and keeps what else it holds.

        Raises:
            UserError: the model gives too few usable texts.
        """
        wanted = self.context.count
        while state["kept"] < wanted and not self.context.cancelled():
            if state["slot"] >= _SLOTS_AN_OUTPUT * wanted + 32:
                raise UserError(
                    f"the model gave {state['kept']} usable texts of {wanted} wanted after {state['slot']} places, "
                    f"each tried {1 + self.p.retries} times: lower minimum_tokens, raise retries or change the model"
                )
            size = min(max(1, self.context.batch_size), wanted - state["kept"])
            slots = [self.material.slot(state["slot"] + i, self.examples) for i in range(size)]
            made = self._written(slots)
            kept = [(slot, text) for slot, text in zip(slots, made.texts, strict=True) if text is not None]
            state = {**state, "slot": state["slot"] + size, "kept": state["kept"] + len(kept)}
            yield Step(
                state=state,
                records=tuple(SyntheticRecord(text, slot.label) for slot, text in kept),
                funnel={**made.funnel, "kept": len(kept)},
                stage="generating",
                done=state["kept"],
                total=wanted,
                diagnostics={
                    "places": size,
                    "retries": dict(made.retries),
                    "blocked_values": made.blocked,
                    "exempt_values": dict(made.exempt),
                    "exempt_words": {reason: dict(words) for reason, words in made.let_through.items()},
                    "last_slots": [slot.number for slot, _ in kept],
                },
            )

    def _written(self, slots: Sequence[Slot]) -> Written:
        """Return the slots' texts; one that stays unusable after every retry is None."""
        made = Written([None] * len(slots), Counter({"made": 0}), Counter(), Counter())
        values: tuple[str, ...] = ()
        names: tuple[str, ...] = ()
        if self.block:
            blocking = to_block(p for slot in slots for p in slot.shown)
            values, names = blocking.values, blocking.names
            made.blocked = len(values) + len(names)
            made.exempt.update(blocking.exempt)
            made.let_through = {reason: Counter(words) for reason, words in blocking.let_through.items()}
        blocker = Blocklist(values, names)
        constraints = Constraints(values, names) if blocker and "block_tokens" in self.generator.capabilities else None
        open_ = list(range(len(slots)))
        for attempt in range(1 + self.p.retries):
            prompts = self.prompts([slots[i] for i in open_])
            outputs = self.generator.generate(prompts, self._sampling(slots[0].number, attempt), constraints)
            faults: dict[int, str] = {}
            for i, output in zip(open_, outputs, strict=True):
                text = tidy(self.parse(output.text))
                why = fault(text, output.tokens, self.material.minimum, self.rejects)
                why = "a private value in it" if blocker and blocker.contains(text) else why
                made.funnel["made"] += 1
                if why:
                    faults[i] = why
                    made.funnel[f"dropped: {why}"] += 1
                else:
                    made.texts[i] = text
            open_ = list(faults)
            if not open_ or attempt == self.p.retries:
                break
            made.retries.update(faults.values())
        return made

    def _sampling(self, slot: int, attempt: int) -> Sampling:
        return Sampling(
            max_new_tokens=self.p.max_new_tokens,
            min_new_tokens=min(self.material.minimum, self.p.max_new_tokens),
            temperature=self.p.temperature,
            top_p=self.p.top_p,
            seed=zlib.crc32(f"{self.context.seed} {slot} {attempt}".encode()),
        )


Own = TypeVar("Own", bound=ExampleParameters)


def run_state(context: Context) -> SlotState:
    """Return where to go on, or where to begin."""
    return cast(SlotState, dict(context.state or {"slot": 0, "kept": 0}))


def of_type(parameters: BaseModel, wanted: type[Own], method: str) -> Own:
    """Return the parameters, known to be of the method's own type."""
    if not isinstance(parameters, wanted):
        raise InternalError(f"{method} was started with another method's parameters")
    return parameters
