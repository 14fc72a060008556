"""The built-in network under a trained prefix: keys and values of virtual tokens in front of every layer.

Privacy posture: holds a prefix that may be fitted to private text, in memory.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.models.builtin.decoder.causal_net import Cache
from engine.models.builtin.decoder.generate import BOS, EOS, BatchDecoder
from engine.models.builtin.decoder.net import DecodeNet
from engine.models.builtin.format import control_tokens
from engine.models.builtin.tokenizer import token_bytes
from engine.models.contracts import Constraints, Generation, Sampling
from engine.models.tune.prefix_tuning import Pair, Row, private_tokens

if TYPE_CHECKING:
    from engine.models.builtin.language_model import BuiltinGenerator

_PUBLIC = "This is a document. It is written in plain words, and it tells what happened, where and when. "


class _Prefixed:
    """A cache that begins with the prefix and holds nothing else: what training reads."""

    def __init__(self, keys: Tensor, values: Tensor, rows: int) -> None:
        self.keys, self.values, self.rows, self.length = keys, values, rows, keys.shape[2]

    def extend(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Return the prefix's keys and values with k and v (B, nh, T, hs) behind them."""
        wide = (self.rows, -1, -1, -1)
        return (
            torch.cat([self.keys[layer].expand(*wide).to(k.dtype), k], dim=2),
            torch.cat([self.values[layer].expand(*wide).to(v.dtype), v], dim=2),
        )


class BuiltinPrefix:
    """The built-in network under a prefix: learned keys and values of virtual tokens in every layer.

    The prefix starts as the network's own keys and values of a public sentence (Li and Liang 2021, section 7.4:
    real activations start better than random ones). Text stands behind it, at the positions that follow.
    """

    bare = False

    def __init__(self, generator: BuiltinGenerator) -> None:
        self.generator = generator
        self.module = copy.deepcopy(generator.net).float().eval()  # the generator's own weights stay as they are
        self.device = generator.net.embed_tokens.weight.device
        self.context = generator.net.config.context
        self.keys, self.values = nn.Parameter(torch.empty(0)), nn.Parameter(torch.empty(0))

    def start(self, virtual_tokens: int, seed: int) -> list[tuple[str, nn.Parameter]]:
        """Return keys and values (layers, heads, virtual_tokens, head_dim)."""
        net, encode = self.module, self.generator.tokenizer.encode
        ids: list[int] = encode(_PUBLIC, add_special_tokens=False).ids
        ids = [BOS, *(ids * (virtual_tokens // len(ids) + 1))][:virtual_tokens]
        cache = Cache(net.config, 1, virtual_tokens, net.embed_tokens.weight.dtype, self.device)
        with torch.no_grad():
            net.hidden(torch.tensor([ids], device=self.device), cache=cache)
        self.keys = nn.Parameter(cache.keys[:, 0].float().clone())
        self.values = nn.Parameter(cache.values[:, 0].float().clone())
        return [("keys", self.keys), ("values", self.values)]

    def rows(self, pairs: Sequence[Pair], virtual_tokens: int) -> list[Row]:
        """Return the pairs in tokens, the end token last; texts are cut to what the network reads."""
        encode = self.generator.tokenizer.encode
        room = self.context - virtual_tokens
        made = []
        for pair in pairs:
            head = encode(pair.prompt, add_special_tokens=False).ids
            entry = encode(clean_like(pair.text), add_special_tokens=False)
            space = max(0, room - len(head) - 1)
            ids = [*entry.ids[:space], EOS]
            private = [*private_tokens(entry.offsets[:space], pair.private), False]
            made.append(Row((*head, *ids), len(head), (*([False] * len(head)), *private)))
        return made

    def logits(self, ids: Tensor, real: Tensor, prefix: bool) -> Tensor:
        """Return logits (B, T, V); padding stands behind the text, where causal attention cannot look."""
        if not prefix:
            out: Tensor = self.module(ids)
            return out
        rows, length = ids.shape
        before = self.keys.shape[2]
        own = torch.ones(length, length, dtype=torch.bool, device=ids.device).tril()
        mask = torch.cat([own.new_ones(length, before), own], dim=1)[None, None]  # (1, 1, T, before + T)
        positions = torch.arange(before, before + length, device=ids.device).expand(rows, -1)
        cache: Any = _Prefixed(self.keys, self.values, rows)
        return self.module.logits(self.module.hidden(ids, mask, positions, cache))

    def writer(self) -> PrefixGenerator:
        """Return a generator that writes behind the prefix."""
        return PrefixGenerator(self)


def clean_like(text: str) -> str:
    """Return the text with control tokens broken up and as many code points as before, so that offsets hold."""
    return text.replace("<|", "< ")


class PrefixGenerator:
    """Generates with the built-in network behind a trained prefix.

    Args:
        base: the network and its prefix.
        batch_size: sequences that run side by side; None = as many as the generator runs.
        dtype: type to multiply in; None = the generator's.
    """

    id = "builtin-prefix"
    capabilities = frozenset({"block_tokens"})

    def __init__(self, base: BuiltinPrefix, batch_size: int | None = None, dtype: torch.dtype | None = None) -> None:
        self.base, self.tokenizer = base, base.generator.tokenizer
        self.net = DecodeNet(base.module, dtype or base.generator.dtype)
        self.batch_size = batch_size or base.generator.batch_size
        self.context = base.context - base.keys.shape[2]
        self._banned = [i for i in range(len(control_tokens())) if i != EOS]
        self._pieces = token_bytes(self.tokenizer)

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, constraints: Constraints | None = None
    ) -> list[Generation]:
        """Return one generation a prompt, in order; the same call gives the same texts."""
        limit = self.context - min(sampling.max_new_tokens, self.context // 3)
        rows = [self.tokenizer.encode(p, add_special_tokens=False).ids for p in prompts]
        rows = [ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]] for ids in rows]
        learned = (self.base.keys.detach(), self.base.values.detach())
        kept_out = constraints or Constraints()
        decoder = BatchDecoder(
            self.net, self.tokenizer, sampling, kept_out.blocked, self._pieces, self._banned, learned=learned,
            names=kept_out.names,
        )  # fmt: skip
        return decoder.run(rows, self.batch_size)

    def score(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return each text's token log-probabilities in nats behind the prefix, end token last."""
        found = []
        for row in self.base.rows([Pair("<|bos|>", text) for text in texts], self.base.keys.shape[2]):
            ids = torch.tensor([row.ids[:-1]], device=self.base.device)
            with torch.inference_mode():
                out = self.base.logits(ids, ids >= 0, prefix=True).float().log_softmax(-1)
            picked = out[0].gather(1, torch.tensor(row.ids[1:], device=self.base.device)[:, None])[:, 0]
            found.append(picked.cpu().numpy().astype(np.float32))
        return found
