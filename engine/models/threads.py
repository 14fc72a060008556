"""How many threads torch computes with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def one_thread(wanted: bool = True) -> Iterator[None]:
    """Keep torch to one thread, where `wanted`: small matrices are not worth sharing, and waiting threads starve."""
    import torch

    before = torch.get_num_threads()
    if wanted:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
