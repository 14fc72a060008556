"""Train the language model's byte-level vocabulary and give its entries a start from the sentence encoder's own.

An entry of the new vocabulary keeps fixed bytes, so text survives the way there and back exactly. Its first embedding
is the mean of the encoder's word pieces for the same letters (lower-cased), a word's beginning told apart from its
inside by the white space the entry opens with. Idea: Minixhofer et al. 2022 (WECHSEL), Dobler and de Melo 2023 (FOCUS),
reduced to the case where old and new vocabulary spell the same words.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from engine.models.builtin.tokenizer import token_bytes

if TYPE_CHECKING:
    from tokenizers import Tokenizer

SIZE = 12_288


def start_embeddings(tokenizer: Tokenizer, encoder_vocabulary: Path, weights: Tensor, seed: int = 0) -> Tensor:
    """Return first embeddings (V, C) for every entry of `tokenizer`.

    Args:
        tokenizer: byte-level, of V entries.
        encoder_vocabulary: the encoder's `vocab.txt`, a word piece a line.
        weights: float (30522, C), the encoder's word embeddings.
        seed: of the small random part that tells apart entries with the same letters.
    """
    lines = encoder_vocabulary.read_text(encoding="utf-8").split("\n")
    index = {piece: i for i, piece in enumerate(lines) if piece}
    generator = torch.Generator().manual_seed(seed)
    known = weights[1000:]  # behind the encoder's control and unused entries
    mean, spread = known.mean(0), known.std()
    rows = []
    for raw in token_bytes(tokenizer):
        text = raw.decode("utf-8", "ignore")
        word = text.strip().lower()
        found = _pieces(word, index, inside=bool(word) and not text[:1].isspace() and word[:1].isalnum())
        row = weights[found].mean(0) if found else mean.clone()
        rows.append(row + torch.randn(weights.shape[1], generator=generator) * spread * (0.1 if found else 0.3))
    return torch.stack(rows)


def _pieces(word: str, index: dict[str, int], inside: bool) -> list[int]:
    """Return the encoder's pieces for a word, longest first from the left; none where letters are unknown to it."""
    if inside and word in index and f"##{word}" in index:
        return [index[word], index[f"##{word}"]]  # an entry without white space stands at both places
    found: list[int] = []
    at = 0
    while at < len(word):
        for end in range(len(word), at, -1):
            piece = word[at:end] if at == 0 and not inside else f"##{word[at:end]}"
            number = index.get(piece, index.get(word[at:end]) if end - at == 1 else None)
            if number is not None:
                found.append(number)
                at = end
                break
        else:
            return []
    return found
