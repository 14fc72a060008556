"""Fits on one thread: on samples this small many threads cost more than they save, and digits hang on their number."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from threadpoolctl import ThreadpoolController


def one_thread(where: str) -> AbstractContextManager[object]:
    """Return a context in which the libraries that are loaded work on one thread.

    Args:
        where: the module that fits, once what it fits with is imported. Looking for a process' libraries takes longer
            than a small fit, so each module looks once.
    """
    limit: AbstractContextManager[object] = _libraries(where).limit(limits=1)
    return limit


@lru_cache
def _libraries(where: str) -> ThreadpoolController:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
