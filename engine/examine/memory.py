"""Give memory back to the system that was freed: of a million records the libraries keep some hundred megabytes."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress


def give_back() -> None:
    """Have Arrow and the C library give back what nobody holds any more; nothing where the latter cannot."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library has no such call
            ctypes.CDLL("libc.so.6").malloc_trim(0)
