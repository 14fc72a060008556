"""What the methods that fit a model to records share: parameters, prompts of training and writing, and writing.

A record is learned behind its own label and length; texts are then asked for by label and length. Writing sees the
tuned model, labels and lengths alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Required, TypedDict, Unpack, cast

from engine.at_rest import files
from engine.errors import InternalError
from engine.json_types import JSON, JSONObject, as_list, as_number
from engine.methods.base import Context, Facts, Make, Piece, Step, alone
from engine.methods.batches import plain_label, written
from engine.methods.evolution import common as pe
from engine.methods.tuned.parameters import TuningParameters
from engine.models.builtin.format import LENGTH_EDGES

if TYPE_CHECKING:
    from engine.models.contracts import Generator, OperatorInputs, Operators
    from engine.models.tune.learner import NetLearner
    from engine.models.tune.tunable import Tunable
    from engine.models.tune.tuning_rows import Goldfish

TUNED = "tuned"
"""Below a run's scratch folder, later its own: the tuned model, internal for good."""
TOKENS_A_CHARACTER = 1 / 3.3
SECONDS_A_TRAINED_TOKEN = 1 / 1500  # one CPU core that is fast in bfloat16, built-in model, adapters
_WHOLE = 1.6  # times as many where every weight is trained
LONGEST = 480
LENGTHS = (*LENGTH_EDGES, LONGEST)
"""Lengths in words that stand for the length tokens; the last for all above."""


class TuningState(TypedDict, total=False):
    """Where a run stands: steps of training, texts tried and kept, and what is still wanted.

    waiting: a label and a length in words for each text.
    """

    step: Required[int]
    position: Required[int]
    kept: Required[int]
    waiting: list[tuple[str | None, int]]
    failed: list[tuple[str | None, int]]


def state_of(context: Context) -> TuningState:
    """Return where a run goes on, or where it begins."""
    return cast(TuningState, dict(context.state or {"step": 0, "position": 0, "kept": 0}))


class TunedPrompts:
    """Prompts of training and of writing, the same for both; stands in for the run's operators.

    Args:
        operators: of the run. bare: whether the network reads plain words instead of control tokens.
        keys: a public topic's number to its key words, where prompts carry them.
    """

    def __init__(
        self, operators: Operators | None, bare: bool, domain: str, kind: str,
        keys: Callable[[int], Sequence[str]] | None = None,
    ) -> None:  # fmt: skip
        self._operators, self.domain, self._kind = None if bare else operators, domain, kind
        self._keys = keys
        if operators is None and not bare:
            raise InternalError("the method was started without operators")

    @property
    def shared(self) -> bool:
        """Whether other workers can write with the tuned model: the built-in network, as it was kept."""
        return self._operators is not None

    def head(self, label: str | None, words: int, topic: int | None = None) -> str:
        """Return what stands in front of a text of this label, length and public topic."""
        keys = () if topic is None or self._keys is None else tuple(self._keys(topic))
        return self._head(label, words, keys)

    def _head(self, label: str | None, words: int, keys: Sequence[str]) -> str:
        if self._operators is not None:
            own: OperatorInputs = {
                "domain": self.domain, "kind": self._kind, "label": label or "", "words": max(1, words)
            }  # fmt: skip
            if keys:
                own["keywords"] = keys
            return self._operators.prompt("invent", **own)
        shown = (f", {label}" if label else "") + (f", about {', '.join(keys)}" if keys else "")
        return f"{(self._kind or self.domain).capitalize()}{shown}, up to {length_of(words)} words.\n\n"

    def prompt(self, name: str, **inputs: Unpack[OperatorInputs]) -> str:
        """Return the prompt of one text; key words are shown where training showed them."""
        keys = inputs.get("keywords") or ()
        return self._head(inputs.get("label"), int(inputs["words"]), keys if self._keys is not None else ())

    def parse(self, name: str, output: str, **inputs: Unpack[OperatorInputs]) -> str:
        """Return the usable text of a raw output."""
        return output.strip() if self._operators is None else self._operators.parse("invent", output)


def length_of(words: int) -> int:
    """Return the length that stands for all lengths of its class: the least of `LENGTHS` not below it."""
    return next((edge for edge in LENGTHS if words <= edge), LONGEST)


def network(context: Context, p: TuningParameters) -> Tunable:
    """Return the network to train, its adapters at a start that the run's seed fixes."""
    from engine.models.builtin.decoder.lora import LAYERS
    from engine.models.tune.tunable import Adapter, tunable

    if context.generator is None:
        raise InternalError("the method was started without a generator")
    layers = LAYERS if p.layers == "all" else LAYERS[:4]
    return tunable(context.generator, Adapter(p.rank, p.alpha, layers, context.seed % 2**31), p.tuned_model)


