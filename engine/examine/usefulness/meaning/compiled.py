"""UMAP's machine code, kept on disk: numba takes eight seconds of every process that lays out a first map to make it.

It is kept where numba keeps all of its own: beside the package's bytecode, else in the user's cache folder. It is made
from the package's source alone, for this kind of processor, and made anew after either changes; nothing of a
workspace is in it. Where it cannot be read or written, it is made for this process as if none was kept.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Protocol, cast

PACKAGES = ("umap", "pynndescent")


class Cache(Protocol):
    """What numba asks of a function's cache."""

    cache_path: str

    def load_overload(self, signature: object, context: object) -> object:
        """Return the machine code for these types of arguments, None where there is none."""

    def save_overload(self, signature: object, made: object) -> None:
        """Keep machine code for these types of arguments."""

    def flush(self) -> None:
        """Forget what was kept."""


class Function(Protocol):
    """A function that numba compiles, as far as its cache goes."""

    _cache: Cache

    def enable_caching(self) -> None:
        """Keep its machine code on disk from here on."""


class Kept:
    """A function's machine code on disk, as numba asks for it; no fault of the disk reaches who calls the function."""

    def __init__(self, cache: Cache) -> None:
        """Take numba's own cache of the function."""
        self._cache = cache
        self.cache_path = cache.cache_path

    def load_overload(self, signature: object, context: object) -> object:
        """Return what was kept for these types of arguments, None where there is nothing sound."""
        with suppress(Exception):
            return self._cache.load_overload(signature, context)
        return None

    def save_overload(self, signature: object, made: object) -> None:
        """Keep what was made, where that can be."""
        with suppress(Exception):
            self._cache.save_overload(signature, made)

    def flush(self) -> None:
        """Forget what was kept."""
        self._cache.flush()


def keep_compiled() -> None:
    """Have the functions of the packages that are imported keep their machine code; to be called before they run."""
    from numba.core.dispatcher import Dispatcher

    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in PACKAGES:
            continue
        for function in list(vars(module).values()):
            if isinstance(function, Dispatcher) and function.py_func.__module__ == name:
                _keep(cast(Function, function))


def _keep(function: Function) -> None:
    if isinstance(function._cache, Kept):
        return
    with suppress(Exception):  # no folder can be written to
        function.enable_caching()
        function._cache = Kept(function._cache)
