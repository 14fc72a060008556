"""The hidden states of a local causal model: read for texts, and moved while it writes.

The state of a layer is what it hands to the next one (the residual stream), whatever the family calls its layers.
A text is read by itself, so that its states do not depend on which texts are read beside it.

Privacy posture: states of private texts are private; they stay in memory, and nothing is logged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from engine.errors import UserError
from engine.models.threads import one_thread

if TYPE_CHECKING:
    from engine.models.folder.transformers_local import TransformersGenerator

Output = Tensor | tuple[Tensor, ...]  # a layer's state, alone or before what else it hands on


def layers_of(generator: TransformersGenerator) -> nn.ModuleList:
    """Return the layers of a causal model, first to last.

    Raises:
        UserError: the model reads with an encoder, or does not keep its layers in one list.
    """
    if generator.encoder_decoder:
        raise UserError(f"model {generator.id!r} reads with an encoder and cannot be steered: take a causal one")
    wanted = int(generator.model.config.num_hidden_layers)
    found = [part for part in generator.model.modules() if isinstance(part, nn.ModuleList) and len(part) == wanted]
    if not found:
        raise UserError(f"model {generator.id!r} does not show its layers, which steering needs: take another model")
    return found[0]  # lists inside a layer come after the list of layers


def mean_states(
    generator: TransformersGenerator, texts: Sequence[str], layers: Sequence[int], tokens: int = 256
) -> NDArray[np.float32]:
    """Return the mean over each text's tokens of the states behind chosen layers, (n, layers, d); zeros for no text.

    Args:
        layers: 0 is the first. tokens: how much of a text is read.
    """
    blocks, model = layers_of(generator), generator.model
    caught: dict[int, Tensor] = {}
    handles = [blocks[layer].register_forward_hook(_catch(caught, layer)) for layer in layers]
    start = generator.tokenizer.bos_token_id
    found = []
    try:
        for text in texts:
            ids = list(generator.tokenizer.encode(text, add_special_tokens=False))[: min(tokens, generator.context - 1)]
            row = ids if start is None else [start, *ids]
            if not ids:
                found.append(torch.zeros(len(layers), int(model.config.hidden_size)))
                continue
            with one_thread(), torch.inference_mode():
                model(input_ids=torch.tensor([row], device=model.device), use_cache=False)
            found.append(torch.stack([caught[layer][0, -len(ids) :].float().mean(0).cpu() for layer in layers]))
    finally:
        for handle in handles:
            handle.remove()
    values: NDArray[np.float32] = torch.stack(found).numpy().astype(np.float32)
    return values


@contextmanager
def moved_states(generator: TransformersGenerator, vectors: Mapping[int, NDArray[np.float64]]) -> Iterator[None]:
    """Add a vector (d,) behind each named layer to the state of the newest token, for as long as the block runs."""
    blocks = layers_of(generator)
    handles = [blocks[layer].register_forward_hook(_move(torch.tensor(vectors[layer]))) for layer in vectors]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _catch(caught: dict[int, Tensor], layer: int) -> Callable[[nn.Module, object, Output], None]:
    def hook(_module: nn.Module, _given: object, output: Output) -> None:
        caught[layer] = output[0] if isinstance(output, tuple) else output

    return hook


def _move(vector: Tensor) -> Callable[[nn.Module, object, Output], Output]:
    def hook(_module: nn.Module, _given: object, output: Output) -> Output:
        state = (output[0] if isinstance(output, tuple) else output).clone()
        state[:, -1] += vector.to(state.device, state.dtype)
        return (state, *output[1:]) if isinstance(output, tuple) else state

    return hook
