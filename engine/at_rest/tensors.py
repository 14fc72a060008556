"""Safetensors files that may be stored encrypted."""

from __future__ import annotations

import json


def metadata(body: bytes) -> dict[str, str]:
    """Return the metadata of a safetensors file from its content; none where it has none.

    Raises:
        ValueError: it is no such file.
    """
    size = int.from_bytes(body[:8], "little")
    found = json.loads(body[8 : 8 + size]).get("__metadata__") or {}
    return {str(name): str(value) for name, value in found.items()}
