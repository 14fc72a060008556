"""Next-token logits of many prompts that go on with the same tokens: the capability `logits`.

Rows are computed in blocks of one fixed shape (rows a block, prompt width), in float32, and empty places are filled
with padding. A row's logits therefore do not depend on which other rows are there, nor on how many: each output
element of a matrix product of fixed shape is a sum over its own row in a fixed order. A public prompt is a block of
its own. A key-value cache holds what was read.

Privacy posture: prompts hold private records; nothing is logged or kept after the prefixes are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.errors import UserError
from engine.models.folder.logit_blocks import Blocks, padded, parts
from engine.models.threads import one_thread

if TYPE_CHECKING:
    from torch import Tensor

    from engine.dp.noise.prediction import Prefixes
    from engine.models.builtin.decoder.causal_net import CausalNet
    from engine.models.builtin.language_model import BuiltinGenerator
    from engine.models.contracts import Generator

BLOCK = 16  # rows computed side by side


@runtime_checkable
class LogitSource(Protocol):
    """A model that gives logits. `allowed` (V,): tokens that may appear in a text; `end` ends one."""

    allowed: NDArray[np.bool_]
    end: int
    context: int

    def encode(self, text: str, *, prompt: bool = False) -> list[int]:
        """Return token ids of a text, or of a whole prompt with what the model puts around one."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of token ids, special ones left out."""
        ...

    def prefixes(self, rows: Sequence[Sequence[int]], *, width: int, room: int, block: int) -> Prefixes:
        """Return prompts of at most `width` tokens, with room for `room` more, `block` rows side by side."""
        ...


class PromptedModel:
    """A logit source with the prompts of one kind of text.

    Args:
        source: gives the logits. prompt: a record, or None, to the whole prompt. record_tokens: how much of a record
            a prompt shows. room: tokens that may follow. Both are public.
    """

    def __init__(
        self, source: LogitSource, prompt: Callable[[str | None], str], *, record_tokens: int, room: int
    ) -> None:
        self._source, self._prompt, self._room = source, prompt, room
        self.allowed, self.end = source.allowed, source.end
        self._public = source.encode(prompt(None), prompt=True)
        most = source.context - room
        if len(self._public) + 8 > most:
            raise UserError(
                f"tokens: {room} leave {max(0, most)} of the model's {source.context} for the prompt, which needs "
                f"{len(self._public) + 8} and a record: ask for shorter texts or take another model"
            )
        self._record = min(record_tokens, most - len(self._public))
        self._width = min(len(self._public) + self._record + 8, most)

    def start(self, texts: Sequence[str | None]) -> Prefixes:
        """Return a prompt a text; None is the public prompt, in a block of its own."""
        if list(texts) == [None]:
            return self._source.prefixes([self._public], width=len(self._public), room=self._room, block=1)
        rows = [self._private(str(text)) for text in texts]
        return self._source.prefixes(rows, width=self._width, room=self._room, block=BLOCK)

    def _private(self, text: str) -> list[int]:
        """Return a record's prompt, the record cut until it fits."""
        shown = self._source.encode(text)[: self._record]
        while True:
            rendered = self._source.encode(self._prompt(self._source.decode(shown)), prompt=True)
            if len(rendered) <= self._width:
                return rendered
            if not shown:
                return list(self._public)  # a prompt that grows without a record: it then says nothing
            shown = shown[: -max(1, len(rendered) - self._width)]


class BuiltinLogits:
    """Logits of the built-in network."""

    def __init__(self, generator: BuiltinGenerator) -> None:
        from engine.models.builtin.decoder.generate import EOS
        from engine.models.builtin.format import control_tokens

        self._net, self._tokenizer = generator.net, generator.tokenizer
        self.end, self.context = EOS, int(generator.net.config.context)
        self.allowed = np.ones(generator.net.config.vocab_size, dtype=bool)
        self.allowed[: len(control_tokens())] = False
        self.allowed[EOS] = True

    def encode(self, text: str, *, prompt: bool = False) -> list[int]:
        """Return token ids; a prompt carries its control tokens already."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of token ids, control tokens left out."""
        return str(self._tokenizer.decode([int(token) for token in tokens], skip_special_tokens=True))

    def prefixes(self, rows: Sequence[Sequence[int]], *, width: int, room: int, block: int) -> Prefixes:
        """Return the rows read by the network."""
        return Blocks([_BuiltinBlock(self._net, part, width, room, block) for part in parts(rows, block)], len(rows))


class _BuiltinBlock:
    """`block` rows of equal width, padded on the left, over the network's cache."""

    def __init__(self, net: CausalNet, rows: Sequence[Sequence[int]], width: int, room: int, block: int) -> None:
        import torch

        from engine.models.builtin.decoder.causal_net import Cache

        self._net, self._torch = net, torch
        self._device = net.embed_tokens.weight.device
        ids, real = padded(rows, width, block)
        self._positions = torch.tensor(np.maximum(np.cumsum(real, axis=1) - 1, 0), device=self._device)
        there = torch.tensor(real, device=self._device)
        causal = torch.ones(width, width, dtype=torch.bool, device=self._device).tril()
        # A padding place attends to itself, so that no softmax is over nothing.
        mask = (causal & there[:, None, :]) | torch.eye(width, dtype=torch.bool, device=self._device)
        self._there = torch.cat([there, torch.ones(block, room, dtype=torch.bool, device=self._device)], dim=1)
        self._cache = Cache(net.config, block, width + room, torch.float32, self._device)
        self._logits = self._read(torch.tensor(ids, device=self._device), mask[:, None], self._positions)
        self._positions = self._positions[:, -1:]

    def _read(self, ids: Tensor, mask: Tensor, positions: Tensor) -> NDArray[np.float32]:
        with one_thread(), self._torch.inference_mode():
            hidden = self._net.hidden(ids, mask, positions, self._cache)[:, -1]
            logits: NDArray[np.float32] = self._net.logits(hidden).float().cpu().numpy()
        return logits

    def logits(self) -> NDArray[np.float32]:
        """Return next-token logits (block, V)."""
        return self._logits

    def append(self, token: int) -> None:
        """Read one token in every row."""
        self._positions = self._positions + 1
        mask = self._there[:, None, None, : self._cache.length + 1]
        ids = self._torch.full((len(self._positions), 1), token, device=self._device)
        self._logits = self._read(ids, mask, self._positions)


def logit_source(generator: Generator) -> LogitSource:
    """Return what gives a generator's logits.

    Raises:
        UserError: the model does not give them.
    """
    from engine.models.builtin.language_model import BuiltinGenerator
    from engine.models.folder.logits_local import LocalLogits
    from engine.models.folder.transformers_local import TransformersGenerator

    made = getattr(generator, "logit_source", None)
    if made is not None:
        source: LogitSource = made()
        return source
    if isinstance(generator, BuiltinGenerator):
        return BuiltinLogits(generator)
    if isinstance(generator, TransformersGenerator) and (
        generator.encoder_decoder or "logits" in generator.capabilities
    ):
        return LocalLogits(generator)
    raise UserError(
        f"model {getattr(generator, 'id', 'unknown')!r} does not give next-token logits, which private prediction "
        "needs: take the built-in model or a local one in its full numbers"
    )
