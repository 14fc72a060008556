"""The built-in language model behind the `Generator` contract: works with no network and no download.

Privacy posture: prompts and outputs stay in memory; nothing is logged.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from engine.errors import UserError
from engine.models.builtin.decoder.beam import beam_search
from engine.models.builtin.decoder.causal_net import CausalNet
from engine.models.builtin.decoder.folders import load_folder
from engine.models.builtin.decoder.generate import BOS, EOS, PAD, BatchDecoder
from engine.models.builtin.decoder.net import DecodeNet, fast_type, side_by_side, version
from engine.models.builtin.decoder.states import mean_states
from engine.models.builtin.decoder.steering import Steering
from engine.models.builtin.format import EXAMPLE, NO, OUT, YES, control_tokens
from engine.models.builtin.shipped import LM_CAPABILITIES, lm_folder
from engine.models.builtin.tokenizer import load_tokenizer, token_bytes
from engine.models.contracts import Constraints, Generation, Sampling

_SCORED = 32  # texts scored side by side: every position's logits are held


class BuiltinGenerator:
    """Generates and scores with the small network that ships in `assets`.

    Args:
        folder: Model folder (config.json, model.safetensors, tokenizer.json).
        batch_size: Sequences that run side by side; None = as many as pay. Halved where memory runs out.
        dtype: Type that generation multiplies in; None = bfloat16 where the machine is fast in it, else float32.
            Scores are always computed in float32.
        steered: whether decoding holds outputs to the blanks, the length and the key words that prompts ask for.
    """

    id = "builtin"
    capabilities = LM_CAPABILITIES
    texts_a_call = 64
    """Prompts a call should bring: fewer leave the batch half empty, more make a run slow to report and to cancel."""

    def __init__(
        self, folder: Path, batch_size: int | None = None, dtype: torch.dtype | None = None, steered: bool = True
    ) -> None:
        self.net: CausalNet = load_folder(folder)
        if torch.cuda.is_available():
            self.net = self.net.cuda()
        self.tokenizer = load_tokenizer(folder)
        self.dtype = dtype or fast_type()
        self.batch_size = batch_size or side_by_side(self.net, self.dtype)
        self._cancelled: Callable[[], bool] = lambda: False
        self._pieces = token_bytes(self.tokenizer)
        self._steering = Steering(self.tokenizer, self._pieces, EOS) if steered else None
        self._decode: tuple[tuple[int, ...], DecodeNet] | None = None
        self._moves: dict[int, torch.Tensor] = {}
        names = [OUT, EXAMPLE, YES, NO]
        self._out, self._example, yes, no = (int(self.tokenizer.token_to_id(token) or 0) for token in names)
        self._answers = {yes: "yes", no: "no"}
        self._banned = [i for i in range(len(control_tokens())) if i not in {EOS, yes, no}]

    def watch(self, cancelled: Callable[[], bool]) -> None:
        """Ask `cancelled` at every token; a running call then ends with `Cancelled`."""
        self._cancelled = cancelled

    def with_net(self, net: CausalNet, name: str) -> BuiltinGenerator:
        """Return a generator that writes with another network of the same vocabulary; this one stays as it is."""
        other = copy.copy(self)
        other.net, other.id, other._decode, other._moves = net, name, None, {}
        return other

    def generate(
        self, prompts: Sequence[str], sampling: Sampling, constraints: Constraints | None = None
    ) -> list[Generation]:
        """Return one generation a prompt, in order; the same call gives the same texts.

        A prompt to fill gets its template back with every blank filled and no other word changed; one that asks for
        a length gets at least the shortest of its bucket and ends with the first sentence past the longest.

        A prompt that leaves less than `sampling.max_new_tokens` of the context, or less than a third of it, is
        shortened: the oldest examples go first, then the end of the prompt's text before the output token.
        """
        blocked = constraints.blocked if constraints else ()
        decoder = BatchDecoder(
            self._laid_out(),
            self.tokenizer,
            sampling,
            blocked,
            self._pieces,
            self._banned,
            self._answers,
            cancelled=self._cancelled,
            steering=self._steering,
            names=constraints.names if constraints else (),
        )
        encoded = self.tokenizer.encode_batch(list(prompts), add_special_tokens=False)
        limit = self.net.config.context - min(sampling.max_new_tokens, self.net.config.context // 3)
        made = decoder.run([self._fit(entry.ids, limit) for entry in encoded], self.batch_size)
        self.batch_size = decoder.batch_size
        return made

    def search(self, prompts: Sequence[str], sampling: Sampling, beams: int) -> list[list[Generation]]:
        """Return at most `beams` continuations of each prompt by beam search, the likeliest first."""
        encoded = self.tokenizer.encode_batch(list(prompts), add_special_tokens=False)
        limit = self.net.config.context - min(sampling.max_new_tokens, self.net.config.context // 3)
        rows = [self._fit(entry.ids, limit) for entry in encoded]
        found = beam_search(
            self.net, rows, beams, longest=sampling.max_new_tokens, shortest=sampling.min_new_tokens,
            banned=self._banned, cancelled=self._cancelled,
        )  # fmt: skip
        return [
            [
                Generation(
                    self.tokenizer.decode(made, skip_special_tokens=True),
                    len(made),
                    "stop" if len(made) < sampling.max_new_tokens else "length",
                )
                for made in lists
            ]
            for lists in found
        ]

    def _laid_out(self) -> DecodeNet:
        """Return the network as generation uses it, made anew where weights have changed."""
        now = version(self.net)
        if self._decode is None or self._decode[0] != now:
            self._decode = (now, DecodeNet(self.net, self.dtype))
        self._decode[1].moves = self._moves
        return self._decode[1]

    @property
    def depth(self) -> int:
        """Return the number of layers."""
        return self.net.config.layers

    def states(self, texts: Sequence[str], layers: Sequence[int], tokens: int) -> NDArray[np.float32]:
        """Return the mean states of each text behind chosen layers, (n, layers, d); see `decoder.states`."""
        encoded = self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
        most = min(tokens, self.net.config.context - 1)
        return mean_states(self.net, [entry.ids[:most] for entry in encoded], self._out, layers)

    @contextmanager
    def moved(self, vectors: Mapping[int, NDArray[np.float64]]) -> Iterator[None]:
        """Add a vector (d,) behind each named layer to the newest token's state, for as long as the block runs."""
        device = self.net.embed_tokens.weight.device
        self._moves = {
            layer: torch.tensor(vector, dtype=torch.float32, device=device) for layer, vector in vectors.items()
        }
        try:
            yield
        finally:
            self._moves = {}

    def _fit(self, ids: list[int], limit: int) -> list[int]:
        while len(ids) > limit and ids.count(self._example) > 1:
            first = ids.index(self._example)
            ids = ids[:first] + ids[ids.index(self._example, first + 1) :]
        return ids if len(ids) <= limit else [*ids[: limit - 1], self._out]

    def score(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Return each text's token log-probabilities in nats, end token last.

        Texts longer than the context are scored in consecutive windows, each starting afresh.
        """
        pieces: list[tuple[int, list[int]]] = []
        for i, entry in enumerate(self.tokenizer.encode_batch(list(texts), add_special_tokens=False)):
            ids, room = [*entry.ids, EOS], self.net.config.context
            pieces += [(i, ids[at : at + room]) for at in range(0, len(ids), room)]
        scored: list[list[NDArray[np.float32]]] = [[] for _ in texts]
        done: dict[int, NDArray[np.float32]] = {}
        order = sorted(range(len(pieces)), key=lambda p: len(pieces[p][1]))
        for at in range(0, len(order), _SCORED):
            chunk = order[at : at + _SCORED]
            for position, values in zip(chunk, self._score([pieces[p][1] for p in chunk]), strict=True):
                done[position] = values
        for position, (i, _) in enumerate(pieces):
            scored[i].append(done[position])
        return [np.concatenate(parts) for parts in scored]

    def _score(self, rows: list[list[int]]) -> list[NDArray[np.float32]]:
        width = max(map(len, rows))
        targets = torch.tensor([row + [PAD] * (width - len(row)) for row in rows])
        ids = torch.cat([torch.full((len(rows), 1), BOS), targets[:, :-1]], dim=1)
        device = next(self.net.parameters()).device
        with torch.inference_mode():
            logits = self.net(ids.to(device)).float().log_softmax(-1)
        picked = logits.gather(2, targets.to(device)[..., None])[..., 0].cpu().numpy()
        return [picked[i, : len(row)].astype(np.float32) for i, row in enumerate(rows)]


@lru_cache(maxsize=2)
def _load(folder: Path) -> BuiltinGenerator:
    return BuiltinGenerator(folder)


def load_builtin_generator(folder: Path | None = None, threads: int | None = None) -> BuiltinGenerator:
    """Return the built-in generator, loaded once a process.

    Raises:
        UserError: the model's files are missing.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    folder = folder or lm_folder()
    missing = [n for n in ("config.json", "model.safetensors", "tokenizer.json") if not (folder / n).is_file()]
    if missing:
        raise UserError(f"the built-in language model lacks {', '.join(missing)} in assets/models/lm: check out again")
    return _load(folder)
