"""A small causal language model made fresh from text: its public vocabulary, and what it thinks of other texts.

Tokens are the first merges of a byte-level vocabulary that was made from public text: every text can be written in
them, and no private text had a part in them.

Privacy posture: texts and scores stay in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from engine.errors import UserError
from engine.models.builtin.shipped import vocabulary_folder
from engine.models.tune.stacked import Report, Rows, Shape, Stack, Training, quiet, train

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MERGES = 1000
START, END = 0, 1
_SPECIAL = ("<|start|>", "<|end|>")
_BLANK = frozenset("ĠĊĉč")  # blank, line feed, tab and carriage return, as byte-level tokens write them
_ROOM = 32_000_000  # numbers of logits held at once

Floats = NDArray[np.float64]


@lru_cache(maxsize=2)
def public_tokenizer(merges: int = MERGES, folder: Path | None = None) -> Tokenizer:
    """Return the public vocabulary cut to its bytes and first merges; ids 0 and 1 are start and end.

    Raises:
        UserError: the vocabulary is missing.
    """
    from tokenizers import Tokenizer

    path = (folder or vocabulary_folder()) / "tokenizer.json"
    if not path.is_file():
        raise UserError("assets/models/vocabulary lacks tokenizer.json: check out again")
    content = json.loads(path.read_text(encoding="utf-8"))
    model = content["model"]
    kept = [pair if isinstance(pair, list) else pair.split(" ") for pair in model["merges"][:merges]]
    letters = sorted(entry for entry in model["vocab"] if len(entry) == 1)
    entries = dict.fromkeys([*_SPECIAL, *letters, *("".join(pair) for pair in kept)])
    model["vocab"], model["merges"] = {entry: i for i, entry in enumerate(entries)}, kept
    content["added_tokens"] = []
    return Tokenizer.from_str(json.dumps(content))


def vocabulary_size(merges: int = MERGES) -> int:
    """Return the number of token types."""
    return int(public_tokenizer(merges).get_vocab_size())


def encode(texts: Sequence[str], merges: int = MERGES) -> list[NDArray[np.int64]]:
    """Return each text's token ids, the end token last."""
    found = public_tokenizer(merges).encode_batch([str(text) for text in texts], add_special_tokens=False)
    return [np.array([*entry.ids, END], np.int64) for entry in found]


def windows(rows: Rows, context: int) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """Return rows cut into pieces of at most `context` tokens, and each piece's row."""
    pieces = [(row[at : at + context], i) for i, row in enumerate(rows) for at in range(0, len(row), context)]
    return [piece for piece, _ in pieces], np.array([i for _, i in pieces], np.int64)


def decode(rows: Rows, merges: int = MERGES) -> list[str]:
    """Return the text of token ids; a character cut in the middle is replaced."""
    found: list[str] = public_tokenizer(merges).decode_batch([row[row > END].tolist() for row in rows])
    return found


def fitted(
    rows: Rows,
    members: NDArray[np.bool_],
    seeds: Sequence[int],
    shape: Shape,
    training: Training,
    report: Report = quiet,
) -> tuple[Stack, Floats]:
    """Return models trained together and their losses over the last epoch.

    Args:
        rows: token ids a record, any length; members: bool (models, records). seeds: one a model.
    """
    stack = Stack(shape, seeds)
    pieces, of = windows(rows, shape.context)
    return stack, train(stack, pieces, members[:, of], START, training, report)


def mean_log_probability(stack: Stack, rows: Rows, report: Report = quiet) -> Floats:
    """Return the mean log-probability a token of each row, in nats, each model: float64 (models, rows)."""
    found = np.empty((len(stack), len(rows)))
    for chosen, logits, targets in _forward(stack, rows, None, report):
        picked = _picked(logits, targets)
        counts = (targets >= 0).sum(-1)
        found[:, chosen] = (picked.sum(-1) / counts).double().cpu().numpy()
    return found


