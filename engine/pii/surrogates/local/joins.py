"""Fit the word before a surrogate to it: French "de" and "d'"; other languages need nothing."""

from __future__ import annotations

import re

_OPEN = "AEIOUYÀÂÉÈÊËÎÏÔÛHaeiouyàâéèêëîïôûh"
_DE_AT_END = re.compile(r"\b([Dd])(e |[’'])\Z")


def elided(text: str, code: str) -> str:
    """Return a surrogate with "de" shortened before a vowel, in French."""
    return re.sub(rf"\b([Dd])e (?=[{_OPEN}])", r"\1'", text) if code == "fr" else text


def fitted(between: str, new: str, code: str) -> str:
    """Return the text before a surrogate with a last "de" or "d'" as the surrogate's first letter asks, in French."""
    match = _DE_AT_END.search(between) if code == "fr" and new else None
    if match is None:
        return between
    return between[: match.start()] + match.group(1) + ("'" if new[0] in _OPEN else "e ")
