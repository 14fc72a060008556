"""Write and read a network's folder: `config.json` and `model.safetensors`, under transformers' names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from engine.at_rest import files
from engine.errors import InternalError
from engine.models.builtin.decoder import bert_net, llama_net
from engine.models.builtin.decoder.causal_net import CausalNet


def save_folder(net: CausalNet, folder: Path, dtype: torch.dtype = torch.bfloat16, *, with_output: bool = True) -> None:
    """Write a network so that transformers can open the folder; each file appears whole.

    Args:
        net: the network, without adapters. folder: made where it is missing. dtype: of the weights in the file.
        with_output: whether an output layer that follows from other weights is written too; transformers needs it.
    """
    from safetensors.torch import save, save_file

    if isinstance(net, llama_net.LlamaNet):
        values, tensors = net.config.to_transformers(), llama_net.to_folder(net)
    elif isinstance(net, bert_net.BertNet):
        values, tensors = net.config.to_transformers(), bert_net.to_folder(net, with_output)
    else:
        raise InternalError(f"a network of the kind {type(net).__name__} has no folder")
    folder.mkdir(parents=True, exist_ok=True)
    ready = {k: v.detach().to("cpu", dtype).contiguous().clone() for k, v in tensors.items()}
    part, weights = folder / "model.safetensors.tmp", folder / "model.safetensors"
    if files.encrypted(weights):
        files.write_bytes(part, save(ready, {"format": "pt"}), at=weights)
    else:
        save_file(ready, part, metadata={"format": "pt"})
    files.put(part, weights)
    values["torch_dtype"] = str(dtype).removeprefix("torch.")
    files.write_bytes(folder / "config.json", (json.dumps(values, indent=1) + "\n").encode())


def load_folder(folder: Path, dtype: torch.dtype = torch.float32) -> CausalNet:
    """Return the network saved in `folder`, in evaluation mode and the given dtype."""
    from safetensors.torch import load, load_file

    values: Any = json.loads(files.read_bytes(folder / "config.json"))
    weights = folder / "model.safetensors"
    tensors = load(files.read_bytes(weights)) if files.encrypted(weights) else load_file(weights)
    bert = values["model_type"] == bert_net.MODEL_TYPE
    net = bert_net.from_folder(values, tensors) if bert else llama_net.from_folder(values, tensors)
    return net.to(dtype).eval()
