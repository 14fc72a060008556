"""What a pair experiment keeps of generated text: words as keyed digests, in reading order.

Privacy posture: no word is kept, only 64-bit digests under a secret of the workspace, which count n-grams and nothing
else, and cosines of private texts to their nearest synthetic one. They lie owner-only in the study's own folder and go
when the study is done.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.at_rest import files
from engine.errors import InternalError
from engine.examine.curves.ngram_counts import Ints, Numbers, Tokens, tokens
from engine.store.disk.folder import write_atomic


@dataclass(frozen=True)
class Words:
    """Words of n texts as digests.

    Args:
        digests: uint64 (v,), one a distinct word, rising. ids: int32 (w,), index into `digests`, reading order.
        offsets: int64 (n + 1,); text i has `ids[offsets[i]:offsets[i + 1]]`.
    """

    digests: NDArray[np.uint64]
    ids: NDArray[np.int32]
    offsets: Ints

    @property
    def texts(self) -> int:
        """Number of texts."""
        return len(self.offsets) - 1

    def part(self, first: int, last: int) -> Words:
        """Return texts `first` up to, not including, `last`."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        return Words(self.digests, self.ids[begin:end], self.offsets[first : last + 1] - begin)


def words_of(texts: Sequence[str], key: bytes) -> Words:
    """Return the words of texts as digests under a key of 16 to 64 bytes."""
    numbers = Numbers()
    table = tokens(texts, numbers)
    found = np.fromiter((_digest(word, key) for word in numbers), np.uint64, len(numbers))
    distinct, place = np.unique(found, return_inverse=True)
    return Words(distinct, place.ravel().astype(np.int32)[table.ids], table.offsets)


def together(parts: Sequence[Words]) -> tuple[list[Tokens], int]:
    """Return each part's words numbered alike, and how many distinct words there are."""
    known = np.unique(np.concatenate([part.digests for part in parts]))
    renumbered = [np.searchsorted(known, part.digests).astype(np.int32) for part in parts]
    tables = [Tokens(new[part.ids], part.offsets) for new, part in zip(renumbered, parts, strict=True)]
    return tables, int(known.size)


class Keep:
    """Keeps generations by name, in a folder or, without one, in memory."""

    def __init__(self, folder: Path | None) -> None:
        self._folder, self._held, self._near = folder, dict[str, Words](), dict[str, NDArray[np.float32]]()

    def load(self, name: str) -> Words | None:
        """Return what was kept under a name, or None."""
        if self._folder is None or not self._path(name).is_file():
            return self._held.get(name)
        with files.readable(self._path(name)) as file, np.load(file, allow_pickle=False) as stored:
            return Words(stored["digests"], stored["ids"], stored["offsets"])

    def save(self, name: str, words: Words) -> None:
        """Keep a generation under a name."""
        if self._folder is None:
            self._held[name] = words
            return
        self._write(name, digests=words.digests, ids=words.ids, offsets=words.offsets)

    def load_cosines(self, name: str) -> NDArray[np.float32] | None:
        """Return a generation's cosines to texts of those left out, or None."""
        if self._folder is None or not self._path(f"{name}-near").is_file():
            return self._near.get(name)
        with files.readable(self._path(f"{name}-near")) as file, np.load(file, allow_pickle=False) as stored:
            return np.asarray(stored["cosines"], np.float32)

    def save_cosines(self, name: str, cosines: NDArray[np.float32]) -> None:
        """Keep a generation's cosines under its name."""
        if self._folder is None:
            self._near[name] = cosines
            return
        self._write(f"{name}-near", cosines=cosines)

    def _write(self, name: str, **arrays: NDArray[np.generic]) -> None:
        path = self._path(name)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]  # its stub takes `allow_pickle` for one of them
        write_atomic(path, buffer.getvalue())

    def _path(self, name: str) -> Path:
        if self._folder is None or not all(c.isalnum() or c == "-" for c in name):
            raise InternalError(f"generation {name!r}: names are letters, digits and hyphens")
        return self._folder / f"{name}.npz"


def _digest(word: str, key: bytes) -> int:
    body = word.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(body, key=key[:64], digest_size=8).digest(), "little")
