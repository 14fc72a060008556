"""Courts, ministries and governments of a whole country: they identify nobody on their own.

"Supreme Administrative Court", "Ministry of Defence", "Republic of Austria" and a bare "Regional Court" are
left to the reviewer; a name with anything more in it ("Cracow Regional Court") stays a name. The words are
data, one a line, in `assets/recognisers/bodies/`.

Source: annotation guidelines of the Text Anonymization Benchmark (Pilán et al. 2022), step 2: what is least
specific is left in first.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import takewhile

import regex

from engine.pii.detect.recognisers import FOLDER
from engine.pii.spans import folded

BEFORE = regex.compile(r"(?:[\p{L}\p{N}’']+ ){1,5}$")
AFTER = regex.compile(r"(?: [\p{L}\p{N}’']+){1,5}")
WORD = regex.compile(r"\p{L}+|\d+")


@lru_cache(maxsize=1)
def _lists() -> tuple[frozenset[str], frozenset[str]]:
    """Return (words that make a body, every word that such a name may hold), folded."""
    read = {
        path.stem: {folded(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()}
        for path in (FOLDER / "bodies").glob("*.txt")
    }
    return frozenset(read["heads"]), frozenset().union(*read.values())


def is_head(word: str) -> bool:
    """Return whether a word makes the name of a public body ("Government", "Court")."""
    return folded(word) in _lists()[0]


def names_state_body(text: str, start: int, end: int) -> bool:
    """Return whether [start, end), with such words right around it, names a body of a whole country alone."""
    heads, known = _lists()
    found = _words(text[start:end])
    if not found or not all(_fits(w, known) for w in found):
        return False
    before = BEFORE.search(text, max(0, start - 80), start)
    after = AFTER.match(text, end)
    beside = [_words(before.group())[::-1] if before else [], _words(after.group()) if after else []]
    for words in beside:
        found += takewhile(lambda w: _fits(w, known), words)
    return any(w in heads for w in found)


def _words(text: str) -> list[str]:
    return [folded(w) for w in WORD.findall(text)]


def _fits(word: str, known: frozenset[str]) -> bool:
    return word in known or (word.isdigit() and len(word) < 3)
