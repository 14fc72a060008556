"""Profiles of texts and of people: which words, word sequences and letter sequences stand in them, as sparse tables.

Privacy posture: tables hold numbers of words, in memory for one examination; never a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.corpus.text.words import WordTable
from engine.examine.samples import dense, in_blocks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BLOCK = 50_000  # texts counted at once: a table of a million texts has tens of millions of cells
_BASE = 64  # classes of characters
_PUNCTUATION = ".,'-()/:;!?\"&"
_BEYOND = 28 + len(_PUNCTUATION) + 1  # classes from here on: characters outside ASCII


def grams(tables: Sequence[WordTable], n: int) -> list[csr_matrix]:
    """Return per table how often each run of n words stands in each text: (texts, distinct runs), shared columns.

    Single words keep their numbers as columns.
    """
    from scipy.sparse import csr_matrix

    base = 1 + max((int(table.ids.max(initial=0)) for table in tables), default=0)
    codes, texts = zip(*(_runs(table, n, base) for table in tables), strict=True)
    columns = np.concatenate(codes)
    if n > 1:
        columns = np.unique(columns, return_inverse=True)[1]
    width = base if n == 1 else int(columns.max(initial=-1)) + 1
    ends = np.cumsum([len(part) for part in codes])
    result = []
    for table, rows, end in zip(tables, texts, ends, strict=True):
        own = columns[end - len(rows) : end]
        made = csr_matrix((np.ones(len(rows), np.float32), (rows, own)), shape=(table.size, width))
        made.sum_duplicates()
        result.append(made)
    return result


def holding(words: WordTable, width: int) -> NDArray[np.int64]:
    """Return in how many texts each word stands, of those with a number below `width`: int (width,)."""
    found = np.zeros(width, np.int64)
    for low in range(0, words.size, BLOCK):
        part = words.take(np.arange(low, min(low + BLOCK, words.size)))
        known = part.ids < width
        pairs = np.repeat(np.arange(part.size), part.counts)[known] * width + part.ids[known]
        found += np.bincount(np.unique(pairs) % width, minlength=width)
    return found


def units_holding(words: WordTable, units: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return the texts of how many units hold each word, of those with a number below `width`: int (width,).

    Args:
        units: int array (texts,), whose each text is.
    """
    found = np.zeros(width, np.int64)
    for rows in in_blocks(units, BLOCK):
        part, own = words.take(rows), dense(units[rows])
        known = part.ids < width
        pairs = np.repeat(own, part.counts)[known] * width + part.ids[known]
        found += np.bincount(np.unique(pairs) % width, minlength=width)
    return found


def _runs(table: WordTable, n: int, base: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the code of each run of n words inside one text, and its text."""
    text = np.repeat(np.arange(table.size), table.counts)
    last = len(table.ids) - n + 1
    if last <= 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    codes = np.zeros(last, np.int64)
    for place in range(n):
        codes = codes * base + table.ids[place : place + last]
    inside = text[:last] == text[n - 1 :]
    return codes[inside], text[:last][inside]


def letters(texts: Sequence[str], n: int = 3) -> csr_matrix:
    """Return how often each run of n characters stands in each text: (texts, 64 ** n).

    Case does not count, digits are one class, space is one; letters outside ASCII share what is left of 64 classes.
    """
    from scipy.sparse import csr_matrix

    rows: list[NDArray[np.int64]] = []
    columns: list[NDArray[np.int64]] = []
    for number, text in enumerate(texts):
        classes = _classes(text)
        if len(classes) < n:
            continue
        codes = np.zeros(len(classes) - n + 1, np.int64)
        for place in range(n):
            codes = codes * _BASE + classes[place : place + len(codes)]
        columns.append(codes)
        rows.append(np.full(len(codes), number, np.int64))
    shape = (len(texts), _BASE**n)
    if not rows:
        return csr_matrix(shape, dtype=np.float32)
    places = (np.concatenate(rows), np.concatenate(columns))
    made = csr_matrix((np.ones(len(places[0]), np.float32), places), shape=shape)
    made.sum_duplicates()
    return made


def _classes(text: str) -> NDArray[np.int64]:
    """Return the class of each character, a run of spaces as one, with a space at both ends."""
    points = np.frombuffer(f" {' '.join(text.lower().split())} ".encode("utf-32-le", "surrogatepass"), np.uint32)
    beyond = _BEYOND + (points % (_BASE - _BEYOND)).astype(np.int64)
    return np.where(points > 127, beyond, _TABLE[np.minimum(points, 127)])


def _table() -> NDArray[np.int64]:
    table = np.full(128, _BEYOND - 1, np.int64)  # every other sign of ASCII
    for place, sign in enumerate("abcdefghijklmnopqrstuvwxyz0 " + _PUNCTUATION):
        table[ord(sign)] = place
    for sign in "0123456789":
        table[ord(sign)] = table[ord("0")]
    return table


_TABLE = _table()


def by_unit(table: csr_matrix, codes: NDArray[np.int64], units: int) -> csr_matrix:
    """Return the sums of rows of one unit: (units, columns).

    Args:
        table: (n, columns). codes: int (n,), the unit of each row, 0 to units - 1.
    """
    from scipy.sparse import csr_matrix

    ones = np.ones(len(codes), table.dtype)
    return csr_matrix((ones, (codes, np.arange(len(codes)))), shape=(units, len(codes))) @ table


def present(table: csr_matrix) -> csr_matrix:
    """Return 1 where a count is above 0."""
    made = table.copy()
    made.data = np.ones_like(made.data)
    return made


def highest(values: NDArray[np.float64], codes: NDArray[np.int64], units: int) -> NDArray[np.float64]:
    """Return each unit's highest value, float (units,); every unit has at least one."""
    best = np.full(units, -np.inf)
    np.maximum.at(best, codes, values)
    return best