def learner(
    net: Tunable, prompts: TunedPrompts, p: TuningParameters, *, rate: float, steps: int, apart: bool,
    goldfish: Goldfish | None = None,
) -> NetLearner:  # fmt: skip
    """Return what trains the network."""
    from engine.models.tune.learner import LearnerSettings, NetLearner
    from engine.models.tune.tuning_rows import Goldfish

    settings = LearnerSettings(rate=rate, steps=steps, tokens=p.tokens, goldfish=goldfish or Goldfish())
    return NetLearner(net, prompts.head, settings, apart=apart)


def writer_of(context: Context, net: Tunable) -> Generator:
    """Return the generator of the tuned model, after its weights were kept in the run's folder."""
    if context.scratch is not None and not (context.scratch / TUNED).exists():
        part = context.scratch / f"{TUNED}.part"
        part.mkdir(mode=0o700, exist_ok=True)
        net.save(part)
        context.saved(part)
        part.rename(context.scratch / TUNED)
    if context.scratch is not None:  # also where a kill came between the two
        files.settle(context.scratch / TUNED)
    writer = net.writer()
    watch: Any = getattr(writer, "watch", None)
    if watch is not None:
        watch(context.cancelled)
    return writer


def kept_writer(context: Context) -> Generator:
    """Return the generator of the tuned built-in network that lies in the run's folder.

    Raises:
        InternalError: none lies there.
    """
    from engine.models.builtin.decoder.folders import load_folder
    from engine.models.builtin.language_model import BuiltinGenerator

    if context.scratch is None or not isinstance(context.generator, BuiltinGenerator):
        raise InternalError("the tuned model of this run is not at hand")
    net = load_folder(context.scratch / TUNED).to(context.generator.net.embed_tokens.weight.device)
    writer = context.generator.with_net(net, "builtin-tuned")
    writer.watch(context.cancelled)
    return writer


def write(
    context: Context,
    p: TuningParameters,
    generator: Generator,
    prompts: TunedPrompts,
    state: TuningState,
) -> Iterator[Step]:
    """Yield one step a batch until `count` texts are written.

    Args:
        state: with `waiting`, a label and a length in words for each text that is still wanted.

    Raises:
        UserError: the tuned model gives too few usable texts.
    """
    writer = pe.Writer(replace(context, generator=generator, operators=prompts), p)
    spread = context.spread if prompts.shared else alone
    size = writer.batch_size(context.count)
    yield from written(
        replace(context, spread=spread), state, size, lambda one: plain_label(as_list(one)[0]), prompts.domain,
        _maker(writer), "the tuned model", "train it for more steps, or with less noise, or use another model",
    )  # fmt: skip


def maker(context: Context, known: JSON) -> Make:
    """Return what writes with the tuned model as it was kept in the run's folder.

    Args:
        known: the domain of prompts.
    """
    p = context.parameters
    assert isinstance(p, TuningParameters)
    prompts = TunedPrompts(context.operators, False, str(known), p.kind)
    return _maker(pe.Writer(replace(context, generator=kept_writer(context), operators=prompts), p))


def _maker(writer: pe.Writer) -> Make:
    def make(piece: Piece) -> JSONObject:
        tasks = [
            pe.Task("invent", plain_label(label), int(as_number(words) or 0))
            for label, words in map(as_list, as_list(piece.asked))
        ]
        return writer.write(tasks, "tuned", piece.start, worked=True).as_dict(len(tasks))

    return make


def trained_step(state: TuningState, step: int, total: int, losses: Sequence[float] | None) -> Step:
    """Return the step that commits how far training is; losses are internal."""
    noted = {} if losses is None else {"training_losses": [None if loss != loss else loss for loss in losses]}
    return Step(dict(state), (), {"made": 0, "kept": 0}, "training", step, total, diagnostics=noted)


def training_tokens(p: TuningParameters, facts: Facts) -> float:
    """Return how many tokens of a record are learned on average; at most, where no length is public."""
    if not facts.mean_characters:
        return float(p.tokens)
    return max(1.0, min(float(p.tokens), facts.mean_characters * TOKENS_A_CHARACTER))


def training_seconds(p: TuningParameters, tokens: float) -> float:
    """Return how long training on so many tokens takes."""
    return tokens * SECONDS_A_TRAINED_TOKEN * (1.0 if p.rank else _WHOLE)


def scratch(context: Context) -> Path | None:
    """Return where training keeps its steps."""
    return None if context.scratch is None else context.scratch / "training"
