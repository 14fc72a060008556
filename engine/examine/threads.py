"""How many threads a part of an examination computes with: always as many, since the last digits of sums hang on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from threading import RLock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


_OUTSIDE: ContextVar[int | None] = ContextVar("outside", default=None)  # threads of models outside of a part
_ONE_PART = RLock()  # libraries count for the whole process: who ends gives back their threads, also to others


@contextmanager
def computing(threads: int) -> Iterator[None]:
    """Have models compute with so many threads, and everything else with one, for as long as the block runs.

    A process computes one part at a time: a second thread waits here until the first is through.
    """
    import torch

    with _ONE_PART:
        before = torch.get_num_threads()
        outside = _OUTSIDE.set(before)
        with _libraries().limit(limits=1):
            torch.set_num_threads(threads)
            try:
                yield
            finally:
                torch.set_num_threads(before)
                _OUTSIDE.reset(outside)


@contextmanager
def embedding() -> Iterator[None]:
    """Have the embedder compute with all threads there are, also inside a part: its rows hang on the text alone."""
    outside = _OUTSIDE.get()
    if outside is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(outside)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@lru_cache
def _libraries() -> ThreadpoolController:
    """Return what counts the threads of every library that parts compute with; each is loaded first."""
    import faiss
    import scipy.linalg
    import sklearn.cluster  # noqa: F401
    from threadpoolctl import ThreadpoolController

    assert scipy.linalg is not None
    assert faiss is not None
    return ThreadpoolController()
