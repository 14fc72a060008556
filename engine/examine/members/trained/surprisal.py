"""How surprised a model is by records: negative log-probabilities of their tokens, behind the prompt it was tuned with.

S(x) = −Σ ln P(x_t | prompt, x_<t), in nats (Stomakhin 2025, Framework for Privacy-Preserving Synthesis of Textual Data,
section 6.2). A low surprisal speaks for membership; a record that any model finds easy does so too, which is why the
untuned model's surprisal is taken off where there is one (Carlini et al. 2021, Extracting Training Data from Large
Language Models, section 5.2, ratio of two models).

Privacy posture: reads private text in memory; returns numbers only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from engine.dp.noise.train import Document
    from engine.models.contracts import Generator
    from engine.models.tune.tunable import Tunable

Floats = NDArray[np.float64]
_SIDE_BY_SIDE = 16


@dataclass(frozen=True)
class Surprisal:
    """Surprisal of n records under one model.

    Args:
        nats: float (n,), sum over the record's tokens and its end, >= 0. tokens: int (n,), how many were scored.
        right: float (n,), share of tokens that the model ranks first, in [0, 1].
    """

    nats: Floats
    tokens: NDArray[np.int64]
    right: Floats


def network_of(generator: Generator) -> Tunable:
    """Return the network of a generator that lies here, unchanged, to be scored.

    Raises:
        UserError: it runs elsewhere or is no causal model.
    """
    from engine.models.tune.tunable import Adapter, tunable

    return tunable(generator, Adapter(rank=0))


def surprisal(
    net: Tunable,
    documents: Sequence[Document],
    prompt: Callable[[str | None, int], str],
    tokens: int,
    on_batch: Callable[[int, int], None] = lambda done, total: None,
) -> Surprisal:
    """Return the surprisal of documents under a network.

    Args:
        documents: texts with their labels. prompt: label and length in words to what stands in front, as in training.
        tokens: longest text scored; the rest is cut, as in training. on_batch: told documents done and in all.
    """
    import torch
    from torch.nn import functional as F

    from engine.models.tune.tuning_rows import IGNORED, collate, rows

    made = rows(net, documents, prompt, tokens)
    device = next(net.module.parameters()).device
    order = sorted(range(len(made)), key=lambda i: (len(made[i].ids), i))
    nats, counts, right = np.zeros(len(made)), np.zeros(len(made), np.int64), np.zeros(len(made))
    net.module.eval()
    for at in range(0, len(order), _SIDE_BY_SIDE):
        chosen = order[at : at + _SIDE_BY_SIDE]
        ids, targets = collate([made[i] for i in chosen], net.eos, device)
        real = torch.zeros_like(ids, dtype=torch.bool)
        for row, i in enumerate(chosen):
            real[row, : len(made[i].ids) - 1] = True
        with torch.inference_mode():
            logits = net.logits(ids, real).float()  # (B, T, V)
            each = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=IGNORED, reduction="none")
            hit = (logits.argmax(-1) == targets).sum(1)
        counted = (targets != IGNORED).sum(1).cpu().numpy()
        nats[chosen] = each.double().sum(1).cpu().numpy()
        counts[chosen] = counted
        right[chosen] = hit.cpu().numpy() / np.maximum(counted, 1)
        on_batch(at + len(chosen), len(made))
    return Surprisal(nats, counts, right)
