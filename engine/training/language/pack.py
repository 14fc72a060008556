"""Store training sequences as shards and pack them into fixed-length rows.

A shard is a safetensors-free numpy archive in the run's work folder: `tokens` uint16, `loss_from` and `ends`
int64 a sequence, and the name of its group. Shards that appear while a training runs are picked up.
Rows of 128 to 1,024 tokens keep attention short for short documents; tokens see their own document only.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.training.language.sequences import Sequence_

if TYPE_CHECKING:
    from tokenizers import Tokenizer

ROW_LENGTHS = (128, 256, 512, 1024)


def write_shard(
    path: Path, group: str, sequences: Iterable[Sequence_], tokenizer: Tokenizer, context: int = 512
) -> int:
    """Write tokenised sequences to `path` and return the number of tokens.

    Sequences over the context are cut at the end when plain and dropped when the prompt leaves no room.
    """
    tokens: list[NDArray[np.uint16]] = []
    starts: list[int] = []
    batch: list[Sequence_] = []

    def flush() -> None:
        prompts = tokenizer.encode_batch([s.prompt for s in batch], add_special_tokens=False)
        outputs = tokenizer.encode_batch([s.output for s in batch], add_special_tokens=False)
        for prompt, output in zip(prompts, outputs, strict=True):
            ids = (prompt.ids + output.ids)[:context]
            if len(ids) < len(prompt.ids) + len(output.ids) and len(prompt.ids) > 40:
                continue
            tokens.append(np.asarray(ids, dtype=np.uint16))
            starts.append(len(prompt.ids))
        batch.clear()

    for sequence in sequences:
        batch.append(sequence)
        if len(batch) >= 2000:
            flush()
    flush()
    ends = np.cumsum([len(t) for t in tokens])
    temporary = path.with_suffix(".tmp.npz")
    np.savez(temporary, tokens=np.concatenate(tokens), loss_from=np.asarray(starts), ends=ends, group=np.asarray(group))
    temporary.replace(path)
    return int(ends[-1])


@dataclass
class _Group:
    tokens: NDArray[np.uint16]
    loss_from: NDArray[np.int64]
    ends: NDArray[np.int64]
    order: NDArray[np.int64]
    cursor: int = 0
    passes: int = 0
    drawn: int = 0


@dataclass(frozen=True)
class Batch:
    """One micro-batch: ids, targets int64 (B, T), targets -100 where no loss; documents int64 (B, T)."""

    ids: NDArray[np.int64]
    targets: NDArray[np.int64]
    documents: NDArray[np.int64]


class ShardReader:
    """Draws sequences from every shard of a folder in the asked token shares."""

    def __init__(self, folder: Path, shares: Mapping[str, float], seed: int) -> None:
        self.folder, self.shares = folder, dict(shares)
        self.generator = np.random.default_rng(seed)
        self.groups: dict[str, _Group] = {}
        self._seen: set[str] = set()
        self.refresh()

    def refresh(self) -> list[str]:
        """Load shards not seen before and return their file names."""
        new = [p for p in sorted(self.folder.glob("*.npz")) if p.name not in self._seen and ".tmp" not in p.name]
        for path in new:
            self._seen.add(path.name)
            with np.load(path, allow_pickle=False) as data:
                self._add(str(data["group"]), data["tokens"], data["loss_from"], data["ends"])
        return [p.name for p in new]

    def _add(
        self, name: str, tokens: NDArray[np.uint16], loss_from: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> None:
        old = self.groups.get(name)
        if old is not None:
            ends = np.concatenate([old.ends, ends + len(old.tokens)])
            tokens, loss_from = np.concatenate([old.tokens, tokens]), np.concatenate([old.loss_from, loss_from])
        drawn = max((g.drawn / max(self.shares.get(n, 0.0), 1e-9) for n, g in self.groups.items()), default=0.0)
        self.groups[name] = _Group(
            tokens,
            loss_from,
            ends,
            self.generator.permutation(len(ends)),
            drawn=int(drawn * self.shares.get(name, 0.0)),
        )

    def next(self) -> tuple[NDArray[np.uint16], int]:
        """Return (tokens, index of the first output token) of the group furthest behind its share."""
        live = [n for n in self.groups if self.shares.get(n, 0.0) > 0]
        name = min(live, key=lambda n: self.groups[n].drawn / self.shares[n])
        group = self.groups[name]
        if group.cursor >= len(group.order):
            group.order, group.cursor, group.passes = self.generator.permutation(len(group.ends)), 0, group.passes + 1
        index = int(group.order[group.cursor])
        group.cursor += 1
        start = int(group.ends[index - 1]) if index else 0
        piece = group.tokens[start : int(group.ends[index])]
        group.drawn += len(piece)
        return piece, int(group.loss_from[index])


class Packer:
    """Fills rows of a few lengths with whole sequences and yields batches of about equal token counts."""

    def __init__(self, reader: ShardReader, batch_tokens: int, seed: int, pool: int = 64) -> None:
        self.reader, self.batch_tokens, self.pool_size = reader, batch_tokens, pool
        self.random = random.Random(seed)
        self.pools: dict[int, list[tuple[NDArray[np.uint16], int]]] = {length: [] for length in ROW_LENGTHS}
        self.rows: dict[int, list[list[tuple[NDArray[np.uint16], int]]]] = {length: [] for length in ROW_LENGTHS}

    def batches(self) -> Iterator[Batch]:
        """Yield micro-batches for ever."""
        while True:
            piece = self.reader.next()
            # One sequence may open a row of any length that takes it; short rows are cheapest.
            length = next(r for r in ROW_LENGTHS if len(piece[0]) <= r + 1)
            pool = self.pools[length]
            pool.append(piece)
            if len(pool) < self.pool_size:
                continue
            self.rows[length].append(self._fill(length))
            if len(self.rows[length]) * length >= self.batch_tokens:
                yield self._batch(length, self.rows[length])
                self.rows[length] = []

    def _fill(self, length: int) -> list[tuple[NDArray[np.uint16], int]]:
        """Take the oldest sequence, then from this and shorter pools whatever fits best."""
        row = [self.pools[length].pop(0)]
        room = length + 1 - len(row[0][0])
        while room > 4:
            fits = [
                (len(p[0]), r, i)
                for r in ROW_LENGTHS
                if r <= length
                for i, p in enumerate(self.pools[r])
                if len(p[0]) <= room
            ]
            if not fits:
                break
            _, r, i = max(fits)
            row.append(self.pools[r].pop(i))
            room -= len(row[-1][0])
        return row

    def _batch(self, length: int, rows: list[list[tuple[NDArray[np.uint16], int]]]) -> Batch:
        ids = np.zeros((len(rows), length + 1), dtype=np.int64)
        loss = np.zeros((len(rows), length + 1), dtype=bool)
        documents = np.full((len(rows), length + 1), -1, dtype=np.int64)
        for r, row in enumerate(rows):
            at = 0
            for d, (piece, loss_from) in enumerate(row):
                end = at + len(piece)
                ids[r, at:end], documents[r, at:end] = piece, d
                loss[r, at + loss_from : end] = True
                at = end
        same = documents[:, 1:] == documents[:, :-1]
        targets = np.where(loss[:, 1:] & same, ids[:, 1:], -100)
        return Batch(ids[:, :-1], targets, documents[:, :-1])
