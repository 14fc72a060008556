"""Where a training's newest step is stored, so that a kill loses nothing that was seen.

Privacy posture: weights fitted to private text are private text, noise or not, until a run's guarantee is settled.
The file is owner-only and lies in the run's own folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from engine.at_rest import files
from engine.at_rest.tensors import metadata

if TYPE_CHECKING:
    from torch import Tensor

FILE = "training.safetensors"


class Keeper(Protocol):
    """Holds the newest stored step; `save` is atomic and durable before it returns."""

    def load(self) -> tuple[dict[str, str], dict[str, Tensor]] | None:
        """Return what was saved last, or None."""
        ...

    def save(self, about: dict[str, str], tensors: Mapping[str, Tensor]) -> None:
        """Replace what was saved before."""
        ...


class MemoryKeeper:
    """Holds the newest step in this process only."""

    def __init__(self) -> None:
        self._held: tuple[dict[str, str], dict[str, Tensor]] | None = None

    def load(self) -> tuple[dict[str, str], dict[str, Tensor]] | None:
        """Return what was saved last, or None."""
        return self._held

    def save(self, about: dict[str, str], tensors: Mapping[str, Tensor]) -> None:
        """Replace what was saved before."""
        self._held = (dict(about), {name: value.detach().cpu().clone() for name, value in tensors.items()})


class FolderKeeper:
    """Holds the newest step as one safetensors file, owner-only: weights fitted to private text are private text."""

    def __init__(self, folder: Path, file: str = FILE) -> None:
        self._path = folder / file

    def load(self) -> tuple[dict[str, str], dict[str, Tensor]] | None:
        """Return what was saved last, or None; a file that was cut or overwritten is gone.

        What trains without noise begins anew then, and comes to the same end; a training that was paid for is refused.
        """
        if not self._path.is_file():
            return None
        from safetensors import SafetensorError, safe_open
        from safetensors.torch import load

        try:
            if files.encrypted(self._path):
                body = files.read_bytes(self._path)
                return metadata(body), load(body)
            with safe_open(self._path, framework="pt") as file:
                return dict(file.metadata() or {}), {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
        except (SafetensorError, ValueError):
            return None

    def save(self, about: dict[str, str], tensors: Mapping[str, Tensor]) -> None:
        """Replace what was saved before: written whole, flushed to disk, then put in its place."""
        from safetensors.torch import save

        body = save({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, metadata=about)
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self._path.with_suffix(".tmp")
        files.write_bytes(part, body, at=self._path)
        files.put(part, self._path)
        _flush_folder(self._path.parent)


def _flush_folder(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
