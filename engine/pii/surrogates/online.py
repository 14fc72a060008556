"""Replace mail addresses, web addresses and user names, on domains kept for examples (RFC 2606)."""

from __future__ import annotations

import re
import unicodedata

from engine.pii.surrogates.codes import same_shape
from engine.pii.surrogates.keyed import Draw, fold
from engine.pii.surrogates.people import Names

_DOMAINS = ("example.org", "example.com", "example.net")
_LETTERS = re.compile(r"[^\W\d_]{2,}")


class Online:
    """The on-line names of one unit and their surrogates."""

    def __init__(self, key: bytes, unit: str, names: Names) -> None:
        self._key, self._unit, self._names = key, unit, names

    def email(self, value: str) -> str:
        """Return a mail address whose local part names the surrogate person."""
        local, at, domain = value.rpartition("@")
        if not at:
            return self.username(value)
        return f"{self._handle(local, value)}@{self._domain(domain)}"

    def username(self, value: str) -> str:
        """Return a user name of the same build; a leading @ stays."""
        return self._handle(value, value)

    def url(self, value: str) -> str:
        """Return a web address on an example domain with a path of the same shape."""
        match = re.fullmatch(r"((?:[a-z]+://)?(?:www\.)?)([^/?#\s]+)(.*)", value, re.IGNORECASE | re.DOTALL)
        if match is None:
            return same_shape(value, Draw(self._key, self._unit, "url", fold(value)))
        head, host, rest = match.groups()
        path = same_shape(rest, Draw(self._key, self._unit, "path", fold(value)))
        return f"{head}{self._domain(host)}{path}"

    def _domain(self, domain: str) -> str:
        draw = Draw(self._key, self._unit, "domain", fold(domain))
        label = "".join(draw.choice("bcdfglmnprstv") + draw.choice("aeiou") for _ in range(3))
        return f"{label}.{draw.choice(_DOMAINS)}"

    def _handle(self, handle: str, value: str) -> str:
        draw = Draw(self._key, self._unit, "handle", fold(value))
        household = self._names.household

        def word(match: re.Match[str]) -> str:
            key = fold(match.group())
            if key in household.given or key in household.surnames or len(key) >= 4:
                return _plain(self._names.token(key), upper=match.group()[0].isupper())
            return same_shape(match.group(), draw)

        named = _LETTERS.sub(word, handle)
        return re.sub(r"\d", lambda m: str(draw.number(10)), named)


def _plain(name: str, *, upper: bool) -> str:
    folded = unicodedata.normalize("NFKD", fold(name))
    text = re.sub(r"[^a-z]", "", folded) or "user"
    return text.capitalize() if upper else text