def token_statistics(stack: Stack, rows: Rows, report: Report = quiet) -> list[Floats]:
    """Return, for each row, each token's log-probability and the mean and spread of all tokens' there: float64 (3, T).

    Mean and spread are over what the model itself would draw (Zhang et al. 2024, equation 3). First model only.
    """
    found: list[Floats] = [np.empty((3, 0))] * len(rows)
    for chosen, logits, targets in _forward(stack, rows, None, report):
        log = F.log_softmax(logits[0], -1)
        chance = log.exp()
        mean = (chance * log).sum(-1)
        spread = ((chance * log.square()).sum(-1) - mean.square()).clamp(min=0).sqrt()
        picked = _picked(logits, targets)[0]
        table = torch.stack([picked, mean, spread], 1).double().cpu().numpy()  # (B, 3, T)
        for at, row in enumerate(chosen):
            found[row] = table[at][:, : len(rows[row])]
    return found


def next_tokens(stack: Stack, rows: Rows, report: Report = quiet) -> list[Floats]:
    """Return, for each row, each token's log-probability and whether it was the likeliest: float64 (2, models, T)."""
    found: list[Floats] = [np.empty((2, len(stack), 0))] * len(rows)
    for chosen, logits, targets in _forward(stack, rows, None, report):
        table = torch.stack([_picked(logits, targets), (logits.argmax(-1) == targets).float()]).double().cpu().numpy()
        for at, row in enumerate(chosen):
            found[row] = table[:, :, at, : len(rows[row])]  # (2, models, T)
    return found


def words_of(row: NDArray[np.int64], merges: int = MERGES) -> NDArray[np.int64]:
    """Return the number of the word that each token of a row belongs to, int64 (T,); -1 for the end token.

    A word is what stands between blanks: a token that begins with a blank or a line's end opens one.
    """
    tokenizer = public_tokenizer(merges)
    opens = np.array([str(tokenizer.id_to_token(int(token)))[:1] in _BLANK for token in row], bool)
    opens[:1] = False
    return np.where(row == END, -1, np.cumsum(opens)).astype(np.int64)


def log_probability_behind(stack: Stack, prefix: NDArray[np.int64], rows: Rows, report: Report = quiet) -> Floats:
    """Return the mean log-probability a token of each row behind a prefix, first model: float64 (rows,)."""
    found = np.empty(len(rows))
    for chosen, logits, targets in _forward(stack, rows, prefix, report):
        found[chosen] = (_picked(logits, targets)[0].sum(-1) / (targets[0] >= 0).sum(-1)).double().cpu().numpy()
    return found


def _picked(logits: Tensor, targets: Tensor) -> Tensor:
    """Return the targets' log-probabilities (models, B, T), 0 where there is no target."""
    known = logits.gather(3, targets.clamp(min=0)[..., None])[..., 0] - logits.logsumexp(-1)
    return known * (targets >= 0)


def _forward(
    stack: Stack, rows: Rows, prefix: NDArray[np.int64] | None, report: Report
) -> Iterator[tuple[NDArray[np.int64], Tensor, Tensor]]:
    """Yield (row numbers, logits (models, B, T, V), targets (models, B, T)), rows of like length together."""
    head = np.zeros(0, np.int64) if prefix is None else prefix
    order = np.argsort([len(row) for row in rows], kind="stable")
    room = _ROOM // (len(stack) * stack.shape.vocabulary)
    at = 0
    while at < len(order):
        report(at, len(order))
        width = len(head) + len(rows[order[at]])
        size = 1
        while at + size < len(order):
            width = len(head) + len(rows[order[at + size]])
            if width * (size + 1) > room:
                break
            size += 1
        chosen = order[at : at + size]
        ids, targets = _laid_out(stack, [rows[i] for i in chosen], head)
        with torch.inference_mode():
            logits = stack.logits(ids.expand(len(stack), -1, -1))[:, :, len(head) :]
        yield chosen, logits, targets.expand(len(stack), -1, -1)
        at += size


def _laid_out(stack: Stack, rows: Rows, head: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
    """Return inputs (1, B, head + T) and targets (1, B, T) of rows."""
    width = max(len(row) for row in rows)
    targets = np.full((1, len(rows), width), -1, np.int64)
    ids = np.full((1, len(rows), len(head) + width), START, np.int64)
    ids[0, :, 1 : len(head) + 1] = head
    for at, row in enumerate(rows):
        targets[0, at, : len(row)] = row
        ids[0, at, len(head) + 1 : len(head) + len(row)] = row[:-1]
    return torch.from_numpy(ids).to(stack.device), torch.from_numpy(targets).to(stack.device)
