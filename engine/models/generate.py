"""Generate with the built-in network: length-bucketed batches, a key-value cache, one stop a sequence.

Each sequence draws from a random stream of its own (seed, position in the call), so a call repeats exactly.
Privacy posture: prompts hold redacted record text; nothing is logged or kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from engine.models.constraints import Blocklist
from engine.models.contracts import Generation, Sampling
from engine.models.llama_net import Cache, LlamaNet

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PAD, BOS, EOS = 0, 1, 2
_TAIL_TOKENS = 48
_TRIES = 64
_COMPACT = 0.75  # share of rows still running at which finished ones leave the batch


@dataclass
class _Row:
    """One sequence under way."""

    index: int
    prompt: list[int]
    room: int
    random: np.random.Generator
    made: list[int] = field(default_factory=list)
    finish: str = ""


class BatchDecoder:
    """Runs prompts through the network in batches of similar length.

    Args:
        net: The network in evaluation mode.
        tokenizer: Its vocabulary.
        sampling: How tokens are drawn.
        blocked: What must not be generated.
        banned: Token ids that are never drawn.
        answers: Tokens that stand for a word of the answer, such as yes and no.
    """

    def __init__(
        self,
        net: LlamaNet,
        tokenizer: Tokenizer,
        sampling: Sampling,
        blocked: Blocklist,
        banned: Sequence[int],
        answers: dict[int, str],
    ) -> None:
        self.net, self.tokenizer, self.sampling, self.blocked = net, tokenizer, sampling, blocked
        self.device = next(net.parameters()).device
        self.dtype = net.embed_tokens.weight.dtype
        self.banned, self.answers = list(banned), answers

    def run(self, prompts: Sequence[list[int]], batch_size: int) -> list[Generation]:
        """Return one generation a prompt of token ids, in the order given."""
        context = self.net.config.context
        rows = [
            _Row(
                i,
                ids,
                min(self.sampling.max_new_tokens, context - len(ids)),
                np.random.default_rng((self.sampling.seed, i)),
            )
            for i, ids in enumerate(prompts)
        ]
        for batch in _buckets(rows, batch_size):
            self._batch(batch)
        return [self._result(row) for row in rows]

    def _result(self, row: _Row) -> Generation:
        text = self.tokenizer.decode(row.made, skip_special_tokens=True)
        text = next((self.answers[token] for token in row.made if token in self.answers), text)
        if self.blocked and self.blocked.contains(text):
            text = self.blocked.cut(text)
        return Generation(text, len(row.made), row.finish or "length")

    def _batch(self, rows: list[_Row]) -> None:
        width = max(len(row.prompt) for row in rows)
        most = max(row.room for row in rows)
        ids = torch.full((len(rows), width), PAD)
        for i, row in enumerate(rows):
            ids[i, width - len(row.prompt) :] = torch.tensor(row.prompt)
        pads = torch.tensor([width - len(row.prompt) for row in rows])
        real = torch.arange(width)[None] >= pads[:, None]  # (B, T)
        cache = Cache(self.net.config, len(rows), width + most, self.dtype, self.device)
        causal = torch.ones(width, width, dtype=torch.bool).tril()
        # A padded query may see itself, so that no softmax is empty; its output is never used.
        mask = ((real[:, None, :] & causal) | torch.eye(width, dtype=torch.bool))[:, None]
        positions = (torch.arange(width)[None] - pads[:, None]).clamp(min=0)
        with torch.inference_mode():
            state = self.net.hidden(ids.to(self.device), mask.to(self.device), positions.to(self.device), cache)
            self._decode(rows, pads, self.net.logits(state[:, -1]), cache)

    def _decode(self, rows: list[_Row], pads: torch.Tensor, logits: torch.Tensor, cache: Cache) -> None:
        while rows:
            tokens = self._draw(rows, logits.float().cpu().numpy())
            live = [i for i, row in enumerate(rows) if not row.finish]
            if not live:
                return
            if len(live) <= _COMPACT * len(rows):  # copying the cache costs more than a few idle rows
                keep = torch.tensor(live)
                cache.keep(keep.to(self.device))
                rows, pads, tokens = [rows[i] for i in live], pads[keep], [tokens[i] for i in live]
            length = cache.length
            mask = (torch.arange(length + 1)[None] >= pads[:, None])[:, None, None]  # (B, 1, 1, S)
            ids = torch.tensor(tokens)[:, None]
            positions = (length - pads)[:, None]
            state = self.net.hidden(ids.to(self.device), mask.to(self.device), positions.to(self.device), cache)
            logits = self.net.logits(state[:, -1])

    def _draw(self, rows: list[_Row], logits: NDArray[np.float32]) -> list[int]:
        """Append one token to each row, or finish it."""
        logits[:, self.banned] = -np.inf
        for row, values in zip(rows, logits, strict=True):
            if row.finish:
                continue
            if row.room <= len(row.made):
                row.finish = "length"
                continue
            if len(row.made) < self.sampling.min_new_tokens:
                values[EOS] = -np.inf
            token = self._choose(row, values)
            if token == EOS:
                row.finish = "stop"
                continue
            row.made.append(token)
            if len(row.made) >= row.room:
                row.finish = "length"
        return [row.made[-1] if row.made else PAD for row in rows]

    def _choose(self, row: _Row, values: NDArray[np.float32]) -> int:
        """Return an allowed token; refused ones are taken out and the draw is repeated."""
        if self.sampling.repetition_penalty != 1.0 and row.made:
            seen = np.unique(row.made)
            held = values[seen]
            penalty = self.sampling.repetition_penalty
            values[seen] = np.where(held > 0, held / penalty, held * penalty)
        tail = self.tokenizer.decode(row.made[-_TAIL_TOKENS:]) if self.blocked else ""
        for _ in range(_TRIES):
            token = draw_token(values, self.sampling, row.random)
            if not self.blocked:
                return token
            piece = "" if token == EOS else self.tokenizer.decode([*row.made[-_TAIL_TOKENS:], token])[len(tail) :]
            if not self.blocked.completes(tail, piece, final=token == EOS):
                return token
            values[token] = -np.inf
        return EOS


def draw_token(values: NDArray[np.float32], sampling: Sampling, random: np.random.Generator) -> int:
    """Return one token id from logits (V,), by temperature, top-k and top-p; greedy at temperature 0.

    Source of top-p: Holtzman et al. 2020, section 3.1.
    """
    if sampling.temperature <= 0:
        return int(values.argmax())
    k = min(max(sampling.top_k, 1), len(values))
    top = np.argpartition(values, -k)[-k:]
    top = top[np.argsort(-values[top], kind="stable")]
    scaled = (values[top] - values[top[0]]).astype(np.float64) / sampling.temperature
    p = np.exp(scaled)
    p /= p.sum()
    mass = np.cumsum(p)
    last = int(np.searchsorted(mass, sampling.top_p)) + 1
    mass = mass[:last]
    return int(top[min(int(np.searchsorted(mass, random.random() * mass[-1], side="right")), len(mass) - 1)])


def _buckets(rows: Sequence[_Row], size: int) -> Iterator[list[_Row]]:
    ordered = sorted(rows, key=lambda row: (len(row.prompt), row.index))
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]
