"""The tagger for languages other than English: character-aware words under a bidirectional LSTM.

A word is the mean of hashed pieces of its lower-case form, beside a convolution over its letters as
written and its shape; what inflection and compounds leave of a name is found by its parts. Trained from nothing on
permissively licensed text, so that no pretrained model stands behind it.

Privacy posture: texts pass through memory only; nothing is logged or stored.

Source: Bojanowski et al. 2017 (hashed character n-grams); Ma and Hovy 2016 (letters by convolution under an LSTM).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import regex
import torch
from numpy.typing import NDArray
from torch import nn

from engine.errors import UserError
from engine.models.builtin.tagger.tagger import TAGS, Pieces, word_shape

BUCKETS = 65_536
SMALLEST, LARGEST = 2, 5  # letters of a hashed piece, word edges included
LETTERS = 20  # of a word as the convolution sees it: the first and the last half
PLAIN_LETTERS, HASHED_LETTERS = 592, 64  # code points below are themselves, others share
SHAPES = 16
OWN_TAGS = TAGS[:11]  # nothing, and beginning and inside of a person, place, organisation, date and code
WORD = regex.compile(r"[\p{L}\p{M}]+|\p{N}+|\n|[^\s]")


def words_in(text: str) -> Pieces:
    """Return the words, numbers, marks and line ends of a text; `ids` is not used and all 0."""
    found = [m.span() for m in WORD.finditer(text)]
    starts = np.asarray([a for a, _ in found], dtype=np.int32)
    ends = np.asarray([b for _, b in found], dtype=np.int32)
    shapes = np.asarray([_shape(text, a, b) for a, b in found], dtype=np.int8)
    return Pieces(np.zeros(len(found), dtype=np.int32), shapes, starts, ends, np.arange(len(found), dtype=np.int32))


def _shape(text: str, start: int, end: int) -> int:
    """Return 0 to 7 for what a word is, and 8 more where a space stands before it."""
    first = text[start]
    kind = 5 if first.isdigit() else 6 if first == "\n" else word_shape(text[start:end]) if first.isalpha() else 7
    return kind + 8 * (start > 0 and text[start - 1].isspace())


@lru_cache(maxsize=200_000)
def pieces_of(word: str) -> tuple[int, ...]:
    """Return the buckets of a word's lower-case form and of its n-grams; digits count as one sign."""
    low = "<" + regex.sub(r"\p{N}", "0", word.lower()) + ">"
    grams = {low} | {low[i : i + n] for n in range(SMALLEST, LARGEST + 1) for i in range(len(low) - n + 1)}
    return tuple(sorted(zlib.crc32(g.encode()) % BUCKETS for g in grams))


@lru_cache(maxsize=200_000)
def letters_of(word: str) -> tuple[int, ...]:
    """Return `LETTERS` letter numbers, 0 where the word is shorter; of a long word its beginning and end."""
    seen = word if len(word) <= LETTERS else word[: LETTERS // 2] + word[-LETTERS // 2 :]
    codes = [1 + (ord(c) if ord(c) < PLAIN_LETTERS else PLAIN_LETTERS + ord(c) % HASHED_LETTERS) for c in seen]
    return (*codes, *([0] * (LETTERS - len(codes))))


class WordTaggerNet(nn.Module):
    """Words (B, T) -> tag logits (B, T, len(OWN_TAGS))."""

    def __init__(self, wide: int = 96, letters: int = 64, hidden: int = 144) -> None:
        super().__init__()
        self.grams = nn.EmbeddingBag(BUCKETS, wide, mode="mean")
        self.letters = nn.Embedding(1 + PLAIN_LETTERS + HASHED_LETTERS, 32, padding_idx=0)
        self.by_letter = nn.Conv1d(32, letters, 3, padding=1)
        self.shape = nn.Embedding(SHAPES, 16)
        self.dropout = nn.Dropout(0.25)
        self.context = nn.LSTM(wide + letters + 16, hidden, 2, batch_first=True, bidirectional=True, dropout=0.2)
        self.head = nn.Linear(2 * hidden, len(OWN_TAGS))
        nn.init.normal_(self.grams.weight, std=0.3)

    def forward(self, batch: Batch) -> torch.Tensor:
        """Return tag logits (B, T, len(OWN_TAGS))."""
        own = self.grams(batch.grams, batch.offsets)  # (U, wide)
        spelt = self.by_letter(self.letters(batch.letters).transpose(1, 2)).amax(-1)  # (U, letters)
        words = torch.cat([own, spelt.to(own.dtype)], -1)[batch.words]  # (B, T, wide + letters)
        found, _ = self.context(self.dropout(torch.cat([words, self.shape(batch.shapes)], -1)))
        return self.head(self.dropout(found))


class Batch:
    """Padded words of several texts; each different word's pieces come once.

    Attributes:
        words, shapes: (B, T) numbers of different words and shapes. grams, offsets: the pieces of each word as
        an embedding bag takes them. letters: (U, LETTERS). sizes: words of each text.
    """

    def __init__(self, rows: Sequence[tuple[Sequence[str], NDArray[np.int8]]]) -> None:
        self.sizes = [len(words) for words, _ in rows]
        number: dict[str, int] = {"": 0}
        ids = np.zeros((len(rows), max(self.sizes, default=0)), dtype=np.int64)
        shapes = np.zeros_like(ids)
        for i, (words, own) in enumerate(rows):
            ids[i, : len(words)] = [number.setdefault(w, len(number)) for w in words]
            shapes[i, : len(words)] = own
        bags = [pieces_of(w) for w in number]
        self.words, self.shapes = torch.from_numpy(ids), torch.from_numpy(shapes)
        self.grams = torch.from_numpy(np.fromiter((g for b in bags for g in b), dtype=np.int64))
        self.offsets = torch.from_numpy(np.cumsum([0, *(len(b) for b in bags[:-1])]))
        self.letters = torch.tensor([letters_of(w) for w in number])


def load_word_net(folder: Path) -> WordTaggerNet:
    """Return the network with the weights of `folder`, ready to tag.

    Raises:
        UserError: weights are missing or do not fit.
    """
    from safetensors.torch import load_file

    path = folder / "model.safetensors"
    if not path.is_file():
        raise UserError(f"the tagger folder {folder.name!r} has no model.safetensors: name a complete folder")
    net = WordTaggerNet()
    try:
        net.load_state_dict({k: v.float() for k, v in load_file(str(path)).items()})
    except RuntimeError:
        raise UserError(f"the tagger weights in {folder.name!r} do not fit this version: train them again") from None
    return net.eval()
