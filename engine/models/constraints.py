"""Keep words and phrases out of generated text, in every case, accent and spacing variant.

The check is on text, not on token ids: one string has many tokenisations, so a list of banned
token sequences leaves holes. A token is refused when it would complete a blocked value as a whole word.
Privacy posture: the values live in memory for the length of a call.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence


def fold(text: str) -> str:
    """Return `text` without case and accents."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return bare.casefold()


class Blocklist:
    """Finds blocked values at the end of a growing text.

    Args:
        values: Words or phrases; white space inside a phrase matches any white space.
    """

    def __init__(self, values: Sequence[str]) -> None:
        folded = sorted({" ".join(fold(v).split()) for v in values} - {""}, key=len, reverse=True)
        self.longest = max(map(len, folded), default=0)
        body = "|".join(r"\s+".join(re.escape(word) for word in value.split()) for value in folded)
        self._pattern = re.compile(rf"(?<!\w)(?:{body})(?!\w)") if folded else None

    def __bool__(self) -> bool:
        return self._pattern is not None

    @property
    def window(self) -> int:
        """Return how many trailing characters of a text can matter."""
        return 2 * self.longest + 8

    def completes(self, tail: str, addition: str, final: bool = False) -> bool:
        """Return whether `addition` behind `tail` finishes a blocked value.

        A value that stands at the very end is not finished while a letter may still follow
        ("Ann" may become "Anniversary"), unless `final`.
        """
        if self._pattern is None:
            return False
        text = fold(tail[-self.window :] + addition)
        return any(final or match.end() < len(text) for match in self._pattern.finditer(text))

    def contains(self, text: str) -> bool:
        """Return whether a blocked value stands in `text` as a whole word."""
        return self._pattern is not None and self._pattern.search(fold(text)) is not None

    def cut(self, text: str) -> str:
        """Return `text` up to the first blocked value."""
        low, high = 0, len(text)
        if not self.contains(text):
            return text
        while low < high:  # shortest prefix that contains one; folding changes offsets, so search by prefix
            middle = (low + high) // 2
            if self.contains(text[:middle]):
                high = middle
            else:
                low = middle + 1
        return text[: max(0, low - self.longest)].rsplit(" ", 1)[0].rstrip()
