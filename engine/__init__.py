"""Understudy's engine: private free text in, reviewed, synthesised, examined and released text out."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.errors import DataError, NotFoundError, RefusedError, StorageError, UserError
    from engine.workspace import Workspace, open_workspace

__all__ = [
    "DataError",
    "NotFoundError",
    "RefusedError",
    "StorageError",
    "UserError",
    "Workspace",
    "open_workspace",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    module = "engine.workspace" if name in ("Workspace", "open_workspace") else "engine.errors"
    return getattr(import_module(module), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
