"""Beam search with the built-in network: the likeliest continuations of a prompt, several of them.

Deterministic: no random stream is used. Computed in the network's own float32.
Source: Wu et al. 2016 (GNMT), section 7, with length penalty α = 1: finished beams are compared by mean
log-probability a token.
Privacy posture: prompts hold redacted record text; nothing is logged or kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.models.builtin.decoder.causal_net import Cache, CausalNet
from engine.models.cancel import Cancelled

PAD, EOS = 0, 2
ROWS = 80  # beams of all prompts that run side by side


@dataclass
class _Search:
    """One prompt's state: running beams' tokens and finished ones with their mean log-probability."""

    running: list[list[int]]
    finished: list[tuple[float, list[int]]] = field(default_factory=list)
    done: bool = False

    def finish(self, score: float, tokens: list[int], most: int) -> None:
        """Keep a finished beam among the best `most`."""
        self.finished.append((score / (len(tokens) + 1), tokens))
        self.finished.sort(key=lambda pair: -pair[0])
        del self.finished[most:]


def beam_search(
    net: CausalNet,
    prompts: Sequence[list[int]],
    beams: int,
    *,
    longest: int,
    shortest: int = 0,
    banned: Sequence[int] = (),
    cancelled: Callable[[], bool] = lambda: False,
) -> list[list[list[int]]]:
    """Return at most `beams` token lists a prompt, without the end token, the likeliest first.

    Args:
        net: The network in evaluation mode. prompts: Token ids, at least one each, with room for one more.
        beams: Beams a prompt, at least 1. longest, shortest: New tokens of a beam.
        banned: Token ids that are never drawn.
    """
    size = max(1, ROWS // beams)
    order = sorted(range(len(prompts)), key=lambda i: (len(prompts[i]), i))
    found: list[list[list[int]]] = [[] for _ in prompts]
    with torch.inference_mode():
        for start in range(0, len(order), size):
            if cancelled():
                raise Cancelled("cancelled while the model was writing")
            chunk = order[start : start + size]
            room = min(longest, net.config.context - max(len(prompts[i]) for i in chunk))
            made = _chunk(net, [prompts[i] for i in chunk], beams, room, min(shortest, room), list(banned))
            for i, lists in zip(chunk, made, strict=True):
                found[i] = lists
    return found


def _chunk(
    net: CausalNet, prompts: list[list[int]], beams: int, longest: int, shortest: int, banned: list[int]
) -> list[list[list[int]]]:
    device, width = net.embed_tokens.weight.device, max(map(len, prompts))
    ids = torch.full((len(prompts), width), PAD)
    for i, prompt in enumerate(prompts):
        ids[i, width - len(prompt) :] = torch.tensor(prompt)
    pads = torch.tensor([width - len(prompt) for prompt in prompts])
    real = torch.arange(width)[None] >= pads[:, None]
    causal = torch.ones(width, width, dtype=torch.bool).tril()
    mask = ((real[:, None] & causal) | torch.eye(width, dtype=torch.bool))[:, None].to(device)
    positions = (torch.arange(width)[None] - pads[:, None]).clamp(min=0).to(device)
    cache = Cache(net.config, len(prompts), width + longest, net.embed_tokens.weight.dtype, device)
    logits = net.logits(net.hidden(ids.to(device), mask, positions, cache)[:, -1])
    each = torch.arange(len(prompts)).repeat_interleave(beams)
    cache.keep(each.to(device))
    pads, logits = pads[each], logits[each.to(device)]
    scores = torch.full((len(prompts), beams), -torch.inf)
    scores[:, 0] = 0.0  # all beams of a prompt are one at first
    searches = [_Search([[] for _ in range(beams)]) for _ in prompts]
    live = searches
    for made in range(longest + 1):
        source, tokens, scores = _step(live, logits, scores, beams, made, longest, shortest, banned)
        going = [i for i, search in enumerate(live) if not search.done]
        if not going:
            break
        if len(going) < len(live):  # finished prompts leave
            rows = (torch.tensor(going)[:, None] * beams + torch.arange(beams)).flatten()
            source, tokens, scores, pads = source[rows], tokens[rows], scores[going], pads[rows]
            live = [live[i] for i in going]
        cache.keep(source.to(device))
        seen = (torch.arange(cache.length + 1)[None] >= pads[:, None])[:, None, None].to(device)
        at = (cache.length - pads)[:, None].to(device)
        logits = net.logits(net.hidden(tokens[:, None].to(device), seen, at, cache)[:, -1])
    return [[tokens for _, tokens in search.finished] for search in searches]


def _step(
    searches: list[_Search],
    logits: Tensor,
    scores: Tensor,
    beams: int,
    made: int,
    longest: int,
    shortest: int,
    banned: list[int],
) -> tuple[Tensor, Tensor, Tensor]:
    """Take every prompt one token further; return each row's parent row, its token, and scores (prompts, beams)."""
    logp = logits.float().cpu()
    logp[:, banned] = -torch.inf
    if made < shortest:
        logp[:, EOS] = -torch.inf
    logp = logp.log_softmax(-1)
    vocabulary = logp.shape[-1]
    total = (scores[..., None] + logp.view(len(searches), beams, vocabulary)).flatten(1)
    best, places = total.topk(2 * beams, dim=1)  # enough: at most one candidate a beam ends
    source, tokens = torch.arange(len(searches) * beams), torch.full((len(searches) * beams,), PAD)
    after = torch.full_like(scores, -torch.inf)
    for number, search in enumerate(searches):
        if search.done:
            continue
        if made == longest:
            for beam, tokens_made in enumerate(search.running):
                if scores[number, beam] > -torch.inf:
                    search.finish(float(scores[number, beam]), tokens_made, beams)
            search.done = True
            continue
        running: list[list[int]] = []
        for value, place in zip(best[number].tolist(), places[number].tolist(), strict=True):
            beam, token = divmod(place, vocabulary)
            if value == -float("inf") or len(running) == beams:
                break
            if token == EOS:
                search.finish(value, search.running[beam], beams)
                continue
            row = number * beams + len(running)
            source[row], tokens[row], after[number, len(running)] = number * beams + beam, token, value
            running.append([*search.running[beam], token])
        search.running = running + [[] for _ in range(beams - len(running))]
        hopeless = not running or (
            len(search.finished) == beams and float(after[number].max()) / (made + 2) <= search.finished[-1][0]
        )
        search.done = hopeless
    return source, tokens, after
