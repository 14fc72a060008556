"""Keyed marks of texts, by which two sets of texts are known to be the same ones without either of them.

Privacy posture: eight bytes of HMAC-SHA256 under the workspace key for a text; no text.
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Iterable

SAME = 0.1  # of the texts of the smaller set


def marks(key: bytes, purpose: bytes, folded: Iterable[str], most: int) -> bytes:
    """Return the marks of texts in their folded form, in order, each once.

    Args:
        purpose: what they are for; marks for two purposes have nothing in common. most: how many are kept: the
            smallest, which are a random sample of the texts.
    """
    found = {hmac.digest(key, purpose + b"\0" + one.encode("utf-8", "replace"), "sha256")[:8] for one in folded if one}
    return b"".join(sorted(found)[:most])


def alike(one: bytes, other: bytes, most: int) -> bool:
    """Return whether two sets of marks are of the same texts, by what they share of the smaller one."""
    first, second = _split(one), _split(other)
    ends = [max(found) for found in (first, second) if len(found) >= most]
    if ends:
        first, second = ({mark for mark in found if mark <= min(ends)} for found in (first, second))
    smaller = min(len(first), len(second))
    return bool(smaller) and len(first & second) >= SAME * smaller


def _split(found: bytes) -> set[int]:
    return set(struct.unpack(f">{len(found) // 8}Q", found))
