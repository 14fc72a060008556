"""Keep words and phrases out of generated text, in every case, accent and spacing variant.

The check is on text, not on token ids: one string has many tokenisations, so a list of banned
token sequences leaves holes. A token is refused when it would complete a blocked value as a whole word.
Privacy posture: the values live in memory for the length of a call.
"""

from __future__ import annotations

import re
import unicodedata
from codecs import getincrementaldecoder
from collections.abc import Sequence
from dataclasses import dataclass


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


class Guard:
    """Refuses tokens that would finish a blocked value, looking only at what a token adds.

    A text is kept as its folded tail; whether that tail ends with a blocked value is known when a token is added, so
    that the next token needs a look at its first character, and a search only where a word ends inside it.

    Args:
        values: Words or phrases.
        pieces: The bytes each token stands for, empty where it stands for nothing.
    """

    def __init__(self, values: Sequence[str], pieces: Sequence[bytes]) -> None:
        self._pieces = pieces
        self._known: dict[int, _Piece | None] = {}
        folded = {" ".join(fold(value).split()) for value in values} - {""}
        self._longest = max(map(len, folded), default=0)
        self._values = folded
        lengths: dict[str, set[int]] = {}
        for value in folded:
            lengths.setdefault(value[-2:], set()).add(len(value))
        self._lengths = {ending: tuple(sorted(found)) for ending, found in lengths.items()}
        self._single = {value for value in folded if len(value) == 1}

    def __bool__(self) -> bool:
        return bool(self._values)

    def refuses(self, tail: Tail, token: int, final: bool = False) -> bool:
        """Return whether `token` finishes a blocked value; `final` says that nothing follows it."""
        piece = self._piece(tail, token)
        if tail.ends and (not _letter(piece.text[0]) if piece.text else final):
            return True
        if not piece.edges and not final:
            return False
        text = _join(tail.text, piece.text)
        behind = len(text) - len(piece.text)
        return any(self._ends(text[: behind + edge]) for edge in piece.edges) or (final and self._ends(text))

    def add(self, tail: Tail, token: int) -> None:
        """Put `token` behind the tail."""
        piece = self._piece(tail, token)
        tail.partial = piece.partial
        if piece.text:
            tail.text = _join(tail.text, piece.text)[-self._longest - 2 :]
            tail.ends = self._ends(tail.text)

    def tail(self, tokens: Sequence[int]) -> Tail:
        """Return the tail of a text made of `tokens`."""
        tail = Tail()
        for token in tokens[-4 * self._longest - 8 :]:  # a token may be one byte of a character
            self.add(tail, token)
        return tail

    def _piece(self, tail: Tail, token: int) -> _Piece:
        if tail.partial:
            return _piece(tail.partial + self._pieces[token])
        found = self._known.get(token)
        if found is None:
            found = self._known[token] = _piece(self._pieces[token])
        return found

    def _ends(self, text: str) -> bool:
        """Return whether `text` ends with a blocked value that begins a word."""
        if text[-1:] in self._single and not _letter(text[-2:-1]):
            return True
        return any(
            text[-length:] in self._values and not _letter(text[-length - 1 : -length])
            for length in self._lengths.get(text[-2:], ())
            if length <= len(text)
        )


@dataclass
class Tail:
    """The end of a growing text: folded, white space as single blanks, and bytes that are no character yet."""

    text: str = ""
    partial: bytes = b""
    ends: bool = False


@dataclass(frozen=True)
class _Piece:
    """What a token adds: folded text, where inside it a word may end, and bytes left over."""

    text: str
    edges: tuple[int, ...]
    partial: bytes


def _piece(raw: bytes) -> _Piece:
    decoder = getincrementaldecoder("utf-8")("replace")
    squeezed = ""
    for character in fold(decoder.decode(raw)):
        squeezed = _join(squeezed, character)
    edges = tuple(i for i in range(1, len(squeezed)) if not _letter(squeezed[i]))
    return _Piece(squeezed, edges, decoder.getstate()[0])


def _join(text: str, addition: str) -> str:
    """Return both, where white space becomes one blank."""
    addition = " " if addition.isspace() else addition
    return text + (addition[1:] if text[-1:] == " " and addition[:1] == " " else addition)


def _letter(character: str) -> bool:
    return character.isalnum() or character == "_"
