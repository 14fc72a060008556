"""The built-in tagger: a token classifier on all-MiniLM-L6-v2 that finds names, places, dates and codes.

The encoder is uncased; the case of each word reaches it through the token-type embedding, which
is widened to five word shapes. Word and position embeddings are those of the base model and are not
shipped; the weights beside `config.json` hold only what training changed.

Privacy posture: texts pass through memory only; nothing is logged or stored.

Source: Wang et al. 2020 (MiniLM); Pilán et al. 2022, section 5 (a fine-tuned encoder as baseline of
text anonymisation, with the classes of that benchmark).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from engine.errors import UserError

if TYPE_CHECKING:
    from tokenizers import Tokenizer


TYPES = ("PERSON", "LOCATION", "ORGANISATION", "DATE", "CODE", "QUANTITY", "DEMOGRAPHIC", "MISC")
TAGS = ("O", *(f"{p}-{t}" for t in TYPES for p in "BI"))
SHAPES = 5
MAX_PIECES = 254
FROZEN = ("embeddings.word_embeddings.", "embeddings.position_embeddings.")


def word_shape(word: str) -> int:
    """Return 1 for a capitalised word, 2 for upper case, 3 for mixed case, 4 for one capital letter, else 0."""
    if word.islower() or not any(c.isupper() for c in word):
        return 0
    if len(word) == 1:
        return 4
    if word.isupper():
        return 2
    return 1 if word[0].isupper() and not any(c.isupper() for c in word[1:]) else 3


@dataclass(frozen=True)
class Pieces:
    """Word pieces of one text: ids (n,), shapes (n,), starts (n,), ends (n,), words (n,) as a running word number."""

    ids: NDArray[np.int32]
    shapes: NDArray[np.int8]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]
    words: NDArray[np.int32]


def load_tokenizer(folder: Path) -> Tokenizer:
    """Return the fast tokenizer of the base model without truncation or padding."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def encode(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Pieces]:
    """Return the word pieces of each text, offsets in code points."""
    out = []
    for text, enc in zip(texts, tokenizer.encode_batch(list(texts), add_special_tokens=False)):
        offsets = np.asarray(enc.offsets, dtype=np.int32).reshape(-1, 2)
        words = np.asarray([-1 if w is None else w for w in enc.word_ids], dtype=np.int32)
        shapes = np.zeros(len(words), dtype=np.int8)
        for first, last in _runs(words):
            shapes[first:last] = word_shape(text[offsets[first, 0] : offsets[last - 1, 1]])
        out.append(Pieces(np.asarray(enc.ids, dtype=np.int32), shapes, offsets[:, 0], offsets[:, 1], words))
    return out


def _runs(words: NDArray[np.int32]) -> list[tuple[int, int]]:
    """Return half-open runs of equal word numbers."""
    if not len(words):
        return []
    cuts = np.flatnonzero(np.diff(words)) + 1
    edges = [0, *cuts.tolist(), len(words)]
    return list(pairwise(edges))


class TaggerNet(nn.Module):
    """Encoder with a linear head: ids, shapes, mask (B, T) -> logits (B, T, len(TAGS))."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        from transformers import BertModel
        from transformers.utils import logging as transformers_logging

        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()
        self.encoder = BertModel.from_pretrained(
            str(folder),
            add_pooling_layer=False,
            local_files_only=True,
            use_safetensors=True,
            dtype=torch.float32,
            hidden_dropout_prob=0.0,  # word dropout replaces it: a third less time a step on a CPU
            attention_probs_dropout_prob=0.0,
        )
        old = self.encoder.embeddings.token_type_embeddings.weight.data[0]
        table = nn.Embedding(SHAPES, old.shape[0])
        table.weight.data[:] = old
        self.encoder.embeddings.token_type_embeddings = table
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(old.shape[0], len(TAGS))
        for name, parameter in self.encoder.named_parameters():
            parameter.requires_grad = not name.startswith(FROZEN)

    def forward(self, ids: torch.Tensor, shapes: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return tag logits (B, T, len(TAGS))."""
        hidden = self.encoder(input_ids=ids, token_type_ids=shapes, attention_mask=mask).last_hidden_state
        return self.head(self.dropout(hidden))


def collate(
    items: Sequence[tuple[NDArray[np.int32], NDArray[np.int8]]],
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return padded ids, shapes and mask (B, T) with [CLS] and [SEP] around each item."""
    width = max(len(ids) for ids, _ in items) + 2
    ids_out = np.zeros((len(items), width), dtype=np.int64)
    shapes_out = np.zeros((len(items), width), dtype=np.int64)
    mask = np.zeros((len(items), width), dtype=np.int64)
    for row, (ids, shapes) in enumerate(items):
        n = len(ids)
        ids_out[row, 0], ids_out[row, 1 : n + 1], ids_out[row, n + 1] = 101, ids, 102
        shapes_out[row, 1 : n + 1] = shapes
        mask[row, : n + 2] = 1
    return torch.from_numpy(ids_out), torch.from_numpy(shapes_out), torch.from_numpy(mask)


def load_weights(net: TaggerNet, folder: Path) -> None:
    """Put the shipped weights of `folder` into `net`; everything that is not shipped must be frozen.

    Raises:
        UserError: weights are missing or do not fit.
    """
    from safetensors.torch import load_file

    path = folder / "model.safetensors"
    if not path.is_file():
        raise UserError(f"the tagger folder {folder.name!r} has no model.safetensors: name a complete folder")
    missing, unexpected = net.load_state_dict({k: v.float() for k, v in load_file(str(path)).items()}, strict=False)
    left = [name for name in missing if not name.removeprefix("encoder.").startswith(FROZEN)]
    if left or unexpected:
        raise UserError(f"the tagger weights in {folder.name!r} do not fit this version: train them again")
