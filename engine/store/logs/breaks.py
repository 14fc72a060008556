"""What happened to a chain that does not hold: lines changed, removed, added or put in another order, an end cut off.

A line's hash rests on its content, its number and the hash of the line before. So a line that was only moved still
fits where it stood, and trying the numbers and hashes around it tells moving from changing. Whoever holds the
workspace key can write another history; only a head, or an export, that is kept elsewhere shows that.

Privacy posture: line numbers alone.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection, select

from engine.store.chain import GENESIS, Chain

MOST = 40
"""Lines that are told apart at most, of those that do not hold; further ones follow from the first."""
REACH = 20  # how far a line may have been moved to be recognised, unless it changed places with one that is loose too
Kind = Literal["changed", "removed", "added", "moved", "cut", "head"]


@dataclass(frozen=True)
class Break:
    """One way in which a chain does not hold.

    Attributes:
        first, last: the lines in question. sentence: what happened, for people.
    """

    kind: Kind
    first: int
    last: int
    sentence: str


@dataclass(frozen=True)
class Link:
    """A line of a chain as it is found: its number, its hash, and its content, which may repeat the number."""

    seq: int
    hash: str
    content: Mapping[str, object]


Digest = Callable[[str, int, Mapping[str, object]], str]
"""The hash of a line, given that of the line before, its number and its content."""


def breaks(connection: Connection, chain: Chain, key: bytes, kept: tuple[int, str] | None) -> tuple[Break, ...]:
    """Return every way in which a chain does not hold, by line; none where it is whole.

    Args:
        kept: number and seal of the last line as they are kept outside of the database, None where they are not.
    """
    names = chain.columns[:-1]
    rows = [
        Link(int(row.seq), str(row.hash), {name: getattr(row, name) for name in names})
        for row in connection.execute(select(chain.table).order_by(chain.table.c.seq))
    ]
    found = within(rows, lambda previous, seq, content: chain.digest(key, previous, {**content, "seq": seq}))
    found += _end(connection, chain, key, rows, kept, whole=not found)
    return tuple(sorted(found, key=lambda one: (one.first, one.last)))


def within(rows: Sequence[Link], digest: Digest, noun: str = "line") -> list[Break]:
    """Return every way in which lines, in the order of their numbers, do not hold behind each other.

    Args:
        noun: what a line is called.
    """
    gaps, loose = _walk(digest, rows)
    found = [
        Break("removed", first, last, f"{named(noun, first, last)} {'is' if first == last else 'are'} missing.")
        for first, last in gaps
    ]
    return found + _told(digest, rows, loose, noun)


def _walk(digest: Digest, rows: Sequence[Link]) -> tuple[list[tuple[int, int]], list[int]]:
    """Return gaps in the numbers, and which rows do not hold behind the row before them.

    A row behind a gap cannot be held: the hash that it rests on is gone.
    """
    gaps: list[tuple[int, int]] = []
    loose: list[int] = []
    previous, expected = GENESIS, 1
    for number, row in enumerate(rows):
        if row.seq > expected:
            gaps.append((expected, row.seq - 1))
        elif not _fits(digest, row, row.seq, previous):
            loose.append(number)
        previous, expected = row.hash, row.seq + 1
    return gaps, loose


def _told(digest: Digest, rows: Sequence[Link], loose: list[int], noun: str) -> list[Break]:
    """Return what happened to the rows that do not hold."""
    if not loose:
        return []
    tried = loose[:MOST]
    hashes = {GENESIS, *(rows[at].hash for one in tried for at in (one, one - 1) if at >= 0)}
    numbers = {rows[one].seq for one in tried}
    stood = {rows[one].seq: _stood(digest, rows[one], numbers, hashes) for one in tried}
    changed = [seq for seq, before in stood.items() if before is None]
    shifts = {before - seq for seq, before in stood.items() if before is not None and before != seq}
    first, last = rows[loose[0]].seq, rows[loose[-1]].seq
    if len(shifts) == 1:  # all stood as far further on, or back: lines before them went, or came
        (shift,) = shifts
        count = abs(shift)
        what = f"{count} {noun}{'s' if count > 1 else ''}"
        if shift > 0:
            said = f"Before {noun} {first} {what} went missing, and those behind were given other numbers."
            return [Break("removed", first, last, said)]
        said = f"At {noun} {first} {what} came in, and those behind were given other numbers."
        return [Break("added", first, last, said)]
    if shifts:
        moved = sorted(seq for seq, before in stood.items() if before is not None and before != seq)
        told = [Break("moved", moved[0], moved[-1], f"{named(noun, moved[0], moved[-1])} stand in another order.")]
        return told + _changed(changed, noun)
    return _changed(changed or [first], noun)


def _changed(numbers: Iterable[int], noun: str) -> list[Break]:
    """Return changed lines, those that follow each other as one."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    found = []
    for first, last in runs:
        said = "was changed." if first == last else "do not hold; the first was changed."
        found.append(Break("changed", first, last, f"{named(noun, first, last)} {said}"))
    return found


def _stood(digest: Digest, row: Link, numbers: set[int], hashes: set[str]) -> int | None:
    """Return the number under which a row holds behind one of these hashes, its own first; None where under none."""
    near = range(max(1, row.seq - REACH), row.seq + REACH + 1)
    for seq in sorted({*near, *numbers}, key=lambda one: abs(one - row.seq)):
        if any(_fits(digest, row, seq, previous) for previous in hashes):
            return seq
    return None


def _fits(digest: Digest, row: Link, seq: int, previous: str) -> bool:
    return hmac.compare_digest(digest(previous, seq, row.content).encode(), row.hash.encode())


def _end(
    connection: Connection, chain: Chain, key: bytes, rows: list[Link], kept: tuple[int, str] | None, *, whole: bool
) -> list[Break]:
    """Return what is wrong with the end: cut off, or other than its head in the database or the kept one says."""
    last, digest = (rows[-1].seq, rows[-1].hash) if rows else (0, GENESIS)
    head = connection.execute(select(chain.head)).first()
    said = max(0 if head is None else int(head.seq), 0 if kept is None else kept[0])
    if said > last:
        return [Break("cut", last + 1, said, cut_off("line", last + 1, said))]
    if not whole:
        return []
    if head is None and rows:
        return [Break("head", last, last, "The head that seals the last line is missing.")]
    if head is not None and (head.seq != last or head.seal != chain.seal(key, last, digest)):
        return [Break("head", last, last, "The head that seals the last line does not fit it.")]
    if kept is not None and kept[0] and not chain.holds(connection, key, *kept):
        return [Break("head", kept[0], kept[0], f"Line {kept[0]} is another one than the head beside the key knows.")]
    return []


def cut_off(noun: str, first: int, last: int) -> str:
    """Return the sentence about lines at the end that are gone."""
    return f"The end was cut off: {named(noun, first, last).lower()} once stood here."


def named(noun: str, first: int, last: int) -> str:
    """Return lines by their numbers, as a sentence begins."""
    word = noun.capitalize()
    return f"{word} {first}" if first == last else f"{word}s {first} to {last}"
