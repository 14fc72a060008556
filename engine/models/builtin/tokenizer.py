"""Train and load the byte-level BPE vocabulary (Sennrich et al. 2016; bytes as in Radford et al. 2019)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.at_rest import files
from engine.models.builtin.format import control_tokens, placeholder_tokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer

VOCABULARY_SIZE = 8000


def train_tokenizer(texts: Iterable[str], size: int = VOCABULARY_SIZE) -> Tokenizer:
    """Return a tokenizer of `size` entries whose first ids are the control tokens."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    placeholders = placeholder_tokens()
    trainer = trainers.BpeTrainer(
        vocab_size=size - len(placeholders),
        special_tokens=control_tokens(),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
        min_frequency=2,
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.add_tokens([AddedToken(p, special=False, normalized=False) for p in placeholders])
    return tokenizer


def load_tokenizer(folder: Path) -> Tokenizer:
    """Return the tokenizer saved in `folder/tokenizer.json`."""
    from tokenizers import Tokenizer

    path = folder / "tokenizer.json"
    if files.encrypted(path):
        return Tokenizer.from_str(files.read_bytes(path).decode())
    return Tokenizer.from_file(str(path))


def token_bytes(tokenizer: Tokenizer) -> list[bytes]:
    """Return the bytes each id of a byte-level vocabulary stands for; special tokens stand for none."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [b for b in range(256) if b not in printable]  # these are written as the characters from 256 on
    byte_of = {chr(b): b for b in printable} | {chr(256 + i): b for i, b in enumerate(others)}
    added = {
        i: b"" if token.special else token.content.encode() for i, token in tokenizer.get_added_tokens_decoder().items()
    }
    return [
        added[i] if i in added else bytes(byte_of[c] for c in tokenizer.id_to_token(i) or "")
        for i in range(tokenizer.get_vocab_size())
    ]
