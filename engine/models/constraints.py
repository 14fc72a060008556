"""Keep private values out of generated text, however they are written.

The check is on text, not on token ids: one string has many tokenisations, so a list of banned token sequences leaves
holes. What counts as a value is `engine.corpus.text.private_values`: folded, re-formatted, joined, cut short or nearly
so. A word is judged when it is complete; what is refused is taken back to the beginning of the word (of a code or date,
to its own beginning), so that the model can go on with another word instead of another ending.
Privacy posture: the values live in memory for the length of a call.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from engine.corpus.text.private_values import Found, Part, PrivateValues, distinct, parts_of
from engine.models.builtin.everyday import everyday_words

_DATE = 8  # parts of a date at most
_BEHIND = 40  # parts behind a word that a value may take up


def matcher(values: Sequence[str], names: Sequence[str] = ()) -> PrivateValues:
    """Return what finds these values; `names` are everyday words that count only where they stand as a name."""
    kept = distinct(values), distinct(names)
    return PrivateValues(*kept, everyday_words() if any(kept) else frozenset())


class Blocklist:
    """Finds blocked values in finished text.

    Args:
        values: Words, phrases, numbers or dates.
        names: Everyday words that are somebody's name as well: blocked only where they stand as one.
    """

    def __init__(self, values: Sequence[str], names: Sequence[str] = ()) -> None:
        self._values = matcher(values, names)

    def __bool__(self) -> bool:
        return bool(self._values)

    def contains(self, text: str) -> bool:
        """Return whether a blocked value stands in `text`, in any of the ways that count."""
        return self._values.contains(text)

    def found(self, text: str) -> list[str]:
        """Return the blocked values in `text` as they stand there, each once."""
        return list(dict.fromkeys(text[hit.start : hit.end] for hit in self._values.find(text)))

    def cut(self, text: str) -> str:
        """Return `text` up to the first blocked value; nothing where what is left holds one still."""
        for _ in range(8):
            found = self._values.find(text)
            if not found:
                return text
            start = min(hit.start for hit in found)
            if start and not text[start - 1].isspace():  # inside a longer word: that goes too
                start = max(text.rfind(mark, 0, start) for mark in " \n\t") + 1
            text = text[:start].rstrip()
        return ""

    def completed(self, before: str, after: str, final: bool = False) -> int | None:
        """Return where the value begins that is complete in `after` and was not in `before`, or None.

        `after` goes on from `before`; a word at its end is complete where a character follows it, or with `final`.
        The place is the beginning of the last word, and of a code or a date its own beginning.
        """
        closed = max((part.end for part in parts_of(before) if part.end < len(before)), default=0)
        parts = [part for part in parts_of(after) if final or part.end < len(after)]
        return _place(self._values, after, parts, sum(part.end <= closed for part in parts))


@dataclass
class Tail:
    """A growing text: its characters, bytes that are no character yet, and the parts that are complete.

    ends: characters behind each token. pending: bytes left over behind each token.
    """

    text: str = ""
    partial: bytes = b""
    parts: list[Part] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    pending: list[bytes] = field(default_factory=list)

    @property
    def closed(self) -> int:
        """Return the offset behind the last complete part."""
        return self.parts[-1].end if self.parts else 0


class Guard:
    """Refuses tokens that would complete a blocked value, looking only at the words a token completes.

    Args:
        values, names: As for `Blocklist`.
        pieces: The bytes each token stands for, empty where it stands for nothing.
    """

    def __init__(self, values: Sequence[str], pieces: Sequence[bytes], names: Sequence[str] = ()) -> None:
        self._values, self._pieces = matcher(values, names), pieces
        self._read: dict[int, tuple[str, bytes]] = {}
        self._cut: dict[str, tuple[Part, ...]] = {}
        self._inside = [piece.isascii() and piece.isalpha() and piece.islower() for piece in pieces]

    def __bool__(self) -> bool:
        return bool(self._values)

    def refuses(self, tail: Tail, token: int, final: bool = False) -> int | None:
        """Return where in the text the value begins that `token` completes, or None where it completes none.

        `final` says that nothing follows the token. The place is the beginning of the last word, and of a code or a
        date, whose every ending may be refused, its own beginning.
        """
        if not final and self._goes_on(tail, token):
            return None
        text = tail.text + self._decoded(tail, token)[0]
        new = self._closed(tail, text, final)
        return _place(self._values, text, [*tail.parts[-_BEHIND:], *new], len(tail.parts[-_BEHIND:])) if new else None

    def add(self, tail: Tail, token: int) -> None:
        """Put `token` behind the tail."""
        goes_on = self._goes_on(tail, token)
        added, tail.partial = self._decoded(tail, token)
        tail.text += added
        tail.ends.append(len(tail.text))
        tail.pending.append(tail.partial)
        if not goes_on:
            tail.parts += self._closed(tail, tail.text)

    def _goes_on(self, tail: Tail, token: int) -> bool:
        """Return whether a token only adds letters to a word, or begins one behind a part that is complete."""
        last = tail.text[-1:]
        return self._inside[token] and not tail.partial and last.isascii() and not last.isdigit()

    def _decoded(self, tail: Tail, token: int) -> tuple[str, bytes]:
        if tail.partial:
            return _decoded(tail.partial + self._pieces[token])
        if token not in self._read:
            self._read[token] = _decoded(self._pieces[token])
        return self._read[token]

    def _closed(self, tail: Tail, text: str, final: bool = False) -> list[Part]:
        """Return the parts behind the tail's that are complete: a character follows them, or nothing will."""
        start = tail.closed
        behind = text[start:]
        if behind not in self._cut:
            self._cut[behind] = tuple(parts_of(behind))
        return [
            Part(part.key, part.start + start, part.end + start, part.digits)
            for part in self._cut[behind]
            if final or part.end < len(behind)
        ]

    def take_back(self, tail: Tail, place: int) -> int:
        """Remove the last tokens until the text ends at or before `place`, at least one; return how many."""
        count = 0
        while tail.ends and (count == 0 or tail.ends[-1] > place):
            tail.ends.pop()
            tail.pending.pop()
            count += 1
        tail.text = tail.text[: tail.ends[-1] if tail.ends else 0]
        tail.partial = tail.pending[-1] if tail.pending else b""
        while tail.parts and tail.parts[-1].end >= len(tail.text):
            tail.parts.pop()
        return count

    def tail(self, tokens: Sequence[int]) -> Tail:
        """Return the tail of a text made of `tokens`."""
        tail = Tail()
        for token in tokens:
            self.add(tail, token)
        return tail


def _place(values: PrivateValues, text: str, parts: Sequence[Part], first: int) -> int | None:
    """Return where to go back to for the values that end with one of the parts from `first` on, or None."""
    found = [hit for at in range(first, len(parts)) for hit in values.ending_at(text, parts, at)]
    ends = {part.end for part in parts[first:] if part.digits} if values.has_dates else None
    if ends:
        start = parts[max(0, first - _DATE)].start
        found += [
            replace(hit, start=hit.start + start, end=hit.end + start)
            for hit in values.dated(text[start:])
            if hit.end + start in ends
        ]
    return min((_begin(text, hit) for hit in found), default=None)


def _decoded(raw: bytes) -> tuple[str, bytes]:
    """Return the characters of some bytes, and the bytes left over."""
    decoder = getincrementaldecoder("utf-8")("replace")
    return decoder.decode(raw), decoder.getstate()[0]


def _begin(text: str, hit: Found) -> int:
    """Return where to go back to: the last word of a phrase, a code or a date as a whole."""
    if any(c.isdigit() for c in text[hit.start : hit.end]):
        return hit.start
    blank = max(text.rfind(mark, hit.start, hit.end) for mark in " \n\t")
    return max(hit.start, blank + 1)
