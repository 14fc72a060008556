"""The hidden states of the built-in network, read for texts.

The state of a layer is what it hands to the next one. A text is read by itself, in float32, so that its states do not
depend on which texts are read beside it.

Privacy posture: states of private texts are private; they stay in memory, and nothing is logged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.models.builtin.decoder.causal_net import CausalNet
from engine.models.threads import one_thread


def mean_states(
    net: CausalNet, rows: Sequence[Sequence[int]], start: int, layers: Sequence[int]
) -> NDArray[np.float32]:
    """Return the mean over each text's tokens of the states behind chosen layers, (n, layers, d); zeros for no text.

    Args:
        rows: token ids of each text, fewer than the context. start: the token in front of a text, which is not counted.
        layers: 0 is the first.
    """
    caught: dict[int, Tensor] = {}
    handles = [net.layers[layer].register_forward_hook(_catch(caught, layer)) for layer in layers]
    device = net.embed_tokens.weight.device
    found = torch.zeros(len(rows), len(layers), net.config.hidden_size)
    try:
        with one_thread(), torch.inference_mode():
            for place, row in enumerate(rows):
                if not row:
                    continue
                net.hidden(torch.tensor([[start, *row]], device=device))
                for i, layer in enumerate(layers):
                    found[place, i] = caught[layer][0, 1:].float().mean(0)
    finally:
        for handle in handles:
            handle.remove()
    return found.numpy()


def _catch(caught: dict[int, Tensor], layer: int) -> Callable[[nn.Module, object, Tensor], None]:
    def hook(_module: nn.Module, _given: object, state: Tensor) -> None:
        caught[layer] = state

    return hook
