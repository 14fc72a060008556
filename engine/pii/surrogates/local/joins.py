"""Fit the word before a surrogate to it: French "de" and "d'"; other languages need nothing."""

from __future__ import annotations

import re

_OPEN = "AEIOUYÀÂÉÈÊËÎÏÔÛHaeiouyàâéèêëîïôûh"
_DE_AT_END = re.compile(r"\b([Dd])(e |[’'])\Z")


def elided(text: str, code: str) -> str:
    """Return a surrogate with "de" shortened before a vowel and drawn together with an article, in French."""
    if code != "fr":
        return text
    text = re.sub(r"\b([Dd])e Le(s?) (?=\w)", lambda m: m.group(1) + ("es " if m.group(2) else "u "), text)
    return re.sub(rf"\b([Dd])e (?=[{_OPEN}])", r"\1'", text)


def fitted(between: str, new: str, code: str) -> str:
    """Return the text before a surrogate with a last "de" or "d'" as the surrogate's first letter asks, in French."""
    match = _DE_AT_END.search(between) if code == "fr" and new else None
    if match is None:
        return between
    return between[: match.start()] + match.group(1) + ("'" if new[0] in _OPEN else "e ")
