"""What a model folder says of the private text that its weights were fitted to, and digests of its weights.

A mark stands in config.json, under a key of ours, and names run, population and guarantee. The digests find the
same weights again where the mark was taken out: one a tensor, over its values in bfloat16, so that renaming,
splitting, re-saving or widening them changes nothing.

Limits: weights that were trained further, quantised or rounded in another way, and marks taken out of those, are not
recognised; nor is what a server at an endpoint holds.

Privacy posture: ids, public numbers and digests of weights. Nothing here imports torch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.at_rest import files
from engine.errors import UserError

KEY = "understudy"  # in config.json
SELECTED = "before selection: private data had a say in that it was this run's"
POOL = "pool"
RUN = "run"
LEAST_VALUES = 512  # smaller tensors, norms say, are alike in many models
BLOCK_VALUES = 1 << 22
DATABASES, WORKSPACE_KEY = ("understudy.sqlite", "workspace.toml"), "workspace.key"


@dataclass(frozen=True)
class Mark:
    """One run whose output something was made with: weights that it fitted to private text, or a pool of candidates.

    kind: `dp` or `none`. epsilon, delta, unit, adjacency: of a `dp` run's claim. whole: whether all weights that the
    run made are there; where some differ, nothing is known of what else they saw. of: `model`, `pool` or `run` (its
    output taken as it is). selected: private data were, or may have been, looked at by whoever picked the run, which
    its claim does not cover.
    """

    run: str
    population: str
    kind: str
    epsilon: float | None = None
    delta: float | None = None
    unit: str = "record"
    adjacency: str = ""
    whole: bool = True
    of: str = "model"
    selected: bool = False

    @property
    def bounded(self) -> bool:
        """Say whether a formal claim covers what the weights tell of the run's people."""
        return self.kind == "dp" and self.whole and self.epsilon is not None

    def sentence(self) -> str:
        """Return what the mark says, for people."""
        return f"{self._said()} ({SELECTED})" if self.selected else self._said()

    def _said(self) -> str:
        if self.of == POOL:
            return (
                f"written from what run {self.run} chose by private votes, under ε = {self.epsilon or 0:g} at "
                f"δ = {self.delta or 0:.3g}"
            )
        if self.of == RUN:
            return f"made as run {self.run}, under ε = {self.epsilon or 0:g} at δ = {self.delta or 0:.3g}"
        if self.bounded:
            return f"fitted to private text by run {self.run}, under ε = {self.epsilon:g} at δ = {self.delta or 0:.3g}"
        return f"fitted to private text by run {self.run}, without a guarantee that holds for these weights"


def read_marks(folder: Path) -> tuple[Mark, ...]:
    """Return the marks in a folder's config.json; a damaged one counts as one without a guarantee."""
    try:
        found = json.loads(files.read_bytes(folder / "config.json")).get(KEY)
    except (OSError, ValueError, AttributeError):
        return ()
    if found is None:
        return ()
    known = {field.name for field in fields(Mark)}
    try:
        return tuple(Mark(**{name: value for name, value in one.items() if name in known}) for one in found)
    except (TypeError, AttributeError):
        return (Mark("unknown", "", "none", whole=False),)


def write_marks(folder: Path, marks: Sequence[Mark]) -> None:
    """Put marks into a folder's config.json, in place of those that stand there."""
    path = folder / "config.json"
    body = json.loads(files.read_bytes(path))
    body[KEY] = [asdict(mark) for mark in marks]
    files.write_bytes(path, (json.dumps(body, indent=1) + "\n").encode())


def workspace_above(path: Path) -> Path | None:
    """Return the workspace folder that a path, its links followed, lies in, or None."""
    where = path.resolve()
    above = (p for p in (where, *where.parents) if (p / WORKSPACE_KEY).exists())
    return next((p for p in above if any((p / name).exists() for name in DATABASES)), None)


def weight_digests(folder: Path) -> frozenset[str]:
    """Return a SHA-256 of each large tensor of a folder's safetensors files, over its values in bfloat16.

    Raises:
        UserError: a file is no safetensors file.
    """
    stamp = tuple(
        sorted((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*.safetensors"))
    )
    return _digests(folder, stamp)


@lru_cache(maxsize=32)
def _digests(folder: Path, stamp: tuple[tuple[str, int, int], ...]) -> frozenset[str]:
    del stamp  # part of the cache key only
    found: set[str] = set()
    for path in sorted(folder.rglob("*.safetensors")):
        try:
            found.update(_of_file(path))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, RecursionError):
            raise UserError(f"{path.name}: is not a safetensors file; copy the model again") from None
    return frozenset(found)


def _of_file(path: Path) -> Iterator[str]:
    from engine.models.folder.inspection import LARGEST_HEADER

    with files.opened(path) as file:
        size = int.from_bytes(file.read(8), "little")
        if not 2 <= size <= LARGEST_HEADER:
            raise ValueError
        header: Mapping[str, Any] = json.loads(file.read(size))
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = (int(offset) for offset in entry["data_offsets"])
            width = WIDTHS.get(entry["dtype"], 1)
            if (end - begin) // width < LEAST_VALUES:
                continue
            digest, left = hashlib.sha256(), end - begin
            file.seek(8 + size + begin)
            while left > 0:
                block = file.read(min(left, BLOCK_VALUES * width))
                if not block:
                    raise ValueError
                left -= len(block)
                digest.update(_narrow(block, entry["dtype"]))
            yield digest.hexdigest()


WIDTHS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}


def _narrow(block: bytes, dtype: str) -> bytes:
    """Return floating-point values in bfloat16, rounded to even; other types as they are."""
    if dtype == "BF16" or dtype not in WIDTHS:
        return block
    kind = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}[dtype]
    bits: NDArray[np.uint32] = np.frombuffer(block, dtype=kind).astype("<f4").view("<u4")
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (rounded >> np.uint32(16)).astype("<u2").tobytes()
