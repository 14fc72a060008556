"""Keyed hashes: choices that look random to whoever lacks the key, and never change with it.

Source: HMAC, Krawczyk, Bellare and Canetti 1997 (RFC 2104), with SHA-256; each purpose has its own
prefix, so that one choice says nothing about another.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence

from engine.errors import InternalError

MIN_KEY_BYTES = 16


def keyed_digest(key: bytes, purpose: str, value: str) -> bytes:
    """Return 32 bytes for a value under a purpose."""
    if len(key) < MIN_KEY_BYTES:
        raise InternalError(f"key: at least {MIN_KEY_BYTES} bytes are needed, got {len(key)}")
    return hmac.digest(key, f"{purpose}\x00{value}".encode("utf-8", "surrogatepass"), "sha256")


def keyed_uniform(key: bytes, purpose: str, value: str) -> float:
    """Return a number in [0, 1) for a value under a purpose (53 bits)."""
    return (int.from_bytes(keyed_digest(key, purpose, value)[:8], "big") >> 11) / 2.0**53


def keyed_order(key: bytes, purpose: str, values: Sequence[str]) -> list[int]:
    """Return the positions of `values` in keyed order (a stable shuffle)."""
    return sorted(range(len(values)), key=lambda i: (keyed_digest(key, purpose, values[i]), i))
