"""Start a causal network at the weights of the sentence encoder all-MiniLM-L6-v2.

Positions beyond the encoder's 512 begin as a repetition of them.
Source: Wang et al. 2020 (MiniLM); Rothe et al. 2020 (an encoder's weights start a decoder).
"""

from __future__ import annotations

from pathlib import Path

from torch import Tensor

from engine.errors import InternalError
from engine.models.builtin.decoder.bert_net import BertConfig, BertNet, file_name


def from_encoder(config: BertConfig, encoder: Path, embeddings: Tensor) -> BertNet:
    """Return the network with the encoder's layers and positions and the given token embeddings (V, C).

    Raises:
        InternalError: the encoder's sizes are others than the network's.
    """
    from safetensors.torch import load_file

    net = BertNet(config)
    old = {f"bert.{k.removeprefix('bert.')}": v.float() for k, v in load_file(encoder / "model.safetensors").items()}
    new = {name: old.get(file_name(name), value) for name, value in net.state_dict().items()}
    positions = new["embed_positions.weight"]
    kind = old["bert.embeddings.token_type_embeddings.weight"][0]  # the one kind every position of a text has
    new["embed_positions.weight"] = positions.repeat(-(-config.context // len(positions)), 1)[: config.context] + kind
    new["embed_tokens.weight"] = embeddings
    try:
        net.load_state_dict(new)
    except RuntimeError:
        raise InternalError("the encoder's sizes are others than the network's") from None
    return net
