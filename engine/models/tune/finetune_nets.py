"""The networks that can be fine-tuned: the built-in one, and a transformers folder.

Privacy posture: holds weights and vocabulary only.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from engine.errors import UserError
from engine.models.builtin.decoder.generate import BOS, EOS
from engine.models.builtin.format import clean
from engine.models.folder.inspection import inspect_folder

if TYPE_CHECKING:
    from engine.models.builtin.language_model import BuiltinGenerator
    from engine.models.contracts import Generator


class BuiltinNet:
    """A copy of the built-in network; the generator's own weights stay as they are."""

    def __init__(self, generator: BuiltinGenerator) -> None:
        self.module = copy.deepcopy(generator.net).float()
        self.tokenizer = generator.tokenizer
        self.bos: int | None = BOS
        self.eos, self.context = EOS, generator.net.config.context

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids a text, without special tokens."""
        encoded = self.tokenizer.encode_batch([clean(t) for t in texts], add_special_tokens=False)
        return [list(entry.ids) for entry in encoded]

    def forward(self, ids: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """Return hidden states and logits; padding stands behind the text, where causal attention cannot look."""
        hidden = self.module.hidden(ids)
        return hidden, self.module.logits(hidden)


class FolderNet:
    """A causal language model of a local folder, safetensors only; the folder is checked before it is opened.

    Args:
        links_within: see `inspect_folder`.

    Raises:
        UserError: the folder is refused or cannot be loaded.
    """

    def __init__(self, model: str | Path, *, links_within: Path | None = None) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from transformers import AutoModelForCausalLM, AutoTokenizer

        if inspect_folder(Path(model), links_within=links_within).kind != "causal":
            raise UserError(f"model {Path(model).name!r} reads and answers; one that writes on (causal) is needed here")
        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        try:
            self.tokenizer: Any = AutoTokenizer.from_pretrained(str(model), **options)
            net: Any = AutoModelForCausalLM.from_pretrained(str(model), use_safetensors=True, **options)
        except (OSError, ValueError, KeyError) as error:
            raise UserError(
                f"model {Path(model).name!r} cannot be loaded ({type(error).__name__}): name a local folder of a "
                "causal language model with safetensors weights"
            ) from None
        if self.tokenizer.eos_token_id is None:
            raise UserError(f"model {Path(model).name!r} has no end token: choose a model whose tokenizer names one")
        self.module: Any = net.float().to("cuda" if torch.cuda.is_available() else "cpu")
        self.bos: int | None = self.tokenizer.bos_token_id
        self.eos = int(self.tokenizer.eos_token_id)
        self.context = int(getattr(self.module.config, "max_position_embeddings", 1024))

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return token ids a text, without special tokens."""
        return [list(row) for row in self.tokenizer(list(texts), add_special_tokens=False)["input_ids"]]

    def forward(self, ids: Tensor, real: Tensor) -> tuple[Tensor, Tensor]:
        """Return last hidden states (B, T, C) and logits (B, T, V)."""
        out = self.module(input_ids=ids, attention_mask=real.long(), output_hidden_states=True, use_cache=False)
        return out.hidden_states[-1], out.logits


def trainable(generator: Generator, model: str | None = None) -> BuiltinNet | FolderNet:
    """Return a network that may be fine-tuned: the folder named, or a copy of the generator's own.

    A generator that runs elsewhere cannot be trained; the built-in network stands in for it, as BERT-small does
    for GPT-4 in the paper.
    """
    from engine.models.builtin.language_model import BuiltinGenerator, load_builtin_generator

    if model:
        return FolderNet(model)
    return BuiltinNet(generator if isinstance(generator, BuiltinGenerator) else load_builtin_generator())
